package coder_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
)

// shipped returns the parameters of the shipped assign policy.
func shipped(t testing.TB) coder.Parameters {
	t.Helper()
	p := policies.ShippedAssign()
	return p.Parameters
}

func newLearner(t testing.TB, p coder.Parameters) *coder.Learner {
	l := coder.New(p)
	return l
}

var names = []string{"a", "b", "c", "d", "e"}

// candidates returns coders with costs of 10, 20, 30… credits.
func candidates(coders ...string) (out []coder.Candidate) {
	for i, c := range coders {
		out = append(out, coder.Candidate{Coder: c, Cost: 10 * float64(i+1)})
	}
	return out
}

var unexported = cmpopts.IgnoreUnexported(coder.Option{})

// outcomes draws outcomes of a few coders and places.
func outcomes(t *rapid.T) []coder.Outcome {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) coder.Outcome {
		return coder.Outcome{
			Task: rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}).Draw(t, "task"),
			Org:  rapid.SampledFrom([]string{"o", "p"}).Draw(t, "org"),
			Repo: rapid.SampledFrom([]string{"r", "s"}).Draw(t, "repo"),
			Kind: rapid.SampledFrom([]string{"", "bug"}).Draw(t, "kind"), Coder: rapid.SampledFrom(names).Draw(t, "coder"),
			Cost:     rapid.SampledFrom([]float64{0, -1, 3, 40, math.NaN(), math.Inf(1)}).Draw(t, "cost"),
			Resolved: rapid.Bool().Draw(t, "resolved"),
			Failed:   rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID[string]).Draw(t, "failed"),
		}
	}), 0, 60).Draw(t, "outcomes")
}

func request(t *rapid.T) coder.Request {
	return coder.Request{
		Task: rapid.String().Draw(t, "task"), Org: "o", Repo: "r",
		Kind: rapid.SampledFrom([]string{"", "bug", "x"}).Draw(t, "kind"),
		Candidates: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) coder.Candidate {
			return coder.Candidate{
				Coder: rapid.SampledFrom(append([]string{"", "new"}, names...)).Draw(t, "coder"),
				Cost:  rapid.SampledFrom([]float64{0, 0.5, 10, 300, -1, math.NaN(), math.Inf(1)}).Draw(t, "cost"),
				Prior: rapid.SampledFrom([]float64{0, 0.0001, 0.5, 0.9999, 1, 2, math.NaN()}).Draw(t, "prior"),
			}
		}), 0, 8).Draw(t, "candidates"),
		Failed:  rapid.SliceOfN(rapid.SampledFrom(append([]string{"gone"}, names...)), 0, 4).Draw(t, "failed"),
		Value:   rapid.SampledFrom([]float64{0, 1, 25, 400, 1e6}).Draw(t, "value"),
		Left:    rapid.SampledFrom([]float64{0, 5, 100, math.Inf(1)}).Draw(t, "left"),
		Attempt: rapid.IntRange(0, 5).Draw(t, "attempt"), Tries: rapid.IntRange(-1, 6).Draw(t, "tries"),
		Seed: rapid.Uint64().Draw(t, "seed"),
	}
}

// For any outcomes and request: the figures are valid shares and credits, propensities add up to 1, no coder above the
// budget is chosen, and a request changes nothing.
func TestDecisionsAreSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLearner(t, shipped(t))
		l.Observe(outcomes(rt)...)
		r := request(rt)
		d := l.Decide(r)
		sum := 0.0
		for _, o := range d.Options {
			sum += o.Propensity
			if !(o.Low >= 0 && o.Low <= o.Chance+1e-9 && o.Chance <= o.High+1e-9 && o.High <= 1) {
				rt.Errorf("%s: %v is not within %v–%v", o.Coder, o.Chance, o.Low, o.High)
			}
			if !(o.Cost > 0 && o.Index >= o.Cost) {
				rt.Errorf("%s costs %v, %v for a success", o.Coder, o.Cost, o.Index)
			}
			sole := len(d.Options) == 1 && r.Value == 0
			if o.Propensity > 0 && o.Cost > r.Left && !sole {
				rt.Errorf("%s may be chosen for %v, with %v left", o.Coder, o.Cost, r.Left)
			}
			if o.Coder == d.Choice && o.Propensity != d.Propensity {
				rt.Errorf("chosen with %v, listed with %v", d.Propensity, o.Propensity)
			}
		}
		if d.Reason == "" {
			rt.Errorf("the choice of %q has no reason", d.Choice)
		}
		if want := map[bool]float64{true: 0, false: 1}[d.Choice == ""]; math.Abs(sum-want) > 1e-12 {
			rt.Errorf("propensities sum to %v, want %v", sum, want)
		}
		if _, err := json.Marshal(d); err != nil { // a NaN or an infinity somewhere
			rt.Error(err)
		}
		if diff := cmp.Diff(d, l.Decide(r), unexported); diff != "" {
			rt.Errorf("asked again, the learner decides otherwise:\n%s", diff)
		}
	})
}

