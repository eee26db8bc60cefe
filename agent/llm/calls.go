package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// takeCalls takes over the calls, each with an id of its own.
func (c *Client) takeCalls(a *answer, resp *Response, req Request) {
	taken := map[string]bool{}
	for _, m := range req.Messages {
		for _, call := range m.ToolCalls {
			taken[call.ID] = true
		}
	}
	a.splitCalls(req.Tools)
	for i, call := range a.calls {
		id := call.id
		if id == "" || taken[id] { // some servers leave it out, or begin anew in each answer; results must name one
			id = wireID(fmt.Sprintf("%s_%d_%d", id, len(req.Messages), i))
		}
		taken[id] = true
		resp.Message.ToolCalls = append(resp.Message.ToolCalls,
			ToolCall{ID: id, Name: call.name, Arguments: wellFormed(call.args.String())})
	}
	calls := resp.Message.ToolCalls
	if resp.Finish != FinishLength && a.cutShort(calls, req.MaxOutput) {
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

// splitCalls makes a call of each object where several stand in the arguments of one, and one
// call of those between which a name is divided. Gemini's compatible address numbers all calls
// of an answer alike (https://github.com/NousResearch/hermes-agent/issues/62940). Gateways in
// front of Anthropic begin with an empty object, and some servers say everything twice.
func (a *answer) splitCalls(tools []ToolSpec) {
	var all []*partialCall
	at := map[int]int{} // where a call went, counted from 1
	for i, call := range a.calls {
		at[i+1] = len(all) + 1
		if i+1 < len(a.calls) && call.beginsName(a.calls[i+1].name, tools) {
			next := a.calls[i+1]
			next.id, next.name = cmp.Or(call.id, next.id), call.name+next.name
			continue
		}
		for n, args := range objectsIn(call.args.String()) {
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
		if p.Name != "" && p.At > 0 { // of a call of chat completions; other parts count what is visible
			a.opaque[i].At = at[p.At]
		}
	}
}

// beginsName reports whether a call is no more than the first piece of a tool's name, and rest goes on
// with it: a name, too, may come in deltas.
func (c *partialCall) beginsName(rest string, tools []ToolSpec) (begins bool) {
	if c.args.Len() > 0 {
		return false
	}
	for _, t := range tools {
		if t.Name == c.name {
			return false
		}
		begins = begins || strings.HasPrefix(t.Name, c.name+rest)
	}
	return begins
}

// objectsIn is the arguments as they are, or the objects that stand in them one after
// another, without an empty one before others and without the same one again.
func objectsIn(args string) []string {
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

// plainArguments is a call's arguments as JSON, taken out of the string or the block of code in which some models
// wrap the object, where an object can be read; else they are as they came. What was cut off must not look whole.
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
	case cut:
		return args
	}
	object, n, err := readLoose(body, false)
	if err != nil || !endOfCall.MatchString(body[n:]) {
		return args
	}
	return object
}

// typedArguments is a call's arguments, where a number, or true or false, may stand in quotes although the schema wants
// one without (https://github.com/moltis-org/moltis/pull/1136).
func typedArguments(args string, schema json.RawMessage) string {
	fields, kinds, changed := map[string]json.RawMessage{}, kindsOf(schema), false
	if json.Unmarshal([]byte(args), &fields) != nil {
		return args
	}
	for name, raw := range fields {
		if one := unquoted(string(raw)); isOne(kinds[name], one) {
			fields[name], changed = json.RawMessage(one), true
		}
	}
	if !changed {
		return args
	}
	return marshaled(fields)
}

// isOne reports whether a text is exactly a number, or true or false, and a schema wants that and no text.
func isOne(kind any, one string) bool {
	wanted := fmt.Sprint(kind) // a word, or a list of them
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

// endOfCall is what models leave behind the arguments of a call: ends of what was closed before.
var endOfCall = lazyregexp.New("^[\\s}\\])`]*(?:<[/|][^<>]*>\\s*)*$")

// toolNamed is the tool that a name means, with what models and servers
// leave around it: "functions.read", "functions.read:0", "read<|channel|>commentary"
// (https://github.com/vllm-project/vllm/pull/42454), "readjson"
// (https://github.com/ggml-org/llama.cpp/pull/15158). "Read" is read: models know tools of
// that name from elsewhere.
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
