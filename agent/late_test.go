package agent

import (
	"context"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

// savedTurns keeps turns as a database does: what is saved under a number replaces what was under it and above.
type savedTurns []Turn

func (s *savedTurns) Turn(_ context.Context, t Turn) error {
	*s = append((*s)[:min(t.Number, len(*s))], t)
	return nil
}

// What a command's model was paid for is in the transcript, also where nobody read it any more, so that who goes on
// from there knows what is left.
func TestLateAnswersAreRecorded(t *testing.T) {
	var saved savedTurns
	limits := Limits{Turns: 10, Time: time.Hour, Credits: 100 * sia.Credit}
	price := llm.Price{Input: 10, Output: 50}
	r := &commandRun{turnJournal: turnJournal{rec: &saved, clock: time.Now}, out: &outputParser{now: time.Now},
		answers: make(chan paidAnswer)}
	r.meter = &callMeter{longest: longestAnswer, budget: newBudget(limits, price, time.Now), answered: r.passAnswer}
	if err := r.recordTurn(t.Context(), Turn{Kind: TurnBrief}); err != nil {
		t.Fatal(err)
	}
	call := func() {
		c, err := r.meter.Reserve(1000, 100)
		if err != nil {
			t.Error(err)
		}
		r.meter.Settle(c, gateway.Usage{Input: 1000, Output: 100})
	}
	left := func() sia.Credits {
		b := newBudget(limits, price, time.Now)
		b.bookSaved(saved)
		return limits.Credits - b.spent
	}

	r.ended = make(chan struct{})
	go call()
	if err := r.noteAnswer(t.Context(), <-r.answers); err != nil { // and the process dies
		t.Fatal(err)
	}
	_, cost, _ := r.meter.total()
	if left() != limits.Credits-cost {
		t.Errorf("%s are left when %s were spent on an answer", left(), cost)
	}
	over := make(chan struct{})
	close(over)
	r.ended = over
	for range 2 {
		call()
	}
	r.turns = 1
	if err := r.recordLate(t.Context()); err != nil {
		t.Fatal(err)
	}
	turns, cost, _ := r.meter.total()
	if left() != limits.Credits-cost || turns != 3 || len(saved) != 4 {
		t.Errorf("%s are left when %s were spent on %d answers: %+v", left(), cost, turns, saved)
	}
}
