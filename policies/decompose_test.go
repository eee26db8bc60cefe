//test:plain/...
package policies_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/policies"
)

// large is a long issue with many demands and references to code.
var large = policies.Features{Kind: policies.KindFeature, Words: 400, Complexity: 0.9, CodeRefs: 8, Demands: 6}

func TestDecompose(t *testing.T) {
	task := func(change func(*policies.Features)) policies.Context {
		c := policies.Context{Task: large, Checkable: true}
		change(&c.Task)
		return c
	}
	for _, tt := range []struct {
		name, policy string
		in           policies.Context
		want, says   string
		atOnce       int
	}{
		{"a small task", "", policies.Context{Task: policies.Features{Words: 30, Complexity: 0.3}, Checkable: true},
			policies.ChoiceWhole,
			"it is not large enough to be taken apart: 0.20, not above 0.75 (complexity 0.18, length 0.02)", 0},
		{"nothing speaks for parts", "", policies.Context{}, policies.ChoiceWhole, "0.00, not above 0.75", 0},
		{"complex, but short and without code", "",
			policies.Context{Task: policies.Features{Words: 60, Complexity: 1}, Checkable: true}, policies.ChoiceWhole,
			"not above 0.75", 0},
		{"many demands", "", task(func(*policies.Features) {}), policies.ChoiceParallel, "its 6 demands stand beside", 2},
		{"few demands", "", task(func(f *policies.Features) { f.Demands = 1 }), policies.ChoiceLinear,
			"one after the other", 1},
		{"demands in an order", "", task(func(f *policies.Features) { f.Order = 3 }), policies.ChoiceLinear,
			"one after the other", 1},
		{"demands that touch the architecture", "", task(func(f *policies.Features) { f.Architecture = true }),
			policies.ChoiceHierarchical, "some will rest on others", 2},
		{"a large bug", "", task(func(f *policies.Features) { f.Kind = policies.KindBug }), policies.ChoiceReproduce,
			"a test shows it first", 1},
		{"steps", "", policies.Context{Steps: 3, Technique: "decomposition", Checkable: true}, policies.ChoiceLinear,
			"its 3 steps are gone through", 1},
		{"steps of a large bug", "", policies.Context{Steps: 2, Technique: "dependency-reordering", Checkable: true,
			Task: large}, policies.ChoiceLinear, "its 2 steps", 1},
		{"steps of a large task for one run", "",
			policies.Context{Steps: 3, Technique: "abstraction-level-shift", Checkable: true, Task: large},
			policies.ChoiceWhole, "its 3 steps are for one run", 0},
		{"steps for one run", "", policies.Context{Steps: 3, Technique: "abstraction-level-shift", Checkable: true},
			policies.ChoiceWhole, "not large enough", 0},
		{"no sandbox", "", policies.Context{Task: large}, policies.ChoiceWhole, "no sandbox", 0},
		{"no sandbox for steps", "", policies.Context{Steps: 3, Technique: "decomposition"}, policies.ChoiceWhole,
			"no sandbox", 0},
		{"another threshold", "parameters: {threshold: 0.1}", policies.Context{Checkable: true,
			Task: policies.Features{Words: 30, Complexity: 0.3}}, policies.ChoiceLinear, "above 0.10", 1},
		{"steps are left to one run", "parameters: {steps_weight: 0}",
			policies.Context{Steps: 3, Technique: "decomposition", Checkable: true}, policies.ChoiceWhole,
			"not large enough", 0},
		{"more at once", "parameters: {parallelism: 4, max_parts: 9}", task(func(*policies.Features) {}),
			policies.ChoiceParallel, "", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := parsed(t, "decision: decompose\nname: d\nversion: 1\n"+tt.policy).Decompose().Decide(tt.in)
			best := a.Options[0]
			if a.Choice != tt.want || best.Choice != tt.want || best.AtOnce != tt.atOnce || a.Propensity != 1 ||
				!strings.Contains(a.Reason, tt.says) {
				t.Errorf("%+v, want %s with %d at once because of %q", a, tt.want, tt.atOnce, tt.says)
			}
			if apart := tt.want != policies.ChoiceWhole; apart != (best.MaxParts > 0) {
				t.Errorf("a plan of at most %d parts", best.MaxParts)
			}
		})
	}
}

