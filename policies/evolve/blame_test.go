package evolve_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/policies/evolve"
)

func TestBlame(t *testing.T) {
	before := evolve.Arm{Resolved: 100, Tried: 200}
	for _, tt := range []struct {
		with, without evolve.Arm
		want          evolve.Cause
	}{
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 12, Tried: 20}, evolve.TheChanges},
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 4, Tried: 6}, evolve.TheChanges}, // six may be enough
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 4, Tried: 20}, evolve.Everyones},
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 8, Tried: 20}, evolve.Unclear},
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 0, Tried: 9}, evolve.Unclear},     // too few held back
		{evolve.Arm{Resolved: 60, Tried: 140}, evolve.Arm{Resolved: 30, Tried: 40}, evolve.Unclear},  // the fall may be luck
		{evolve.Arm{Resolved: 100, Tried: 200}, evolve.Arm{Resolved: 20, Tried: 40}, evolve.Nobodys}, // it was luck
		{evolve.Arm{Resolved: 170, Tried: 200}, evolve.Arm{Resolved: 20, Tried: 40}, evolve.Nobodys}, // and is better now
		{evolve.Arm{Resolved: 100, Tried: 200}, evolve.Arm{Resolved: 5, Tried: 9}, evolve.Unclear},   // too few held back
		{evolve.Arm{Resolved: 0, Tried: 400}, evolve.Arm{Resolved: 0, Tried: 400}, evolve.Everyones}, // nothing overflows
		{evolve.Arm{Resolved: 0, Tried: 400}, evolve.Arm{Resolved: 200, Tried: 400}, evolve.TheChanges},
		{evolve.Arm{}, evolve.Arm{}, evolve.Unclear},
	} {
		if got := evolve.Blame(before, tt.with, tt.without); got != tt.want {
			t.Errorf("%v with, %v without: %s, want %s", tt.with, tt.without, got, tt.want)
		}
	}
}

// A likelihood is the product of the probabilities of all outcomes, each predicted from the tasks before it.
func TestBlameIsTheFormula(t *testing.T) {
	arm := rapid.Custom(func(t *rapid.T) evolve.Arm {
		tried := rapid.IntRange(0, 200).Draw(t, "tried")
		return evolve.Arm{Resolved: rapid.IntRange(0, tried).Draw(t, "well"), Tried: tried}
	})
	log := func(tasks, known evolve.Arm) (sum float64) {
		for i := range tasks.Tried {
			rate := float64(known.Resolved+1) / float64(known.Tried+2)
			if known.Tried++; i < tasks.Resolved {
				sum += math.Log(rate)
				known.Resolved++
			} else {
				sum += math.Log(1 - rate)
			}
		}
		return sum
	}
	rapid.Check(t, func(t *rapid.T) {
		before, with, without := arm.Draw(t, "before"), arm.Draw(t, "with"), arm.Draw(t, "without")
		others := evolve.Arm{Resolved: before.Resolved + without.Resolved, Tried: before.Tried + without.Tried}
		change := log(without, before) - log(without, with)
		fall := log(with, evolve.Arm{}) - log(with, others)
		if with.Resolved*max(1, others.Tried) >= others.Resolved*max(1, with.Tried) {
			fall = math.Inf(-1)
		}
		for _, bound := range []float64{change - math.Log(3), change - math.Log(.1), fall - math.Log(10),
			fall - math.Log(.1)} {
			if math.Abs(bound) < 1e-6 {
				return // on the edge rounding decides
			}
		}
		want := evolve.Unclear
		switch held := without.Tried >= 10; {
		case change > math.Log(3) && fall > math.Log(10):
			want = evolve.TheChanges
		case held && change < math.Log(.1):
			want = evolve.Everyones
		case held && fall < math.Log(.1):
			want = evolve.Nobodys
		}
		if got := evolve.Blame(before, with, without); got != want {
			t.Fatalf("%s, want %s by %v and %v", got, want, change, fall)
		}
	})
}

func TestHeldBackShare(t *testing.T) {
	held, stay := [3]int{}, 0
	for i := range 20_000 {
		task := fmt.Sprint("acme/app#", i)
		for k, since := range []int{0, 100, 300} {
			if evolve.HeldBack("recover/2", task, since) {
				held[k]++
			}
		}
		if evolve.HeldBack("recover/2", task, 0) == evolve.Assign("recover/2", task) {
			stay++
		}
	}
	if held[0] < 5800 || held[0] > 6200 || held[1] < 3800 || held[1] > 4200 || held[2] < 880 || held[2] > 1120 ||
		stay < 9500 || stay > 10_500 {
		t.Errorf("%v held back, %d as the other lot has it", held, stay)
	}
}
