package gateway

import (
	"bytes"
	"encoding/json"
)

// maxEvent is the maximum size of data that usage is read from, in bytes: one event of a stream, or a complete answer.
const maxEvent = 16 << 20

// counter reads the usage from an answer while it is passed on.
type counter struct {
	stream    bool
	buf       []byte // current line, or the whole answer
	truncated bool   // buf was too long and is ignored
	hasUsage  bool   // the usage of the complete answer was received
	ended     bool   // an event marked the end
	u         Usage

	uncached, cacheRead, cacheWrote int // Anthropic's separate counts so far
}

func newCounter(stream bool) *counter { return &counter{stream: stream} }

func (c *counter) add(b []byte) {
	if !c.stream {
		c.keep(b)
		return
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			c.keep(b)
			return
		}
		c.keep(b[:i])
		c.readLine()
		b = b[i+1:]
	}
}

func (c *counter) keep(b []byte) {
	if c.truncated = c.truncated || len(c.buf)+len(b) > maxEvent; !c.truncated {
		c.buf = append(c.buf, b...)
	}
}

// readLine parses a line of a stream.
func (c *counter) readLine() {
	if data, ok := bytes.CutPrefix(c.buf, []byte("data:")); ok && !c.truncated {
		c.read(bytes.TrimSpace(data))
	}
	c.buf, c.truncated = c.buf[:0], false
}

// wireUsage is the usage in any of the protocols.
type wireUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`     // not included in Input
	CacheCreation int `json:"cache_creation_input_tokens"` // not included in Input
	CacheHit      int `json:"prompt_cache_hit_tokens"`     // DeepSeek's, included in Prompt
	CachedTokens  int `json:"cached_tokens"`               // Moonshot's, included in Prompt
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"` // OpenRouter's
	} `json:"prompt_tokens_details"`
	InputDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// read reads the usage from an answer, or from one of its events. Later events hold only changes, so the maximum of
// each count is used. The usage at the start of a message, or of an unfinished response, is not final.
func (c *counter) read(data []byte) {
	if string(data) == "[DONE]" {
		c.ended = true
		return
	}
	var v struct {
		Type     string
		Usage    *wireUsage
		Message  *struct{ Usage *wireUsage }
		Response *struct{ Usage *wireUsage }
		Choices  []struct{ Usage *wireUsage } // Moonshot's
	}
	if json.Unmarshal(data, &v) != nil {
		return
	}
	w := v.Usage
	if w == nil && len(v.Choices) > 0 {
		w = v.Choices[0].Usage
	}
	switch v.Type {
	case "message_stop":
		c.ended = true
	case "message_start":
		if v.Message != nil {
			c.count(v.Message.Usage)
		}
		return
	case "response.completed", "response.done", "response.incomplete", "response.failed":
		if c.ended = true; v.Response != nil {
			w = v.Response.Usage
		}
	}
	if w != nil {
		c.hasUsage = true
		c.count(w)
	}
}

func (c *counter) count(w *wireUsage) {
	if w == nil {
		return
	}
	c.cacheRead = max(c.cacheRead, w.CacheRead)
	c.cacheWrote = max(c.cacheWrote, w.CacheCreation)
	c.uncached = max(c.uncached, w.Input)
	beside := c.uncached + c.cacheRead + c.cacheWrote
	if w.Prompt > 0 { // LiteLLM uses Anthropic's names, but includes cached tokens in the input
		beside = 0
	}
	c.u.Input = max(c.u.Input, w.Prompt, beside)
	c.u.Cached = min(
		max(c.u.Cached, c.cacheRead, w.CacheHit, w.CachedTokens, w.PromptDetails.Cached, w.InputDetails.Cached),
		c.u.Input)
	c.u.Written = min(max(c.u.Written, c.cacheWrote, w.PromptDetails.Written, w.InputDetails.Written),
		c.u.Input-c.u.Cached)
	c.u.Output = max(c.u.Output, w.Completion, w.Output)
	if w.Prompt > 0 { // xAI and Gemini don't include reasoning in the output
		c.u.Output = max(c.u.Output, w.Total-w.Prompt)
	}
}

// usage returns the usage of the call. whole reports whether the answer is complete. If the final usage is unknown, it
// returns the reservation.
func (c *counter) usage(call Call, whole bool) Usage {
	switch {
	case c.stream && whole:
		c.readLine() // the last line has no newline
	case !c.stream && whole && !c.truncated:
		c.read(c.buf)
	}
	if c.hasUsage && (whole || c.ended) && c.u != (Usage{}) {
		return c.u
	}
	return Usage{Input: max(call.Prompt, call.Input, c.u.Input), Output: max(call.Most, c.u.Output, 1)}
}
