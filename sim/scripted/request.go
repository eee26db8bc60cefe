package scripted

import (
	"encoding/json"
	"strings"
)

// Request is one request that the server received.
type Request struct {
	Model          string          `json:"model"`
	Messages       []Message       `json:"messages"`
	Tools          []Tool          `json:"tools,omitempty"`
	ResponseFormat *ResponseFormat `json:"response_format,omitempty"`
	MaxTokens      int             `json:"max_tokens,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	Stream         bool            `json:"stream,omitempty"`
	StreamOptions  *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options,omitempty"`

	Rule   string `json:"-"` // name of the rule that answered; empty: none
	Status int    `json:"-"` // HTTP status of the answer; 0: the connection was closed
}

// Message is one message in the protocol's format. Content in parts is joined.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// ToolCall is a tool call in the protocol's format.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Tool is an offered tool.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// ResponseFormat is the requested format: text, json_object or json_schema.
type ResponseFormat struct {
	Type       string          `json:"type"`
	JSONSchema json.RawMessage `json:"json_schema,omitempty"`
}

// UnmarshalJSON accepts content as a string, as parts, and null.
func (m *Message) UnmarshalJSON(b []byte) error {
	type plain Message
	v := struct {
		*plain
		Content json.RawMessage `json:"content"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	m.Content = ""
	if len(v.Content) == 0 || json.Unmarshal(v.Content, &m.Content) == nil {
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(v.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		m.Content += p.Text
	}
	return nil
}

// Turn is the number of assistant messages in the request.
func (r Request) Turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// System is the text of the system and developer messages.
func (r Request) System() string { return r.text("system", "developer") }

// User is the text of the user messages.
func (r Request) User() string { return r.text("user") }

// Last is the text of the last message; empty when there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// ToolNames lists the offered tools, in the order of the request.
func (r Request) ToolNames() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

func (r Request) text(roles ...string) string {
	var texts []string
	for _, m := range r.Messages {
		for _, role := range roles {
			if m.Role == role {
				texts = append(texts, m.Content)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// tokens estimates text's tokens at four bytes each, which is close enough for a scripted model.
func tokens(text string) int { return (len(text) + 3) / 4 }

// tokens estimates the prompt.
func (r Request) tokens() int {
	n := 0
	for _, m := range r.Messages {
		n += 4 + m.tokens()
	}
	for _, t := range r.Tools {
		n += tokens(t.Function.Name) + tokens(t.Function.Description) + tokens(string(t.Function.Parameters))
	}
	return n
}

func (m Message) tokens() int {
	n := tokens(m.Content)
	for _, c := range m.ToolCalls {
		n += tokens(c.Function.Name) + tokens(strings.Replace(c.Function.Arguments, emptyLedger, "", 1))
	}
	return n
}
