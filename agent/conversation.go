package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
)

// Limits of shortening a conversation that outgrows the window.
const (
	keepLast         = 6    // newest messages that stay complete
	keepLeast        = 2    // newest messages that stay complete if keepLast is too many
	keepTurns        = 2    // newest answers that are not condensed unless necessary
	minResultLeftOut = 200  // minimum bytes of a result to leave out
	minCallLeftOut   = 1500 // minimum bytes of a call's arguments to leave out
)

const (
	leftOutResult = "[left out to save room; make the call again if you need it]"
	leftOutCall   = `{"left_out":"to save room; the call was carried out as it was"}`

	condensedHeading = "## Earlier in this attempt\n\nTo save room, your first answers and what came of them are only " +
		"noted here, oldest first."
	condensedSource = "your earlier tool calls"
)

// conversation holds the messages of an attempt, with a running estimate of their tokens: the system prompt and the
// brief, which always stay; notes of the oldest answers; and the later answers, each with its results. The protocol's
// rule that each call has a result always holds.
//
// A conversation that outgrows the window is shortened from its oldest end: first results, then arguments, then whole
// answers. Each answer becomes one note. Notes are appended and never changed, so that the endpoint's prompt cache
// stays valid for the prefix before them.
type conversation struct {
	system, brief llm.Message
	head          int // tokens of both, and of the notes

	notes        []string // of condensed answers, oldest first
	droppedNotes int      // number of older notes that were dropped

	turns []modelExchange
	total int // tokens of all messages
}

// modelExchange is an answer of the model, the results of its calls, and the loop's messages after it.
type modelExchange struct {
	messages []llm.Message
	tokens   []int
	note     string // one-line summary
}

// beginWith sets the messages that always stay.
func (c *conversation) beginWith(system, brief string) {
	c.system, c.brief = llm.Message{Role: llm.RoleSystem, Content: system}, llm.Message{Role: llm.RoleUser, Content: brief}
	c.recountHead()
}

// addMessage appends a message. An answer of the model starts an exchange.
func (c *conversation) addMessage(m llm.Message) {
	if m.Role == llm.RoleAssistant || len(c.turns) == 0 {
		c.turns = append(c.turns, modelExchange{})
	}
	x, n := &c.turns[len(c.turns)-1], m.Tokens()
	x.messages, x.tokens = append(x.messages, m), append(x.tokens, n)
	c.total += n
}

// noteLast sets the note that replaces the last answer when it is condensed.
func (c *conversation) noteLast(text string) {
	if len(c.turns) > 0 {
		c.turns[len(c.turns)-1].note = text
	}
}

// messages returns the conversation in the form that is sent.
func (c *conversation) messages() []llm.Message {
	all := []llm.Message{c.system, c.opening()}
	for _, x := range c.turns {
		all = append(all, x.messages...)
	}
	return all
}

// opening returns the brief with the notes.
func (c *conversation) opening() llm.Message {
	m := c.brief
	if len(c.notes) > 0 || c.droppedNotes > 0 {
		list := strings.Join(c.notes, "\n")
		if c.droppedNotes > 0 {
			list = fmt.Sprintf("- %d older notes are left out\n", c.droppedNotes) + list
		}
		m.Content += "\n\n" + condensedHeading + "\n\n" + wrapUntrusted(condensedSource, list)
	}
	return m
}

func (c *conversation) recountHead() {
	n := c.system.Tokens() + c.opening().Tokens()
	c.total += n - c.head
	c.head = n
}

// shorten shortens the conversation to bound tokens by leaving out results and arguments of old calls. If that leaves
// more than most tokens, it condenses old answers until bound is reached, or only the system prompt and the brief
// remain. It removes more than is needed at once, since each change invalidates the endpoint's prompt cache. note
// describes the changes; empty: none.
func (c *conversation) shorten(bound, limit int) (note string) {
	before := c.total
	old := -keepLast
	for _, x := range c.turns {
		old += len(x.messages)
	}
	c.leaveOut(bound, old)
	condensed, dropped := 0, 0
	if c.total > limit {
		c.leaveOut(limit, old+keepLast-keepLeast)
	}
	pruned := before - c.total
	if c.total > limit {
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

// leaveOut leaves out results, then arguments, of the first old messages after the brief.
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

// condense replaces the oldest answers by notes, except the last keep, and returns how many.
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
		c.recountHead()
		n++
	}
	return n
}

// dropNotes drops the oldest notes and returns how many.
func (c *conversation) dropNotes(bound int) (n int) {
	for c.total > bound && len(c.notes) > 0 {
		many := max(1, len(c.notes)/4) // in batches, since each recount reads all notes
		c.notes = slices.Delete(c.notes, 0, many)
		c.droppedNotes += many
		n += many
		c.recountHead()
	}
	return n
}

func dropResult(m *llm.Message) bool {
	if m.Role != llm.RoleTool || len(m.Content) < minResultLeftOut {
		return false
	}
	m.Content = leftOutResult
	return true
}

// dropArguments leaves out long arguments. Those of an answer with opaque parts stay: the endpoint expects both
// unchanged.
func dropArguments(m *llm.Message) bool {
	if m.Opaque != nil && len(m.Opaque.Parts) > 0 {
		return false
	}
	dropped := false
	for i := range m.ToolCalls {
		if len(m.ToolCalls[i].Arguments) >= minCallLeftOut {
			if !dropped { // copied, since the caller shares the model's answer
				m.ToolCalls = slices.Clone(m.ToolCalls)
			}
			m.ToolCalls[i].Arguments = leftOutCall
			dropped = true
		}
	}
	return dropped
}
