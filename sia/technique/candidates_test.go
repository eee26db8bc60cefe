package technique_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

func ids(cs []sia.Candidate) []sia.TechniqueID {
	var out []sia.TechniqueID
	for _, c := range cs {
		out = append(out, c.Technique)
	}
	return out
}

// failedTask returns a task that satisfies every precondition.
func failedTask() sia.Task {
	return sia.Task{
		Title: "Send a confirmation", Body: "- add a sender\n- call it from the handler\n\n" +
			"It must not take more than a second.\n", Head: "abc",
		Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptFail,
			Failures: []sia.CheckFailure{{Check: "test", Excerpt: "boom: error"}},
			Diff:     sia.DiffStat{Paths: []string{"a.go", "b.go"}}}},
	}
}

// tried returns an intervention with a technique, which then counts as used.
func tried(id sia.TechniqueID) sia.Intervention {
	return sia.Intervention{Diagnosis: sia.Diagnosis{Technique: id}}
}

func long(line string) string { return strings.Repeat(line+"\n", 10_000/len(line)) }

func TestFirstChoice(t *testing.T) {
	l := shippedFiles(t)
	wordy := failedTask()
	wordy.Body = long("We talked about this at length last spring, and opinions were divided about the matter.")
	full := failedTask()
	full.Body = long("- The handler must return 400 for an empty name.")
	tests := []struct {
		name string
		task sia.Task
		p    sia.Pattern
		want []sia.TechniqueID // how it begins
	}{
		{"parts break each other", failedTask(), sia.InterdependentComponents, []sia.TechniqueID{sia.Decomposition}},
		{"editing what should be created", failedTask(), sia.WrongTool, []sia.TechniqueID{sia.ToolChange}},
		{"long with little signal", wordy, sia.UnclearInstructions,
			[]sia.TechniqueID{sia.PromptRestructuring, sia.ContextPruning}},
		{"long with little signal, overload", wordy, sia.ContextOverload,
			[]sia.TechniqueID{sia.PromptRestructuring, sia.ContextPruning}},
		{"long with little signal, unknown", wordy, sia.UnknownPattern, []sia.TechniqueID{sia.PromptRestructuring}},
		{"long but full of signal", full, sia.ContextOverload, []sia.TechniqueID{sia.ContextPruning}},
		{"confusion over the form", failedTask(), sia.MissingExample, []sia.TechniqueID{sia.ExampleInjection}},
		{"missing credentials", failedTask(), sia.MissingCredentials,
			[]sia.TechniqueID{sia.AbstractionLevelShift, sia.ConstraintRelaxation}},
		{"same error", failedTask(), sia.RepeatedError, []sia.TechniqueID{sia.ErrorPattern}},
		{"wrong order", failedTask(), sia.WrongOrder, []sia.TechniqueID{sia.DependencyReordering}},
		{"over-constrained", failedTask(), sia.OverConstrained, []sia.TechniqueID{sia.ConstraintRelaxation}},
		{"cruft", failedTask(), sia.AccumulatedCruft, []sia.TechniqueID{sia.FreshStart}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ids(l.Candidates(tt.task, tt.p))
			if d := cmp.Diff(tt.want, got[:min(len(got), len(tt.want))]); d != "" {
				t.Errorf("%s (all: %v)", d, got)
			}
		})
	}
}

func TestCandidatesWhenAllIsTried(t *testing.T) {
	l := shippedFiles(t)
	task := failedTask()
	for _, x := range l.For(sia.WrongOrder) {
		task.Interventions = append(task.Interventions, tried(x.ID))
	}
	if d := cmp.Diff([]sia.TechniqueID{sia.FreshStart}, ids(l.Candidates(task, sia.WrongOrder))); d != "" {
		t.Error("everything for the pattern tried: ", d)
	}
	task.Interventions = append(task.Interventions, tried(sia.FreshStart))
	if cs := l.Candidates(task, sia.WrongOrder); len(cs) != 0 {
		t.Errorf("a person is all that is left, but got %v", cs)
	}
	// Starting over does not bring what only a person can give.
	for _, p := range []sia.Pattern{sia.MissingCredentials, sia.UnclearSpecification} {
		if slices.Contains(ids(l.Candidates(failedTask(), p)), sia.FreshStart) {
			t.Errorf("%s: a fresh start is offered", p)
		}
	}
}