// The propensities equal the frequencies with which coders are chosen.
func TestPropensitiesAreFrequencies(t *testing.T) {
	p := shipped(t)
	p.Explore, p.ExploreLoss = 0.4, 1
	l := newLearner(t, p)
	const n = 20000
	got, want := map[string]float64{}, map[string]float64{}
	for i := range n {
		d := l.Decide(coder.Request{Task: fmt.Sprint("o/r#", i), Tries: 5, Left: math.Inf(1), Value: 400, Terse: true,
			Candidates: candidates("a", "b", "c")})
		got[d.Choice]++
		for _, o := range d.Options {
			want[o.Coder] = o.Propensity
		}
		if d.Explored == (d.Choice == d.Options[0].Coder) {
			t.Fatalf("explored is %v, though the best is %s and %s was chosen", d.Explored, d.Options[0].Coder, d.Choice)
		}
	}
	for c, p := range want {
		if sd := math.Sqrt(p * (1 - p) / n); math.Abs(got[c]/n-p) > 4*sd {
			t.Errorf("%s was chosen in %.4f of decisions, its propensity is %.4f", c, got[c]/n, p)
		}
	}
	if want["a"] < 0.6 || want["b"] <= want["c"] || want["c"] == 0 {
		t.Errorf("propensities are %v: the best should have most, and who loses more should have less", want)
	}
}

// together returns a history in which a and b resolve the same half of the tasks, and c an independent half.
func together(n int) (out []coder.Outcome) {
	for i := range n {
		var failed []string
		for _, c := range []string{"a", "b"} {
			o := coder.Outcome{Task: fmt.Sprint(i), Org: "o", Repo: "r", Coder: c, Cost: 10, Resolved: i%2 == 0, Failed: failed}
			if !o.Resolved {
				failed = append(failed, c)
			}
			out = append(out, o)
		}
	}
	return out
}

// chanceOf returns the Chance of a coder in a decision.
func chanceOf(t *testing.T, d coder.Decision, name string) coder.Option {
	t.Helper()
	for _, o := range d.Options {
		if o.Coder == name {
			return o
		}
	}
	t.Fatalf("%s is no option of %v", name, d.Options)
	return coder.Option{}
}

// A coder that fails on the same tasks as another one has a lower Chance once that one has failed.
func TestFailuresSpeakOfOthers(t *testing.T) {
	l := newLearner(t, shipped(t))
	l.Observe(together(200)...)
	r := coder.Request{Task: "new", Org: "o", Repo: "r", Candidates: candidates("a", "b"), Left: math.Inf(1), Tries: 5}
	before := chanceOf(t, l.Decide(r), "b")
	r.Failed = []string{"a"}
	after := chanceOf(t, l.Decide(r), "b")
	if math.Abs(before.Chance-0.5) > 0.05 || after.Chance > 0.6*before.Chance {
		t.Errorf("b's chance goes from %.2f to %.2f after a failed, want it from about .5 to well below",
			before.Chance, after.Chance)
	}
	if again := chanceOf(t, l.Decide(r), "a").Chance; again != shipped(t).Again {
		t.Errorf("a, which failed, has a chance of %v, want what is known of trying again", again)
	}
}