// Only structures that the work allows can be chosen.
func TestStructuresThatArePossible(t *testing.T) {
	for name, tt := range map[string]struct {
		in   policies.Context
		want []string
	}{
		"all": {policies.Context{Checkable: true, Task: large},
			[]string{"whole", "reproduce", "linear", "parallel", "hierarchical"}},
		"steps": {policies.Context{Checkable: true, Task: large, Steps: 2, Technique: "constraint-relaxation"},
			[]string{"whole", "linear"}},
		"no sandbox": {policies.Context{Task: large, Steps: 2}, []string{"whole"}},
	} {
		a := parsed(t, "decision: decompose\nname: d\nversion: 1").Decompose().Decide(tt.in)
		seen := map[string]bool{}
		for _, o := range a.Options {
			seen[o.Choice] = true
		}
		want := map[string]bool{}
		for _, s := range tt.want {
			want[s] = true
		}
		if d := cmp.Diff(want, seen); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// bulky is an issue with several numbered demands and references to code.
const bulky = "The export in `report/export.py` has grown by accident and has to be reworked before the " +
	"next release.\n\n" +
	"1. `export_rows()` must stream its rows, and must not hold more than a thousand of them at a time.\n" +
	"2. `export_csv()` must quote fields as RFC 4180 says, also those with line breaks, and should take a delimiter.\n" +
	"3. There must be an `export_json()` beside it, which writes one object per line and takes the same arguments.\n" +
	"4. `cli.py` needs to offer `--format` and `--delimiter`, and must refuse a delimiter of two characters.\n" +
	"5. The old `dump()` has to stay, as well as its tests, but should warn that it goes away with the next major " +
	"version.\n" +
	"6. Times must be written in UTC with an offset, whatever the machine's zone is; `report/times.py` has what is " +
	"needed.\n\n" +
	"Each of these has tests of its own in `tests/test_export.py`. People read these files with spreadsheets, so what " +
	"they see today should\nstay as it is where nothing above says otherwise: the order of the columns, the names in " +
	"the first line, and how empty\nvalues look. The documentation in `docs/export.md` must tell of both formats with " +
	"an example each, and the page about the\ncommand line should list the new options. A user has measured that an " +
	"export of two million rows takes nine gigabytes\ntoday; that is why this is wanted, and the numbers of a run " +
	"before and after should be in the pull request."

// The shipped threshold splits clearly large tasks, and few others.
func TestShippedThreshold(t *testing.T) {
	d := parsed(t, "decision: decompose\nname: d\nversion: 1").Decompose()
	for _, tt := range []struct {
		title, body, want string
	}{
		{"Greet the customers", "Put a greeting into `hello.txt`.", policies.ChoiceWhole},
		{"Crash on empty input", "`parse(\"\")` in `net/url.py` raises IndexError.\n\nSteps:\n- open\n- type nothing\n" +
			"- press enter\n\n" +
			"It should return an empty list, and must not raise.", policies.ChoiceWhole},
		{"Add CSV export", "We need `export_csv()` in `report.py`.\n\n- must quote fields\n- should stream\n" +
			"- also document it",
			policies.ChoiceWhole},
		{"Rework the export", bulky, policies.ChoiceParallel},
		{"Rework the export in this order", bulky + " Step 1 comes before the rest; then all else depends on it.",
			policies.ChoiceLinear},
		{"Rework the storage interface of the export", bulky, policies.ChoiceHierarchical},
		{"Bug: the export fails with wrong errors", bulky, policies.ChoiceReproduce},
	} {
		a := d.Decide(policies.Context{Task: policies.Read(tt.title, tt.body, nil), Checkable: true})
		if a.Choice != tt.want {
			t.Errorf("%s: %s, because %s", tt.title, a.Choice, a.Reason)
		}
	}
}

// A larger task is never less likely to be split, and only checkable tasks are split.
func TestLargerTasksAreTakenApart(t *testing.T) {
	d := parsed(t, "decision: decompose\nname: d\nversion: 1").Decompose()
	rapid.Check(t, func(t *rapid.T) {
		c := policies.Context{Steps: rapid.IntRange(0, 4).Draw(t, "steps"), Checkable: rapid.Bool().Draw(t, "checkable"),
			Task: policies.Features{Kind: rapid.SampledFrom(policies.Kinds()).Draw(t, "kind"),
				Words:      rapid.IntRange(0, 2000).Draw(t, "words"),
				Complexity: rapid.Float64Range(0, 1).Draw(t, "complexity"), Demands: rapid.IntRange(0, 30).Draw(t, "demands"),
				Order: rapid.IntRange(0, 9).Draw(t, "order"), CodeRefs: rapid.IntRange(0, 3).Draw(t, "references")}}
		a := d.Decide(c)
		larger := c
		larger.Task.Words += 100
		larger.Task.Complexity = min(1, c.Task.Complexity+0.1)
		switch b := d.Decide(larger); {
		case a.Choice != policies.ChoiceWhole && !c.Checkable:
			t.Fatalf("%s, and nothing can be checked", a.Choice)
		case a.Choice != policies.ChoiceWhole && b.Choice == policies.ChoiceWhole:
			t.Fatalf("%s, and what is larger is done as a whole: %s", a.Choice, b.Reason)
		case a.Reason == "":
			t.Fatal("no reason")
		}
	})
}
