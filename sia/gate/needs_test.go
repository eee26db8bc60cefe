package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

// unknown returns an input without any of the optional data.
func unknown(world Input) Input {
	in := world
	in.Runs = slices.Clone(world.Runs)
	for i := range in.Runs {
		in.Runs[i].Read, in.Runs[i].Class, in.Runs[i].Attempt = false, "", 0
	}
	in.Workflows, in.WorkflowsKnown = nil, false
	in.Base, in.BaseStatuses, in.BaseKnown = nil, nil, false
	in.BaseWorkflows, in.BaseWorkflowsKnown = nil, false
	in.Tampering, in.TamperingKnown = nil, false
	in.Counts, in.CountsKnown = nil, false
	in.Doubt, in.DoubtKnown = Doubt{}, false
	in.Files, in.FilesKnown, in.BaseFiles, in.Changed = nil, false, nil, nil
	return in
}

// supply fills in only the needed data.
func supply(in, world Input, n Needs) Input {
	if n.Workflows {
		in.Workflows, in.WorkflowsKnown = world.Workflows, true
	}
	if n.Base {
		in.Base, in.BaseStatuses, in.BaseKnown = slices.Clone(world.Base), world.BaseStatuses, true
		for i := range in.Base {
			in.Base[i].Read, in.Base[i].Class, in.Base[i].Attempt = false, "", 0
		}
	}
	if n.BaseWorkflows {
		in.BaseWorkflows, in.BaseWorkflowsKnown = world.BaseWorkflows, true
	}
	in.Runs, in.Base = slices.Clone(in.Runs), slices.Clone(in.Base)
	for _, id := range n.Attempts {
		learn := func(known, from []Run) {
			for i := range known {
				if known[i].WorkflowRun == id {
					known[i].Attempt = orNone(from[i].Attempt)
				}
			}
		}
		learn(in.Runs, world.Runs)
		if in.BaseKnown {
			learn(in.Base, world.Base)
		}
	}
	for _, id := range slices.Concat(n.Logs, n.Earlier) {
		i := slices.IndexFunc(in.Runs, func(r Run) bool { return r.ID == id })
		in.Runs[i].Read, in.Runs[i].Class = true, world.Runs[i].Class
	}
	for _, id := range n.OnBase {
		i := slices.IndexFunc(in.Base, func(r Run) bool { return r.ID == id })
		in.Base[i].Read, in.Base[i].Class = true, world.Base[i].Class
	}
	if len(n.Files) > 0 {
		in.FilesKnown, in.Changed = true, world.Changed
		for _, f := range world.Files {
			if slices.Contains(n.Files, f.Path) || slices.Contains(n.Files, workflowFolder) {
				in.Files = append(in.Files, f)
			}
		}
		if slices.Contains(n.Files, workflowFolder) {
			in.BaseFiles = world.BaseFiles
		}
	}
	if n.Tampering {
		in.Tampering, in.TamperingKnown = world.Tampering, true
	}
	if len(n.Counts) > 0 {
		in.Counts, in.CountsKnown = world.Counts, true
	}
	if n.Doubt {
		in.Doubt, in.DoubtKnown = world.Doubt, true
	}
	return in
}

