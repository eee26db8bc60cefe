package bandit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
)

// These tests have few techniques and patterns, so that evidence accumulates.
var (
	letters  = []string{"a", "b", "c", "d", "e", "f"}
	patterns = []string{"repeated-error", "wrong-order", "never heard of"}
)

func defaults(t testing.TB) bandit.Policy {
	t.Helper()
	p := policies.ShippedTechnique()
	return p
}

func newLearner(t testing.TB, p bandit.Policy) *bandit.Learner {
	t.Helper()
	l := bandit.NewLearner(p)
	return l
}

func candidates(names ...string) (cs []bandit.Candidate) {
	for _, n := range names {
		cs = append(cs, bandit.Candidate{Technique: n})
	}
	return cs
}

// outcomes draws outcomes in few repositories of few organisations.
func outcomes(rt *rapid.T) []bandit.Outcome {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) bandit.Outcome {
		return bandit.Outcome{
			Org:       rapid.SampledFrom([]string{"o1", "o2"}).Draw(rt, "org"),
			Repo:      rapid.SampledFrom([]string{"r1", "r2"}).Draw(rt, "repo"),
			Pattern:   rapid.SampledFrom(patterns).Draw(rt, "pattern"),
			Technique: rapid.SampledFrom(letters).Draw(rt, "technique"),
			Resolved:  rapid.Bool().Draw(rt, "resolved"), Attempt: rapid.IntRange(-1, 30).Draw(rt, "attempt"),
			Z: rapid.Float64().Draw(rt, "z"),
		}
	}), 0, 40).Draw(rt, "outcomes")
}

func diagnosis(rt *rapid.T) bandit.Diagnosis {
	return bandit.Diagnosis{
		Org:     rapid.SampledFrom([]string{"o1", "o2", "o3"}).Draw(rt, "org"),
		Repo:    rapid.SampledFrom([]string{"r1", "r2"}).Draw(rt, "repo"),
		Pattern: rapid.SampledFrom(patterns).Draw(rt, "pattern"),
		Confidence: rapid.MapOf(rapid.SampledFrom(letters), rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1))).Draw(rt,
			"confidence"),
	}
}

func request(rt *rapid.T) bandit.Request {
	r := bandit.Request{
		Diagnosis: diagnosis(rt), Task: rapid.String().Draw(rt, "task"), Attempt: rapid.IntRange(0, 9).Draw(rt, "attempt"),
		Left: rapid.IntRange(-1, 9).Draw(rt, "left"), Seed: rapid.Uint64().Draw(rt, "seed"),
		Used:   rapid.SliceOf(rapid.SampledFrom(letters)).Draw(rt, "used"),
		Trials: rapid.SliceOfN(rapid.SampledFrom(letters), 0, 3).Draw(rt, "trials"),
	}
	for _, n := range rapid.SliceOfN(rapid.SampledFrom(append([]string{""}, letters...)), 0, 9).Draw(rt, "candidates") {
		r.Candidates = append(r.Candidates, bandit.Candidate{
			Technique: n, Rank: rapid.IntRange(-1, 5).Draw(rt, "rank"), Odds: rapid.Float64().Draw(rt, "odds"),
		})
	}
	return r
}

// Invariants of every decision, for any outcomes and request.
func TestDecisionIsSound(t *testing.T) {
	policy := defaults(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLearner(t, policy)
		l.Observe(heard(rapid.SliceOfN(rapid.Custom(diagnosis), 0, 9).Draw(rt, "heard")...)...)
		l.Observe(outcomes(rt)...)
		r := request(rt)
		d := l.Decide(r)

		open, proved := map[string]bool{}, false
		for _, c := range r.Candidates {
			onTrial := slices.Contains(r.Trials, c.Technique)
			if c.Technique != "" && !slices.Contains(r.Used, c.Technique) && !(onTrial && r.Attempt == 0) {
				open[c.Technique], proved = true, proved || !onTrial
			}
		}
		if len(d.Options) != len(open) || open[d.Choice] != (len(open) > 0) {
			rt.Fatalf("chose %q among %d options, want one of %v", d.Choice, len(d.Options), open)
		}
		if d.Reason == "" {
			rt.Fatal("no reason")
		}
		sum, trials := 0.0, 0.0
		for _, o := range d.Options {
			if slices.Contains(r.Trials, o.Technique) {
				trials += o.Propensity
			}
			if !open[o.Technique] {
				rt.Errorf("%q is no candidate, or was used", o.Technique)
			}
			delete(open, o.Technique) // each is an option once
			sum += o.Propensity
			if o.Technique == d.Choice && o.Propensity != d.Propensity {
				rt.Errorf("the choice's propensity is %v, the decision's %v", o.Propensity, d.Propensity)
			}
			if !(o.Low >= 0 && o.Low <= o.Mean && o.Mean <= o.High && o.High <= 1) {
				rt.Errorf("%s: mean %v is not within %v–%v", o.Technique, o.Mean, o.Low, o.High)
			}
		}
		if len(d.Options) > 0 && math.Abs(sum-1) > 1e-12 {
			rt.Errorf("propensities sum to %v", sum)
		}
		if proved && trials > .1+1e-12 {
			rt.Errorf("what is on trial is chosen in %v of such decisions", trials)
		}
		if _, err := json.Marshal(d); err != nil { // a NaN or an infinity somewhere
			rt.Error(err)
		}
		if diff := cmp.Diff(d, l.Decide(r), cmpopts.IgnoreUnexported(bandit.Option{})); diff != "" {
			rt.Errorf("asked again, the learner decides otherwise:\n%s", diff)
		}
	})
}

