package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Spent answers /sia spent: what the task has cost so far, and each attempt of it. The rest of what was spent went into
// what comes between attempts, such as diagnoses and reviews.
func Spent(t sia.Task) string {
	var p page
	p.add("**Credits:** " + credits(t.Credits) + ".")
	rest := t.Credits.Spent + t.Credits.Overrun
	var rows strings.Builder
	for _, a := range t.Attempts {
		if a.Cost > 0 {
			fmt.Fprintf(&rows, "| attempt %d | %s |\n", a.Number, a.Cost)
			rest -= a.Cost
		}
	}
	if rest > 0 {
		fmt.Fprintf(&rows, "| diagnoses, reviews and whatever else lies between attempts | %s |\n", rest)
	}
	if rows.Len() > 0 {
		p.add("| what | credits |\n|---|---|\n" + strings.TrimSpace(rows.String()))
	}
	return p.String()
}
