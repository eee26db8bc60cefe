package llm

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// schemaMode is how structured output is asked for.
type schemaMode int

// The modes, from the strictest to one that every endpoint knows.
const (
	modeSchema schemaMode = iota // the endpoint holds the answer to the schema
	modeObject                   // the endpoint holds it to JSON, the schema stands in the prompt
	modePlain                    // the schema stands in the prompt
)

// The forms in which a request can be written besides the usual one. A parameter or field
// that is left out is a form too, "without" and its name.
const (
	formMaxTokens     = "max_tokens"              // instead of max_completion_tokens, which older servers don't know
	formLongThoughts  = "room for long thoughts"  // answers may be longer than usual: one was cut off in thought
	formNoStream      = "no stream"               // the answer comes in one piece
	formNineIDs       = "nine-letter ids"         // also for the ids of calls that the model made itself
	formReasoning     = "reasoning_content"       // of every answer, also where there was none
	formSignature     = "thought signatures"      // likewise
	formCacheMarks    = "cache marks"             // in chat completions, which a gateway passes on
	formEmptyContent  = "empty content"           // instead of null, of an answer that only makes calls
	formSomeContent   = "stand-in for no content" // likewise
	formObjects       = "arguments as objects"    // of earlier calls, not as the text of one
	formToolNames     = "names of tools"          // beside their results
	formMergedTurns   = "merged turns"            // what a user says after a result or another user stands with that
	formOneCall       = "one call a turn"         // each call is an answer of its own, with its result
	formSystemAsUser  = "system as user"          // the first user message begins with the instructions
	formEffort        = "effort "                 // and an effort, formAs and the one that is asked for instead
	formAs            = " as "
	formSchemaWithout = "schemas without " // and a keyword, of tools
)

// Learned is what a model at an endpoint was found to want or to refuse, in its own words.
// It is data, so that it can be kept.
type Learned struct {
	Protocol   Protocol   `json:"protocol,omitempty"` // that was found to be the right one; "": the one suggested
	Schema     schemaMode `json:"schema,omitempty"`
	MostOutput int        `json:"most_output,omitempty"` // tokens of an answer that it allows; 0: as configured
	Window     int        `json:"window,omitempty"`      // tokens of its context, where it has fewer than configured
	Forms      []string   `json:"forms,omitempty"`       // in which it is asked
	Weaker     []string   `json:"weaker,omitempty"`      // what the model works without however it is asked, for people
}

// wants reports whether the endpoint is asked in a form.
func (l Learned) wants(form string) bool { return slices.Contains(l.Forms, form) }

// takes reports whether the endpoint was not found to refuse a parameter or field.
func (l Learned) takes(name string) bool { return !l.wants("without " + name) }

// effort is the reasoning effort that is asked for where so much is wanted; "": none.
func (l Learned) effort(wanted string) string {
	for _, form := range l.Forms {
		if lower, ok := strings.CutPrefix(form, formEffort+wanted+formAs); ok {
			wanted = lower
		}
	}
	if !l.takes(formEffort + wanted) {
		return ""
	}
	return wanted
}

// lessEffort says which effort is asked for where another is wanted; "": the one that is wanted.
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

// Memory is what was learned of models, shared by their clients. It is safe for concurrent
// use. The zero Memory knows nothing and forgets with the process.
type Memory struct {
	mu    sync.Mutex
	known map[string]Learned
	save  func(map[string]Learned)
}

// NewMemory begins with what is known and calls save, one call at a time, with all that is
// known whenever something was learned. Keys are of [Client.Key].
func NewMemory(known map[string]Learned, save func(map[string]Learned)) *Memory {
	return &Memory{known: maps.Clone(known), save: save}
}

func (m *Memory) of(key string) Learned {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key].clone()
}

// learn puts next in the place of what was known before, unless that has changed meanwhile.
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
