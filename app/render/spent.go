package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Spent answers /sia spent on one line: the task's cost so far, the remaining credits, and the cost of each attempt.
// The difference was spent between attempts, such as on diagnoses and reviews.
func Spent(t sia.Task) string {
	l := t.Credits
	all := l.Cost()
	s := fmt.Sprintf("**Spent:** %s of %s credits", all, l.Budget)
	if all > 0 { // a server with models without a price counts none
		s += " (" + usd(all) + ")"
	}
	s += ";"
	if l.Reserved > 0 {
		s += fmt.Sprintf(" %s set aside for what is running,", l.Reserved)
	}
	s += fmt.Sprintf(" %s left.", l.Left())
	rest := all
	var each []string
	for _, a := range t.Attempts {
		if a.Cost > 0 {
			each = append(each, fmt.Sprintf("attempt %d took %s", a.Number, a.Cost))
			rest -= a.Cost
		}
	}
	if rest > 0 {
		each = append(each, fmt.Sprintf("diagnoses, reviews and the like took %s", rest))
	}
	if len(each) > 0 {
		s += " " + sentenceCase(strings.Join(each, "; ")) + "."
	}
	return s + "\n"
}
