package mine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/lab/invented"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
)

// about returns a context of a kind of task in a language.
func about(kind policies.Kind, language string) policies.Context {
	return policies.Context{Language: language, Task: policies.Features{Kind: kind, Words: 100}}
}

// repeated returns decisions of separate tasks, the first of them resolved.
func repeated(
	name string, typ policies.Type, choice string, c policies.Context, resolved, tried int,
) (ds []mine.Decision) {
	for i := range tried {
		ds = append(ds, mine.Decision{Task: fmt.Sprint(name, i), Type: typ, Choice: choice, Context: c,
			Resolved: i < resolved})
	}
	return ds
}

func texts(f mine.Findings) (out []string) {
	for _, x := range f.Found {
		out = append(out, x.Text)
	}
	return out
}

func TestWhatStandsOutIsASentence(t *testing.T) {
	const other = policies.ChoiceOtherCoder
	bug, docs := about(policies.KindBug, "go"), about(policies.KindDocs, "go")
	java := about(policies.KindBug, "java")
	tests := []struct {
		name string
		in   [][]mine.Decision
		want []string
	}{
		{"a kind in a language", [][]mine.Decision{
			repeated("a", policies.TypeRecover, other, bug, 2, 22),
			repeated("b", policies.TypeRecover, other, docs, 14, 22),
			repeated("c", policies.TypeRecover, other, java, 14, 22),
		}, []string{
			"other-coder fails for bug tasks in go: 2 of 22 against 28 of 44",
			"other-coder fails for bug tasks: 16 of 44 against 14 of 22",
			"other-coder works for bug tasks in java: 14 of 22 against 16 of 44",
		}},
		{"what works", [][]mine.Decision{
			repeated("a", policies.TypeTechnique, "decomposition", bug, 20, 25),
			repeated("b", policies.TypeTechnique, "decomposition", java, 3, 30),
		}, []string{"decomposition works for bug tasks in go: 20 of 25 against 3 of 30"}},
		{"one task less than what it takes", [][]mine.Decision{
			repeated("a", policies.TypeRecover, other, bug, 0, 19),
			repeated("b", policies.TypeRecover, other, java, 30, 30),
		}, nil},
		{"a task that counts many times", [][]mine.Decision{
			slices.Repeat(repeated("a", policies.TypeRecover, other, bug, 0, 5), 10),
			repeated("b", policies.TypeRecover, other, java, 30, 30),
		}, nil},
		{"a lift that may be nothing, though a test alone would find it", [][]mine.Decision{
			repeated("a", policies.TypeRecover, other, bug, 4, 20),
			repeated("b", policies.TypeRecover, other, java, 2, 40),
		}, nil},
		{"nothing", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, texts(mine.Look(slices.Concat(tt.in...)))); d != "" {
				t.Error(d)
			}
		})
	}
}

// In data without an effect, every finding is false; one of ten logs may have one. A planted effect is found, and at
// most a tenth of the findings are false.
func TestFalseDiscoveries(t *testing.T) {
	const worlds = 200
	falsely, found, shares, cells := 0, 0, 0.0, 0
	for seed := range uint64(worlds) {
		f := mine.Look(invented.Log(seed, 150, invented.None))
		cells += f.Cells
		if len(f.Found) > 0 {
			falsely++
		}
		wrong, right := 0, 0
		for _, x := range mine.Look(invented.Log(seed, 150, invented.Planted)).Found {
			if invented.IsPlanted(x) {
				right++
			} else {
				wrong++
			}
		}
		if right > 0 {
			found++
		}
		shares += float64(wrong) / float64(max(1, wrong+right))
	}
	t.Logf("%d of %d logs without an effect had a finding, of %d cells each; the planted effect was found in %d, and "+
		"%.1f %% of what was found there was false", falsely, worlds, cells/worlds, found, 100*shares/worlds)
	if cells < 10*worlds || falsely > worlds/10 {
		t.Errorf("%d of %d logs without an effect had a finding", falsely, worlds)
	}
	if found < worlds*8/10 || shares > worlds/10 {
		t.Errorf("the effect was found in %d of %d logs; false: %.3f", found, worlds, shares/worlds)
	}
}

func TestContrastCoversTheTruth(t *testing.T) {
	const logs = 400
	covered := 0
	for seed := range uint64(logs) {
		for _, o := range mine.Options(invented.Randomised(seed, 120, 0.6, 0.4)) {
			if o.Choice == "good" && o.Contrast.Low <= 0.2 && 0.2 <= o.Contrast.High {
				covered++
			}
		}
	}
	t.Logf("the interval held the difference in %d of %d logs", covered, logs)
	if covered < logs*92/100 {
		t.Errorf("an interval of 95 %% held the difference in %d of %d logs", covered, logs)
	}
}

func TestNothingIsSaidOfTooLittleChance(t *testing.T) {
	for n, want := range map[int]bool{19: false, 20: true} {
		ds := invented.Randomised(3, n, 0.6, 0.4)
		if got := mine.Options(ds)[0].Contrast != nil; got != want {
			t.Errorf("with %d randomised decisions: said %v", n, got)
		}
	}
	ds := invented.Randomised(3, 200, 0.6, 0.4)
	for i := range ds {
		ds[i].Options = []mine.Option{{ds[i].Choice, 1}}
	}
	if c := mine.Options(ds)[0].Contrast; c != nil {
		t.Errorf("chance had no part, yet it says %+v", c)
	}
}

