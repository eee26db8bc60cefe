package llm

import (
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// textForm is a form in which open models write a call as text, and in which servers
// without a parser for it pass it through.
type textForm struct {
	// what stands around a call; the last call may lack its end
	begin, end string
	read       func(body string, schemas map[string]json.RawMessage) []textCall // what stands between
}

// textCall is a call that was written as text.
type textCall struct{ name, args string }

// textForms are the forms; textcalls_test.go has a call in each of them, and where that can be seen.
var textForms = []textForm{
	{"<tool_call>", "</tool_call>", readTagged},
	{"<function=", "</function>", readFunction},
	{"<invoke name=", "</invoke>", readInvoke},
	{"<|tool_call_begin|>", "<|tool_call_end|>", readNamed},
	{"<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", readNamed},
	{" to=functions.", "<|call|>", readNamed},
	{"[TOOL_CALLS]", "[/TOOL_CALLS]", readNamed},
	{"<|tool_call|>", "<|/tool_call|>", readNamed},
	{"<TOOLCALL>", "</TOOLCALL>", readNamed},
	{"<|tool_call>", "<tool_call|>", readCall},
}

// aroundCalls is what else such text holds.
var aroundCalls = lazyregexp.New(
	`(?s)<\|channel\|>analysis<\|message\|>.*?<\|end\|>|` +
		`<\|(?:tool_calls_section_(?:begin|end)|end|start)\|>(?:assistant)?|` +
		`<\|channel\|>commentary|<｜tool▁calls▁(?:begin|end)｜>|</?(?:minimax:tool_call|tool_calls|function_calls|tool_call)>`)

// readTextCalls takes the calls that a model wrote as text. Only a call of a tool that was
// offered counts; anything else stays prose.
func (a *answer) readTextCalls(m *Message, tools []ToolSpec) {
	if len(tools) == 0 {
		return
	}
	schemas := map[string]json.RawMessage{}
	for _, t := range tools {
		schemas[t.Name] = t.Parameters
	}
	const most = 256 // places that are looked at, so that the time is linear
	var prose strings.Builder
	rest := strings.ReplaceAll(m.Content, "｜DSML｜", "")
	for looked := 0; looked < most && len(a.calls) < maxAnswerCalls; looked++ {
		before, call, after, form := nextTextCall(rest)
		if form == nil {
			break
		}
		rest = after
		prose.WriteString(before)
		body := strings.TrimSuffix(strings.TrimPrefix(call, form.begin), form.end)
		taken := false
		for _, read := range form.read(body, schemas) {
			read.name = offeredName(read.name, tools)
			if _, there := schemas[read.name]; !there {
				continue
			}
			if c, err := a.newCall("", read.name); err == nil && c.add([]byte(read.args)) == nil {
				taken = true
			}
		}
		if !taken {
			prose.WriteString(call)
		}
	}
	prose.WriteString(rest)
	if len(a.calls) == 0 {
		a.readBareCall(m, tools)
		return
	}
	m.Content = strings.TrimSpace(aroundCalls.ReplaceAllString(prose.String(), ""))
}

// readBareCall takes an answer that is nothing but the object of a call, as smaller models
// give it (https://github.com/jundot/omlx/issues/2565).
func (a *answer) readBareCall(m *Message, tools []ToolSpec) {
	body := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(m.Content), "<|python_tag|>"))
	if in, fenced := strings.CutPrefix(body, "```"); fenced {
		body = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(in, "json"), "```"))
	}
	if !strings.HasPrefix(body, "{") {
		return
	}
	read := readObject([]byte(body))
	for _, t := range tools {
		if t.Name != read.name || read.args == "" {
			continue
		}
		if c, err := a.newCall("", read.name); err == nil && c.add([]byte(read.args)) == nil {
			m.Content = ""
		}
		return
	}
}

// nextTextCall cuts text around the next call in it, its marks included; form is nil where
// there is none.
func nextTextCall(text string) (before, call, after string, form *textForm) {
	at := len(text)
	for i, f := range textForms {
		if n := strings.Index(text[:at], f.begin); n >= 0 {
			at, form = n, &textForms[i]
		}
	}
	if form == nil {
		return text, "", "", nil
	}
	end, inside := len(text), at+len(form.begin)
	if n := strings.Index(text[at:], form.end); n >= 0 {
		end = at + n + len(form.end)
	} else if n := strings.Index(text[inside:], form.begin); n >= 0 { // its end is left out
		end = inside + n
	}
	return text[:at], text[at:end], text[end:], form
}

