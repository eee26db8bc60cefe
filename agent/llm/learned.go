package llm

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// schemaMode is a way of requesting structured output.
type schemaMode int

// The modes, from the strictest to one that every endpoint supports.
const (
	modeSchema schemaMode = iota // the endpoint enforces the schema
	modeObject                   // the endpoint enforces JSON; the schema is in the prompt
	modePlain                    // the schema is in the prompt
)

// Forms of a request other than the default. Leaving out a parameter or field is a form too: "without" and its name.
const (
	formNewMaxTokens   = "max_completion_tokens"   // instead of max_tokens, which OpenAI's reasoning models refuse
	formExtendedOutput = "room for long thoughts"  // longer answers than usual, since one was cut off while thinking
	formNoStream       = "no stream"               // the answer is not streamed
	formNineIDs        = "nine-letter ids"         // also for call IDs that the model made itself
	formReasoning      = "reasoning_content"       // in every answer, even if empty
	formSignature      = "thought signatures"      // in every answer, even if there was none
	formCacheMarks     = "cache marks"             // in chat completions, through a gateway
	formEmptyContent   = "empty content"           // instead of null, in an answer with calls only
	formSomeContent    = "stand-in for no content" // placeholder instead of null, in an answer with calls only
	formObjects        = "arguments as objects"    // arguments of earlier calls as objects, not as strings
	formToolNames      = "names of tools"          // in tool results
	formMergedTurns    = "merged turns"            // user messages are merged into the result or user message before
	formOneCall        = "one call a turn"         // each call is a separate answer, followed by its result
	formSystemAsUser   = "system as user"          // the system message is prepended to the first user message
	formTypedItems     = "typed items"             // messages in Responses with their type, and lists as content
	formTextOrThought  = "text or reasoning"       // answers with calls have their reasoning, and else their text
	formEffort         = "effort "                 // followed by an effort, formAs and the effort that replaces it
	formAs             = " as "
	formSchemaWithout  = "schemas without " // followed by a keyword that tools' schemas must not have
)

// Learned holds the requirements and restrictions of a model at an endpoint, learned from its error messages. It can be
// stored.
type Learned struct {
	Protocol   Protocol   `json:"protocol,omitempty"` // dialect that worked; "": the suggested one
	Schema     schemaMode `json:"schema,omitempty"`
	MostOutput int        `json:"most_output,omitempty"` // the endpoint's maximum output tokens; 0: as configured
	Window     int        `json:"window,omitempty"`      // context window in tokens, if smaller than configured
	Forms      []string   `json:"forms,omitempty"`       // forms of its requests
	Weaker     []string   `json:"weaker,omitempty"`      // features that the model works without, for users
}

// uses reports whether requests use a form.
func (l Learned) uses(form string) bool { return slices.Contains(l.Forms, form) }

// accepts reports whether the endpoint is not known to refuse a parameter or field.
func (l Learned) accepts(name string) bool { return !l.uses("without " + name) }

// effort returns the reasoning effort to request instead of wanted; "": none.
func (l Learned) effort(wanted string) string {
	for _, form := range l.Forms {
		if lower, ok := strings.CutPrefix(form, formEffort+wanted+formAs); ok {
			wanted = lower
		}
	}
	if !l.accepts(formEffort + wanted) {
		return ""
	}
	return wanted
}

// lessEffort describes the effort that is requested instead of wanted; "": wanted itself is.
func (l Learned) lessEffort(wanted string) string {
	switch got := l.effort(wanted); got {
	case wanted:
		return ""
	case "":
		return "the reasoning effort " + wanted + " is refused; the model's default holds"
	default:
		return "the reasoning effort " + wanted + " is refused; " + got + " is asked for"
	}
}

func (l Learned) clone() Learned {
	l.Forms, l.Weaker = slices.Clone(l.Forms), slices.Clone(l.Weaker)
	return l
}

// Memory stores the lessons about models, shared by their clients. It is safe for concurrent use. The zero Memory is
// empty and is not saved.
type Memory struct {
	mu    sync.Mutex
	known map[string]Learned
	save  func(map[string]Learned)
}

// NewMemory returns a Memory with the given lessons, by [Client.Key]. It calls save, one call at a time, with all
// lessons whenever one is added.
func NewMemory(known map[string]Learned, save func(map[string]Learned)) *Memory {
	return &Memory{known: maps.Clone(known), save: save}
}

func (m *Memory) of(key string) Learned {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key].clone()
}

// learn replaces before by next, unless the lessons have changed since.
func (m *Memory) learn(key string, before, next Learned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.known[key]
	if !reflect.DeepEqual(now.clone(), before.clone()) || reflect.DeepEqual(before, next) {
		return
	}
	if m.known == nil {
		m.known = map[string]Learned{}
	}
	m.known[key] = next.clone()
	if m.save != nil {
		m.save(maps.Clone(m.known))
	}
}
