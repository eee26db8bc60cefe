package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// errSilent ends a try when its answer does not begin, or does not go on.
var errSilent = errors.New("the answer fell silent")

// errBrokenOff says that an answer ended before the model had finished it.
var errBrokenOff = errors.New("the answer broke off before its end")

// callStreaming makes one HTTP request and puts the answer together as it comes. The
// connection is cut as soon as ctx ends, or nothing comes for too long. The Response
// of an answer that broke off says what it used.
func (c *Client) callStreaming(ctx context.Context, req Request, q endpointQuirks) (Response, *Error) {
	wire := c.wireRequest(req, q)
	wire.Stream = true
	if !q.noStreamUsage {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	var s seenAnswer
	ctx, stop := context.WithCancelCause(withSeen(ctx, &s))
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	silence := time.AfterFunc(c.cfg.First, func() { stop(errSilent) })
	defer silence.Stop()

	resp, err := c.openStream(ctx, wire)
	if err != nil {
		return Response{}, c.errorOf(ctx, s, err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(touchReader{resp.Body, func() { s.begun = true; silence.Reset(c.cfg.Idle) }})
	if first, err := body.Peek(1); err == nil && first[0] == '{' { // it does not stream, whatever it was asked
		return c.readWhole(ctx, s, body, req)
	}
	var a streamedAnswer
	if err = a.readChunks(body); err == nil {
		return c.responseOf(a.wholeAnswer(), s, req)
	}
	lost := Response{Lost: a.usedTokens(req)}
	lost.Lost.USD = c.cfg.Price.Cost(lost.Lost)
	return lost, c.errorOf(ctx, s, err)
}

// openStream asks for the answer. An error tells what the endpoint said.
func (c *Client) openStream(ctx context.Context, wire openai.ChatCompletionRequest) (*http.Response, error) {
	if err := openai.NewReasoningValidator().Validate(wire); err != nil {
		return nil, err
	}
	b, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.BaseURL+"/chat/completions", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.APIKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	if err != nil {
		return nil, err
	}
	var said openai.ErrorResponse
	if json.Unmarshal(text, &said) == nil && said.Error != nil {
		return nil, said.Error
	}
	return nil, &openai.RequestError{HTTPStatusCode: resp.StatusCode, Err: errors.New(resp.Status), Body: text}
}

// readWhole reads the answer of an endpoint that was asked to stream and did not.
func (c *Client) readWhole(ctx context.Context, s seenAnswer, body io.Reader, req Request) (Response, *Error) {
	text, err := io.ReadAll(body)
	var got openai.ChatCompletionResponse
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		return Response{}, c.errorOf(ctx, s, err)
	}
	return c.responseOf(got, s, req)
}

// touchReader calls touch whenever something was read.
type touchReader struct {
	io.Reader
	touch func()
}

func (t touchReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.touch()
	}
	return n, err
}

// streamedAnswer is a streamed answer as far as it has come.
type streamedAnswer struct {
	text, refusal strings.Builder
	thought       int // bytes of reasoning, which is paid for and not kept
	calls         []partialCall
	finish        openai.FinishReason
	usage         *openai.Usage
	begun         bool // the model has said anything
}

// partialCall is a tool call whose arguments come in pieces.
type partialCall struct {
	index int
	openai.ToolCall
}

// readChunks reads chunks until the stream says that it is done.
func (a *streamedAnswer) readChunks(body *bufio.Reader) error {
	in := eventReader{body}
	for {
		data, err := in.nextData()
		switch {
		case errors.Is(err, io.EOF) && a.finish != "", err != nil && a.finish != "" && a.usage != nil:
			return nil // all that matters is here
		case errors.Is(err, io.EOF):
			return errBrokenOff
		case err != nil:
			return err
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			if a.finish == "" && !a.begun {
				return errBrokenOff
			}
			return nil
		}
		var chunk struct {
			openai.ChatCompletionStreamResponse
			Error *openai.APIError `json:"error"`
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return err
		}
		if chunk.Error != nil {
			return chunk.Error
		}
		a.addChunk(chunk.ChatCompletionStreamResponse)
	}
}

func (a *streamedAnswer) addChunk(chunk openai.ChatCompletionStreamResponse) {
	if chunk.Usage != nil && chunk.Usage.PromptTokens > 0 {
		a.usage = chunk.Usage
	}
	for _, ch := range chunk.Choices {
		if ch.Index != 0 {
			continue
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
		d := ch.Delta
		a.begun = a.begun || d.Content != "" || d.Refusal != "" || d.ReasoningContent != "" || len(d.ToolCalls) > 0
		a.text.WriteString(d.Content)
		a.refusal.WriteString(d.Refusal)
		a.thought += len(d.ReasoningContent)
		for _, piece := range d.ToolCalls {
			a.addPiece(piece)
		}
	}
}

// addPiece adds a piece of a call. It belongs to the call of its index. Servers that
// don't number calls, or number all alike, give each an id of its own.
func (a *streamedAnswer) addPiece(p openai.ToolCall) {
	index := len(a.calls) - 1
	if p.Index != nil {
		index = *p.Index
	} else if p.ID != "" || index < 0 {
		index = len(a.calls)
	}
	at := -1
	for i := range a.calls {
		if a.calls[i].index == index {
			at = i
		}
	}
	if at < 0 || p.ID != "" && a.calls[at].ID != "" && a.calls[at].ID != p.ID {
		a.calls = append(a.calls, partialCall{index: index})
		at = len(a.calls) - 1
	}
	call := &a.calls[at]
	if call.ID == "" {
		call.ID = p.ID
	}
	if call.Function.Name == "" {
		call.Function.Name = p.Function.Name
	}
	call.Function.Arguments += p.Function.Arguments
}

// wholeAnswer is the answer as it would have come in one piece.
func (a *streamedAnswer) wholeAnswer() openai.ChatCompletionResponse {
	m := openai.ChatCompletionMessage{Role: RoleAssistant, Content: a.text.String(), Refusal: a.refusal.String()}
	for _, call := range a.calls {
		m.ToolCalls = append(m.ToolCalls, call.ToolCall)
	}
	out := openai.ChatCompletionResponse{Choices: []openai.ChatCompletionChoice{{Message: m, FinishReason: a.finish}}}
	if a.usage != nil {
		out.Usage = *a.usage
	}
	return out
}

// usedTokens is what an answer that broke off has used: what the endpoint said, or else
// an estimate. An answer that never began costs nothing.
func (a *streamedAnswer) usedTokens(req Request) Usage {
	switch {
	case a.usage != nil:
		return usageOf(*a.usage)
	case !a.begun:
		return Usage{}
	}
	m := Message{Content: a.text.String() + a.refusal.String()}
	for _, call := range a.calls {
		m.ToolCalls = append(m.ToolCalls, ToolCall{Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return Usage{Input: req.Tokens(), Output: m.Tokens() + a.thought/4, Estimated: true}
}
