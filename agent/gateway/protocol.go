package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Paths of the protocols below the endpoint's base URL.
const (
	chatPath      = "/chat/completions"
	responsesPath = "/responses"
	MessagesPath  = "/messages"
)

// streamOptions request the usage in a stream of chat completions. Some endpoints refuse them
// (https://github.com/avante-corp/avante.nvim/issues/2347).
const streamOptions = "stream_options"

// protocol describes a protocol of models.
type protocol struct {
	path   string
	bounds []string // fields that limit the answer's length: first the default, last the fallback if that is refused
	fields shape    // of a request
}

// protocols by path.
var protocols = map[string]protocol{
	chatPath:      {chatPath, []string{"max_tokens", "max_completion_tokens"}, chatRequest},
	responsesPath: {responsesPath, []string{"max_output_tokens"}, responsesRequest},
	MessagesPath:  {MessagesPath, []string{"max_tokens"}, messagesRequest},
}

// Common parts of the protocols.
var (
	choice = either(text, kinds(map[string]shape{
		"auto": anyChoice, "any": anyChoice, "none": anyChoice, "required": anyChoice,
		"tool": anyChoice, "function": anyChoice, "custom": anyChoice,
	}))
	anyChoice = object(fields{"type": text, "name": text, "disable_parallel_tool_use": anything,
		"function": object(fields{"name": text}), "custom": object(fields{"name": text})})
	// without a TTL, since a longer one costs more
	cacheControl = object(fields{"type": text})
	signature    = object(fields{"google": object(fields{"thought_signature": text})}) // required by Gemini
	// the same in LiteLLM's form (https://docs.litellm.ai/docs/reasoning_content)
	litellm = object(fields{"thought_signature": text, "thought_signatures": list(text), "reasoning_content": text,
		"thinking_blocks": anything})
)

// chatRequest is https://platform.openai.com/docs/api-reference/chat/create, with the reasoning fields of other
// endpoints.
var chatRequest = object(fields{
	"model": text, "stream": anything, "max_tokens": anything, "max_completion_tokens": anything,
	"temperature": anything, "top_p": anything, "stop": anything, "seed": anything, "presence_penalty": anything,
	"frequency_penalty": anything, "response_format": anything, "reasoning_effort": text, "verbosity": text,
	"parallel_tool_calls": anything, "prompt_cache_key": text, "tool_choice": choice,
	"thinking": object(fields{"type": text}),
	"messages": list(object(fields{
		"role": text, "name": text, "tool_call_id": text, "refusal": text, "reasoning": text, "reasoning_content": text,
		"reasoning_text": text, "reasoning_details": anything, "thinking_blocks": anything, "extra_content": signature,
		"provider_specific_fields": litellm, "cache_control": cacheControl,
		"content": either(text, list(kinds(map[string]shape{
			"text":    object(fields{"type": text, "text": text, "cache_control": cacheControl}),
			"refusal": object(fields{"type": text, "refusal": text}),
			"thinking": object(fields{"type": text, "closed": anything, "signature": text, // Mistral's
				"thinking": list(kinds(map[string]shape{"text": object(fields{"type": text, "text": text})}))}),
			"image_url": object(fields{"type": text, "cache_control": cacheControl,
				"image_url": either(inline, object(fields{"url": inline, "detail": text}))}),
		}))),
		"tool_calls": list(kinds(map[string]shape{
			"function": object(fields{"id": text, "type": text, "index": anything, "extra_content": signature,
				"provider_specific_fields": litellm,
				"function":                 object(fields{"name": text, "arguments": anything})}),
			"custom": object(fields{"id": text, "type": text, "custom": object(fields{"name": text, "input": text})}),
		})),
	})),
	"tools": known(kinds(map[string]shape{
		"function": object(fields{"type": text, "cache_control": cacheControl, "function": object(fields{"name": text,
			"description": text, "parameters": anything, "strict": anything})}),
		"custom": object(fields{"type": text, "custom": object(fields{"name": text, "description": text,
			"format": anything})}),
	})),
})

