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

// Turn is the model's output at one turn of a conversation.
type Turn struct {
	Text  string
	Calls []Call
}

// Call is a tool call, with arguments as JSON.
type Call struct{ Name, Arguments string }

// Ask is one request as passed to a flavour.
type Ask struct {
	Path   string
	Query  string
	Header http.Header
	Body   map[string]any
	Raw    string
	Turn   int // answers of the model in the request
}

// Flavour describes the peculiarities of a server.
type Flavour struct {
	Name   string
	Source string // public source of the behaviour

	Paths []string // served paths; the first is the native dialect; nil: chat completions
	// Refuse checks a request against the server's state; a status of 0 accepts it.
	Refuse func(s *Server, a Ask) (status int, body string)
	// Opaque is the part of a turn's answer that only the model reads, in the dialect's format: in chat completions
	// {"message": fields, "call": fields of its first call}, else a list of items or blocks. nil: nothing.
	Opaque func(turn int) any
	// Marked: only content with cache marks is cached. Uncached: nothing is.
	Marked, Uncached bool

	Phases bool // messages of Responses mark whether they are the last

	// Formats of answers in chat completions; nil: the usual one.
	Message func(m object) (finish string)                      // changes a message; finish "" is the usual one
	Deltas  func(m object) []object                             // the pieces of a streamed message
	Usage   func(b Bill) object                                 // the reported usage; no fields: none
	Whole   func(s *Server, w http.ResponseWriter, b Bill) bool // writes a whole answer; false: as usual
	NoDone  bool                                                // a stream has no end marker
	Choices bool                                                // each call is a separate choice
	SoFar   bool                                                // each chunk also contains the whole message so far
	Extra   object                                              // additional fields of each answer and chunk

	// Events changes the events of a streamed answer in Responses; nil: the usual ones.
	Events func(events []map[string]any) []map[string]any

	// Say returns the model's output; nil: two calls of read, and then "Done.".
	Say func(a Ask) Turn

	Client
}

// Client is the configuration of a client of the server, and the client's expected behaviour.
type Client struct {
	Protocol, Reasoning, Model string // as configured
	Query                      string // end of the address
	Foreign                    bool   // the conversation begins with an answer of another model
	Apart                      bool   // a refusal does not affect other conversations

	Speaks string // the dialect that it should detect; "": any
	Weaker string // part of the expected warning about weaker results
	Fails  string // the kind of the expected final error; "": none
	Free   bool   // the client can't know the billed tokens
}

// reading is the output of a model that reads two files.
func reading(a Ask) Turn {
	turns := []Turn{{Text: "I look.", Calls: []Call{{"read", `{"path":"main.go"}`}}},
		{Calls: []Call{{"read", `{"path":"go.mod"}`}}}, {Text: "Done."}}
	return turns[min(a.Turn, len(turns)-1)]
}

// Saying returns a Say with turns by the number of answers in the request; the last is repeated.
func Saying(turns ...Turn) func(Ask) Turn {
	return func(a Ask) Turn { return turns[min(a.Turn, len(turns)-1)] }
}

// Probed is a Say for a conversation that tests a model: it calls every offered tool, with valid arguments, and then
// answers with JSON, which a schema may require.
func Probed(a Ask) Turn {
	switch {
	case a.Turn > 0 || a.Body["tools"] == nil && strings.Contains(a.Raw, `"json_schema"`):
		return Turn{Text: `{"well": true}`}
	case a.Body["tools"] == nil:
		return Turn{Text: `{"ok": "yes"}`}
	}
	return Turn{Text: "I look.", Calls: []Call{{"look_up", `{"key":"alpha"}`}, {"look_up", `{"key":"beta"}`}}}
}

// with returns a changed copy of f.
func (f Flavour) with(change func(*Flavour)) Flavour {
	f.Paths = slices.Clone(f.Paths)
	change(&f)
	return f
}

// Words is an error in the usual format.
func Words(message string) string {
	b, err := json.Marshal(object{"error": object{"message": message, "type": "invalid_request_error"}})
	if err != nil {
		panic(err) // a text is always JSON
	}
	return string(b)
}

// All returns all flavours.
func All() []Flavour {
	return slices.Concat(openAI, deepSeek, google, mistral, anthropic, gateways, localServers, otherVendors, textual,
		failing)
}

// Stateful returns those with state, one or two of each dialect: an attempt with one of them tests the basis of all
// others.
func Stateful() []Flavour {
	return []Flavour{openAI[0], deepSeek[0], google[0], mistral[0], mistral[1], anthropic[0], gateways[0]}
}
