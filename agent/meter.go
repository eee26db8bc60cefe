package agent

import (
	"errors"
	"sync"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

// answer is one call that the model answered.
type answer struct {
	usage llm.Usage
	cost  sia.Credits
}

// meter pays for the calls of a command from the attempt's budget. It implements
// [gateway.Meter].
type meter struct {
	longest  int          // tokens of an answer, when the command does not say
	answered func(answer) // called for each, not at the same time
	spent    func(end sia.AttemptEnd, why string)

	mu      sync.Mutex
	budget  *budget
	held    sia.Credits // for calls under way
	calling int
}

// Reserve holds what the call may cost at most. When nothing is left, and no call
// under way could give something back, the attempt has reached its limit.
func (m *meter) Reserve(prompt, want int) (gateway.Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if want <= 0 {
		want = m.longest
	}
	m.budget.spent += m.held
	m.budget.turns += m.calling
	most, end, why := m.budget.next(prompt, want)
	m.budget.spent -= m.held
	m.budget.turns -= m.calling
	if end != "" {
		if m.calling == 0 {
			m.spent(end, why)
		}
		return gateway.Call{}, errors.New(why)
	}
	c := gateway.Call{Prompt: prompt, Most: most, Held: int64(credits(m.budget.price.Cost(llm.Usage{Input: m.budget.tokens(prompt), Output: most})))}
	m.held += sia.Credits(c.Held)
	m.calling++
	return c, nil
}

// Settle books what a call took and gives the rest back.
func (m *meter) Settle(c gateway.Call, u gateway.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= sia.Credits(c.Held)
	m.calling--
	if u == (gateway.Usage{}) {
		return
	}
	used := llm.Usage{Input: u.Input, CachedInput: u.Cached, Output: u.Output}
	used.USD = m.budget.price.Cost(used)
	m.answered(answer{used, m.budget.spend(c.Prompt, llm.Response{Usage: used})})
}

// total is what was answered and spent so far.
func (m *meter) total() (turns int, cost sia.Credits, usage llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.turns, m.budget.spent, m.budget.usage
}