func TestNeeds(t *testing.T) {
	failed := job(1, 7, 1, "test", "failure")
	with := func(in Input, f func(*Input)) Input { f(&in); return in }
	for _, c := range []struct {
		name  string
		world Input
		want  []Needs
	}{
		{"nothing ran", input(), nil},
		{"one runs", input(unfinished(1, "test")), nil},
		{"green is asked whether it was bought", input(run(1, "test", "success")),
			[]Needs{{Files: []string{workflowFolder}}, {Tampering: true}}},
		{"tests are counted before it passes", with(input(job(1, 7, 1, "test", "success"), job(2, 7, 1, "new", "success")),
			func(in *Input) { in.Final, in.Base = true, []Run{job(9, 3, 1, "test", "success")} }),
			[]Needs{{Tampering: true}, {Base: true}, {BaseWorkflows: true}, {Counts: []Pair{{Head: 1, Base: 9}}}}},
		{"jobs that may count none take no place of one that does", with(input(job(1, 7, 1, "build", "success"),
			job(2, 7, 1, "codeql", "success"), job(3, 7, 1, "docs", "success"), job(4, 7, 1, "format", "success"),
			job(5, 7, 1, "lint", "success"), job(6, 7, 1, "test", "success")), func(in *Input) {
			in.Final, in.Base = true, slices.Clone(in.Runs)
		}), []Needs{{Tampering: true}, {Base: true}, {BaseWorkflows: true}, {Counts: []Pair{{1, 1}, {2, 2}, {3, 3}, {4, 4},
			{5, 5}, {6, 6}}}}},
		{"tests are not counted with those of another workflow", with(input(job(1, 7, 1, "test", "success")).with(
			workflow(7, "New", "push", "success")), func(in *Input) {
			in.Final, in.Base = true, []Run{job(9, 3, 1, "test", "success")}
			in.BaseWorkflows = []Workflow{workflow(3, "CI", "push", "success")}
		}), []Needs{{Files: []string{".github/workflows/New.yml"}}, {Tampering: true}, {Base: true},
			{BaseWorkflows: true}}},
		{"tests are counted where one check is the same", with(input(job(1, 7, 1, "test", "success")), func(in *Input) {
			in.Final, in.Base = true, []Run{job(8, 3, 1, "test", "success"), job(9, 4, 1, "test", "success")}
		}), []Needs{{Tampering: true}, {Base: true}}},
		{"nothing is counted that a person is asked about", with(input(job(1, 7, 1, "test", "success")),
			func(in *Input) { in.Final, in.Tampering = true, []string{"a.py:1: skipped"} }), []Needs{{Tampering: true}}},
		{"red is compared, then read, then doubted", input(failed),
			[]Needs{{Base: true}, {Logs: []int64{1}}, {Tampering: true, Doubt: true}}},
		{"weather is read once", input(failed.class("network")), []Needs{{Base: true}, {Logs: []int64{1}}}},
		{"a job that is excused is read, and so is what excuses it", with(input(job(1, 7, 1, "test", "failure"),
			run(2, "build", "success")), func(in *Input) { in.Base = []Run{job(9, 8, 1, "test", "failure")} }),
			[]Needs{{Base: true}, {BaseWorkflows: true}, {Earlier: []int64{1}, OnBase: []int64{9}}, {Tampering: true}}},
		{"an app's check that is excused is not read", with(input(run(1, "test", "failure"), run(2, "build", "success")),
			func(in *Input) { in.Base = []Run{run(9, "test", "failure")} }),
			[]Needs{{Base: true}, {BaseWorkflows: true}, {Files: []string{workflowFolder}}, {Tampering: true}}},
		{"what is not required is not read", with(input(failed, job(2, 7, 1, "build", "failure")),
			func(in *Input) { in.Required = []Required{{Name: "build"}} }),
			[]Needs{{Base: true}, {Logs: []int64{2}}, {Tampering: true, Doubt: true}}},
		{"another app's check is not doubted", input(run(1, "test", "failure")),
			[]Needs{{Base: true}, {Logs: []int64{1}}, {Tampering: true}}},
		{"a compiler is not doubted", input(failed.class("compile_error")),
			[]Needs{{Base: true}, {Logs: []int64{1}}, {Tampering: true}}},
		{"a person's push is not doubted", with(input(failed), func(in *Input) { in.ByPerson = true }),
			[]Needs{{Base: true}, {Logs: []int64{1}}, {Tampering: true}}},
		{"a required check never came: a file may say why", with(input(run(1, "test", "success")),
			func(in *Input) { in.Required = []Required{{Name: "e2e"}} }), []Needs{{Files: []string{workflowFolder}}}},
		{"who passes it is read", input(job(1, 7, 1, "test", "success")).with(workflow(7, "CI", "push", "success"),
			workflow(8, "Lint", "push", "success"), func() Workflow {
				w := workflow(9, "Rules", "pull_request", "success")
				w.Repository = "acme/rules"
				return w
			}()), []Needs{{Files: []string{ciPath, ".github/workflows/Lint.yml"}}, {Tampering: true}}},
		{"what is missed is read", with(input(run(1, "test", "success")), func(in *Input) {
			in.Earlier = []sia.Reported{{Name: "e2e", App: actionsApp, Workflow: ciPath, Event: "push"}}
			in.Files = []File{{Path: ciPath, Gone: true}}
		}), []Needs{{Files: []string{ciPath, workflowFolder}}, {Tampering: true}}},
		{"nothing started, and beside what is missed another should have", with(input(run(1, "test", "success")),
			func(in *Input) {
				in.Earlier = []sia.Reported{{Name: "e2e", App: actionsApp, Workflow: ciPath, Event: "push"}}
				in.Files = []File{{Path: ciPath, Gone: true}, {Path: ".github/workflows/unit.yml",
					Triggers: []Trigger{{Event: "pull_request"}}, Jobs: []Job{{Name: "unit", Code: true}}}}
			}), []Needs{{Files: []string{ciPath, workflowFolder}}}},
		{"what is missed is waited for", with(input(run(1, "test", "success")), func(in *Input) {
			in.Earlier = []sia.Reported{{Name: "ci/x"}}
		}), nil},
		{"whether a job is missed beside red is read, for people are shown it", with(input(failed), func(in *Input) {
			in.Earlier = []sia.Reported{{Name: "e2e", App: actionsApp, Workflow: ciPath, Event: "push"}}
		}), []Needs{{Files: []string{ciPath}}, {Base: true}, {Logs: []int64{1}}, {Tampering: true, Doubt: true}}},
		{"a flip is read", input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success")),
			[]Needs{{Attempts: []int64{7}}, {Earlier: []int64{1}}, {Tampering: true}}},
		{"a flip beside a failure is read last",
			input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success"), job(3, 7, 1, "lint", "failure")),
			[]Needs{{Attempts: []int64{7}}, {Base: true}, {Logs: []int64{3}}, {Earlier: []int64{1}},
				{Tampering: true, Doubt: true}}},
		{"cancelled is read, for the job may have run too long", input(job(1, 7, 1, "test", "cancelled")),
			[]Needs{{Logs: []int64{1}}}},
		{"what ran too long may have done so on the base commit", with(input(job(1, 7, 1, "test",
			"cancelled").class("timeout"), run(2, "build", "success")), func(in *Input) {
			in.Base = []Run{job(9, 8, 1, "test", "cancelled").class("timeout")}
		}), []Needs{{Logs: []int64{1}}, {Base: true}, {OnBase: []int64{9}}, {BaseWorkflows: true}, {Tampering: true}}},
		{"cancelled for the last time", with(input(run(1, "test", "cancelled"), run(2, "unit", "failure")),
			func(in *Input) { in.Reruns = sia.MaxReruns }),
			[]Needs{{Base: true}, {Logs: []int64{2, 1}}, {Tampering: true}}},
		{"a red job of a run that succeeded may be of an earlier attempt", with(input(job(1, 7, 1, "test (a)", "failure"),
			job(2, 7, 2, "test (b)", "success")), func(in *Input) {
			in.Workflows = []Workflow{{ID: 7, SuiteID: 1007, Event: "push", Status: "completed", Conclusion: "success"}}
		}), []Needs{{Attempts: []int64{7}}, {Tampering: true}}},
		{"a run of one name twice on the base commit", with(input(job(1, 7, 1, "test", "failure")), func(in *Input) {
			in.Base = []Run{job(8, 3, 1, "test", "failure"), job(9, 3, 2, "test", "failure")}
		}), []Needs{{Base: true}, {Attempts: []int64{3}}, {BaseWorkflows: true},
			{Earlier: []int64{1}, OnBase: []int64{9}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := unknown(c.world)
			var got []Needs
			for n := in.Needs(); !n.None() && len(got) < 10; n = in.Needs() {
				if in = supply(in, c.world, n); !n.Workflows { // every verdict needs the workflow runs
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// anyWorld draws a commit with complete data. Only failed runs have a log with a
// reason.
func anyWorld(t *rapid.T) Input {
	in := anyInput(t)
	finished := rapid.IntRange(0, 3).Draw(t, "finished") > 0 // else little is needed
	for i := range in.Runs {
		r := &in.Runs[i]
		if finished && r.Status != "completed" {
			r.Status, r.Conclusion = "completed", "success"
		}
		if r.Read = true; r.Conclusion == "failure" {
			r.Class = rapid.SampledFrom([]string{"", "network", "test_failure", "compile_error", notStarted}).Draw(t, "log")
		} else if r.Conclusion == "cancelled" {
			r.Class = rapid.SampledFrom([]string{"cancelled", timeout}).Draw(t, "cancelled")
		} else {
			r.Class = ""
		}
	}
	for i := range in.Base {
		r := &in.Base[i]
		if r.Read, r.Class = true, ""; r.Conclusion == "failure" && r.WorkflowRun != 0 { // others are never read
			r.Class = rapid.SampledFrom([]string{"", "", notStarted}).Draw(t, "log on the base")
		}
	}
	in.BaseKnown, in.TamperingKnown, in.DoubtKnown, in.FilesKnown = true, true, true, true
	in.ByPerson = rapid.Bool().Draw(t, "by a person")
	in.Doubted = rapid.Bool().Draw(t, "doubted")
	in.Settings.Rerun = rapid.SampledFrom([]string{sia.RerunAlways, sia.RerunNever, in.Settings.Rerun}).Draw(t,
		"re-run")
	in.Doubt = Doubt{Good: 0.5, Other: rapid.Float64Range(0.01, 0.5).Draw(t, "flake rate"), Attempt: 3}
	return in
}

// gathered returns the input when nothing more is needed, and the needs that were requested.
func gathered(t *rapid.T, world Input) (in Input, asked []Needs) {
	in = unknown(world)
	for n := in.Needs(); !n.None(); n = in.Needs() {
		asked = append(asked, n)
		if len(asked) > len(in.Runs)+len(in.Base)+7 { // the base, the rest, and the logs one by one
			t.Fatalf("still not enough: %+v", asked)
		}
		in = supply(in, world, n)
	}
	return in, asked
}

// Gathering ends. Nothing is requested twice, and only logs of failed runs of the
// commit are read.
func TestNeedsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := anyWorld(t)
		_, asked := gathered(t, world)
		read := map[int64]bool{}
		base, tampering, doubt, workflows, files := 0, 0, 0, 0, 0
		attempts := map[int64]int{}
		for _, n := range asked {
			for _, id := range slices.Concat(n.Logs, n.Earlier) {
				r := world.Runs[slices.IndexFunc(world.Runs, func(r Run) bool { return r.ID == id })]
				r.Class = "" // as at the time of the request
				if o, _ := concluded(r); read[id] || r.Own || o == green || o == running {
					t.Fatalf("%+v is to be read, asked %+v", r, asked)
				}
				read[id] = true
			}
			if n.Base {
				base++
			}
			if n.Workflows {
				workflows++
			}
			for _, id := range n.Attempts {
				if attempts[id]++; attempts[id] > 2 { // once for the head, once for the base
					t.Fatalf("the attempts of %d are asked for again: %+v", id, asked)
				}
			}
			if n.Tampering {
				tampering++
			}
			if n.Doubt {
				doubt++
			}
			if len(n.Files) > 0 {
				files++
			}
		}
		if max(base, tampering, doubt, workflows, files) > 1 {
			t.Fatalf("asked twice: %+v", asked)
		}
	})
}

// Data that was not requested would not change the result: a verdict on which a task
// acts, and a re-run for doubt, equals the one with complete data.
func TestNeedsAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := anyWorld(t)
		in, asked := gathered(t, world)
		got, want := Judge(in), Judge(world)
		for _, c := range got.Checks {
			if c.Colour == sia.Excused && strings.HasPrefix(c.From, "app ") {
				t.Skip("an app's check is excused whatever its log says, so nobody reads it")
			}
		}
		goesOn := slices.Contains([]sia.GateVerdict{sia.VerdictGreen, sia.VerdictTampered, sia.VerdictRed}, got.Verdict)
		if (goesOn || got.Doubt != nil) && got.Verdict != want.Verdict {
			t.Fatalf("%s, and %s if all is known; asked %+v\n%v\n%v", got.Verdict, want.Verdict, asked, got.Explain,
				want.Explain)
		}
	})
}

func orNone(attempt int) int {
	if attempt == 0 {
		return NoAttempt
	}
	return attempt
}

// A lower number of tests than on the base waits for a person, as other tampering does, and so do failed tests in the
// log of a green check.
func TestFewerTests(t *testing.T) {
	for n, want := range map[TestCount]sia.GateVerdict{
		{Run: 1, Head: 3, Base: 12}:  sia.VerdictTampered,
		{Run: 1, Head: 0, Base: 1}:   sia.VerdictTampered,
		{Run: 1, Head: 12, Base: 12}: sia.VerdictGreen,
		{Run: 1, Head: 13, Base: 12}: sia.VerdictGreen,

		{Run: 1, Head: 13, Base: 12, Failed: true}: sia.VerdictTampered, // its failure is ignored
	} {
		in := input(job(1, 7, 1, "test", "success"))
		in.TamperingKnown, in.Final, in.CountsKnown, in.Counts = true, true, true, []TestCount{n}
		got := Judge(in)
		if got.Verdict != want {
			t.Errorf("%+v: %s, %q", n, got.Verdict, got.Explain)
		}
		if in.Accepted = true; Judge(in).Verdict != sia.VerdictGreen {
			t.Errorf("%+v: not accepted", n)
		}
	}
}
