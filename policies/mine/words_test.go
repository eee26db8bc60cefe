package mine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies"
)

func TestFeaturesInWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   policies.Context
		want []string
	}{
		{"nothing is known", policies.Context{}, []string{"before any failure"}},
		{"a clear bug", policies.Context{
			Language: "go", Class: "network", Pattern: "wrong-tool", Labels: []string{"a\nb", "rare"}, Failures: 1,
			Task: policies.Features{Kind: policies.KindBug, Words: 50, Ambiguity: 0.3, Architecture: true},
		}, []string{
			"for bug tasks", "for tasks in go", "for bug tasks in go", "after a failure of the class network",
			"for the pattern wrong-tool", `for tasks labelled "a\nb"`, "for tasks that touch the architecture",
			"for clear tasks", "for tasks of at most 50 words", "after one failure",
		}},
		{"something open", policies.Context{
			Failures: 2, Task: policies.Features{Kind: policies.KindOther, Words: 200, Ambiguity: 0.5},
		}, []string{
			"for tasks of no known kind", "for tasks that don't touch the architecture",
			"for tasks that leave something open", "for tasks of 51 to 200 words", "after two failures",
		}},
		{"an ambiguous one", policies.Context{
			Failures: 7, Task: policies.Features{Kind: policies.KindDocs, Words: 201, Ambiguity: 0.7},
		}, []string{
			"for docs tasks", "for tasks that don't touch the architecture", "for ambiguous tasks",
			"for tasks of more than 200 words", "after three failures or more",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range features(tt.in, []string{"a\nb"}) {
				got = append(got, f.where)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLabelsThatAreLookedAt(t *testing.T) {
	var ds []Decision
	for i := range 3000 {
		label := string(rune('a'+i%60)) + "x"
		ds = append(ds, Decision{Context: policies.Context{Labels: []string{label}}})
	}
	ds = append(ds, Decision{Context: policies.Context{Labels: []string{"rare"}}})
	if got := commonLabels(ds); len(got) != maxLabels {
		t.Errorf("%d labels are looked at, want %d", len(got), maxLabels)
	}
	if got := commonLabels(ds[2990:]); len(got) != 0 {
		t.Errorf("labels of too few decisions are looked at: %q", got)
	}
}

// The expected outcome of a decision does not depend on its result.
func TestModelLeavesTheDecisionOut(t *testing.T) {
	ds := []Decision{{Choice: "a"}, {Choice: "a", Resolved: true}, {Choice: "b"}}
	before := newModel(slices.Clone(ds))
	ds[0].Resolved = true
	after := newModel(ds)
	if a, b := before.expects(0, "a"), after.expects(0, "a"); a != b {
		t.Errorf("expected %v, and %v after it was resolved", a, b)
	}
	if a, b := before.expects(1, "a"), after.expects(1, "a"); a >= b {
		t.Errorf("expected %v of another, and %v after it was resolved", a, b)
	}
}

// Values of Fisher's exact test as R's fisher.test gives them: the tea tasting of "The
// Design of Experiments" (1935) and its extreme.
func TestFisher(t *testing.T) {
	for _, tt := range []struct {
		a, b Tally
		want float64
	}{{Tally{3, 4}, Tally{1, 4}, 34. / 70}, {Tally{4, 4}, Tally{0, 4}, 2. / 70}, {Tally{0, 5}, Tally{0, 9}, 1}} {
		if got := fisher(tt.a, tt.b); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%v against %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
