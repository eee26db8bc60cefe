package gate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

// anyInput draws a commit in any state that GitHub could report.
func anyInput(t *rapid.T) Input {
	name := rapid.SampledFrom([]string{"build", "test", "lint", "SIA"})
	statuses := []string{"queued", "in_progress", "completed", "completed", "completed"}
	conclusions := []string{"success", "failure", "neutral", "skipped", "cancelled", "timed_out", "action_required",
		"stale", "startup_failure", ""}
	// Half of the commits are nearly all successful, because hardly any of the others is green.
	well := rapid.Bool().Draw(t, "well")
	if well {
		statuses = []string{"completed"}
		conclusions = []string{"success", "success", "success", "success", "skipped", "failure"}
	}
	runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Run {
		r := run(rapid.Int64Range(1, 90).Draw(t, "id"), name.Draw(t, "name"), "")
		r.Own = r.Name == "SIA"
		r.App = rapid.SampledFrom([]string{r.App, "github-actions", "other-ci"}).Draw(t, "app")
		if r.App == "github-actions" {
			r.SuiteID = rapid.Int64Range(1, 3).Draw(t, "suite")
			r.WorkflowRun, r.Attempt = 100+r.SuiteID, rapid.IntRange(-1, 3).Draw(t, "attempt")
		} else if r.App == "other-ci" {
			r.AppID = 5
		}
		r.Status = rapid.SampledFrom(statuses).Draw(t, "status")
		if r.Status == "completed" {
			r.Conclusion = rapid.SampledFrom(conclusions).Draw(t, "conclusion")
			r.Class = rapid.SampledFrom([]string{"", "", "network", "test_failure", "not_started"}).Draw(t, "class")
		}
		return r
	}), 0, 8)
	unique := func(rs []Run) []Run {
		var out []Run
		seen := map[int64]bool{}
		for _, r := range rs {
			if !seen[r.ID] {
				out = append(out, r)
			}
			seen[r.ID] = true
		}
		return out
	}
	in := input(unique(runs.Draw(t, "runs"))...)
	in.Workflows = anyWorkflows(t, well)
	in.WorkflowsKnown = true
	in.Draft = rapid.Bool().Draw(t, "draft")
	in.Since = noon.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "minutes")) * time.Minute)
	if rapid.Bool().Draw(t, "base known") {
		in.Base, in.BaseWorkflows = unique(runs.Draw(t, "base")), anyWorkflows(t, well)
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"build", "test", "lint"}), 0, 3, rapid.ID).Draw(t,
		"required") {
		in.Required = append(in.Required, Required{Name: n, App: rapid.SampledFrom([]int64{0, 0, 0, 5}).Draw(t, "app id")})
	}
	if well { // no wait for a check that will not report
		in.Since = noon.Add(-2 * time.Hour)
		in.Required = slices.DeleteFunc(in.Required, func(r Required) bool {
			return !slices.ContainsFunc(in.Runs, func(run Run) bool {
				return run.Name == r.Name && (r.App == 0 || r.App == run.AppID)
			})
		})
	}
	in.RequiredKnown = rapid.Bool().Draw(t, "known")
	in.Earlier = rapid.SliceOfN(anyReported, 0, 2).Draw(t, "earlier")
	in.History.Merged = rapid.SliceOfN(rapid.SliceOfN(anyReported, 0, 2), 0, 2).Draw(t, "merged")
	in.History.Base = rapid.SliceOfN(rapid.SliceOfN(anyReported, 0, 2), 0, 2).Draw(t, "reported on the base")
	if rapid.Bool().Draw(t, "nothing is expected") {
		in.Earlier, in.History = nil, History{}
	}
	in.History.Known = rapid.Bool().Draw(t, "history known")
	in.FilesKnown = rapid.Bool().Draw(t, "files known")
	in.Files = rapid.SliceOfNDistinct(rapid.Custom(anyFile), 0, 2, func(f File) string { return f.Path }).Draw(t, "files")
	in.BaseFiles = rapid.SampledFrom([][]File{nil, in.Files}).Draw(t, "files of the base")
	in.Changed = rapid.SampledFrom([][]string{nil, {"a"}}).Draw(t, "changed")
	in.Reruns = rapid.IntRange(0, 4).Draw(t, "reruns")
	if rapid.Bool().Draw(t, "tampering") {
		in.Tampering = []string{"a_test.go:3"}
	}
	in.Accepted = rapid.Bool().Draw(t, "accepted")
	return in
}

// anyReported draws a check that may report on a commit.
var anyReported = rapid.Custom(func(t *rapid.T) sia.Reported {
	r := sia.Reported{Name: rapid.SampledFrom([]string{"build", "test", "lint"}).Draw(t, "reported"),
		App: rapid.SampledFrom([]string{"", "ci", "github-actions"}).Draw(t, "by")}
	if r.App == "github-actions" {
		r.Workflow = rapid.SampledFrom([]string{".github/workflows/ci.yml", ".github/workflows/nightly.yml"}).Draw(t, "in")
		r.Event = rapid.SampledFrom([]string{"push", "pull_request"}).Draw(t, "on")
	}
	return r
})

