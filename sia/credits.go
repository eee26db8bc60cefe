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

// String prints whole and up to two decimal places: "12", "0.35".
func (c Credits) String() string {
	s := strconv.FormatFloat(float64(c)/float64(Credit), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// ParseCredits reads "50", "+50" or "2.5" as an amount of credits. It refuses
// amounts that are not positive or exceed a million.
func ParseCredits(s string) (Credits, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(s), "+"), 64)
	if err != nil || !(f > 0) || f > 1e6 {
		return 0, fmt.Errorf("credits %q: want a positive number such as 50, at most 1000000", s)
	}
	return Credits(f * float64(Credit)), nil
}

// CreditsOf converts US dollars, rounding up: what was spent is never
// understated. What adding up floating-point numbers makes of whole
// thousandths, such as 0.1 + 0.2, is not taken for more.
func CreditsOf(usd float64) Credits {
	return Credits(math.Ceil(usd*100*float64(Credit) - 1e-6))
}

// Ledger is a task's account. Budget is budget.task, with what people added and what earlier runs spent: Budget - Spent
// may still be spent, and Left of that is not set aside for what is under way. Spent + Reserved never exceeds Budget;
// what a model call cost beyond its reservation is real money and stands in Overrun.
type Ledger struct {
	Budget   Credits `json:"budget"`
	Spent    Credits `json:"spent"`
	Reserved Credits `json:"reserved"`
	Overrun  Credits `json:"overrun,omitempty"`
}

// Left is what is neither spent nor reserved.
func (l Ledger) Left() Credits { return l.Budget - l.Spent - l.Reserved }

// Cost is all that was spent, whether the budget covers it or not.
func (l Ledger) Cost() Credits { return l.Spent + l.Overrun }

// reserve sets aside at most want, and returns what was set aside.
func (l *Ledger) reserve(want Credits) Credits {
	got := max(0, min(want, l.Left()))
	l.Reserved += got
	return got
}

// settle ends a reservation: cost is spent, the rest is returned.
func (l *Ledger) settle(reserved, cost Credits) {
	l.Reserved -= min(reserved, l.Reserved)
	l.spend(cost)
}

// spend books a cost; what the budget does not cover is kept as overrun.
func (l *Ledger) spend(cost Credits) {
	paid := max(0, min(cost, l.Left()))
	l.Spent += paid
	l.Overrun += cost - paid
}

// Tokens are what an attempt's models read and wrote. Cached, which was read from a cache of
// the endpoint, and Written, which was written to one, are parts of Input.
type Tokens struct {
	Input   int `json:"input,omitempty"`
	Cached  int `json:"cached,omitempty"`
	Written int `json:"written,omitempty"`
	Output  int `json:"output,omitempty"` // reasoning included
}

// Add is the sum of both.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.Cached + u.Cached, t.Written + u.Written, t.Output + u.Output}
}

// String is for people: "2000 tokens in (1200 from a cache, 300 written to it), 100 out".
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

// Edits counts an attempt's calls that were to change files.
type Edits struct {
	Format string `json:"format,omitempty" mask:"-"` // in which they were asked for; see [agent.EditFormat]
	Made   int    `json:"made,omitempty"`
	Failed int    `json:"failed,omitempty"`
}

// Add is the sum of both, in the later's format.
func (e Edits) Add(f Edits) Edits {
	return Edits{cmp.Or(f.Format, e.Format), e.Made + f.Made, e.Failed + f.Failed}
}
