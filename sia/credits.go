package sia

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Credits is an amount of money that SIA accounts for, in thousandths of a
// credit. One credit is 0.01 USD.
type Credits int64

// Credit is one credit, 0.01 USD.
const Credit Credits = 1000

// String formats c with at most two decimal places: "12", "0.35".
func (c Credits) String() string {
	s := strconv.FormatFloat(float64(c)/float64(Credit), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// ParseCredits parses "50", "+50" or "2.5" as an amount of credits. It rejects
// amounts that are not positive or exceed a million.
func ParseCredits(s string) (Credits, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(s), "+"), 64)
	if err != nil || !(f > 0) || f > 1e6 {
		return 0, fmt.Errorf("credits %q: want a positive number such as 50, at most 1000000", s)
	}
	return Credits(f * float64(Credit)), nil
}

// CreditsOf converts US dollars, rounding up, so that a cost is never
// understated. Floating-point errors in sums of whole thousandths, such as
// 0.1 + 0.2, are not rounded up.
func CreditsOf(usd float64) Credits {
	return Credits(math.Ceil(usd*100*float64(Credit) - 1e-6))
}

// Ledger is a task's account. Budget is the sum of budget.task, of people's additions and of the cost of earlier runs:
// Budget - Spent may still be spent, and Left returns the part of it that is not reserved for running work.
// Spent + Reserved never exceeds Budget; the cost of a model call beyond its reservation is real money, in Overrun.
type Ledger struct {
	Budget   Credits `json:"budget"`
	Spent    Credits `json:"spent"`
	Reserved Credits `json:"reserved"`
	Overrun  Credits `json:"overrun,omitempty"`
}

// Left returns the amount that is neither spent nor reserved.
func (l Ledger) Left() Credits { return l.Budget - l.Spent - l.Reserved }

// Cost returns the total amount spent, whether or not the budget covers it.
func (l Ledger) Cost() Credits { return l.Spent + l.Overrun }

// reserve reserves at most want, and returns the reserved amount.
func (l *Ledger) reserve(want Credits) Credits {
	got := max(0, min(want, l.Left()))
	l.Reserved += got
	return got
}

// settle ends a reservation: it books cost and releases the rest.
func (l *Ledger) settle(reserved, cost Credits) {
	l.Reserved -= min(reserved, l.Reserved)
	l.spend(cost)
}

// spend books a cost; the part that the budget does not cover is added to Overrun.
func (l *Ledger) spend(cost Credits) {
	paid := max(0, min(cost, l.Left()))
	l.Spent += paid
	l.Overrun += cost - paid
}

// Tokens counts the tokens that an attempt's models read and wrote. Cached, read from a cache of
// the endpoint, and Written, written to one, are parts of Input.
type Tokens struct {
	Input   int `json:"input,omitempty"`
	Cached  int `json:"cached,omitempty"`
	Written int `json:"written,omitempty"`
	Output  int `json:"output,omitempty"` // reasoning included
}

// Add returns the sum of t and u.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.Cached + u.Cached, t.Written + u.Written, t.Output + u.Output}
}

// String formats t for people: "2000 tokens in (1200 from a cache, 300 written to it), 100 out".
func (t Tokens) String() string {
	cache := ""
	switch {
	case t.Cached > 0 && t.Written > 0:
		cache = fmt.Sprintf(" (%d from a cache, %d written to it)", t.Cached, t.Written)
	case t.Cached > 0:
		cache = fmt.Sprintf(" (%d from a cache)", t.Cached)
	case t.Written > 0:
		cache = fmt.Sprintf(" (%d written to a cache)", t.Written)
	}
	return fmt.Sprintf("%d tokens in%s, %d out", t.Input, cache, t.Output)
}

// Edits counts an attempt's tool calls that edit files.
type Edits struct {
	Format string `json:"format,omitempty" mask:"-"` // requested edit format; see [agent.EditFormat]
	Made   int    `json:"made,omitempty"`
	Failed int    `json:"failed,omitempty"`
}

// Add returns the sum of e and f, with f's format if it has one.
func (e Edits) Add(f Edits) Edits {
	return Edits{cmp.Or(f.Format, e.Format), e.Made + f.Made, e.Failed + f.Failed}
}
