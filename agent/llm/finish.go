package llm

import (
	"encoding/json"
	"errors"
	"strings"
)

// finishes maps the finish reasons of Anthropic, Gemini, Mistral, z.ai, Bedrock and Cohere, in lower case, to OpenAI's.
var finishes = map[string]string{
	"end_turn": FinishStop, "stop_sequence": FinishStop, "eos": FinishStop, "end": FinishStop, "completed": FinishStop,
	"complete": FinishStop, "tool_use": FinishToolCalls, "function_call": FinishToolCalls, "tool_call": FinishToolCalls,
	"max_tokens": FinishLength, "max_output_tokens": FinishLength, "model_length": FinishLength,
	"model_context_window_exceeded": FinishLength, "incomplete": FinishLength,
	"refusal": FinishContentFilter, "safety": FinishContentFilter, "recitation": FinishContentFilter,
	"prohibited_content": FinishContentFilter, "blocklist": FinishContentFilter, "spii": FinishContentFilter,
	"sensitive": FinishContentFilter, "guardrail_intervened": FinishContentFilter,
	"content_filtered": FinishContentFilter, "error_toxic": FinishContentFilter, "pause_turn": FinishPause,
}

// failures maps finish reasons that report an error, in lower case, to error kinds: OpenRouter's
// (https://openrouter.ai/docs/api-reference/errors), z.ai's (https://docs.z.ai/api-reference/llm/chat-completion),
// DeepSeek's (https://api-docs.deepseek.com/api/create-chat-completion), vLLM's and Gemini's
// (https://ai.google.dev/api/generate-content#FinishReason).
var failures = map[string]ErrorKind{
	"error": KindOverloaded, "network_error": KindOverloaded, "insufficient_system_resource": KindOverloaded,
	"abort": KindOverloaded, "malformed_function_call": KindMalformed, "unexpected_tool_call": KindMalformed,
	"function_call_filter: malformed_function_call": KindMalformed,
}

// errWithheld means that the provider's filter left nothing of an answer.
var errWithheld = errors.New("the model's provider withheld the answer (content filter)")

// newResponse converts an answer to req; limit is the maximum number of tokens that it could have.
func (c *Client) newResponse(a *answer, s responseMeta, req Request, d Protocol, limit int) (Response, *Error) {
	resp := Response{
		Message: Message{Role: RoleAssistant, Content: joinSurrogates(a.text.String())},
		Finish:  a.finish,
		Model:   c.cfg.Model,
		Client:  c.cfg.Name,
	}
	finish := strings.ToLower(a.finish)
	if known, ok := finishes[finish]; ok {
		resp.Finish = known
	}
	if a.refusal.Len() > 0 && resp.Message.Content == "" && len(a.calls) == 0 {
		resp.Message.Content, resp.Finish = joinSurrogates(a.refusal.String()), FinishContentFilter
	}
	if len(a.calls) == 0 {
		cut := resp.Finish == "" || resp.Finish == FinishLength || a.usage != nil && limit > 0 && a.usage.Output >= limit
		resp.Unread = a.readTextCalls(&resp.Message, req.Tools, cut)
	}
	if len(a.calls) == 0 && resp.Message.Content == "" && a.callsInReasoning(req.Tools) {
		resp.Unread = "it stands in your reasoning, where no call is carried out"
	}
	c.addCalls(a, &resp, req)
	if a.usage != nil {
		resp.Usage = a.reported(limit)
	}
	// An endpoint that does not report usage must not appear free.
	if u := &resp.Usage; u.Input == 0 {
		*u = Usage{Input: req.Tokens(), Output: a.estimatedOutput(), Estimated: true}
	} else if u.Output == 0 && a.started {
		u.Output, u.Estimated = a.estimatedOutput(), true
	}
	if resp.Finish == FinishStop && (resp.isEmpty() && nearLimit(resp.Usage.Output, limit) || a.isAtLimit(limit)) {
		resp.Finish = FinishLength // https://github.com/vllm-project/vllm/issues/24184
	}
	resp.Usage.USD = c.cfg.Price.Cost(resp.Usage)
	if len(resp.Message.ToolCalls) > 0 || len(a.opaque) > 0 {
		resp.Message.Opaque = &Opaque{Maker: c.maker(d), Parts: a.opaque}
	}
	failed := &Error{Client: c.cfg.Name, Status: s.status}
	switch kind, is := failures[finish]; {
	case is:
		failed.Kind, failed.Message = kind, "the endpoint ended the answer with the reason "+a.finish
	case resp.Finish == FinishToolCalls && len(resp.Message.ToolCalls) == 0 && resp.Message.Content == "":
		// https://github.com/earendil-works/pi/issues/9681
		failed.Kind, failed.Message = KindMalformed, "the answer says that it calls a tool, and calls none"
	case c.isWindowFull(resp, a, limit):
		failed.Kind, failed.Message = KindContextLength, "the window is full: the model had no room for an answer"
	default:
		return resp, nil
	}
	return Response{Lost: resp.Usage}, failed
}

// isWindowFull reports whether an answer ended because the conversation fills the window: it has the finish reason
// length without any output, or fewer tokens than limit. Xiaomi and others answer so, while most return an error.
// https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
func (c *Client) isWindowFull(resp Response, a *answer, limit int) bool {
	if resp.Finish != FinishLength {
		return false
	}
	if a.finish == "model_context_window_exceeded" {
		return true
	}
	if a.usage == nil {
		return resp.isEmpty() && !a.started
	}
	u := resp.Usage
	return u.Output == 0 && resp.isEmpty() || u.Output < limit && u.Input+u.Output >= c.Window()*99/100
}

// nearLimit reports whether an answer has as many tokens as allowed, or nearly: some endpoints count slightly less
// (https://github.com/BerriAI/litellm-docs/pull/559).
func nearLimit(output, limit int) bool { return limit > 0 && output >= limit*9/10 }

// isAtLimit reports whether an answer has exactly as many tokens as allowed. ik_llama.cpp never reports that it cut
// an answer off (server_task_result_cmpl_final in its examples/server/server-task.cpp). More tokens are no sign of it:
// some endpoints do not limit the reasoning.
func (a *answer) isAtLimit(limit int) bool {
	return a.usage != nil && limit > 0 && a.usage.Output == limit
}

// isCutShort reports whether an answer ends within a call: it has reached its limit, which Ollama and others report as
// "stop" or "tool_calls", or it has no finish reason, which some servers omit also if the answer is complete.
func (a *answer) isCutShort(calls []ToolCall, limit int) bool {
	if len(calls) == 0 || a.finish != "" && (a.usage == nil || limit <= 0 || a.usage.Output < limit) {
		return false
	}
	last := calls[len(calls)-1].Arguments
	return last != "" && !json.Valid([]byte(plainArguments(last, true)))
}
