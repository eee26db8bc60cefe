package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// addCalls adds the calls of an answer to the response, each with a unique ID.
func (c *Client) addCalls(a *answer, resp *Response, req Request) {
	taken := map[string]bool{}
	for _, m := range req.Messages {
		for _, call := range m.ToolCalls {
			taken[call.ID] = true
		}
	}
	a.splitArguments()
	for i, call := range a.calls {
		id := call.id
		if id == "" || taken[id] { // some servers omit IDs, or number from zero in each answer; results must refer to one
			id = wireID(fmt.Sprintf("%s_%d_%d", id, len(req.Messages), i))
		}
		taken[id] = true
		resp.Message.ToolCalls = append(resp.Message.ToolCalls,
			ToolCall{ID: id, Name: call.name, Arguments: joinSurrogates(call.args.String())})
	}
	calls := resp.Message.ToolCalls
	if resp.Finish != FinishLength && a.isCutShort(calls, req.MaxOutput) {
		resp.Finish = FinishLength
	}
	for i := range calls {
		cut := resp.Finish == FinishLength && i == len(calls)-1
		calls[i].Arguments = plainArguments(calls[i].Arguments, cut)
		if t, is := toolNamed(calls[i].Name, req.Tools); is {
			calls[i].Name, calls[i].Arguments = t.Name, typedArguments(calls[i].Arguments, t.Parameters)
		}
	}
}

// splitArguments splits a call with several objects as arguments into calls. Gemini's compatible endpoint gives all
// calls of an answer the same index
// (https://github.com/NousResearch/hermes-agent/issues/62940). Gateways in front of Anthropic begin with an empty
// object, and some servers repeat everything.
func (a *answer) splitArguments() {
	var all []*partialCall
	at := map[int]int{} // new position of each call, counted from 1
	for i, call := range a.calls {
		at[i+1] = len(all) + 1
		for n, args := range splitObjects(call.args.String()) {
			one := &partialCall{of: a, name: call.name}
			if n == 0 {
				one.id = call.id
			}
			one.args.WriteString(args)
			if len(all) < maxAnswerCalls {
				all = append(all, one)
			}
		}
	}
	a.calls = all
	for i, p := range a.opaque {
		if p.Name != "" && p.At > 0 { // part of a call of chat completions; other parts count the visible ones
			a.opaque[i].At = at[p.At]
		}
	}
}

// splitObjects returns the arguments unchanged, or the concatenated objects in them, without an empty first one and
// without repetitions.
func splitObjects(args string) []string {
	if !strings.Contains(args, "}{") || json.Valid([]byte(args)) {
		return []string{args}
	}
	var list []string
	for dec := json.NewDecoder(strings.NewReader(args)); ; {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if err == io.EOF && len(list) > 0 {
			return list
		}
		if err != nil || raw[0] != '{' || len(list) == maxAnswerCalls {
			return []string{args}
		}
		switch n := len(list); {
		case n > 0 && list[n-1] == "{}":
			list[n-1] = string(raw)
		case n == 0 || list[n-1] != string(raw):
			list = append(list, string(raw))
		}
	}
}

// plainArguments returns a call's arguments as JSON. It removes the string or the code block in which some models wrap
// the object. If no object can be read, it returns them unchanged. Arguments that may be cut off are not completed.
func plainArguments(args string, cut bool) string {
	body, inner := strings.TrimSpace(args), ""
	if strings.HasPrefix(body, `"`) && json.Unmarshal([]byte(body), &inner) == nil {
		body = strings.TrimSpace(inner)
	}
	if in, fenced := strings.CutPrefix(body, "```"); fenced {
		body = strings.TrimSpace(strings.TrimPrefix(in, "json"))
	}
	switch {
	case !strings.HasPrefix(body, "{"):
		return args
	case json.Valid([]byte(body)):
		return body
	}
	object, n, err := readLoose(body, cut)
	if err != nil || !trailingMarkup.MatchString(body[n:]) {
		return args
	}
	return object
}

// typedArguments removes the quotes of numbers and booleans if the schema requires them without
// (https://github.com/moltis-org/moltis/pull/1136).
func typedArguments(args string, schema json.RawMessage) string {
	fields, kinds, changed := map[string]json.RawMessage{}, kindsOf(schema), false
	if json.Unmarshal([]byte(args), &fields) != nil {
		return args
	}
	for name, raw := range fields {
		if one := unquote(string(raw)); isUnquotable(kinds[name], one) {
			fields[name], changed = json.RawMessage(one), true
		}
	}
	if !changed {
		return args
	}
	return marshal(fields)
}

// isUnquotable reports whether a text is a number or a boolean and the schema requires that, not a string.
func isUnquotable(kind any, one string) bool {
	wanted := fmt.Sprint(kind) // a type, or a list of types
	var v any
	if strings.Contains(wanted, "string") || json.Unmarshal([]byte(one), &v) != nil || strings.TrimSpace(one) != one {
		return false
	}
	switch v.(type) {
	case bool:
		return strings.Contains(wanted, "boolean")
	case float64:
		_, err := strconv.Atoi(one)
		return strings.Contains(wanted, "number") || err == nil && strings.Contains(wanted, "integer")
	}
	return false
}

// trailingMarkup matches what models leave after the arguments of a call: closing marks of enclosing forms.
var trailingMarkup = lazyregexp.New("^[\\s}\\])`]*(?:<[/|][^<>]*>\\s*)*$")

// toolNamed returns the tool with a name, without the additions of models and servers: "functions.read",
// "functions.read:0", "read<|channel|>commentary" (https://github.com/vllm-project/vllm/pull/42454), "readjson"
// (https://github.com/ggml-org/llama.cpp/pull/15158). It ignores case: models know tools such as "Read" from elsewhere.
func toolNamed(name string, tools []ToolSpec) (t ToolSpec, is bool) {
	bare, _, _ := strings.Cut(strings.TrimSpace(name), "<|")
	bare, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(bare), "functions."), ":")
	for _, like := range []string{name, bare, strings.TrimSuffix(bare, "json")} {
		for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
			for _, t := range tools {
				if same(t.Name, like) {
					return t, true
				}
			}
		}
	}
	return ToolSpec{}, false
}
