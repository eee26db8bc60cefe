package agent

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

// An attempt ends, and costs at most its credits unless a prompt was underestimated, for any price and answers.
func TestBudgetProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := llm.Price{
			Input:       rapid.Float64Range(0, 20).Draw(t, "input"),
			CachedInput: rapid.Float64Range(0, 2).Draw(t, "cached"),
			Output:      rapid.Float64Range(0.1, 80).Draw(t, "output"),
		}
		limits := Limits{Turns: rapid.IntRange(1, 50).Draw(t, "turns"),
			Credits: sia.Credits(rapid.IntRange(0, 100_000).Draw(t, "credits"))}
		b := newBudget(limits, price, func() time.Time { return time.Time{} })
		const want = 4000
		prompt := 500
		for range 100 {
			limit, end, why := b.nextCall(prompt, want)
			if end != "" {
				if why == "" || limit != 0 {
					t.Fatalf("end %s: %q, %d", end, why, limit)
				}
				if b.spent > limits.Credits {
					t.Fatalf("spent %d of %d", b.spent, limits.Credits)
				}
				return
			}
			if limit < minOutput || limit > want {
				t.Fatalf("output limit %d", limit)
			}
			in := rapid.IntRange(0, prompt).Draw(t, "in")
			out := rapid.IntRange(0, limit).Draw(t, "out")
			u := llm.Usage{Input: in, CachedInput: in / 3, Output: out}
			u.USD = price.Cost(u)
			b.bookAnswer(prompt, llm.Response{Usage: u})
			prompt += out + 300
		}
		t.Fatal("the attempt did not end")
	})
}

func TestEstimateFollowsTheEndpoint(t *testing.T) {
	b := newBudget(Limits{}, llm.Price{}, time.Now)
	if got := b.correctEstimate(1000); got != 1250 {
		t.Errorf("before any answer: %d", got)
	}
	b.bookAnswer(1000, llm.Response{Usage: llm.Usage{Input: 2000, Output: 1}})
	if got := b.correctEstimate(1000); got != 2100 {
		t.Errorf("after an answer that counted twice as much: %d", got)
	}
	b.bookAnswer(1000, llm.Response{Usage: llm.Usage{Input: 10, Output: 1}})
	if got := b.correctEstimate(1000); got != 1000 {
		t.Errorf("an estimate is never lowered: %d", got)
	}
}
