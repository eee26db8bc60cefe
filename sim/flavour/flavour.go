package flavour

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// The paths of the dialects.
const (
	Chat      = "/v1/chat/completions"
	Responses = "/v1/responses"
	Messages  = "/v1/messages"
)

// object is a JSON object.
type object = map[string]any

// Turn is what the model says at one turn of a conversation.
type Turn struct {
	Text  string
	Calls []Call
}

// Call is a tool call, with arguments as JSON.
type Call struct{ Name, Arguments string }

// Ask is one request as a flavour sees it.
type Ask struct {
	Path   string
	Query  string
	Header http.Header
	Body   map[string]any
	Raw    string
	Turn   int // answers of the model that the request carries
}

// Flavour is what is particular about a server.
type Flavour struct {
	Name   string
	Source string // where it can be read that a server does so

	Paths []string // that there are; the first is the dialect in which it is at home; nil: chat completions
	// Refuse looks at a request with what the server remembers; a status of 0 lets it through.
	Refuse func(s *Server, a Ask) (status int, body string)
	// Opaque is what the answer of a turn holds for the model alone, in the dialect's form: in
	// chat completions {"message": fields, "call": fields of its first call}, else a list of
	// items or blocks. nil: nothing.
	Opaque func(turn int) any
	// Marked says that only what has cache marks is cached; Uncached that nothing is.
	Marked, Uncached bool

	Phases bool // messages of Responses say whether they are the last

	// Forms of answers in chat completions; nil: the usual one.
	Message func(m object) (finish string)                      // changes a message; finish "" is the usual one
	Deltas  func(m object) []object                             // in which a message is streamed
	Usage   func(b Bill) object                                 // what is said to have been used; no fields: nothing
	Whole   func(s *Server, w http.ResponseWriter, b Bill) bool // answers in its own way; false: as usual
	NoDone  bool                                                // a stream has no mark of its end
	Choices bool                                                // each call is a choice of its own
	SoFar   bool                                                // each chunk has the whole message beside its piece
	Extra   object                                              // that each answer and chunk has besides

	// Events changes the events of a streamed answer in Responses; nil: the usual ones.
	Events func(events []map[string]any) []map[string]any

	// Say is what the model says; nil: two calls of read, and then "Done.".
	Say func(a Ask) Turn

	Client
}

// Client is what a client of the server is configured with, and what it is to make of it.
type Client struct {
	Protocol, Reasoning, Model string // as configured
	Query                      string // that the address ends in
	Foreign                    bool   // the conversation begins with an answer of another model
	Apart                      bool   // what is refused teaches nothing about other conversations

	Speaks string // the dialect that is found out; "": any
	Weaker string // part of what is said to be weaker
	Fails  string // the kind of error with which it ends; "": it ends without one
	Free   bool   // the client can't know what was billed
}

// reading is what a model says that reads two files.
func reading(a Ask) Turn {
	turns := []Turn{{Text: "I look.", Calls: []Call{{"read", `{"path":"main.go"}`}}},
		{Calls: []Call{{"read", `{"path":"go.mod"}`}}}, {Text: "Done."}}
	return turns[min(a.Turn, len(turns)-1)]
}

// Saying is a Say of turns by how many answers the request carries; the last is said again
// and again.
func Saying(turns ...Turn) func(Ask) Turn {
	return func(a Ask) Turn { return turns[min(a.Turn, len(turns)-1)] }
}

// Probed is a Say for a conversation that tries a model out: it calls every tool that is
// offered, with arguments that fit, and then answers with JSON, which is held to a schema.
func Probed(a Ask) Turn {
	switch {
	case a.Turn > 0 || a.Body["tools"] == nil && strings.Contains(a.Raw, `"json_schema"`):
		return Turn{Text: `{"well": true}`}
	case a.Body["tools"] == nil:
		return Turn{Text: `{"ok": "yes"}`}
	}
	return Turn{Text: "I look.", Calls: []Call{{"look_up", `{"key":"alpha"}`}, {"look_up", `{"key":"beta"}`}}}
}

// with is a flavour that differs from f.
func (f Flavour) with(change func(*Flavour)) Flavour {
	f.Paths = slices.Clone(f.Paths)
	change(&f)
	return f
}

// Words is an error of the usual form.
func Words(message string) string {
	b, err := json.Marshal(object{"error": object{"message": message, "type": "invalid_request_error"}})
	if err != nil {
		panic(err) // a text is always JSON
	}
	return string(b)
}

// All are the flavours.
func All() []Flavour {
	return slices.Concat(openAI, deepSeek, google, mistral, anthropic, gateways, localServers, otherVendors, textual,
		failing)
}

// Stateful are those that remember and compare, one or two of each dialect: an attempt with
// one of them tests what all others rest on.
func Stateful() []Flavour {
	return []Flavour{openAI[0], deepSeek[0], google[0], mistral[0], mistral[1], anthropic[0], gateways[0]}
}
