package synthetic

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func run(t *testing.T, p Plan) Result {
	t.Helper()
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func overall(t *testing.T, r Result, policy string) Figures {
	t.Helper()
	return rowOf(t, r, policy).Overall
}

func rowOf(t *testing.T, r Result, policy string) Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.Policy == policy {
			return row
		}
	}
	t.Fatalf("no row of %s", policy)
	return Row{}
}

// The product in each kind of world, from the shipped table, compared with every policy that does not learn: the
// test names the worlds in which one of these is ahead, including the expert table. If they are close, chance in twelve
// worlds decides; the seed is fixed, so only a change of the learner changes the result. docs/learning-figures.md
// has more worlds, with intervals.
func TestWhereOursIsAhead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Parameters)
		behind []string // policies that resolve more than ours
	}{
		{"as it is", func(*Parameters) {}, nil},
		{"one repository", func(p *Parameters) { p.Repos = 1 }, nil},
		{"sixteen patterns", func(p *Parameters) { p.Patterns = 16 }, []string{FixedConfidence}},
		{"half the signal", func(p *Parameters) { p.Signal /= 2 }, nil},
		{"the model guesses", func(p *Parameters) { p.Confidence = Noise }, nil},
		{"the model is prejudiced", func(p *Parameters) { p.Confidence = Prejudiced }, nil},
		{"the rules are wrong", func(p *Parameters) { p.RulesWrong = true }, nil},
		{"techniques hardly differ", func(p *Parameters) {
			p.RuleGood, p.SdGlobal, p.SdOrg, p.SdRepo = 0.3, 0.15, 0.1, 0.1
		}, nil},
		{"mostly misdiagnosed", func(p *Parameters) { p.Misdiagnosis = 0.6 }, []string{FixedConfidence}},
		{"easy", func(p *Parameters) { *p = EasyParameters(p.Repos) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultParameters(10)
			tt.change(&p)
			r := run(t, Plan{Parameters: p, Seed: 7, Worlds: 12, Tasks: 400})
			ours := overall(t, r, Shipped)
			var behind []string
			for _, other := range []string{Random, FixedRules, FixedConfidence, ExpertTable} {
				if overall(t, r, other).Resolved > ours.Resolved {
					behind = append(behind, other)
				}
			}
			if !slices.Equal(behind, tt.behind) {
				t.Errorf("ours resolved %.4f; ahead of it are %q, want %q; the expert table resolved %.4f", ours.Resolved, behind,
					tt.behind, overall(t, r, ExpertTable).Resolved)
			}
			if o := overall(t, r, OracleTruePattern); ours.Resolved > o.Resolved {
				t.Errorf("ours resolved %.3f, which is more than an oracle's %.3f: something leaks", ours.Resolved, o.Resolved)
			}
		})
	}
}

// The reference figures are of the easy world: a random policy, the fixed rules
// and the oracle must reproduce them.
func TestWorldIsTheReference(t *testing.T) {
	r := run(t, Plan{Parameters: EasyParameters(10), Seed: 9090909, Worlds: 15, Tasks: 300})
	for _, tt := range []struct {
		policy          string
		resolved, first float64
	}{{Random, 0.597, 0.197}, {FixedRules, 0.601, 0.259}, {FixedConfidence, 0.662, 0.300},
		{OracleDiagnosed, 0.700, 0.391}} {
		got := overall(t, r, tt.policy)
		if math.Abs(got.Resolved-tt.resolved) > 0.025 || math.Abs(got.First-tt.first) > 0.025 {
			t.Errorf("%s: %.3f/%.3f, want %.3f/%.3f within 0.025", tt.policy, got.Resolved, got.First, tt.resolved, tt.first)
		}
	}
}

// Both the model's ratings and outcomes improve ours if the model is right without bias. Smaller effects need more
// worlds (docs/learning-figures.md).
func TestAblations(t *testing.T) {
	r := run(t, Plan{Parameters: EasyParameters(10), Seed: 11, Worlds: 3, Tasks: 250, Ablations: true})
	ours, silent, rules := overall(t, r, Learned), overall(t, r, "ours without the model's word"),
		overall(t, r, FixedRules)
	if silent.Resolved >= ours.Resolved {
		t.Errorf("without the model's word %.3f are resolved, with it %.3f", silent.Resolved, ours.Resolved)
	}
	if silent.Resolved <= rules.Resolved {
		t.Errorf("from outcomes alone %.3f are resolved, by the fixed rules %.3f: nothing was learned", silent.Resolved,
			rules.Resolved)
	}
}

