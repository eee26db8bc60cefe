package agent

import (
	"errors"
	"sync"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

// paidAnswer is one call that the model answered.
type paidAnswer struct {
	usage llm.Usage
	cost  sia.Credits
}

// callMeter pays from the attempt's budget for the calls that a command makes. It
// implements [gateway.Meter].
type callMeter struct {
	longest  int              // tokens of an answer, when the command does not say
	answered func(paidAnswer) // called for each, not at the same time
	spent    func(end sia.AttemptEnd, why string)

	mu      sync.Mutex
	budget  *attemptBudget
	held    sia.Credits // for calls under way
	calling int
}

// Reserve holds what the call may cost at most, and counts a turn: whatever becomes of the
// call, it was made. When nothing is left, and no call under way could give something
// back, the attempt is at its limit.
func (m *callMeter) Reserve(prompt, want int) (gateway.Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if want <= 0 {
		want = m.longest
	}
	m.budget.spent += m.held
	most, end, why := m.budget.nextCall(prompt, want)
	m.budget.spent -= m.held
	if end != "" {
		if m.calling == 0 {
			m.spent(end, why)
		}
		return gateway.Call{}, errors.New(why)
	}
	c := gateway.Call{Prompt: prompt, Input: m.budget.correctEstimate(prompt), Most: most}
	c.Held = int64(sia.CreditsOf(m.budget.price.Prompt(c.Input) + m.budget.price.Cost(llm.Usage{Output: most})))
	m.held += sia.Credits(c.Held)
	m.calling++
	m.budget.turns++
	return c, nil
}

// Settle books what a call took and gives the rest back.
func (m *callMeter) Settle(c gateway.Call, u gateway.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= sia.Credits(c.Held)
	m.calling--
	if u == (gateway.Usage{}) {
		return
	}
	used := llm.Usage{Input: u.Input, CachedInput: u.Cached, CacheWrite: u.Written, Output: u.Output,
		Estimated: u.Input == c.Input} // what was reserved teaches nothing
	used.USD = m.budget.price.Cost(used)
	m.answered(paidAnswer{used, m.budget.bookUsage(c.Prompt, llm.Response{Usage: used})})
}

// usedShare is the share of the budget that is used, as of [attemptBudget].
func (m *callMeter) usedShare() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.usedShare()
}

// between calls f while no answer is passed on.
func (m *callMeter) between(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// total is what was answered and spent so far.
func (m *callMeter) total() (turns int, cost sia.Credits, usage llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.turns, m.budget.spent, m.budget.usage
}
