package llm

import (
	"encoding/json"
	"strings"
)

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Finish reasons, in OpenAI's terms. Those of other endpoints are converted; unknown ones are kept unchanged.
const (
	FinishStop          = "stop"
	FinishLength        = "length" // the output limit was reached: the text or arguments are cut off
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
	FinishPause         = "pause" // the model continues when called again
)

// Message is one message of a conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of an assistant message
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool message: the call that it answers
	Opaque     *Opaque    `json:"opaque,omitempty"`       // of an assistant message; see [Opaque]
}

// ToolCall is a tool call by a model. Arguments is the model's text, which may be invalid JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolSpec describes a tool to the model. Parameters is a JSON Schema of type object.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Schema requests an answer that is one JSON object of this form.
type Schema struct {
	Name   string // letters, digits, - and _; at most 64
	JSON   json.RawMessage
	Strict bool // the endpoint enforces it; all properties must then be required
}

// Request is one call to the model.
type Request struct {
	Messages  []Message
	Tools     []ToolSpec
	Schema    *Schema // nil: free text
	MaxOutput int     // tokens, reasoning included; 0: the client's limit
}

// Response is the model's answer.
type Response struct {
	Message Message
	JSON    json.RawMessage // the object in Message.Content, if Request.Schema is set
	Finish  string
	Unread  string // error of a call in the text that could not be parsed, in words for the model; "": none
	Usage   Usage  // of the answer
	Lost    Usage  // of failed tries before it, which are charged too
	Client  string // Config.Name of the client that answered
	Model   string // its Config.Model
	// Passed lists the models of a Chain that did not answer before, with the reason, such as "primary: quota".
	Passed []string
}

// Spent returns the usage of all tries.
func (r Response) Spent() Usage { return r.Usage.Add(r.Lost) }

// CutWhileThinking reports whether the answer was cut off at its maximum length before any text or call.
func (r Response) CutWhileThinking() bool {
	return r.Finish == FinishLength && r.isEmpty()
}

// answered reports whether there is an answer, even one without the JSON that was requested.
func (r Response) answered() bool { return r.Client != "" }

// isEmpty reports whether the answer has neither text nor calls.
func (r Response) isEmpty() bool {
	return len(r.Message.ToolCalls) == 0 && strings.TrimSpace(r.Message.Content) == ""
}

// Usage counts the tokens of one call, or of several.
type Usage struct {
	Input       int     `json:"input"`                 // prompt tokens, including CachedInput and CacheWrite
	CachedInput int     `json:"cached,omitempty"`      // prompt tokens read from the endpoint's cache
	CacheWrite  int     `json:"cache_write,omitempty"` // prompt tokens written to the endpoint's cache, priced separately
	Output      int     `json:"output"`                // reasoning included
	Estimated   bool    `json:"estimated,omitempty"`
	USD         float64 `json:"usd,omitempty"` // by the prices of the models that were called
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		CacheWrite:  u.CacheWrite + v.CacheWrite,
		Output:      u.Output + v.Output,
		Estimated:   u.Estimated || v.Estimated,
		USD:         u.USD + v.USD,
	}
}