// The share of tasks that a coder resolves after it has failed on them is learned separately from its ability.
func TestAgainIsLearned(t *testing.T) {
	l := newLearner(t, shipped(t))
	l.Observe(together(40)...)
	r := coder.Request{Task: "new", Org: "o", Repo: "r", Candidates: candidates("a", "b"), Left: math.Inf(1), Tries: 5}
	before := chanceOf(t, l.Decide(r), "a")
	for i := range 20 {
		l.Observe(coder.Outcome{Task: fmt.Sprint(2*i + 1), Org: "o", Repo: "r", Coder: "a", Resolved: i < 10,
			Failed: []string{"a"}})
	}
	if after := chanceOf(t, l.Decide(r), "a"); after.Here != before.Here || math.Abs(after.Chance-before.Chance) > 0.01 {
		t.Errorf("trying again changed what is known of a first try from %+v to %+v", before, after)
	}
	r.Failed = []string{"a"}
	if got := chanceOf(t, l.Decide(r), "a").Chance; math.Abs(got-(20*.05+10)/40) > 1e-9 {
		t.Errorf("after 10 of 20 the chance of trying again is %v", got)
	}
}

// Replaying a log, in batches of any size, yields the same learner.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := shipped(t)
		p.Tasks = rapid.IntRange(1, 10).Draw(rt, "memory") // so small that tasks are forgotten
		os := outcomes(rt)
		live, replayed := newLearner(t, p), newLearner(t, p)
		for _, o := range os {
			live.Observe(o)
		}
		replayed.Observe(os...)
		r := request(rt)
		if diff := cmp.Diff(live.Decide(r), replayed.Decide(r), unexported); diff != "" {
			rt.Errorf("live and replayed differ:\n%s", diff)
		}
	})
}

// Every place counts a coder's first outcome of each task once: as its own, its organisation's or others'.
func TestNothingCountsTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLearner(t, shipped(t))
		var os []coder.Outcome
		for i, o := range outcomes(rt) {
			o.Task, o.Failed = fmt.Sprint(i), nil
			os = append(os, o)
		}
		l.Observe(os...)
		r := coder.Request{Org: "o", Repo: "r", Kind: "bug", Candidates: candidates(names...)}
		for _, got := range l.Decide(r).Options {
			var want coder.Option
			for _, o := range os {
				tally := &want.Elsewhere
				switch {
				case o.Coder != got.Coder:
					continue
				case o.Kind == "bug" && o.Org == "o" && o.Repo == "r":
					tally = &want.Here
				case o.Kind == "bug" && o.Org == "o":
					tally = &want.Org
				}
				tally.Tried++
				if o.Resolved {
					tally.Resolved++
				}
			}
			if got.Here != want.Here || got.Org != want.Org || got.Elsewhere != want.Elsewhere {
				rt.Errorf("%s: here %v, org %v, elsewhere %v; want %v, %v, %v", got.Coder, got.Here, got.Org, got.Elsewhere,
					want.Here, want.Org, want.Elsewhere)
			}
		}
	})
}

// A repository's outcomes count more there than elsewhere.
func TestPlacesDiffer(t *testing.T) {
	p := shipped(t)
	p.WeightOrg, p.WeightGlobal = 15, 25
	l := newLearner(t, p)
	for i := range 100 {
		l.Observe(coder.Outcome{Task: fmt.Sprint(i), Org: "o", Repo: "good", Coder: "a", Resolved: i%10 != 0})
		l.Observe(coder.Outcome{Task: fmt.Sprint(i), Org: "o", Repo: "bad", Coder: "a", Resolved: i%10 == 0})
	}
	at := func(repo string) float64 {
		return l.Decide(coder.Request{Org: "o", Repo: repo, Candidates: candidates("a"), Terse: true}).Options[0].Chance
	}
	if good, fresh, bad := at("good"), at("new"), at("bad"); !(good > fresh+.2 && fresh > bad+.2) {
		t.Errorf("chances are %.2f, %.2f in a new repository, %.2f", good, fresh, bad)
	}
}

// A single coder without a value is always chosen.
func TestOneCoderNeverStops(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLearner(t, shipped(t))
		l.Observe(outcomes(rt)...)
		r := request(rt)
		r.Candidates, r.Value = candidates("a"), 0
		if d := l.Decide(r); d.Choice != "a" || d.Propensity != 1 {
			rt.Errorf("the only coder is not chosen: %+v", d)
		}
	})
}