// responsesRequest is https://platform.openai.com/docs/api-reference/responses/create.
var responsesRequest = object(fields{
	"model": text, "stream": anything, "max_output_tokens": anything, "instructions": text, "temperature": anything,
	"top_p": anything, "truncation": text, "parallel_tool_calls": anything, "prompt_cache_key": text, "text": anything,
	"reasoning":   object(fields{"effort": text, "summary": text}),
	"include":     known(oneOf("reasoning.encrypted_content")),
	"tool_choice": choice,
	"input": either(text, list(kinds(map[string]shape{
		"": responsesMessage, "message": responsesMessage,
		"function_call": object(fields{"type": text, "id": text, "status": text, "call_id": text, "name": text,
			"namespace": text, "arguments": text}),
		"function_call_output": object(fields{"type": text, "id": text, "status": text, "call_id": text,
			"output": responsesParts}),
		"custom_tool_call": object(fields{"type": text, "id": text, "status": text, "call_id": text, "name": text,
			"namespace": text, "input": text}),
		"custom_tool_call_output": object(fields{"type": text, "id": text, "status": text, "call_id": text,
			"output": responsesParts}),
		"reasoning": object(fields{"type": text, "id": text, "status": text, "encrypted_content": text,
			"summary": list(object(fields{"type": text, "text": text})),
			"content": list(object(fields{"type": text, "text": text}))}),
		"local_shell_call": object(fields{"type": text, "id": text, "status": text, "call_id": text,
			"action": anything}),
		"local_shell_call_output": object(fields{"type": text, "id": text, "status": text, "call_id": text,
			"output": text}),
	}))),
	"tools": known(kinds(map[string]shape{
		"function": responsesFunction, "custom": responsesCustom, "local_shell": object(fields{"type": text}),
		"namespace": object(fields{"type": text, "name": text, "description": text,
			"tools": known(kinds(map[string]shape{"function": responsesFunction, "custom": responsesCustom}))}),
	})),
})

var (
	responsesMessage = object(fields{"type": text, "id": text, "status": text, "role": text, "phase": text,
		"content": responsesParts})
	responsesFunction = object(fields{"type": text, "name": text, "description": text, "parameters": anything,
		"strict": anything})
	responsesCustom = object(fields{"type": text, "name": text, "description": text, "format": anything})
	responsesParts  = either(text, list(kinds(map[string]shape{
		"input_text": object(fields{"type": text, "text": text}),
		"output_text": object(fields{"type": text, "text": text, "annotations": nothing,
			"logprobs": nothing}),
		"refusal":     object(fields{"type": text, "refusal": text}),
		"input_image": object(fields{"type": text, "image_url": inline, "detail": text}),
		"input_file":  object(fields{"type": text, "file_data": document(inline), "filename": text}),
	})))
)

// messagesRequest is https://docs.anthropic.com/en/api/messages.
var messagesRequest = object(fields{
	"model": text, "stream": anything, "max_tokens": anything, "temperature": anything, "top_p": anything,
	"top_k": anything, "stop_sequences": anything, "tool_choice": choice, "cache_control": cacheControl,
	"thinking":      object(fields{"type": text, "budget_tokens": anything, "display": text}),
	"output_config": object(fields{"effort": text, "format": anything}),
	"context_management": object(fields{"edits": known(kinds(map[string]shape{
		"clear_thinking_*": anything, "clear_tool_uses_*": anything}))}),
	"system": either(text, list(kinds(map[string]shape{"text": messagesText}))),
	"messages": list(object(fields{"role": text, "content": either(text, list(kinds(map[string]shape{
		"text": messagesText, "image": messagesImage, "document": messagesDocument,
		"thinking":          object(fields{"type": text, "thinking": text, "signature": text}),
		"redacted_thinking": object(fields{"type": text, "data": text}),
		"tool_use": object(fields{"type": text, "id": text, "name": text, "input": anything,
			"cache_control": cacheControl}),
		"tool_result": object(fields{"type": text, "tool_use_id": text, "is_error": anything,
			"cache_control": cacheControl,
			"content": either(text, list(kinds(map[string]shape{
				"text": messagesText, "image": messagesImage, "document": messagesDocument,
				"tool_reference": object(fields{"type": text, "tool_name": text}),
			})))}),
	})))})),
	"tools": known(kinds(map[string]shape{"": messagesTool, "custom": messagesTool, "bash_*": messagesTool,
		"text_editor_*": messagesTool})),
})

