package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
)

// Bounds of what is left out of a conversation that outgrows the window.
const (
	keepLast       = 6    // newest messages that stay whole
	keepLeast      = 2    // newest messages that stay whole when more would be too much
	keepTurns      = 2    // newest answers that are not condensed, unless there is no other way
	minLeftOut     = 200  // bytes of a result; a shorter one is not worth leaving out
	minCallLeftOut = 1500 // bytes of a call's arguments, likewise
)

const (
	leftOutResult = "[left out to save room; make the call again if you need it]"
	leftOutCall   = `{"left_out":"to save room; the call was carried out as it was"}`

	condensedHeading = "## Earlier in this attempt\n\nTo save room, your first answers and what came of them are only " +
		"noted here, oldest first."
	condensedSource = "your earlier tool calls"
)

// conversation is the messages of an attempt with a running estimate of their
// tokens. The system prompt and the brief always stay. Notes of the oldest answers
// follow, and then the answers since, each with its results. It is always one that
// the protocol allows: every call of an answer has its result.
//
// A conversation that outgrows the window is shortened from its oldest end: results
// first, then arguments, then whole answers. Each answer becomes one note. A note is
// appended once and never written anew, so that the endpoint's cache of what stands
// before it stays good.
type conversation struct {
	system, brief llm.Message
	head          int // tokens of both, with the notes

	notes []string // of answers that were condensed, oldest first
	gone  int      // notes before them that were left out

	turns []modelExchange
	total int // tokens of everything
}

// modelExchange is an answer of the model, the results of its calls, and what the loop
// said then.
type modelExchange struct {
	messages []llm.Message
	tokens   []int
	note     string // sums it up in a line
}

// beginWith sets what always stays.
func (c *conversation) beginWith(system, brief string) {
	c.system, c.brief = llm.Message{Role: llm.RoleSystem, Content: system}, llm.Message{Role: llm.RoleUser, Content: brief}
	c.reckonHead()
}

// addMessage appends a message. An answer of the model begins an exchange.
func (c *conversation) addMessage(m llm.Message) {
	if m.Role == llm.RoleAssistant || len(c.turns) == 0 {
		c.turns = append(c.turns, modelExchange{})
	}
	x, n := &c.turns[len(c.turns)-1], m.Tokens()
	x.messages, x.tokens = append(x.messages, m), append(x.tokens, n)
	c.total += n
}

// noteLast sets the note that the last answer becomes when it is condensed.
func (c *conversation) noteLast(text string) {
	if len(c.turns) > 0 {
		c.turns[len(c.turns)-1].note = text
	}
}

// messages is the conversation as it is sent.
func (c *conversation) messages() []llm.Message {
	all := []llm.Message{c.system, c.opening()}
	for _, x := range c.turns {
		all = append(all, x.messages...)
	}
	return all
}

// opening is the brief with the notes.
func (c *conversation) opening() llm.Message {
	m := c.brief
	if len(c.notes) > 0 || c.gone > 0 {
		list := strings.Join(c.notes, "\n")
		if c.gone > 0 {
			list = fmt.Sprintf("- %d older notes are left out\n", c.gone) + list
		}
		m.Content += "\n\n" + condensedHeading + "\n\n" + wrapUntrusted(condensedSource, list)
	}
	return m
}

func (c *conversation) reckonHead() {
	n := c.system.Tokens() + c.opening().Tokens()
	c.total += n - c.head
	c.head = n
}

// shorten brings the conversation down to bound tokens by leaving out results and
// arguments of old calls. When it has more than most tokens even then, it condenses
// old answers until bound is reached, as far as the system prompt and the brief allow.
// It does more at once than is needed, since each change makes the endpoint's cache of
// the conversation useless. note says what it did; empty: nothing.
func (c *conversation) shorten(bound, most int) (note string) {
	before := c.total
	old := -keepLast
	for _, x := range c.turns {
		old += len(x.messages)
	}
	c.leaveOut(bound, old)
	condensed, dropped := 0, 0
	if c.total > most {
		c.leaveOut(most, old+keepLast-keepLeast)
	}
	pruned := before - c.total
	if c.total > most {
		condensed = c.condense(bound, keepTurns)
		c.leaveOut(bound, old+keepLast)
		condensed += c.condense(bound, 0)
		dropped = c.dropNotes(bound)
	}
	if c.total == before {
		return ""
	}
	var did []string
	if pruned > 0 {
		did = append(did, "old tool results left out of the conversation")
	}
	if condensed > 0 {
		did = append(did, fmt.Sprintf("the oldest %d answers condensed to a note each", condensed))
	}
	if dropped > 0 {
		did = append(did, fmt.Sprintf("%d of the oldest notes left out", dropped))
	}
	if len(did) == 0 {
		did = append(did, "tool results left out of the conversation")
	}
	return fmt.Sprintf("%s: %d of %d tokens", strings.Join(did, ", "), before-c.total, before)
}

// leaveOut leaves out results, then arguments, of the first old messages after
// the brief.
func (c *conversation) leaveOut(bound, old int) {
	for _, change := range []func(*llm.Message) bool{dropResult, dropArguments} {
		at := 0
		for t := range c.turns {
			x := &c.turns[t]
			for i := range x.messages {
				if at++; at > old || c.total <= bound {
					break
				}
				if !change(&x.messages[i]) {
					continue
				}
				n := x.messages[i].Tokens()
				c.total += n - x.tokens[i]
				x.tokens[i] = n
			}
		}
	}
}

// condense makes notes of the oldest answers, but for the last keep, and returns
// how many.
func (c *conversation) condense(bound, keep int) (n int) {
	for c.total > bound && len(c.turns) > keep {
		x := c.turns[0]
		c.turns = slices.Delete(c.turns, 0, 1)
		for _, t := range x.tokens {
			c.total -= t
		}
		if x.note != "" {
			c.notes = append(c.notes, x.note)
		}
		c.reckonHead()
		n++
	}
	return n
}

// dropNotes leaves out the oldest notes.
func (c *conversation) dropNotes(bound int) (n int) {
	for c.total > bound && len(c.notes) > 0 {
		many := max(1, len(c.notes)/4) // each costs a look at all of them
		c.notes = slices.Delete(c.notes, 0, many)
		c.gone += many
		n += many
		c.reckonHead()
	}
	return n
}

func dropResult(m *llm.Message) bool {
	if m.Role != llm.RoleTool || len(m.Content) < minLeftOut {
		return false
	}
	m.Content = leftOutResult
	return true
}

// dropArguments leaves out long arguments. Those of an answer with opaque parts stay: the
// two belong together, and go together.
func dropArguments(m *llm.Message) bool {
	if m.Opaque != nil && len(m.Opaque.Parts) > 0 {
		return false
	}
	dropped := false
	for i := range m.ToolCalls {
		if len(m.ToolCalls[i].Arguments) >= minCallLeftOut {
			if !dropped { // the model's answer is shared with whoever got it
				m.ToolCalls = slices.Clone(m.ToolCalls)
			}
			m.ToolCalls[i].Arguments = leftOutCall
			dropped = true
		}
	}
	return dropped
}