func TestSameOnAnyNumberOfCores(t *testing.T) {
	p := Plan{Parameters: DefaultParameters(3), Seed: 3, Worlds: 4, Tasks: 55, Ablations: true}
	before := runtime.GOMAXPROCS(1)
	one := run(t, p)
	runtime.GOMAXPROCS(4)
	four := run(t, p)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(one, four); diff != "" {
		t.Errorf("one core and four differ:\n%s", diff)
	}
}

func TestFiguresAddUp(t *testing.T) {
	r := run(t, Plan{Parameters: DefaultParameters(2), Seed: 5, Worlds: 2, Tasks: 230})
	if want := []string{"1–50", "51–200", "201–230"}; !cmp.Equal(r.Windows, want) {
		t.Errorf("windows are %v, want %v", r.Windows, want)
	}
	for _, row := range r.Rows {
		tasks, resolved := 0, 0.0
		for _, w := range row.Windows {
			tasks += w.Tasks
			resolved += w.Resolved * float64(w.Tasks)
		}
		o := row.Overall
		if tasks != 460 || o.Tasks != 460 || math.Abs(resolved/460-o.Resolved) > 1e-12 {
			t.Errorf("%s: the windows have %d tasks and %.4f resolved, the whole %d and %.4f", row.Policy, tasks, resolved/460,
				o.Tasks, o.Resolved)
		}
		if o.First > o.Resolved || o.Tried < 1 || o.Tried > approaches ||
			o.Cost < 0.8*o.Tried+personCost*(1-o.Resolved)-1e-9 {
			t.Errorf("%s: %+v is impossible", row.Policy, o)
		}
	}
	if row := rowOf(t, r, FixedRules); row.OverRules != (Gain{}) {
		t.Errorf("the fixed rules gain %v ± %v over themselves", row.OverRules.Mean, row.OverRules.Half)
	}
}

func TestRunRefuses(t *testing.T) {
	good := Plan{Parameters: DefaultParameters(2), Worlds: 1, Tasks: 10}
	for _, tt := range []struct {
		change func(*Plan)
		says   string
	}{
		{func(p *Plan) { p.Worlds = 0 }, "at least one world"},
		{func(p *Plan) { p.Tasks = 0 }, "one task"},
		{func(p *Plan) { p.Parameters.Patterns = MaxPatterns + 1 }, "patterns"},
		{func(p *Plan) { p.Parameters.Repos = 0 }, "repository"},
		{func(p *Plan) { p.Parameters.Misdiagnosis = 1.5 }, "shares"},
		{func(p *Plan) { p.Parameters.SdTask = math.NaN() }, "deviations"},
		{func(p *Plan) { p.Parameters.Confidence = "firm" }, `"firm"`},
	} {
		p := good
		tt.change(&p)
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want an error that says %s", p, err, tt.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
}

func TestPracticeIsTheSameAgain(t *testing.T) {
	for range 2 {
		l, rs, err := Practice(DefaultParameters(3), 1, 200, 5)
		if err != nil {
			t.Fatal(err)
		}
		if d := l.Decide(rs[4]); d.Learned < 200 || d.Learned >= 200+approaches || d.Reason == "" {
			t.Errorf("after 200 outcomes: %d learned, reason %q", d.Learned, d.Reason)
		}
	}
	a, ra, _ := Practice(DefaultParameters(3), 1, 200, 5)
	b, rb, _ := Practice(DefaultParameters(3), 1, 200, 5)
	for i := range ra {
		if x, y := a.Decide(ra[i]), b.Decide(rb[i]); x.Reason != y.Reason || x.Choice != y.Choice {
			t.Errorf("request %d: %q and %q", i, x.Reason, y.Reason)
		}
	}
	if _, _, err := Practice(Parameters{}, 1, 1, 1); err == nil {
		t.Error("a world without repositories is practised in")
	}
}