func TestExpectedLeavesTheDecisionOut(t *testing.T) {
	ds := slices.Concat(repeated("a", policies.TypeRecover, "sia", about("bug", "go"), 1, 1),
		repeated("b", policies.TypeRecover, "sia", about("bug", "go"), 0, 3))
	// usual: (2·½ + 0) / (2 + 3) = .2; of the kind: (10·.2 + 0) / (10 + 3)
	if got, want := mine.Expected(ds)[0], 2./13; math.Abs(got-want) > 1e-12 {
		t.Errorf("expected %v, want %v", got, want)
	}
	ds[0].Resolved = false
	if got, want := mine.Expected(ds)[0], 2./13; math.Abs(got-want) > 1e-12 {
		t.Errorf("what came of a decision moved what was expected of it: %v, want %v", got, want)
	}
}

// always returns a policy that always chooses one option.
func always(choice string, ds []mine.Decision) [][]mine.Option {
	return slices.Repeat([][]mine.Option{{{choice, 1}}}, len(ds))
}

func TestRankFindsTheBetterPolicy(t *testing.T) {
	ds := invented.Randomised(7, 2000, 0.6, 0.4)
	good, bad := mine.Rank(ds, always("good", ds)), mine.Rank(ds, always("bad", ds))
	for _, x := range []struct {
		name string
		got  mine.Estimate
		want float64
	}{{"SNIPS of good", good.SNIPS, 0.6}, {"SNIPS of bad", bad.SNIPS, 0.4}, {"doubly robust of good", good.Doubly, 0.6},
		{"doubly robust of bad", bad.Doubly, 0.4}} {
		if x.got.Low > x.want || x.got.High < x.want || x.got.High-x.got.Low > 0.2 {
			t.Errorf("%s: %+v, want %v", x.name, x.got, x.want)
		}
	}
	if r := mine.Rank(ds[:150], always("good", ds)); r.Enough || r.SNIPS != (mine.Estimate{}) {
		t.Errorf("said with an effective %v decisions: %+v", r.Effective, r)
	}
	if r := mine.Rank(ds, always("new", ds)); r.Uncovered != len(ds) || r.Enough {
		t.Errorf("what chance never did was estimated: %+v", r)
	}
}

func TestRankingCoversTheTruth(t *testing.T) {
	const logs = 400
	snips, doubly := 0, 0
	for seed := range uint64(logs) {
		ds := invented.Randomised(seed, 600, 0.6, 0.4)
		r := mine.Rank(ds, always("good", ds))
		if r.SNIPS.Low <= 0.6 && 0.6 <= r.SNIPS.High {
			snips++
		}
		if r.Doubly.Low <= 0.6 && 0.6 <= r.Doubly.High {
			doubly++
		}
	}
	t.Logf("of %d logs, the interval of SNIPS held the truth in %d, the doubly robust one in %d", logs, snips, doubly)
	if min(snips, doubly) < logs*92/100 {
		t.Errorf("intervals of 95 %% held the truth in %d and %d of %d logs", snips, doubly, logs)
	}
}

func TestRankOfTheSamePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := invented.Randomised(rapid.Uint64().Draw(t, "seed"), 100+rapid.IntRange(0, 100).Draw(t, "more"), 0.6, 0.4)
		same := make([][]mine.Option, len(ds))
		for i, d := range ds {
			same[i] = d.Options
		}
		r := mine.Rank(ds, same)
		if !r.Enough || math.Abs(r.Effective-float64(len(ds))) > 1e-6 || math.Abs(r.SNIPS.Mean-r.Logged.Mean) > 1e-9 {
			t.Fatalf("the same policy comes to something else: %+v", r)
		}
	})
}

// Invariants for any log.
func TestEveryLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		ds := invented.Log(seed, rapid.IntRange(0, 120).Draw(t, "tasks"), func(d mine.Decision) float64 {
			return map[string]float64{"sia": 0.8, "retry": 0.1}[d.Choice]
		})
		for _, m := range mine.Expected(ds) {
			if !(m > 0 && m < 1) {
				t.Fatalf("expected %v", m)
			}
		}
		n := 0
		for _, o := range mine.Options(ds) {
			n += o.Tried
			c := o.Contrast
			if math.Abs(o.Credit) > 1 || c != nil && !slices.IsSorted([]float64{-1, c.Low, c.Difference, c.High, 1}) {
				t.Fatalf("%+v, %+v", o, c)
			}
		}
		if n != len(ds) {
			t.Fatalf("%d of %d decisions count", n, len(ds))
		}
		f := mine.Look(ds)
		if len(f.Found) > f.Cells {
			t.Fatalf("%d findings in %d cells", len(f.Found), f.Cells)
		}
		for _, x := range f.Found {
			if !(x.P > 0 && x.P <= 1) || x.Low > x.Lift || x.Lift > x.High || x.There.Tried < 20 || x.Elsewhere.Tried < 20 {
				t.Fatalf("%+v", x)
			}
		}
		for i := range ds { // which outcome is the good one makes no difference to what stands out
			ds[i].Resolved = !ds[i].Resolved
		}
		if turned := mine.Look(ds); len(turned.Found) != len(f.Found) {
			t.Fatalf("%d findings, and %d when good and bad are exchanged", len(f.Found), len(turned.Found))
		}
	})
}

// A large log is analysed in time.
func BenchmarkLook(b *testing.B) {
	ds := invented.Log(1, 10_000, func(mine.Decision) float64 { return 0.5 })
	for b.Loop() {
		mine.Look(ds)
	}
}
