package agent

import (
	"errors"
	"math"
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
	longest int // tokens of an answer, when the command does not say
	// called for each call when it begins, with nil, and when it was answered; not at the same time
	heard func(*paidAnswer)
	spent func(end sia.AttemptEnd, why string)

	mu      sync.Mutex
	budget  *attemptBudget
	held    sia.Credits // for calls under way
	calling int
}

// Reserve holds what the call may cost at most, and counts a turn: whatever the call's
// result, it was made. When nothing is left, and no call under way could give something
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
	c.Held = int64(mostOf(m.budget.price, c))
	m.held += sia.Credits(c.Held)
	m.calling++
	m.budget.turns++
	m.heard(nil)
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
	used := CallUsage(m.budget.price, c, u)
	m.heard(&paidAnswer{used, m.budget.bookUsage(c.Prompt, llm.Response{Usage: used})})
}

// usedShare is the share of the budget that is used, as of [attemptBudget].
func (m *callMeter) usedShare() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.usedShare()
}

// between calls f while nothing of a call is passed on.
func (m *callMeter) between(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// ReserveCall says what a call of an attempt elsewhere may take at most, for who pays for it: so that what is left
// covers it. ok is false when that covers no call. prompt is an estimate in tokens; want is 0 when the agent did not
// say how long its answer may be.
func ReserveCall(price llm.Price, left sia.Credits, prompt, want int) (c gateway.Call, ok bool) {
	if want <= 0 {
		want = longestAnswer
	}
	c = gateway.Call{Prompt: prompt, Input: int(math.Ceil(float64(prompt) * estimateMargin))}
	if c.Most = affordable(price, left, c.Input, want); c.Most == 0 {
		return c, false
	}
	c.Held = int64(mostOf(price, c))
	return c, true
}

// mostOf is what a call may cost at most.
func mostOf(price llm.Price, c gateway.Call) sia.Credits {
	return sia.CreditsOf(price.Prompt(c.Input) + price.Cost(llm.Usage{Output: c.Most}))
}

// CallUsage is what a call took that a gateway let through, with its price.
func CallUsage(price llm.Price, c gateway.Call, u gateway.Usage) llm.Usage {
	used := llm.Usage{Input: u.Input, CachedInput: u.Cached, CacheWrite: u.Written, Output: u.Output,
		Estimated: u.Input == c.Input} // what was reserved teaches nothing
	used.USD = price.Cost(used)
	return used
}

// total is what was answered and spent so far.
func (m *callMeter) total() (turns int, cost sia.Credits, usage llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.turns, m.budget.spent, m.budget.usage
}