// anyFile draws a workflow file.
func anyFile(t *rapid.T) File {
	f := File{Path: rapid.SampledFrom([]string{".github/workflows/ci.yml", ".github/workflows/nightly.yml"}).Draw(t,
		"file"), Gone: rapid.Bool().Draw(t, "gone"), Unread: rapid.Bool().Draw(t, "unread")}
	if !f.Gone && !f.Unread {
		f.Triggers = []Trigger{{Event: rapid.SampledFrom([]string{"push", "pull_request"}).Draw(t, "trigger"),
			Paths:  Paths{Wanted: rapid.SampledFrom([][]string{nil, {"a"}, {"b"}}).Draw(t, "paths")},
			Narrow: rapid.Bool().Draw(t, "narrow"), Branches: rapid.Bool().Draw(t, "branches")}}
		f.Jobs = []Job{{Name: rapid.SampledFrom([]string{"build", "test"}).Draw(t, "job"),
			Code: rapid.Bool().Draw(t, "code")}, {Name: "lint", Code: rapid.Bool().Draw(t, "lint runs code")}}
		if rapid.Bool().Draw(t, "lint sums up") {
			f.Jobs[1].Needs = []string{f.Jobs[0].Name}
		}
	}
	return f
}

// anyWorkflows draws workflow runs, all successful or not; some of them have no jobs.
func anyWorkflows(t *rapid.T, well bool) []Workflow {
	var out []Workflow
	for _, suite := range rapid.SliceOfNDistinct(rapid.Int64Range(1, 4), 0, 4, rapid.ID).Draw(t, "workflows") {
		w := Workflow{ID: 100 + suite, SuiteID: suite, StartedAt: noon.Add(-2 * time.Hour), Status: "completed"}
		w.Path = rapid.SampledFrom([]string{".github/workflows/ci.yml", ".github/workflows/nightly.yml"}).Draw(t, "path")
		w.Event = rapid.SampledFrom([]string{"push", "pull_request"}).Draw(t, "event")
		w.Attempt = rapid.IntRange(1, 3).Draw(t, "newest attempt")
		w.Conclusion = rapid.SampledFrom([]string{"success", "failure", "cancelled", "skipped", "action_required",
			"startup_failure"}).Draw(t, "of the run")
		if well {
			w.Conclusion = "success"
		}
		out = append(out, w)
	}
	return out
}

// Invariants of every verdict: above all, that green means green.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		got := Judge(in)
		colours := map[sia.CheckColour]int{}
		for _, c := range got.Checks {
			if c.Name == "SIA" {
				t.Fatal("judged its own check")
			}
			if c.Required {
				colours[c.Colour]++
			}
			if c.Colour != sia.Green && c.Why == "" {
				t.Fatalf("%s is %s for no reason", c.Name, c.Colour)
			}
		}
		if len(got.Explain) == 0 {
			t.Fatal("no explanation")
		}
		switch got.Verdict {
		case sia.VerdictGreen, sia.VerdictTampered:
			if !slices.ContainsFunc(got.Checks, func(c sia.Check) bool {
				return c.Required && c.Colour == sia.Green && c.Code
			}) {
				t.Fatalf("%s, and nothing ran the code: %+v", got.Verdict, got.Checks)
			}
			if colours[sia.Green] == 0 || colours[sia.Red]+colours[sia.Running]+colours[sia.Blocked] > 0 {
				t.Fatalf("%s with %v", got.Verdict, colours)
			}
			if blocked := len(in.Tampering) > 0 && !in.Accepted; blocked != (got.Verdict == sia.VerdictTampered) {
				t.Fatalf("%s, tampering %v, accepted %t", got.Verdict, in.Tampering, in.Accepted)
			}
		case sia.VerdictRed:
			if colours[sia.Red] == 0 {
				t.Fatalf("red with %v", colours)
			}
		case sia.VerdictRerun:
			if len(got.Rerun) == 0 || in.Reruns >= sia.MaxReruns {
				t.Fatalf("run again %v after %d re-runs", got.Rerun, in.Reruns)
			}
		case sia.VerdictNone:
			if slices.ContainsFunc(got.Checks, func(c sia.Check) bool {
				return c.Required && c.Colour == sia.Green && c.Code
			}) {
				t.Fatalf("no signal with %+v", got.Checks)
			}
		case sia.VerdictBlocked:
			if colours[sia.Blocked] == 0 || colours[sia.Red]+colours[sia.Running] > 0 || len(got.Blocked) == 0 {
				t.Fatalf("blocked with %v", colours)
			}
		}
		if (got.Verdict == sia.VerdictRerun) != (len(got.Rerun) > 0) {
			t.Fatalf("%s, run again %v", got.Verdict, got.Rerun)
		}
	})
}

// The order in which GitHub lists runs does not matter, and Judge does not modify
// its input.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		first := Judge(in)
		shuffled := in
		shuffled.Runs = append([]Run(nil), in.Runs...)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rng.Shuffle(len(shuffled.Runs),
			func(i, j int) { shuffled.Runs[i], shuffled.Runs[j] = shuffled.Runs[j], shuffled.Runs[i] })
		before := append([]Run(nil), shuffled.Runs...)
		if diff := cmp.Diff(first, Judge(shuffled)); diff != "" {
			t.Fatalf("the order of runs changes the result:\n%s", diff)
		}
		if diff := cmp.Diff(before, shuffled.Runs); diff != "" {
			t.Fatalf("the input changed:\n%s", diff)
		}
	})
}
