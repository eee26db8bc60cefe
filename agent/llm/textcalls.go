package llm

import (
	"encoding/json"
	"strings"
)

// readTextCalls takes the calls that a model wrote as text, in the forms that open models
// are trained on and that servers without a parser for them pass through:
//
//	<tool_call>{"name": "read", "arguments": {"path": "a.go"}}</tool_call>
//	<function=read>{"path": "a.go"}</function>
//	<function=read><parameter=path>a.go</parameter></function>
//
// Only a call of a tool that was offered counts; anything else stays prose.
// https://github.com/ggml-org/llama.cpp/issues/20198
// https://github.com/QwenLM/Qwen3-Coder
func (a *answer) readTextCalls(m *Message, tools []ToolSpec) {
	if len(tools) == 0 || !strings.Contains(m.Content, "<tool_call>") && !strings.Contains(m.Content, "<function=") {
		return
	}
	offered := map[string]ToolSpec{}
	for _, t := range tools {
		offered[t.Name] = t
	}
	const most = 256 // places that are looked at, so that the time is linear
	var prose strings.Builder
	rest := m.Content
	for looked := 0; looked < most && len(a.calls) < maxAnswerCalls; looked++ {
		before, call, after, ok := nextTextCall(rest)
		if !ok {
			break
		}
		prose.WriteString(before)
		name, args, understood := readTextCall(call, offered)
		if _, there := offered[name]; understood && there {
			if c, err := a.newCall("", name); err == nil && c.add([]byte(args)) == nil {
				rest = after
				continue
			}
		}
		prose.WriteString(call)
		rest = after
	}
	prose.WriteString(rest)
	if len(a.calls) > 0 {
		m.Content = strings.TrimSpace(prose.String())
	}
}

// textCallMarks are how such calls begin and end, the outer ones first.
var textCallMarks = [][2]string{{"<tool_call>", "</tool_call>"}, {"<function=", "</function>"}}

// nextTextCall cuts text around the next call in it, its marks included. The last call may
// lack its end.
func nextTextCall(text string) (before, call, after string, ok bool) {
	at, end := -1, ""
	for _, m := range textCallMarks {
		if i := strings.Index(text, m[0]); i >= 0 && (at < 0 || i < at) {
			at, end = i, m[1]
		}
	}
	if at < 0 {
		return "", "", "", false
	}
	length := strings.Index(text[at:], end)
	if length < 0 {
		return text[:at], text[at:], "", true
	}
	length += len(end)
	return text[:at], text[at : at+length], text[at+length:], true
}

// readTextCall reads the name and the arguments of a call, its marks included.
func readTextCall(call string, offered map[string]ToolSpec) (name, args string, ok bool) {
	body := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(call, "<tool_call>"), "</tool_call>"))
	if in, is := strings.CutPrefix(body, "<function="); is {
		in, _, _ = strings.Cut(in, "</function>")
		name, body, ok = strings.Cut(in, ">")
		if !ok {
			return "", "", false
		}
		name, body = strings.Trim(name, "\"' "), strings.TrimSpace(body)
		if strings.HasPrefix(body, "<parameter=") {
			return name, parametersOf(body, offered[name].Parameters), true
		}
		return name, body, body == "" || json.Valid([]byte(body))
	}
	var v struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal([]byte(body), &v) != nil || v.Name == "" {
		return "", "", false
	}
	if v.Arguments == nil {
		v.Arguments = v.Parameters
	}
	return v.Name, plainArguments(string(v.Arguments)), true
}

// parametersOf makes an object of parameters that are written one by one. Where the
// schema wants no text, a value that is JSON counts as that.
func parametersOf(body string, schema json.RawMessage) string {
	var want struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &want) // a schema that says nothing wants texts
	args := map[string]any{}
	for {
		_, in, ok := strings.Cut(body, "<parameter=")
		if !ok {
			break
		}
		key, in, ok := strings.Cut(in, ">")
		if !ok {
			break
		}
		value, rest, ok := strings.Cut(in, "</parameter>")
		if !ok {
			break
		}
		key, body = strings.TrimSpace(key), rest
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		args[key] = value
		var v any
		if kind := want.Properties[key].Type; kind != nil && kind != "string" && json.Unmarshal([]byte(value), &v) == nil {
			args[key] = v
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		return "{}"
	}
	return string(b)
}