// The propensities equal the frequencies with which techniques are chosen.
func TestPropensitiesAreFrequencies(t *testing.T) {
	policy := defaults(t)
	policy.Parameters.Explore, policy.Parameters.Trial = 0.4, 0.1
	l := newLearner(t, policy)
	const n = 20000
	got := map[string]float64{}
	want := map[string]float64{}
	for i := range n {
		d := l.Decide(bandit.Request{
			Diagnosis: bandit.Diagnosis{Pattern: "repeated-error"}, Task: fmt.Sprint("o/r#", i), Left: 4, Attempt: 1,
			Candidates: candidates("new", "fresh-start", "error-pattern-recognition", "tool-change", "newer", "x", "y"),
			Trials:     []string{"new", "newer"}, Terse: true,
		})
		got[d.Choice]++
		for _, o := range d.Options {
			want[o.Technique] = o.Propensity
		}
		if d.Explored == (d.Choice == d.Options[0].Technique) {
			t.Fatalf("explored is %v, though the best is %s and %s was chosen", d.Explored, d.Options[0].Technique, d.Choice)
		}
	}
	for technique, p := range want {
		if sd := math.Sqrt(p * (1 - p) / n); math.Abs(got[technique]/n-p) > 4*sd {
			t.Errorf("%s was chosen in %.4f of decisions, its propensity is %.4f", technique, got[technique]/n, p)
		}
	}
	if math.Abs(want["error-pattern-recognition"]-.9*.7) > 1e-12 || want["y"] != 0 || math.Abs(want["new"]-.05) > 1e-12 {
		t.Errorf("propensities are %v: each of two on trial should have .05, and of the rest the best among four .7, the "+
			"fifth nothing", want)
	}
}

// Every repository counts each outcome once: as its own, its organisation's or others'.
func TestNothingCountsTwice(t *testing.T) {
	policy := defaults(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLearner(t, policy)
		os := outcomes(rt)
		l.Observe(os...)
		r := bandit.Request{Diagnosis: diagnosis(rt), Candidates: candidates(letters...), Terse: true}
		for _, got := range l.Decide(r).Options {
			var want bandit.Option
			for _, o := range os {
				if o.Technique != got.Technique || o.Pattern != r.Pattern {
					continue
				}
				tally := &want.Elsewhere
				switch {
				case o.Org == r.Org && o.Repo == r.Repo:
					tally = &want.Here
				case o.Org == r.Org:
					tally = &want.Org
				}
				tally.Tried++
				if o.Resolved {
					tally.Resolved++
				}
			}
			if got.Here != want.Here || got.Org != want.Org || got.Elsewhere != want.Elsewhere {
				rt.Errorf("%s: here %v, org %v, elsewhere %v; want %v, %v, %v", got.Technique, got.Here, got.Org, got.Elsewhere,
					want.Here, want.Org, want.Elsewhere)
			}
		}
	})
}

// Replaying a log, in batches of any size, yields the same learner.
func TestReplay(t *testing.T) {
	policy := defaults(t)
	rapid.Check(t, func(rt *rapid.T) {
		os := outcomes(rt)
		said := rapid.SliceOfN(rapid.Custom(diagnosis), 0, 9).Draw(rt, "heard")
		live, replayed := newLearner(t, policy), newLearner(t, policy)
		for _, d := range said {
			live.Observe(heard(d)...)
		}
		for _, o := range os {
			live.Observe(o)
		}
		replayed.Observe(heard(said...)...)
		replayed.Observe(os...)
		r := request(rt)
		if diff := cmp.Diff(live.Decide(r), replayed.Decide(r), cmpopts.IgnoreUnexported(bandit.Option{})); diff != "" {
			rt.Errorf("live and replayed differ:\n%s", diff)
		}
	})
}

func TestDiscount(t *testing.T) {
	l := newLearner(t, defaults(t))
	for i := range 8 {
		l.Observe(bandit.Outcome{Org: "o", Repo: "r", Pattern: "p", Technique: "a", Resolved: i < 4})
	}
	r := bandit.Request{Diagnosis: bandit.Diagnosis{Org: "o", Repo: "r", Pattern: "p"}, Candidates: candidates("a"),
		Terse: true}
	before := l.Decide(r).Options[0]
	l.Discount(0.25)
	after := l.Decide(r)
	if want := (bandit.Tally{Resolved: 1, Tried: 2}); after.Options[0].Here != want {
		t.Errorf("counts are %v, want %v", after.Options[0].Here, want)
	}
	if m := after.Options[0].Mean; !(m < before.Mean && m > 0.18) {
		t.Errorf("the mean went from %v to %v, want it nearer to the table's 0.18", before.Mean, m)
	}
	if after.Learned != 8 {
		t.Errorf("learned %d outcomes, want 8: they were seen", after.Learned)
	}
}

// Concurrent decisions and outcomes; run with -race.
func TestConcurrentUse(t *testing.T) {
	l := newLearner(t, defaults(t))
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				d := bandit.Diagnosis{Org: "o", Repo: fmt.Sprint(i % 3), Pattern: "p",
					Confidence: map[string]float64{"a": 0.9, "b": 0.2, "c": 0.4}}
				got := l.Decide(bandit.Request{Diagnosis: d, Task: fmt.Sprint(g, i), Candidates: candidates("a", "b", "c")})
				if got.Choice == "" {
					errs[g] = errors.New("nothing was chosen")
				}
				l.Observe(heard(d)...)
				l.Observe(bandit.Outcome{Org: "o", Repo: d.Repo, Pattern: "p", Technique: got.Choice, Resolved: i%2 == 0})
			}
			l.Discount(1)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got := l.Decide(bandit.Request{Candidates: candidates("a")}).Learned; got != 200 {
		t.Errorf("learned %d outcomes, want 200", got)
	}
}
