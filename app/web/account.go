package web

import (
	"fmt"
	"strconv"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// account is a task's cost by purpose. Its lines sum to All.
type account struct {
	Lines  []accountLine
	All    sia.Credits
	Budget sia.Credits
	Over   sia.Credits // part of All: the cost of a model call beyond the budget
	Aside  sia.Credits // reserved for the running attempt
}

// accountLine is one item of an account.
type accountLine struct {
	For     string
	Attempt int // number of the attempt; 0: none
	Cost    sia.Credits
}

// exact is an amount to the thousandth, so that the lines visibly sum to the total.
func exact(c sia.Credits) string {
	return strconv.FormatFloat(float64(c)/float64(sia.Credit), 'f', -1, 64)
}

// credits is an amount with its unit.
func credits(c sia.Credits) string {
	if c == sia.Credit {
		return "1 credit"
	}
	return c.String() + " credits"
}

// accountOf adds up a task's costs, from the log: those of its attempts and of the models that judged them.
func accountOf(t sia.Task, events []store.EventRecord) account {
	a := account{All: t.Credits.Cost(), Budget: t.Credits.Budget, Over: t.Credits.Overrun,
		Aside: t.Credits.Reserved}
	left := a.All
	add := func(what string, attempt int, cost sia.Credits) {
		if cost > 0 {
			a.Lines = append(a.Lines, accountLine{what, attempt, cost})
			left -= cost
		}
	}
	many := max(0, len(t.Attempts)-shownRounds)
	earlier := sia.Credits(0)
	for _, at := range t.Attempts[:many] {
		earlier += at.Cost
	}
	add(text.Count(many, "earlier attempt"), 0, earlier)
	for _, at := range t.Attempts[many:] {
		add(fmt.Sprintf("Attempt %d", at.Number), at.Number, at.Cost)
	}
	var diagnosed, reviewed, weighed, final, studied sia.Credits
	for _, e := range events {
		if e.Ignored != "" {
			continue
		}
		switch f := e.Event.Fact.(type) {
		case sia.Diagnosed:
			diagnosed += f.Cost
		case sia.Reviewed:
			reviewed += f.Cost
		case sia.Weighed:
			weighed += f.Cost
		case sia.FinalReviewed:
			final += f.Cost
		case sia.FixStudied:
			studied += f.Cost
		}
	}
	add("Diagnosis", 0, diagnosed)
	add("Review of the diagnosis", 0, reviewed)
	add("Judging changed tests", 0, weighed)
	add("Final review", 0, final)
	add("Learning from a person's fix", 0, studied)
	add("Other", 0, left) // no longer in the log
	return a
}