func TestStops(t *testing.T) {
	l := newLearner(t, shipped(t))
	l.Observe(together(200)...)
	r := coder.Request{Task: "new", Org: "o", Repo: "r", Candidates: candidates("a", "b"), Left: math.Inf(1),
		Tries: 5, Value: 1000}
	for _, step := range []struct {
		name        string
		value, left float64
		failed      []string
		stop        bool
	}{
		{"worth it", 1000, math.Inf(1), nil, false},
		{"dearer than it is worth", 15, math.Inf(1), nil, true},
		{"nobody that is left", 30, math.Inf(1), []string{"a"}, true},
		{"no value", 0, math.Inf(1), []string{"a", "b"}, false},
		{"no money", 1000, 5, nil, true},
		{"no money, no value", 0, 5, nil, true},
	} {
		r.Value, r.Left, r.Failed = step.value, step.left, step.failed
		if d := l.Decide(r); (d.Choice == "") != step.stop {
			t.Errorf("%s: the choice is %q: %s", step.name, d.Choice, d.Reason)
		}
	}
}

// A cheap, good enough coder goes first; with few attempts left, the most able one does.
func TestOrder(t *testing.T) {
	l := newLearner(t, shipped(t))
	for i := range 100 {
		l.Observe(
			coder.Outcome{Task: fmt.Sprint(i), Coder: "cheap", Cost: 3, Resolved: i%2 == 0},
			coder.Outcome{Task: fmt.Sprint(i), Coder: "strong", Cost: 60, Resolved: i%5 != 0})
	}
	r := coder.Request{Task: "new", Candidates: []coder.Candidate{{Coder: "strong"}, {Coder: "cheap"}},
		Left: math.Inf(1), Value: 1600}
	for tries, want := range map[int]string{1: "strong", 2: "cheap"} {
		r.Tries = tries
		if got := l.Decide(r).Options[0]; got.Coder != want {
			t.Errorf("with %d tries left %s goes first, want %s", tries, got.Coder, want)
		}
	}
	if o := chanceOf(t, l.Decide(r), "cheap"); math.Abs(o.Cost-3) > .5 {
		t.Errorf("the cheap one is expected to cost %v, want the 3 credits that it costs", o.Cost)
	}
}

// Optimism prefers an unknown coder to a known one of the same expected ability, and fades.
func TestOptimism(t *testing.T) {
	l := newLearner(t, shipped(t))
	l.Observe(together(40)...)
	r := coder.Request{Task: "new", Org: "o", Repo: "r", Left: math.Inf(1), Tries: 1, Value: 400,
		Candidates: []coder.Candidate{{Coder: "a", Cost: 10}, {Coder: "new", Cost: 10}}}
	if got := l.Decide(r).Options[0].Coder; got != "new" {
		t.Errorf("%s goes first, want who is not known yet", got)
	}
	for i := range 40 {
		l.Observe(coder.Outcome{Task: fmt.Sprint("n", i), Org: "o", Repo: "r", Coder: "new", Cost: 10, Resolved: i%4 == 0})
	}
	if got := l.Decide(r).Options[0].Coder; got != "a" {
		t.Errorf("%s goes first, want who has resolved more", got)
	}
}

func TestPriorIsOutlearned(t *testing.T) {
	l := newLearner(t, shipped(t))
	r := coder.Request{Candidates: []coder.Candidate{{Coder: "a", Cost: 10, Prior: .8}}, Terse: true}
	if got := l.Decide(r).Options[0].Chance; math.Abs(got-.8) > .01 {
		t.Errorf("a prior of .8 is a chance of %v before any outcome", got)
	}
	for i := range 20 {
		l.Observe(coder.Outcome{Task: fmt.Sprint(i), Coder: "a"})
	}
	if got := l.Decide(r).Options[0].Chance; got < .2 || got > .5 {
		t.Errorf("after 20 failures the chance is %v, want about half of the prior", got)
	}
	for i := range 400 {
		l.Observe(coder.Outcome{Task: fmt.Sprint("x", i), Coder: "a"})
	}
	if got := l.Decide(r).Options[0].Chance; got > .1 {
		t.Errorf("after 420 failures the chance is %v", got)
	}
}

