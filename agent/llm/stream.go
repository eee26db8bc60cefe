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

// errSilent ends a try whose answer does not begin, or does not go on.
var errSilent = errors.New("the answer fell silent")

// errBrokenOff says that an answer ended before the model had finished it.
var errBrokenOff = errors.New("the answer broke off before its end")

// streamed makes one HTTP request and puts the answer together as it comes. The
// connection is cut as soon as ctx ends, or nothing comes for too long. Of an answer that broke off, the Response says what it used.
func (c *Client) streamed(ctx context.Context, req Request, q quirks) (Response, *Error) {
	wire := c.wire(req, q)
	wire.Stream = true
	if !q.noStreamUsage {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	var s seen
	ctx, stop := context.WithCancelCause(withSeen(ctx, &s))
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	silence := time.AfterFunc(c.cfg.First, func() { stop(errSilent) })
	defer silence.Stop()

	resp, err := c.open(ctx, wire)
	if err != nil {
		return Response{}, c.explain(ctx, s, err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(touching{resp.Body, func() { s.begun = true; silence.Reset(c.cfg.Idle) }})
	if first, err := body.Peek(1); err == nil && first[0] == '{' { // it does not stream, whatever it was asked
		return c.inOnePiece(ctx, s, body, req)
	}
	var a answer
	if err = a.read(body); err == nil {
		return c.response(a.whole(), s, req)
	}
	lost := Response{Lost: a.used(req)}
	lost.Lost.USD = c.cfg.Price.Cost(lost.Lost)
	return lost, c.explain(ctx, s, err)
}

// open asks for the answer. An error tells what the endpoint said.
func (c *Client) open(ctx context.Context, wire openai.ChatCompletionRequest) (*http.Response, error) {
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

// inOnePiece reads the answer of an endpoint that was asked to stream and does
// not.
func (c *Client) inOnePiece(ctx context.Context, s seen, body io.Reader, req Request) (Response, *Error) {
	text, err := io.ReadAll(body)
	var got openai.ChatCompletionResponse
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		return Response{}, c.explain(ctx, s, err)
	}
	return c.response(got, s, req)
}

// touching calls touch whenever something was read.
type touching struct {
	io.Reader
	touch func()
}

func (t touching) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.touch()
	}
	return n, err
}

// answer is a streamed answer as far as it has come.
type answer struct {
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

// read reads chunks until the stream says that it is done.
func (a *answer) read(body *bufio.Reader) error {
	in := events{body}
	for {
		data, err := in.next()
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
		a.add(chunk.ChatCompletionStreamResponse)
	}
}

func (a *answer) add(chunk openai.ChatCompletionStreamResponse) {
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
			a.piece(piece)
		}
	}
}

// piece adds a piece of a call. It belongs to the call of its index; servers
// that don't number calls, or number all alike, give each an id of its own.
func (a *answer) piece(p openai.ToolCall) {
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

// whole is the answer as it would have come in one piece.
func (a *answer) whole() openai.ChatCompletionResponse {
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

// used is what an answer that broke off has used: what the endpoint said, else
// an estimate. An answer that never began costs nothing.
func (a *answer) used(req Request) Usage {
	switch {
	case a.usage != nil:
		return usage(*a.usage)
	case !a.begun:
		return Usage{}
	}
	m := Message{Content: a.text.String() + a.refusal.String()}
	for _, call := range a.calls {
		m.ToolCalls = append(m.ToolCalls, ToolCall{Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return Usage{Input: req.Tokens(), Output: m.Tokens() + a.thought/4, Estimated: true}
}
