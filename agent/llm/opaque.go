package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Opaque holds the parts of an answer that only the model that made it can read: reasoning items, reasoning_content,
// thinking blocks with their signatures, thought signatures. They are stored unchanged and sent back, with their
// message, to that model only. They are never shown.
//
// Without them, some endpoints refuse a conversation, and others give worse answers:
//   - OpenAI: https://developers.openai.com/api/docs/guides/reasoning
//   - DeepSeek: https://api-docs.deepseek.com/guides/thinking_mode
//   - Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
//   - Gemini: https://ai.google.dev/gemini-api/docs/thought-signatures
type Opaque struct {
	Maker string       `json:"maker" mask:"-"` // dialect, endpoint and model; see [Client.maker]
	Parts []OpaquePart `json:"parts,omitempty"`
}

// OpaquePart is one part. Its position depends on the dialect.
type OpaquePart struct {
	// In dialects with items or blocks: the number of visible ones, the text and each call, before it. In chat
	// completions: 0 for a field of the message, n for one of its nth call.
	At   int    `json:"at,omitempty"`
	Name string `json:"name,omitempty" mask:"-"` // of the field, in chat completions; or opaqueThink and so on
	// JSON; a string, so that no database changes it. If a secret was masked in it, the model may refuse it, and then
	// continues without it.
	Raw string `json:"raw"`
}

// Names of opaque parts that are not fields or items.
const (
	opaqueThink   = "<think>" // at the start of a message's text
	opaqueContent = "content" // block before a message's text
	opaquePhase   = "phase"   // of a message's text, in Responses
)

// bytes returns the total size of the parts.
func (o *Opaque) bytes() (n int) {
	if o == nil {
		return 0
	}
	for _, p := range o.Parts {
		n += len(p.Raw)
	}
	return n
}

// of returns the parts if maker made them, except those that a mask made invalid.
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

// isWireID matches call IDs that every endpoint accepts: Mistral's requires nine letters or digits
// (https://github.com/anomalyco/opencode/issues/1680).
var isWireID = lazyregexp.New(`^[0-9A-Za-z]{9}$`)

// wireID derives from id an ID that every endpoint accepts.
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

// invalidNameChars matches characters that tool names must not have.
var invalidNameChars = lazyregexp.New(`[^a-zA-Z0-9_-]+`)

// wireName returns a tool name that every endpoint accepts, even if the model made up an invalid one
// (https://github.com/docker/docker-agent/pull/3974).
func wireName(name string) string {
	const limit = 64
	name = invalidNameChars.ReplaceAllString(name, "_")
	return cmp.Or(name[:min(limit, len(name))], "unknown")
}

// wireIDs returns the mapping of a conversation's call IDs for one model. Its own IDs stay unchanged, unless it refuses
// them; those of others become nine letters or digits.
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
		if own[id] && !l.uses(formNineIDs) {
			return id
		}
		return wireID(id)
	}
}