func TestDiscount(t *testing.T) {
	l := newLearner(t, shipped(t))
	l.Observe(together(80)...)
	r := coder.Request{Task: "new", Org: "o", Repo: "r", Candidates: candidates("a", "b", "next"),
		Left: math.Inf(1), Terse: true}
	before := l.Decide(r)
	l.Discount("a", 0.25)
	for i := range 50 { // revisions of earlier tasks must not bring back what was discounted
		l.Observe(coder.Outcome{Task: fmt.Sprint("later ", i), Org: "o", Repo: "r", Coder: "c", Resolved: true})
	}
	d := l.Decide(r)
	a, b := chanceOf(t, d, "a"), chanceOf(t, d, "b")
	if want := (coder.Tally{Resolved: 10, Tried: 20}); a.Here != want {
		t.Errorf("counts are %v, want a quarter, %v", a.Here, want)
	}
	if was := chanceOf(t, before, "b"); was.Here != b.Here {
		t.Errorf("another coder went from %v to %v", was.Here, b.Here)
	}
	l.Discount("b", 0)
	for i := range 40 { // which says more of how hard b's tasks were
		l.Observe(coder.Outcome{Task: fmt.Sprint(i), Org: "o", Repo: "r", Coder: "c", Resolved: true})
	}
	if got := chanceOf(t, l.Decide(r), "b").Here; got != (coder.Tally{}) {
		t.Errorf("of a coder that was forgotten %v is known", got)
	}
}

// Concurrent decisions and outcomes; run with -race.
func TestConcurrentUse(t *testing.T) {
	l := newLearner(t, shipped(t))
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				d := l.Decide(coder.Request{Task: fmt.Sprint(g, i), Candidates: candidates("a", "b"), Left: math.Inf(1)})
				if d.Choice == "" {
					errs[g] = errors.New("nobody was chosen")
				}
				l.Observe(coder.Outcome{Task: fmt.Sprint(g, i), Coder: d.Choice, Cost: 5, Resolved: i%2 == 0})
			}
			l.Discount("a", 1)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if got := l.Decide(coder.Request{Candidates: candidates("a")}).Learned; got != 200 {
		t.Errorf("learned %d outcomes, want 200", got)
	}
}

// Imported outcomes count in addition to the table, for a coder in the table, and are outweighed by local ones.
func TestImportedIsOutlearned(t *testing.T) {
	l := newLearner(t, shipped(t))
	chance := func(imported coder.Tally, prior float64) float64 {
		d := l.Decide(coder.Request{Task: "t", Org: "o", Repo: "r", Candidates: []coder.Candidate{
			{Coder: "a", Cost: 10, Prior: prior, Imported: imported}, {Coder: "b", Cost: 10}}})
		for _, o := range d.Options {
			if o.Coder == "a" {
				return o.Chance
			}
		}
		t.Fatalf("%+v", d)
		return 0
	}
	without := chance(coder.Tally{}, 0.3)
	well, badly := chance(coder.Tally{Resolved: 54, Tried: 60}, 0.3), chance(coder.Tally{Tried: 60}, 0.3)
	if !(well > without+0.2 && badly < without-0.1) {
		t.Errorf("%.2f, imported well %.2f, badly %.2f", without, well, badly)
	}
	if got, want := chance(coder.Tally{Resolved: 54, Tried: 60}, 0), chance(coder.Tally{}, 0); got != want {
		t.Errorf("a coder that the table does not know: %.2f, want %.2f", got, want)
	}
	for _, bad := range []coder.Tally{{Resolved: 5, Tried: 4}, {Resolved: math.NaN(), Tried: 4},
		{Resolved: 1, Tried: math.Inf(1)}} {
		if got := chance(bad, 0.3); got != without {
			t.Errorf("by %+v: %.2f, want %.2f", bad, got, without)
		}
	}
	for i := range 200 {
		l.Observe(coder.Outcome{Task: fmt.Sprint(i), Org: "o", Repo: "r", Coder: "a", Cost: 10})
	}
	if got := chance(coder.Tally{Resolved: 54, Tried: 60}, 0.3); got > 0.35 {
		t.Errorf("after 200 failures %.2f", got)
	}
}