// readTagged reads what stands between the tags of Hermes and Qwen: an object, a function,
// or, with GLM, a name and a tag for each key and value.
func readTagged(body string, schemas map[string]json.RawMessage) []textCall {
	body = strings.TrimSpace(body)
	if in, is := strings.CutPrefix(body, "<function="); is {
		return readFunction(strings.TrimSuffix(in, "</function>"), schemas)
	}
	if name, in, is := strings.Cut(body, "<arg_key>"); is {
		name = strings.TrimSpace(name)
		return []textCall{{name, argumentsOf("<arg_key>"+in, glmArgument, schemas[name])}}
	}
	return readObjects(body)
}

// readObjects reads an object of a call, or a list of them.
func readObjects(body string) (calls []textCall) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(body), &list) != nil {
		list = []json.RawMessage{json.RawMessage(body)}
	}
	for _, raw := range list {
		calls = append(calls, readObject(raw))
	}
	return calls
}

// readObject reads {"name": …, "arguments": {…}}; the name is empty where it is none.
func readObject(body []byte) textCall {
	var v struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(body, &v) != nil {
		return textCall{}
	}
	if v.Arguments == nil {
		v.Arguments = v.Parameters
	}
	return textCall{v.Name, plainArguments(string(v.Arguments), false)}
}

// readFunction reads name>{…} and name><parameter=key>value</parameter>….
func readFunction(body string, schemas map[string]json.RawMessage) []textCall {
	body, _, _ = strings.Cut(body, "</function>")
	name, in, _ := strings.Cut(body, ">")
	name, in = strings.Trim(name, "\"' "), strings.TrimSpace(in)
	switch {
	case strings.HasPrefix(in, "<parameter="):
		return []textCall{{name, argumentsOf(in, qwenArgument, schemas[name])}}
	case in == "" || json.Valid([]byte(in)):
		return []textCall{{name, in}}
	}
	return nil
}

// readInvoke reads "name"><parameter name="key">value</parameter>….
func readInvoke(body string, schemas map[string]json.RawMessage) []textCall {
	name, in, _ := strings.Cut(body, ">")
	name = strings.Trim(name, "\"' ")
	return []textCall{{name, argumentsOf(in, invokeArgument, schemas[name])}}
}

// readCall reads call:name{key:value,…}, as Gemma writes it; a text stands between quotes or
// between tokens for them.
func readCall(body string, schemas map[string]json.RawMessage) []textCall {
	body = strings.TrimPrefix(strings.TrimSpace(body), "call:")
	at := strings.IndexAny(body, "{(")
	if at < 0 {
		return nil
	}
	name := body[:at]
	return []textCall{{name, argumentsOf(strings.TrimRight(body[at+1:], "})"), gemmaArgument, schemas[name])}}
}

// namedCall is a name and what stands between it and its arguments.
var namedCall = lazyregexp.New(`^\s*(?:function\s*<｜tool▁sep｜>)?((?:functions\.)?[\w.-]+(?::\d+)?)[^{]{0,80}`)

// readNamed reads a name that an object follows, or objects of both.
func readNamed(body string, _ map[string]json.RawMessage) []textCall {
	m := namedCall.FindStringSubmatch(body)
	if m == nil {
		return readObjects(strings.TrimSpace(body))
	}
	var args json.RawMessage
	if json.NewDecoder(strings.NewReader(body[len(m[0]):])).Decode(&args) != nil {
		return nil
	}
	return []textCall{{m[1], string(args)}}
}

// How arguments are written one by one: the key, and the value.
var (
	qwenArgument   = lazyregexp.New(`(?s)<parameter=([^>]*)>(.*?)</parameter>`)
	invokeArgument = lazyregexp.New(`(?s)<parameter name="([^"]*)"[^>]*>(.*?)</parameter>`)
	gemmaArgument  = lazyregexp.New(`(?s)(\w+)\s*:\s*(<\|"\|>.*?<\|"\|>|"(?:[^"\\]|\\.)*"|[^,]*)`)
	glmArgument    = lazyregexp.New(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
)

// argumentsOf makes an object of arguments that are written one by one. Where the schema
// wants no text, a value that is JSON counts as that.
func argumentsOf(body string, form *lazyregexp.Regexp, schema json.RawMessage) string {
	var want struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &want) // a schema that says nothing wants texts
	args := map[string]any{}
	for _, m := range form.FindAllStringSubmatch(body, -1) {
		key := strings.TrimSpace(m[1])
		value := strings.TrimSuffix(strings.TrimPrefix(m[2], "\n"), "\n")
		if form == gemmaArgument && !strings.HasPrefix(value, `<|"|>`) && strings.HasPrefix(value, `"`) {
			value = unquoted(value)
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, `<|"|>`), `<|"|>`)
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
