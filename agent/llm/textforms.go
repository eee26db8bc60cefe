package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

const space = " \t\r\n"

var errNoObject = errors.New("no object of a call is there")

// tagged reads the content of the tags of Hermes and Qwen: an object, a function, or, with GLM, a name and a tag for
// each key and value.
func (r *textReader) tagged(body string) (calls []textCall, n int, err error) {
	in := strings.TrimLeft(body, space)
	n = len(body) - len(in)
	const function, endFunction = "<function=", "</function>"
	if rest, is := strings.CutPrefix(in, function); is {
		calls, m, err := inTags(qwenArguments, endFunction)(r, rest)
		n += len(function) + m
		if rest, is := strings.CutPrefix(strings.TrimLeft(body[n:], space), endFunction); is {
			n = len(body) - len(rest)
		}
		return calls, n, err
	}
	m := glmCall.FindStringSubmatch(in[:min(len(in), maxHead)])
	if m == nil {
		return r.objects(body)
	}
	n += len(m[1])
	args, m2, err := r.arguments(m[1], body[n:], glmArguments, "</tool_call>")
	return oneCall(m[1], args, n+m2, err)
}

// oneCall returns a list of one call, or none on error.
func oneCall(name, args string, n int, err error) ([]textCall, int, error) {
	if err != nil {
		return nil, n, err
	}
	return []textCall{{name, args}}, n, nil
}

// maxHead is the number of bytes in which the start of a call is matched.
const maxHead = 300

var (
	glmCall = lazyregexp.New(`^([\w.-]+)\s*(?:<arg_key>|</tool_call>)`)
	// namedCall matches a name and the text before its arguments
	namedCall = lazyregexp.New(`^\s*(?:function\s*<｜tool▁sep｜>)?((?:functions\.)?[\w.-]+(?::\d+)?)[^{]{0,80}`)
	// pythonCall matches Python calls, including Gemma 3's
	// (https://ai.google.dev/gemma/docs/capabilities/function-calling)
	pythonCall = lazyregexp.New(`^(print\(\s*)?(?:default_api\.)?([A-Za-z_]\w*)\(`)
	gemmaCall  = lazyregexp.New(`^\s*(?:call:)?([\w.-]+)\s*([{(])`)
	beginFence = lazyregexp.New("^```(?:json|tool_code)?\\s*")
)

// objects reads consecutive call objects, lists of them, and lists of Python calls. On error, it returns the calls
// before it.
func (r *textReader) objects(body string) (calls []textCall, n int, err error) {
	for len(calls) < maxAnswerCalls {
		in := strings.TrimLeft(body[n:], space)
		if len(calls) == 0 {
			in = in[len(beginFence.FindString(in[:min(len(in), maxHead)])):]
		} else {
			in = strings.TrimLeft(in, space+"};,") // an extra brace, and Llama's separators
		}
		if in == "" || in[0] != '{' && in[0] != '[' {
			break
		}
		at := len(body) - len(in)
		got, m, fault := r.object(in)
		if fault != nil {
			err = fault
			break
		}
		calls, n = append(calls, got...), at+m
	}
	if len(calls) == 0 && err == nil {
		err = errNoObject
	}
	return calls, n, err
}

// object reads one call object, or one list.
func (r *textReader) object(body string) (calls []textCall, n int, err error) {
	if in := strings.TrimLeft(body[1:], space); body[0] == '[' && pythonCall.MatchString(in[:min(len(in), maxHead)]) {
		return r.pythonList(body)
	}
	value, n, err := r.loose(body)
	if err != nil {
		return nil, n, err
	}
	list := []json.RawMessage{json.RawMessage(value)}
	if value[0] == '[' {
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return nil, n, err
		}
	}
	for _, raw := range list {
		calls = append(calls, callObject(raw))
	}
	return calls, n, nil
}

