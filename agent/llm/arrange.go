package llm

import (
	"encoding/json"
	"strings"
)

// emptyText stands for a text that is empty, which endpoints refuse.
const emptyText = "(empty)"

// inWords is the messages of a request. Where the endpoint does not hold an answer to the
// schema that is asked for, the system message asks for it in words.
func (r Request) inWords(l Learned) []Message {
	if r.Schema == nil || l.Schema == modeSchema {
		return r.Messages
	}
	all := append([]Message(nil), r.Messages...)
	if all[0].Role != RoleSystem {
		all = append([]Message{{Role: RoleSystem}}, all...)
	}
	all[0].Content = strings.TrimSpace(all[0].Content + "\n\n" + askInWords(*r.Schema))
	return all
}

// arranged is a conversation in the order of turns that the chat template of a model takes.
// The same message always comes out the same, so that caches keep what they have.
func arranged(messages []Message, l Learned) []Message {
	if l.wants(formOneCall) {
		messages = oneCallEach(messages)
	}
	if l.wants(formSystemAsUser) && len(messages) > 1 && messages[0].Role == RoleSystem {
		first := messages[1]
		first.Content = messages[0].Content + "\n\n" + first.Content
		messages = append([]Message{first}, messages[2:]...)
	}
	if l.wants(formMergedTurns) {
		messages = mergedTurns(messages)
	}
	return messages
}

// mergedTurns puts what a user says after a result, or after another user, to that.
func mergedTurns(messages []Message) (out []Message) {
	for _, m := range messages {
		if n := len(out); n > 0 && m.Role == RoleUser && (out[n-1].Role == RoleTool || out[n-1].Role == RoleUser) {
			out[n-1].Content = strings.TrimSpace(out[n-1].Content + "\n\n" + m.Content)
			continue
		}
		out = append(out, m)
	}
	return out
}

// oneCallEach makes an answer of each call, with its result. What is opaque stays with the
// call that it belongs to.
func oneCallEach(messages []Message) (out []Message) {
	results := map[string]Message{}
	for _, m := range messages {
		if m.Role == RoleTool {
			results[m.ToolCallID] = m
		}
	}
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.ToolCalls) < 2 {
			out = append(out, m)
			continue
		}
		for n, call := range m.ToolCalls {
			one := Message{Role: m.Role, ToolCalls: []ToolCall{call}}
			if n == 0 {
				one.Content = m.Content
			}
			if m.Opaque != nil {
				one.Opaque = &Opaque{Maker: m.Opaque.Maker}
				for _, p := range m.Opaque.Parts {
					switch {
					case p.At == n+1:
						p.At = 1
						one.Opaque.Parts = append(one.Opaque.Parts, p)
					case p.At == 0 && n == 0:
						one.Opaque.Parts = append(one.Opaque.Parts, p)
					}
				}
			}
			out = append(out, one, results[call.ID])
		}
		for i+1 < len(messages) && messages[i+1].Role == RoleTool {
			i++
		}
	}
	return out
}

// parameters is a tool's schema as the endpoint takes it.
func (t ToolSpec) parameters(l Learned) json.RawMessage {
	without := map[string]bool{}
	for _, form := range l.Forms {
		if keyword, is := strings.CutPrefix(form, formSchemaWithout); is {
			without[keyword] = true
		}
	}
	var schema any
	if len(without) == 0 || json.Unmarshal(t.Parameters, &schema) != nil {
		return t.Parameters
	}
	dropKeywords(schema, without)
	return json.RawMessage(marshaled(schema))
}

// dropKeywords takes keywords, in lower case, out of a schema. What stands below properties
// has the names of arguments, which stay.
func dropKeywords(schema any, without map[string]bool) {
	switch x := schema.(type) {
	case map[string]any:
		for k, in := range x {
			named, is := in.(map[string]any)
			switch {
			case without[strings.ToLower(k)]:
				delete(x, k)
			case k == "properties" && is:
				for _, one := range named {
					dropKeywords(one, without)
				}
			default:
				dropKeywords(in, without)
			}
		}
	case []any:
		for _, in := range x {
			dropKeywords(in, without)
		}
	}
}