func TestWantedComesFirst(t *testing.T) {
	l := shippedFiles(t)
	task := failedTask()
	task.Wanted = sia.ExampleInjection
	cs := l.Candidates(task, sia.WrongOrder)
	if cs[0].Technique != sia.ExampleInjection || !strings.Contains(cs[0].Reason, "a person asked for it") {
		t.Errorf("got %+v", cs[0])
	}
	task.Interventions = []sia.Intervention{tried(sia.ExampleInjection)}
	if slices.Contains(ids(l.Candidates(task, sia.WrongOrder)), sia.ExampleInjection) {
		t.Error("used already, but offered since a person asked")
	}
}

// The rank of a built-in technique is that of the policy's table. A repository's own technique, and one ranked by the
// task's prompt, has its own rank.
func TestRanks(t *testing.T) {
	for _, c := range shippedFiles(t).Candidates(failedTask(), sia.WrongOrder) {
		if c.Rank != 0 || c.Odds != 1 {
			t.Errorf("%+v", c)
		}
	}
	own, errs := technique.LoadLibrary(map[string][]byte{technique.Dir +
		"/ask.md": []byte("---\nid: ask\nname: Ask\nwhen: nobody knows\npatterns: {wrong-order: 2}\n" +
		"changes: [drop-history]\n---\nAsk.\n")})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	cs := own.Candidates(failedTask(), sia.WrongOrder)
	if i := slices.Index(ids(cs), "ask"); cs[i].Rank != 2 {
		t.Errorf("the repository's own: %+v", cs[i])
	}
	task := failedTask()
	task.Body = strings.Repeat("lorem ipsum dolor sit amet ", 2000)
	cs = own.Candidates(task, sia.UnknownPattern)
	if cs[0].Technique != sia.PromptRestructuring || cs[0].Rank != 1 {
		t.Errorf("a wordy prompt: %+v", cs[0])
	}
}

func TestPreconditionsRankLower(t *testing.T) {
	l := shippedFiles(t)
	task := sia.Task{Title: "Do it", Attempts: []sia.Attempt{{Number: 1}}}
	for p, id := range map[sia.Pattern]sia.TechniqueID{sia.OverConstrained: sia.ConstraintRelaxation,
		sia.InterdependentComponents: sia.Decomposition, sia.RepeatedError: sia.ErrorPattern} {
		cs := l.Candidates(task, p)
		i := slices.Index(ids(cs), id)
		if i == 0 || !strings.Contains(cs[i].Reason, "ranked lower because") {
			t.Errorf("%s: %s stands at %d: %s", p, id, i, cs[i].Reason)
		}
	}
}

func TestCandidatesProperties(t *testing.T) {
	l := shippedFiles(t)
	all := ids(func() (cs []sia.Candidate) {
		for _, x := range l.All() {
			cs = append(cs, sia.Candidate{Technique: x.ID})
		}
		return
	}())
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string) []sia.TechniqueID {
			return rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[sia.TechniqueID]).Draw(t, label)
		}
		task := failedTask()
		task.Body = rapid.String().Draw(t, "body")
		task.Wanted = rapid.SampledFrom(append(slices.Clone(all), "", "no-such")).Draw(t, "wanted")
		for _, id := range some("used") {
			task.Interventions = append(task.Interventions, tried(id))
		}
		task.Refused = some("refused")
		p := rapid.SampledFrom(sia.Patterns).Draw(t, "pattern")
		cs := l.Candidates(task, p)
		seen := map[sia.TechniqueID]bool{}
		for i, c := range cs {
			if task.Used(c.Technique) || slices.Contains(task.Refused, c.Technique) || seen[c.Technique] {
				t.Fatalf("%s must not be offered", c.Technique)
			}
			seen[c.Technique] = true
			if c.Reason == "" || c.Score <= 0 || c.Score >= 1 || c.Chosen {
				t.Fatalf("%+v", c)
			}
			if i > 1 && cs[i-1].Score < c.Score {
				t.Fatalf("not best first: %v", cs)
			}
		}
		if d := cmp.Diff(cs, l.Candidates(task, p)); d != "" {
			t.Fatal("not deterministic: ", d)
		}
	})
}
