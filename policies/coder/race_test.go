package coder_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies/coder"
)

// racing returns the shipped parameters with races of that many coders.
func racing(t testing.TB, race int, below float64) coder.Parameters {
	p := shipped(t)
	p.Explore, p.Race, p.RaceBelow = 0, race, below
	return p
}

func TestRace(t *testing.T) {
	three := []coder.Candidate{{Coder: "a", Cost: 10, Prior: 0.4}, {Coder: "b", Cost: 20, Prior: 0.4},
		{Coder: "c", Cost: 30, Prior: 0.4}}
	ask := func(change func(*coder.Request)) coder.Request {
		r := coder.Request{Candidates: three, Value: 1000, Left: 1000, Tries: 3}
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name  string
		race  int
		below float64
		in    coder.Request
		want  []string
	}{
		{"as shipped", shipped(t).Race, shipped(t).RaceBelow, ask(func(*coder.Request) {}), nil},
		{"two", 2, 0.5, ask(func(*coder.Request) {}), []string{"a", "b"}},
		{"three", 3, 0.5, ask(func(*coder.Request) {}), []string{"a", "b", "c"}},
		{"more than there are", 8, 0.5, ask(func(*coder.Request) {}), []string{"a", "b", "c"}},
		{"the best is good enough", 3, 0.3, ask(func(*coder.Request) {}), nil},
		{"what is left is enough for two", 3, 0.5, ask(func(r *coder.Request) { r.Left = 59 }), []string{"a", "b"}},
		{"what is left is enough for one", 3, 0.5, ask(func(r *coder.Request) { r.Left = 29 }), nil},
		{"the third is not worth it", 3, 0.5, ask(func(r *coder.Request) { r.Value = 300 }), []string{"a", "b"}},
		{"nobody is known to be worth it", 3, 0.5, ask(func(r *coder.Request) { r.Value = 0 }), nil},
		{"one is to work", 3, 0.5, ask(func(r *coder.Request) { r.Alone = true }), nil},
		{"who failed comes last, and adds too little", 3, 0.5,
			ask(func(r *coder.Request) { r.Failed, r.Value = []string{"b"}, 600 }), []string{"a", "c"}},
		{"there is only one", 3, 0.5, ask(func(r *coder.Request) { r.Candidates = three[:1] }), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newLearner(t, racing(t, tt.race, tt.below)).Decide(tt.in)
			if diff := cmp.Diff(tt.want, coder.Racers(d.Options, d.Choice)); diff != "" {
				t.Errorf("%s\n%s", diff, d.Reason)
			}
			if said := strings.Contains(d.Reason, "at the same time"); said != (tt.want != nil) || said != (d.Together > 0) {
				t.Errorf("%s (together %.2f)", d.Reason, d.Together)
			}
		})
	}
}

// For any request: a race has several coders within the budget, including the choice, and never a lower probability
// than the choice alone. Apart from the racers, the decision is the same.
func TestRacesStayWithinTheirBounds(t *testing.T) {
	race, alone := newLearner(t, racing(t, 3, 0.9)), newLearner(t, racing(t, 1, 0.9))
	rapid.Check(t, func(t *rapid.T) {
		r := request(t)
		d, one := race.Decide(r), alone.Decide(r)
		if d.Choice != one.Choice || d.Propensity != one.Propensity {
			t.Fatalf("%s of %.2f, alone %s of %.2f", d.Choice, d.Propensity, one.Choice, one.Propensity)
		}
		cost, n, chance := 0.0, 0, 0.0
		for _, o := range d.Options {
			if o.Races {
				cost, n = cost+o.Cost, n+1
			}
			if o.Coder == d.Choice {
				chance = o.Chance
			}
		}
		if n == 1 || n > 3 || n > 0 && (cost > r.Left || d.Together < chance-1e-9 || d.Together > 1) ||
			math.IsNaN(d.Together) {
			t.Fatalf("%d race for %.2f of %.2f, together %.2f: %+v", n, cost, r.Left, d.Together, d)
		}
	})
}
