package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// callOnce makes one HTTP request.
func (c *Client) callOnce(ctx context.Context, req Request, q endpointQuirks) (Response, *Error) {
	if !q.noStream {
		return c.callStreaming(ctx, req, q)
	}
	var s seenAnswer
	ctx, cancel := context.WithTimeout(withSeen(ctx, &s), c.cfg.Timeout)
	defer cancel()
	got, err := c.api.CreateChatCompletion(ctx, c.wireRequest(req, q))
	if err != nil {
		return Response{}, c.errorOf(ctx, s, err)
	}
	return c.responseOf(got, s, req)
}

// responseOf turns the protocol's answer to req into ours.
func (c *Client) responseOf(got openai.ChatCompletionResponse, s seenAnswer, req Request) (Response, *Error) {
	if len(got.Choices) == 0 {
		return Response{}, &Error{Client: c.cfg.Name, Kind: KindMalformed, Status: s.status, Message: "the answer holds " +
			"no choices"}
	}
	choice := got.Choices[0]
	resp := Response{
		Message: Message{Role: RoleAssistant, Content: contentOf(choice.Message)},
		Finish:  string(choice.FinishReason),
		Model:   c.cfg.Model,
		Client:  c.cfg.Name,
		Usage:   usageOf(got.Usage),
	}
	for i, call := range choice.Message.ToolCalls {
		if call.ID == "" { // some servers leave it out; answers must name one
			call.ID = fmt.Sprintf("call_%d_%d", len(req.Messages), i)
		}
		resp.Message.ToolCalls = append(resp.Message.ToolCalls,
			ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	if resp.Usage.Input == 0 { // an endpoint that does not count must not look free
		resp.Usage = Usage{Input: req.Tokens(), Output: resp.Message.Tokens(), Estimated: true}
	}
	resp.Usage.USD = c.cfg.Price.Cost(resp.Usage)
	return resp, nil
}

// usageOf is the endpoint's count of tokens.
func usageOf(u openai.Usage) Usage {
	out := Usage{Input: max(0, u.PromptTokens), Output: max(0, u.CompletionTokens)}
	if d := u.PromptTokensDetails; d != nil {
		out.CachedInput = min(max(0, d.CachedTokens), out.Input)
	}
	return out
}

// contentOf is a message's text; a refusal is text too.
func contentOf(m openai.ChatCompletionMessage) string {
	text := m.Content
	for _, part := range m.MultiContent {
		text += part.Text
	}
	if text == "" {
		text = m.Refusal
	}
	return text
}

// wireRequest is req in the form of the protocol, as far as the endpoint accepts it.
func (c *Client) wireRequest(req Request, q endpointQuirks) openai.ChatCompletionRequest {
	most := c.cfg.MaxOutput
	if req.MaxOutput > 0 {
		most = min(most, req.MaxOutput)
	}
	out := openai.ChatCompletionRequest{Model: c.cfg.Model}
	if q.oldMax {
		out.MaxTokens = most //nolint:staticcheck // deprecated by OpenAI, and all that some servers know
	} else {
		out.MaxCompletionTokens = most
	}
	if q.noReasoning {
		out.ReasoningEffort = openai.ReasoningEffortNone
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, wireMessage(m))
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if req.Schema != nil {
		c.askForJSON(&out, *req.Schema, q.schema)
	}
	return out
}

func wireMessage(m Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: m.Role, Content: strings.ToValidUTF8(m.Content, "\uFFFD"),
		ToolCallID: m.ToolCallID}
	for _, call := range m.ToolCalls {
		args := call.Arguments
		if !json.Valid([]byte(args)) { // some endpoints refuse a conversation that holds what their model wrote
			args = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: args},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = "(empty)" // the library leaves an empty text out, which endpoints refuse
	}
	return out
}

// errorOf turns the library's error into ours.
func (c *Client) errorOf(ctx context.Context, s seenAnswer, err error) *Error {
	e := &Error{Client: c.cfg.Name, Status: s.status, RetryAfter: s.retryAfter}
	var api *openai.APIError
	var raw *openai.RequestError
	var redirect redirectError
	switch {
	case errors.As(err, &api):
		e.Message = api.Message
		if api.Code != nil {
			e.Code = fmt.Sprint(api.Code)
		} else {
			e.Code = api.Type
		}
		e.Kind = kindOf(e.Status, e.Code, e.Message)
	case errors.As(err, &raw):
		e.Message = strings.TrimSpace(string(raw.Body))
		e.Kind = kindOf(e.Status, "", e.Message)
	case errors.As(err, &redirect):
		e.Kind, e.Status, e.Message = KindBadRequest, redirect.status, redirect.Error()
	case errors.Is(context.Cause(ctx), errSilent):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.First)
		if s.begun {
			e.Message = fmt.Sprintf("%s for %s", errSilent, c.cfg.Idle)
		}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.Timeout)
	case errors.Is(err, errAnswerTooLarge):
		e.Kind, e.Message = KindMalformed, errAnswerTooLarge.Error()
	case isLimitation(err):
		e.Kind, e.Message, e.Err = KindBadRequest, err.Error(), err
	case errors.Is(err, errBrokenOff), s.streamed && errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Message = KindNetwork, errBrokenOff.Error()
	case s.status != 0 && isSyntax(err):
		e.Kind, e.Message = KindMalformed, "the answer is not the JSON of the protocol"
	default:
		e.Kind, e.Message = KindNetwork, err.Error()
	}
	e.Code = c.scrubText(e.Code)
	e.Message = c.scrubText(e.Message)
	return e
}

// isLimitation reports whether the library refused the request for its model
// without sending it.
func isLimitation(err error) bool {
	for _, l := range []error{
		openai.ErrReasoningToolsRequireResponses, openai.ErrReasoningSamplingUnsupported,
		openai.ErrReasoningEffortUnsupported,
		openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsOther,
		openai.ErrReasoningModelLimitationsLogprobs, openai.ErrChatCompletionInvalidModel,
	} {
		if errors.Is(err, l) {
			return true
		}
	}
	return false
}

// isSyntax reports whether err comes from reading what is no JSON, or JSON that is cut
// short.
func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) ||
		strings.Contains(err.Error(), "unexpected EOF") || strings.HasSuffix(err.Error(), "EOF")
}
