package llm

import (
	"encoding/json"
	"strings"
)

// finishes are the reasons to stop in the words of those endpoints that have others, in
// lower case: Anthropic's, Gemini's, Mistral's, z.ai's, Bedrock's and Cohere's.
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

// failures are reasons to stop that are no end of an answer, in lower case, and what they mean:
// OpenRouter's (https://openrouter.ai/docs/api-reference/errors), z.ai's
// (https://docs.z.ai/api-reference/llm/chat-completion), DeepSeek's
// (https://api-docs.deepseek.com/api/create-chat-completion), vLLM's and Gemini's
// (https://ai.google.dev/api/generate-content#FinishReason).
var failures = map[string]ErrorKind{
	"error": KindOverloaded, "network_error": KindOverloaded, "insufficient_system_resource": KindOverloaded,
	"abort": KindOverloaded, "malformed_function_call": KindMalformed, "unexpected_tool_call": KindMalformed,
	"function_call_filter: malformed_function_call": KindMalformed,
}

// responseOf turns an answer to req into ours; most is how many tokens it might have.
func (c *Client) responseOf(a *answer, s seenAnswer, req Request, d Protocol, most int) (Response, *Error) {
	resp := Response{
		Message: Message{Role: RoleAssistant, Content: wellFormed(a.text.String())},
		Finish:  a.finish,
		Model:   c.cfg.Model,
		Client:  c.cfg.Name,
	}
	finish := strings.ToLower(a.finish)
	if known, ok := finishes[finish]; ok {
		resp.Finish = known
	}
	if a.refusal.Len() > 0 && resp.Message.Content == "" && len(a.calls) == 0 {
		resp.Message.Content, resp.Finish = wellFormed(a.refusal.String()), FinishContentFilter
	}
	if len(a.calls) == 0 {
		cut := resp.Finish == FinishLength || a.usage != nil && most > 0 && a.usage.Output >= most
		resp.Unread = a.readTextCalls(&resp.Message, req.Tools, cut)
	}
	if len(a.calls) == 0 && resp.Message.Content == "" && a.inThought(req.Tools) {
		resp.Unread = "it stands in your reasoning, where no call is carried out"
	}
	c.takeCalls(a, &resp, req)
	if a.usage != nil {
		resp.Usage = *a.usage
	}
	// An endpoint that does not count must not look free.
	if u := &resp.Usage; u.Input == 0 {
		*u = Usage{Input: req.Tokens(), Output: a.estimatedOutput(), Estimated: true}
	} else if u.Output == 0 && a.begun {
		u.Output, u.Estimated = a.estimatedOutput(), true
	}
	if resp.Finish == FinishStop && resp.unsaid() && full(resp.Usage.Output, most) {
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
	case c.fullWindow(resp, a, most):
		failed.Kind, failed.Message = KindContextLength, "the window is full: the model had no room for an answer"
	default:
		return resp, nil
	}
	return Response{Lost: resp.Usage}, failed
}

// fullWindow reports whether an answer ended because the conversation leaves it no room:
// at its length without any output, or before the length asked for with the window full.
// Xiaomi's and others answer so, where most refuse.
// https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
func (c *Client) fullWindow(resp Response, a *answer, most int) bool {
	if resp.Finish != FinishLength {
		return false
	}
	if a.finish == "model_context_window_exceeded" {
		return true
	}
	if a.usage == nil {
		return resp.unsaid() && !a.begun
	}
	u := resp.Usage
	return u.Output == 0 && resp.unsaid() || u.Output < most && u.Input+u.Output >= c.Window()*99/100
}

// full reports whether an answer has as many tokens as it might, or nearly: some count a little less
// (https://github.com/BerriAI/litellm-docs/pull/559).
func full(output, most int) bool { return most > 0 && output >= most*9/10 }

// cutShort reports whether an answer has as many tokens as it might, and ends in the midst
// of a call. Ollama and others call that "stop" or "tool_calls".
func (a *answer) cutShort(calls []ToolCall, most int) bool {
	if len(calls) == 0 || a.usage == nil || most <= 0 || a.usage.Output < most {
		return false
	}
	last := calls[len(calls)-1].Arguments
	return last != "" && !json.Valid([]byte(last))
}
