package llm

import (
	"encoding/json"
	"strings"
)

// emptyText replaces an empty text, which endpoints refuse.
const emptyText = "(empty)"

// withSchemaPrompt returns the messages of a request. If the endpoint does not enforce the schema, the schema is added
// to the system message.
func (r Request) withSchemaPrompt(l Learned) []Message {
	if r.Schema == nil || l.Schema == modeSchema {
		return r.Messages
	}
	all := append([]Message(nil), r.Messages...)
	if all[0].Role != RoleSystem {
		all = append([]Message{{Role: RoleSystem}}, all...)
	}
	all[0].Content = strings.TrimSpace(all[0].Content + "\n\n" + schemaPrompt(*r.Schema))
	return all
}

// arrange returns a conversation in the order of turns that a model's chat template accepts. It is deterministic, so
// that prompt caches stay valid.
func arrange(messages []Message, l Learned) []Message {
	if l.uses(formOneCall) {
		messages = splitCalls(messages)
	}
	if l.uses(formSystemAsUser) && len(messages) > 1 && messages[0].Role == RoleSystem {
		first := messages[1]
		first.Content = messages[0].Content + "\n\n" + first.Content
		messages = append([]Message{first}, messages[2:]...)
	}
	if l.uses(formMergedTurns) {
		messages = mergeTurns(messages)
	}
	return messages
}

// mergeTurns appends a user message to the result or user message before it.
func mergeTurns(messages []Message) (out []Message) {
	for _, m := range messages {
		if n := len(out); n > 0 && m.Role == RoleUser && (out[n-1].Role == RoleTool || out[n-1].Role == RoleUser) {
			out[n-1].Content = strings.TrimSpace(out[n-1].Content + "\n\n" + m.Content)
			continue
		}
		out = append(out, m)
	}
	return out
}

// splitCalls makes a separate answer of each call, followed by its result. Opaque parts stay with their call.
func splitCalls(messages []Message) (out []Message) {
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

// parameters returns a tool's schema without the keywords that the endpoint refuses.
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
	return json.RawMessage(marshal(schema))
}

// dropKeywords removes keywords, in lower case, from a schema. The keys of properties are argument names and are kept.
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
