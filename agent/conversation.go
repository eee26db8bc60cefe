package agent

import (
	"fmt"

	"github.com/sia-bot/sia/agent/llm"
)

// Bounds of what is left out of a conversation that outgrows the window.
const (
	keepLast   = 6    // newest messages that stay whole
	worthwhile = 200  // bytes of a result, or
	largeCall  = 1500 // of a call's arguments, below which leaving out saves nothing
)

const (
	leftOutResult = "[left out to save room; make the call again if you need it]"
	leftOutCall   = `{"left_out":"to save room; the call was carried out as it was"}`
)

// conversation is the messages of an attempt with a running estimate of their
// tokens. Messages are shortened but never removed, so that the number of the
// assistant's turns stays what it was.
type conversation struct {
	messages []llm.Message
	tokens   []int
	total    int
}

func (c *conversation) add(m llm.Message) {
	n := m.Tokens()
	c.messages = append(c.messages, m)
	c.tokens = append(c.tokens, n)
	c.total += n
}

// shorten leaves out old results, then the arguments of old calls, until the
// conversation has at most bound tokens, and says how many it left out. It does
// more at once than is needed, since each change makes the endpoint's cache of
// the conversation useless.
func (c *conversation) shorten(bound int) (note string) {
	before := c.total
	for _, change := range []func(*llm.Message) bool{dropResult, dropArguments} {
		for i := 0; i < len(c.messages)-keepLast && c.total > bound; i++ {
			if !change(&c.messages[i]) {
				continue
			}
			n := c.messages[i].Tokens()
			c.total += n - c.tokens[i]
			c.tokens[i] = n
		}
	}
	if c.total == before {
		return ""
	}
	return fmt.Sprintf("old tool results left out of the conversation: %d of %d tokens", before-c.total, before)
}

func dropResult(m *llm.Message) bool {
	if m.Role != llm.RoleTool || len(m.Content) < worthwhile {
		return false
	}
	m.Content = leftOutResult
	return true
}

func dropArguments(m *llm.Message) bool {
	dropped := false
	for i := range m.ToolCalls {
		if len(m.ToolCalls[i].Arguments) >= largeCall {
			m.ToolCalls[i].Arguments = leftOutCall
			dropped = true
		}
	}
	return dropped
}