// callObject parses {"name": …, "arguments": {…}}. On error the name is empty. An object with a description is a tool,
// not a call.
func callObject(raw []byte) textCall {
	var v struct {
		Name        string          `json:"name"`
		Description json.RawMessage `json:"description"`
		Arguments   json.RawMessage `json:"arguments"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(raw, &v) != nil || v.Description != nil {
		return textCall{}
	}
	if v.Arguments == nil {
		v.Arguments = v.Parameters
	}
	return textCall{v.Name, plainArguments(string(v.Arguments), false)}
}

// inTags returns a function that reads a name, > and arguments: an object, or each in tags of its own.
func inTags(marks argumentMarks, end string) func(r *textReader, body string) ([]textCall, int, error) {
	return func(r *textReader, body string) (calls []textCall, n int, err error) {
		name, in, is := strings.Cut(body[:min(len(body), maxHead)], ">")
		if !is {
			return nil, 0, errNoName
		}
		n = len(name) + 1
		name = strings.Trim(name, "\"' ")
		if strings.HasPrefix(strings.TrimLeft(in, space), "{") {
			args, m, err := r.loose(body[n:])
			return oneCall(name, args, n+m, err)
		}
		args, m, err := r.arguments(name, body[n:], marks, end)
		return oneCall(name, args, n+m, err)
	}
}

// loose reads the value at the start of a text; see readLoose.
func (r *textReader) loose(body string) (value string, n int, err error) {
	value, n, err = readLoose(body, r.cut)
	r.left -= n
	return value, n, err
}

// called reads call:name{key:value,…}, Gemma's form; strings are in quotes or in tokens for them.
func (r *textReader) called(body string) (calls []textCall, n int, err error) {
	m := gemmaCall.FindStringSubmatch(body[:min(len(body), maxHead)])
	if m == nil {
		return nil, 0, errNoName
	}
	args, n, err := r.namedArguments(body, len(m[0]), map[string]byte{"{": '}', "(": ')'}[m[2]])
	return oneCall(m[1], args, n, err)
}

// namedArguments reads key: value or key=value up to end.
func (r *textReader) namedArguments(body string, from int, end byte) (args string, n int, err error) {
	loose := looseReader{text: body, at: from, cut: r.cut}
	loose.object(end)
	r.left -= loose.at
	return string(loose.out), loose.at, loose.err
}

// python reads name(key=value, …), or print(default_api.name(…)).
func (r *textReader) python(body string) (call textCall, n int, err error) {
	m := pythonCall.FindStringSubmatch(body[:min(len(body), maxHead)])
	if m == nil {
		return textCall{}, 0, errNoName
	}
	args, n, err := r.namedArguments(body, len(m[0]), ')')
	if m[1] != "" && err == nil {
		if in, is := strings.CutPrefix(strings.TrimLeft(body[n:], space), ")"); is {
			n = len(body) - len(in)
		}
	}
	return textCall{m[2], args}, n, err
}

// pythonList reads [name(key=value, …), …].
func (r *textReader) pythonList(body string) (calls []textCall, n int, err error) {
	for n = 1; len(calls) < maxAnswerCalls; {
		n = len(body) - len(strings.TrimLeft(body[n:], space))
		call, m, err := r.python(body[n:])
		if err != nil {
			return nil, n, err
		}
		calls, n = append(calls, call), n+m
		in := strings.TrimLeft(body[n:], space)
		n = len(body) - len(in)
		switch {
		case strings.HasPrefix(in, ","):
			n++
		case strings.HasPrefix(in, "]"):
			return calls, n + 1, nil
		default:
			return nil, n, errors.New("a comma or ] is missing behind a call")
		}
	}
	return calls, n, nil
}

// named reads a name followed by an object, or objects with both.
func (r *textReader) named(body string) (calls []textCall, n int, err error) {
	m := namedCall.FindStringSubmatch(body[:min(len(body), maxHead)])
	if m == nil {
		return r.objects(body)
	}
	n = len(m[0])
	if !strings.HasPrefix(body[n:], "{") {
		return nil, n, errNoObject
	}
	args, k, err := r.loose(body[n:])
	return oneCall(m[1], args, n+k, err)
}

// argumentMarks are the tags of single arguments.
type argumentMarks struct {
	begin, end string
	head       *lazyregexp.Regexp // begin, the key, and the text before the value
}

var (
	qwenArguments   = argumentMarks{"<parameter=", "</parameter>", lazyregexp.New(`^<parameter=([^<>]*)>`)}
	invokeArguments = argumentMarks{"<parameter name=", "</parameter>",
		lazyregexp.New(`^<parameter name="([^"]*)"[^<>]*>`)}
	glmArguments = argumentMarks{"<arg_key>", "</arg_value>",
		lazyregexp.New(`^<arg_key>([^<>]*)</arg_key>\s*<arg_value>`)}
)

// arguments converts single arguments to an object. A value ends at its mark, or, if the model omits that
// (https://github.com/vllm-project/vllm/issues/23099), at the next argument or the end of the call.
func (r *textReader) arguments(
	tool, body string, marks argumentMarks, trailingMarkup string,
) (object string, n int, err error) {
	args := map[string]json.RawMessage{}
	t, _ := toolNamed(tool, r.tools)
	kinds := kindsOf(t.Parameters)
	for {
		in := strings.TrimLeft(body[n:], space)
		if !strings.HasPrefix(in, marks.begin) {
			switch {
			case r.cut && in == "":
				return "", n, fmt.Errorf("the call of %s breaks off", tool)
			case len(args) == 0 && in != "" && !strings.HasPrefix(in, trailingMarkup):
				return "", n, fmt.Errorf("neither an argument nor the end of the call follows the name %s", tool)
			}
			break
		}
		m := marks.head.FindStringSubmatch(in[:min(len(in), maxHead)])
		if m == nil {
			return "", n, fmt.Errorf("an argument of %s has no name", tool)
		}
		in = in[len(m[0]):]
		value, more := in, 0
		if next := strings.Index(in, marks.begin); next >= 0 {
			value = in[:next]
		}
		if r.left -= len(m[0]) + len(value); r.left < 0 {
			return "", n, errLimitExceeded
		}
		if end := strings.Index(value, marks.end); end >= 0 {
			value, more = value[:end], len(marks.end)
		} else if end := strings.Index(value, trailingMarkup); end >= 0 {
			value = value[:end]
		} else if r.cut && len(value) == len(in) {
			return "", n, fmt.Errorf("the argument %s of %s has no end", m[1], tool)
		}
		key := strings.TrimSpace(m[1])
		args[key] = asKind(strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n"), kinds[key])
		n = len(body) - len(in) + len(value) + more
	}
	return marshal(args), n, nil
}

// kindsOf returns the types of a schema's properties. Properties without a type are strings.
func kindsOf(schema json.RawMessage) map[string]any {
	var want struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &want) != nil {
		return nil
	}
	kinds := map[string]any{}
	for name, p := range want.Properties {
		kinds[name] = p.Type
	}
	return kinds
}

// asKind converts a value from text: to JSON if the type requires it and it is valid, otherwise to a string.
func asKind(value string, kind any) json.RawMessage {
	if kind != nil && kind != "string" {
		if raw, n, err := readLoose(value, true); err == nil && strings.TrimLeft(value[n:], space) == "" {
			return json.RawMessage(raw)
		}
	}
	return json.RawMessage(marshal(value))
}
