package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// schemaMode is how structured output is asked for.
type schemaMode int

// The modes, from the strictest to one that every endpoint knows.
const (
	modeSchema schemaMode = iota // response_format json_schema
	modeObject                   // response_format json_object, the schema in the prompt
	modePlain                    // the schema in the prompt
)

// endpointQuirks are the parts of the protocol that an endpoint was found to refuse.
type endpointQuirks struct {
	schema      schemaMode
	oldMax      bool // wants max_tokens, knows no max_completion_tokens
	noReasoning bool // allows tools only without reasoning

	noStreamUsage bool // knows no stream_options
	noStream      bool // does not stream
}

// maxQuirks bounds how often one try adapts: twice for the schema, once for each other.
const maxQuirks = 6

// callAdapting makes one try, and makes it again in another form when the endpoint
// refuses the form. What it learns holds for later calls.
func (c *Client) callAdapting(ctx context.Context, req Request) (Response, *Error) {
	var lost Usage
	for n := 0; ; n++ {
		c.mu.Lock()
		q := c.quirk
		c.mu.Unlock()
		resp, err := c.callOnce(ctx, req, q)
		if err == nil {
			resp.Lost = lost
			return resp, nil
		}
		lost = lost.Add(resp.Lost)
		resp.Lost = lost
		next, ok := q.learnFrom(err, req)
		if !ok || n == maxQuirks {
			return resp, err
		}
		c.log.InfoContext(ctx, "model endpoint refuses a part of the protocol; asking in another form", "message",
			err.Message)
		c.mu.Lock()
		if c.quirk == q {
			c.quirk = next
		}
		c.mu.Unlock()
	}
}

// learnFrom is q with what err teaches about the endpoint. It reports false when err is
// about something else.
func (q endpointQuirks) learnFrom(err *Error, req Request) (endpointQuirks, bool) {
	switch {
	case errors.Is(err.Err, openai.ErrReasoningToolsRequireResponses) && !q.noReasoning:
		q.noReasoning = true
		return q, true
	case err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity &&
		err.Status != http.StatusNotImplemented:
		return q, false
	}
	about := func(words ...string) bool {
		text := strings.ToLower(err.Message + " " + err.Code)
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case !q.noStream && !q.noStreamUsage && about("stream_options", "include_usage"):
		q.noStreamUsage = true
	case !q.noStream && about("stream"):
		q.noStream = true
	case err.Status == http.StatusNotImplemented:
		return q, false
	case !q.oldMax && about("max_completion_tokens"):
		q.oldMax = true
	case req.Schema != nil && q.schema < modePlain && about("response_format", "json_schema", "json_object",
		"structured output", "json mode", "schema"):
		q.schema++
	default:
		return q, false
	}
	return q, true
}
