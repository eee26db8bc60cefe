package agent

import (
	"errors"
	"math"
	"sync"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/llm/usage"
	"github.com/sia-bot/sia/sia"
)

// paidAnswer is the cost of a call that the model answered.
type paidAnswer struct {
	usage llm.Usage
	cost  sia.Credits
	share float64 // used share of the budget afterwards, see [attemptBudget.usedShare]
}

// callMeter charges a command's calls to the attempt's budget. It implements [gateway.Meter].
type callMeter struct {
	defaultMax int // maximum tokens of an answer if the command sets none
	// called for each call when it begins, with nil, and when it is answered; calls are serialized
	onCall  func(*paidAnswer)
	onLimit func(end sia.AttemptEnd, why string)

	mu       sync.Mutex
	budget   *attemptBudget
	reserved sia.Credits // for calls in flight
	inFlight int
}

// Reserve reserves the maximum cost of the call and counts a turn, even if the call fails. If the budget is exhausted
// and no call in flight can return credits, it ends the attempt.
func (m *callMeter) Reserve(prompt, want int) (gateway.Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if want <= 0 {
		want = m.defaultMax
	}
	m.budget.spent += m.reserved
	limit, end, why := m.budget.nextCall(prompt, want)
	m.budget.spent -= m.reserved
	if end != "" {
		if m.inFlight == 0 {
			m.onLimit(end, why)
		}
		return gateway.Call{}, errors.New(why)
	}
	c := gateway.Call{Prompt: prompt, Input: m.budget.correctEstimate(prompt), Most: limit}
	c.Held = int64(maxCost(m.budget.price, c))
	m.reserved += sia.Credits(c.Held)
	m.inFlight++
	m.budget.turns++
	m.onCall(nil)
	return c, nil
}

// Settle charges the actual cost of a call and releases the rest.
func (m *callMeter) Settle(c gateway.Call, u gateway.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= sia.Credits(c.Held)
	m.inFlight--
	if u == (gateway.Usage{}) {
		return
	}
	used := CallUsage(m.budget.price, c, u)
	cost := m.budget.bookUsage(c.Prompt, llm.Response{Usage: used})
	m.onCall(&paidAnswer{used, cost, m.budget.usedShare()})
}

// usedShare returns [attemptBudget.usedShare].
func (m *callMeter) usedShare() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.usedShare()
}

// withLock calls f while no call is passed on.
func (m *callMeter) withLock(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// ReserveCall returns the reservation for a call of an attempt on another machine, within the credits that are left. ok
// is false if they cover no call. prompt is an estimate in tokens; want is 0 if the agent set no maximum size of its
// answer.
func ReserveCall(price llm.Price, left sia.Credits, prompt, want int) (c gateway.Call, ok bool) {
	if want <= 0 {
		want = defaultMaxAnswer
	}
	c = gateway.Call{Prompt: prompt, Input: int(math.Ceil(float64(prompt) * estimateMargin))}
	if c.Most = affordable(price, left, c.Input, want); c.Most == 0 {
		return c, false
	}
	c.Held = int64(maxCost(price, c))
	return c, true
}

// maxCost returns the maximum cost of a call.
func maxCost(price llm.Price, c gateway.Call) sia.Credits {
	return sia.CreditsOf(price.Prompt(c.Input) + price.Cost(llm.Usage{Output: c.Most}))
}

// CallUsage returns the usage of a call through a gateway, with its cost. A reservation that was charged in full is no
// true count, nor is an output at the gateway's bound.
func CallUsage(price llm.Price, c gateway.Call, u gateway.Usage) llm.Usage {
	used := llm.Usage{Input: u.Input, CachedInput: u.Cached, CacheWrite: u.Written, Output: u.Output,
		Estimated: u.Input == c.Input || c.Most > 0 && u.Output == usage.MaxOutput(c.Most)}
	used.USD = price.Cost(used)
	return used
}

// ObservedCall describes a call through a gateway to the model of a client, for [llm.Config.Observe].
func ObservedCall(c llm.Config, e gateway.Ended) llm.Call {
	protocol := llm.ProtocolChat // or responses, of the same vendor
	if e.Path == gateway.MessagesPath {
		protocol = llm.ProtocolMessages
	}
	out := llm.CallTo(c, protocol)
	out.Took, out.Ended = e.Took, e.Hungup
	if e.Usage != (gateway.Usage{}) {
		out.Usage = CallUsage(c.Price, e.Call, e.Usage)
	}
	switch {
	case e.Hungup, e.Status/100 == 2:
	case e.Status == 0:
		out.Failed = llm.KindNetwork
	default:
		out.Failed = llm.KindOf(e.Status)
	}
	return out
}

// total returns the answered turns and the cost so far.
func (m *callMeter) total() (turns int, cost sia.Credits, usage llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.budget.turns, m.budget.spent, m.budget.usage
}
