package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Opaque is what an answer holds for the model that made it and for nobody else:
// reasoning items, reasoning_content, thinking blocks with their signatures, thought
// signatures. It is kept word for word, goes back to its maker with the message that it
// came with, and to no other model. It is never shown.
//
// Some endpoints refuse a conversation without it, and others answer worse:
//   - OpenAI: https://developers.openai.com/api/docs/guides/reasoning
//   - DeepSeek: https://api-docs.deepseek.com/guides/thinking_mode
//   - Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
//   - Gemini: https://ai.google.dev/gemini-api/docs/thought-signatures
type Opaque struct {
	Maker string       `json:"maker" mask:"-"` // dialect, endpoint and model; see [Client.maker]
	Parts []OpaquePart `json:"parts,omitempty"`
}

// OpaquePart is one piece. Where it stands depends on the dialect of its maker.
type OpaquePart struct {
	// In the dialects of items and blocks: how many visible ones, the text and each call,
	// stand before it. In chat completions: 0 for a field of the message, n for one of its
	// nth call.
	At   int    `json:"at,omitempty"`
	Name string `json:"name,omitempty" mask:"-"` // of the field, in chat completions; see also opaqueThink and the like
	// JSON; a string, so that nothing rewrites it on its way to a database and back. A part that a mask changed may
	// be refused by its maker, and then goes on without.
	Raw string `json:"raw"`
}

// What is opaque and no field or item of its own.
const (
	opaqueThink   = "<think>" // that the words of a message begin with
	opaqueContent = "content" // a block that stands before the words of a message
	opaquePhase   = "phase"   // of the words of a message, in Responses
)

// bytes is how long the parts are.
func (o *Opaque) bytes() (n int) {
	if o == nil {
		return 0
	}
	for _, p := range o.Parts {
		n += len(p.Raw)
	}
	return n
}

// of is the parts, if maker made them. What a mask made unreadable is left out.
func (o *Opaque) of(maker string) (parts []OpaquePart) {
	if o == nil || o.Maker != maker {
		return nil
	}
	for _, p := range o.Parts {
		if json.Valid([]byte(p.Raw)) {
			parts = append(parts, p)
		}
	}
	return parts
}

// isWireID is an id of a tool call that every endpoint takes: Mistral's wants nine letters or digits
// (https://github.com/anomalyco/opencode/issues/1680).
var isWireID = lazyregexp.New(`^[0-9A-Za-z]{9}$`)

// wireID is an id that every endpoint takes, the same for the same id.
func wireID(id string) string {
	if isWireID.MatchString(id) {
		return id
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	sum := sha256.Sum256([]byte(id))
	var b strings.Builder
	for _, x := range sum[:9] {
		b.WriteByte(letters[int(x)%len(letters)])
	}
	return b.String()
}

// notInNames is what names of tools may not have.
var notInNames = lazyregexp.New(`[^a-zA-Z0-9_-]+`)

// wireName is the name of a called tool that every endpoint takes back, also where the model
// made up a name that none would have (https://github.com/docker/docker-agent/pull/3974).
func wireName(name string) string {
	const most = 64
	name = notInNames.ReplaceAllString(name, "_")
	return cmp.Or(name[:min(most, len(name))], "unknown")
}

// wireIDs gives the ids of a conversation's calls on the wire to one model. Its own ids
// go back to it as they are, unless it was found to refuse them; those of others become
// nine letters or digits.
func wireIDs(messages []Message, maker string, l Learned) func(id string) string {
	own := map[string]bool{}
	for _, m := range messages {
		if m.Opaque == nil || m.Opaque.Maker != maker {
			continue
		}
		for _, c := range m.ToolCalls {
			own[c.ID] = true
		}
	}
	return func(id string) string {
		if own[id] && !l.wants(formNineIDs) {
			return id
		}
		return wireID(id)
	}
}
