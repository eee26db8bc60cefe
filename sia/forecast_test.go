package sia

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A forecast uses the most specific set with at least five tasks, and names it; with fewer there is none.
func TestPredictGoesByTheNearest(t *testing.T) {
	var all []Ended
	add := func(n int, repo int64, kind string, cost Credits) {
		for range n {
			all = append(all, Ended{Repo: repo, Kind: kind, Cost: cost, Took: time.Minute, Passed: true})
		}
	}
	for _, step := range []struct {
		n    int
		repo int64
		kind string
		want Forecast
	}{
		{4, 2, "docs", Forecast{Tasks: 4}},
		{1, 2, "bug", Forecast{Tasks: 5, Passed: 5}},
		{4, 2, "bug", Forecast{Tasks: 5, Passed: 5, Kind: "bug"}},
		{5, 1, "docs", Forecast{Tasks: 5, Passed: 5, Here: true}},
		{5, 1, "bug", Forecast{Tasks: 5, Passed: 5, Here: true, Kind: "bug"}},
	} {
		add(step.n, step.repo, step.kind, Credit)
		got := Predict(all, 1, "bug")
		if got.Known() != (got.Cost.Mid == int64(Credit) && got.Time.Mid == 60) {
			t.Errorf("%+v", got)
		}
		got.Cost, got.Time, got.Within = Span{}, Span{}, 0
		if got != step.want {
			t.Errorf("after %+v: %+v, want %+v", step, got, step.want)
		}
	}
}

// For random tasks with long tails, the interval has the stated coverage, from five tasks on.
func TestForecastsHoldWhatTheySay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 8, 9, 20, 60} {
		const rounds = 4000
		held, within := 0, 0.
		for range rounds {
			all := make([]Ended, n)
			draw := func() Ended {
				return Ended{Repo: 1, Cost: Credits(4000 * math.Exp(rng.NormFloat64())),
					Took: time.Duration(float64(10*time.Minute) * math.Exp(1.5*rng.NormFloat64()))}
			}
			for i := range all {
				all[i] = draw()
			}
			f, next := Predict(all, 1, ""), draw()
			if within = f.Within; int64(next.Cost) >= f.Cost.Low && int64(next.Cost) <= f.Cost.High {
				held++
			}
		}
		got := float64(held) / rounds
		if n >= 9 && within < .8 || math.Abs(got-within) > .02 {
			t.Errorf("%d tasks: %.3f of the next lie in the interval, and it says %.3f", n, got, within)
		}
	}
}

// For random repositories, with random arrivals and long-tailed costs, four of five months lie in the interval.
func TestMonthsHoldWhatTheySay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	week := func(perWeek float64, days int) (sum Credits) {
		for range days {
			for p := rng.Float64(); p > math.Exp(-perWeek/7); p *= rng.Float64() {
				sum += Credits(4000 * math.Exp(.8*rng.NormFloat64()))
			}
		}
		return sum
	}
	for _, c := range []struct {
		weeks   int
		perWeek float64
	}{{5, 10}, {12, 3}, {12, 20}, {30, 10}} {
		const rounds = 3000
		held, known := 0, 0
		for range rounds {
			weeks := make([]Credits, c.weeks)
			for i := range weeks {
				weeks[i] = week(c.perWeek, 7)
			}
			span, ok := NextMonth(weeks)
			if !ok {
				continue
			}
			known++
			if next := int64(week(c.perWeek, 30)); next >= span.Low && next <= span.High {
				held++
			}
		}
		if share := float64(held) / float64(known); share < .75 || share > .86 {
			t.Errorf("%d weeks with %.0f tasks each: %.3f of the months lie in the interval", c.weeks, c.perWeek, share)
		}
	}
	if _, known := NextMonth([]Credits{0, 0, 0, 1, 1, 1, 1}); known {
		t.Error("a month is forecast from four weeks")
	}
}
