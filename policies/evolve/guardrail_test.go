package evolve_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies/evolve"
)

func guardrail(t interface {
	Helper()
	Fatal(args ...any)
}, well, tried int) *evolve.Guardrail {
	t.Helper()
	g, err := evolve.NewGuardrail(well, tried)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Quantiles of Beta(1, 1+n) and Beta(1+n, 1) have closed forms, and one of many tasks is
// nearly that of a normal distribution.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		well, tried int
		want        float64
	}{{0, 0, .2}, {1, 1, math.Sqrt(.2)}, {0, 1, 1 - math.Sqrt(.8)}, {0, 9, 1 - math.Pow(.8, .1)},
		{4999, 4999, math.Pow(.2, 1./5000)}} {
		if got := guardrail(t, tt.well, tt.tried).Limit(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d of %d: limit %v, want %v", tt.well, tt.tried, got, tt.want)
		}
	}
	for _, rate := range []float64{.02, .5, .98} {
		const tried, z20 = 100_000, .8416
		want := rate - z20*math.Sqrt(rate*(1-rate)/tried)
		if got := guardrail(t, int(rate*tried), tried).Limit(); math.Abs(got-want) > 1e-4 {
			t.Errorf("%v of %d: limit %v, want about %v", rate, tried, got, want)
		}
	}
	for _, bad := range [][2]int{{-1, 0}, {2, 1}, {0, -1}} {
		if _, err := evolve.NewGuardrail(bad[0], bad[1]); err == nil {
			t.Errorf("%d of %d went well before", bad[0], bad[1])
		}
	}
}

// Both processes equal their formulas, computed from all tasks.
func TestGuardrailIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tried := rapid.IntRange(0, 400).Draw(t, "tried")
		well := rapid.IntRange(0, tried).Draw(t, "well")
		g := guardrail(t, well, tried)
		d, rate := dice(rapid.Uint64().Draw(t, "seed")), rapid.Float64Range(0, 1).Draw(t, "rate")
		var log, r [3]float64
		for n := range 400 {
			y := d.Float64() < rate
			g.Add(y)
			e, sum := 0.0, 0.0
			for i, drop := range []float64{.1, .15, .25} {
				p := max(g.Limit()-drop, g.Limit()/10)
				l := p / g.Limit()
				if !y {
					l = (1 - p) / (1 - g.Limit())
				}
				log[i] += math.Log(l)
				r[i] = (1 + r[i]) * l
				e, sum = e+math.Exp(log[i])/3, sum+r[i]/3
			}
			want := evolve.GoOn
			if n < 200 && e >= 40 || sum >= 1e4 {
				want = evolve.RollBack
			}
			if g.Verdict() != want {
				t.Fatalf("after %d tasks %s, want %s with E = %v, R = %v: %s", n+1, g.Verdict(), want, e, sum, g.Why())
			}
			if want == evolve.RollBack {
				why := g.Why()
				if g.Add(true); g.Why() != why || g.Verdict() != evolve.RollBack {
					t.Fatalf("after the verdict: %s, before %s", g.Why(), why)
				}
				return
			}
		}
	})
}

// rolledBack returns the number of tasks until a guardrail rolls back, 0 for never. Its baseline is 200 tasks with the
// old rate.
func rolledBack(t *testing.T, seed uint64, old, rate float64, tasks int) int {
	d, well := dice(seed), 0
	for range 200 {
		if d.Float64() < old {
			well++
		}
	}
	g := guardrail(t, well, 200)
	for n := range tasks {
		if g.Add(d.Float64() < rate); g.Verdict() == evolve.RollBack {
			return n + 1
		}
	}
	return 0
}

// The known error rates and delays of guardrails; `sialab policies` prints more of them.
func TestGuardrailRollsBackWhatIsWorse(t *testing.T) {
	const worlds = 500
	for _, old := range []float64{.5, .7} {
		falsely := 0
		var much, little []int
		for i := range uint64(worlds) {
			if rolledBack(t, i, old, old, 200) > 0 {
				falsely++
			}
			much = append(much, rolledBack(t, i, old, old-.25, 5000))
			little = append(little, rolledBack(t, i, old, old-.15, 5000))
		}
		slices.Sort(much)
		slices.Sort(little)
		t.Logf("%.0f %%: rolled back falsely in the first 200 tasks %.1f %%; −25 points after %d, −15 after %d", 100*old,
			100*float64(falsely)/worlds, much[worlds/2], little[worlds/2])
		if falsely > worlds*25/1000 || much[0] == 0 || much[worlds/2] > 45 || little[worlds/2] > 125 {
			t.Error("that is not what it did before")
		}
	}
}