var (
	messagesText   = object(fields{"type": text, "text": text, "cache_control": cacheControl})
	messagesBase64 = object(fields{"type": text, "media_type": text, "data": text})
	messagesImage  = object(fields{"type": text, "cache_control": cacheControl,
		"source": kinds(map[string]shape{"base64": encoded(messagesBase64)})})
	messagesDocument = object(fields{"type": text, "title": text, "context": text, "cache_control": cacheControl,
		"source": kinds(map[string]shape{"base64": document(messagesBase64), "text": messagesBase64})})
	messagesTool = object(fields{"type": text, "name": text, "description": text, "input_schema": anything,
		"strict": anything, "input_examples": anything, "eager_input_streaming": anything, "defer_loading": anything,
		"max_characters": anything, "cache_control": cacheControl})
)

// request is a parsed and filtered request.
type request struct {
	protocol
	fields map[string]json.RawMessage
	model  string
	stream bool
	want   int // requested tokens of the answer; 0: unset
	media  media
}

// prompt estimates the tokens of the prompt of a request with size bytes to a model with the given window. The size
// says little about images, and nothing about documents: a PDF of 2 KB may have 100 pages.
func (q request) prompt(size, window int) int {
	tokens := size/bytesPerToken + q.media.images*tokensPerImage
	if q.media.documents > 0 {
		tokens = max(tokens, window)
	}
	return tokens
}

func (p protocol) parse(body []byte) (q request, err error) {
	q = request{protocol: p}
	if err := checkJSON(body); err != nil {
		return q, err
	}
	clean, err := p.fields(body, &q.media)
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(clean, &q.fields); err != nil {
		return q, err
	}
	if q.fields == nil {
		return q, errors.New("it is null")
	}
	read := func(name string, to any) {
		if raw, ok := q.fields[name]; ok && err == nil {
			if err = json.Unmarshal(raw, to); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	read("model", &q.model)
	read("stream", &q.stream)
	for _, name := range p.bounds {
		var n int
		if read(name, &n); n > 0 {
			q.want = max(q.want, n)
		} else {
			delete(q.fields, name)
		}
	}
	return q, err
}

// rewritten returns the request for an answer of at most limit tokens; 0: no limit. It requests the usage of streamed
// answers. without are fields that the endpoint refuses; added are fields that the gateway added and that can be
// omitted or renamed.
func (q request) rewritten(limit int, without []string) (body []byte, added []string, err error) {
	out := maps.Clone(q.fields)
	set := func(name string, v any) {
		b, _ := json.Marshal(v) // numbers, booleans and maps of them
		out[name] = b
	}
	if q.path == responsesPath {
		set("store", false) // by default, the provider stores conversations
	}
	if q.path == chatPath && q.stream && !slices.Contains(without, streamOptions) {
		set(streamOptions, map[string]bool{"include_usage": true})
		added = append(added, streamOptions)
	}
	if limit > 0 {
		bounded := false
		for _, name := range q.bounds {
			if raw, there := out[name]; there {
				var n int
				if err := json.Unmarshal(raw, &n); err != nil || n > limit {
					set(name, limit)
				}
				bounded = true
			}
		}
		if last := len(q.bounds) - 1; !bounded {
			name := q.bounds[0]
			if slices.Contains(without, name) {
				name = q.bounds[last]
			}
			if set(name, limit); name != q.bounds[last] {
				added = append(added, name)
			}
		}
		if q.thinksLongerThan(limit) {
			delete(out, "thinking") // the endpoint would refuse it
		}
	}
	if t, there := out["tools"]; there && string(t) == "[]" {
		delete(out, "tools")
	}
	if _, there := out["tools"]; !there {
		delete(out, "tool_choice")
	}
	if body, err = json.Marshal(out); err != nil {
		return nil, nil, fmt.Errorf("the request can't be passed on: %w", err)
	}
	return body, added, nil
}

// thinksLongerThan reports whether a request's thinking budget leaves no tokens of limit for an answer.
func (q request) thinksLongerThan(limit int) bool {
	var t struct {
		Budget int `json:"budget_tokens"`
	}
	return json.Unmarshal(q.fields["thinking"], &t) == nil && t.Budget >= limit
}
