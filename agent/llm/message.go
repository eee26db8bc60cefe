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

// The reasons for which a model stops, as OpenAI spells them. What other endpoints
// call them is told in these words; a reason that is not known stays as it is.
const (
	FinishStop          = "stop"
	FinishLength        = "length" // the output limit was reached: the text or arguments are cut
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
	FinishPause         = "pause" // it goes on when it is asked again
)

// Message is one message of a conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // of the assistant
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a tool's message: the call that it answers
	Opaque     *Opaque    `json:"opaque,omitempty"`       // of the assistant; see [Opaque]
}

// ToolCall is a model's wish to call a tool. Arguments is what the model wrote,
// which need not be valid JSON.
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

// Schema asks for an answer that is one JSON object of this shape.
type Schema struct {
	Name   string // letters, digits, - and _; at most 64
	JSON   json.RawMessage
	Strict bool // the endpoint enforces it; every property must then be required
}

// Request is one call to the model.
type Request struct {
	Messages  []Message
	Tools     []ToolSpec
	Schema    *Schema // nil: free text
	MaxOutput int     // tokens, reasoning included; 0: the client's
}

// Response is the model's answer.
type Response struct {
	Message Message
	JSON    json.RawMessage // the object in Message.Content, when Request.Schema asked for one
	Finish  string
	Unread  string // what is wrong with a call in the text that can't be read, in words for the model; "": there is none
	Usage   Usage  // of the answer
	Lost    Usage  // of tries before it that broke off in the midst of an answer; they are paid for too
	Client  string // Config.Name of the client that answered
	Model   string // its Config.Model
	// Passed says which models of a Chain did not answer before, and why, such as
	// "primary: quota".
	Passed []string
}

// Spent is all that the call used, lost tries included.
func (r Response) Spent() Usage { return r.Usage.Add(r.Lost) }

// CutInThought reports whether the answer was cut off at its length before the model said or called anything.
func (r Response) CutInThought() bool {
	return r.Finish == FinishLength && r.unsaid()
}

// unsaid reports whether the answer neither says nor calls anything.
func (r Response) unsaid() bool {
	return len(r.Message.ToolCalls) == 0 && strings.TrimSpace(r.Message.Content) == ""
}

// Usage counts the tokens of one call, or of several.
type Usage struct {
	Input       int     `json:"input"`                 // of the prompt, CachedInput and CacheWrite included
	CachedInput int     `json:"cached,omitempty"`      // of the prompt, read from the endpoint's cache
	CacheWrite  int     `json:"cache_write,omitempty"` // of the prompt, written to the endpoint's cache at its own price
	Output      int     `json:"output"`                // reasoning included
	Estimated   bool    `json:"estimated,omitempty"`
	USD         float64 `json:"usd,omitempty"` // by the prices of the models that were asked
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
