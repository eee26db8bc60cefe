package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// noon is the time at which the tests' commits are judged; their checks finished long before.
var noon = time.Date(2031, 2, 3, 12, 0, 0, 0, time.UTC)

// run returns a finished check run of an app other than GitHub Actions. Runs with
// higher ids are newer and don't overlap.
func run(id int64, name, conclusion string) Run {
	start := noon.Add(-2*time.Hour + time.Duration(id)*time.Minute)
	return Run{ID: id, Name: name, App: "ci", Status: "completed", Conclusion: conclusion, StartedAt: start,
		CompletedAt: start.Add(30 * time.Second)}
}

func unfinished(id int64, name string) Run {
	r := run(id, name, "")
	r.Status, r.CompletedAt = "in_progress", time.Time{}
	return r
}

func (r Run) class(c string) Run { r.Class = c; return r }

func status(context, state string) Status {
	return Status{Context: context, State: state, UpdatedAt: noon.Add(-time.Hour)}
}

// input returns a commit that has been watched for two hours.
func input(runs ...Run) Input {
	return Input{Now: noon, Runs: runs, RequiredKnown: true, Settings: sia.DefaultSettings().Checks,
		Since: noon.Add(-2 * time.Hour), History: History{Known: true}}
}

func TestJudge(t *testing.T) {
	var (
		green     = sia.VerdictGreen
		red       = sia.VerdictRed
		pending   = sia.VerdictPending
		none      = sia.VerdictNone
		rerun     = sia.VerdictRerun
		tampered  = sia.VerdictTampered
		blocked   = sia.VerdictBlocked
		own       = func(r Run) Run { r.Own = true; return r }
		dated     = func(r Run) Run { r.StartedAt = noon.AddDate(900, 0, 0); r.CompletedAt = r.StartedAt; return r }
		ofApp     = func(r Run, app string) Run { r.App = app; return r }
		requiring = func(in Input, names ...string) Input {
			for _, n := range names {
				in.Required = append(in.Required, Required{Name: n})
			}
			return in
		}
		since = func(in Input, d time.Duration) Input { in.Since = noon.Add(-d); return in }
		with  = func(in Input, f func(*Input)) Input { f(&in); return in }
	)
	for _, c := range []struct {
		name string
		in   Input
		want sia.GateVerdict
		says string // in the explanation
	}{
		{"every check that ran is green", input(run(1, "build", "success"), run(2, "test", "success")), green,
			"2 required checks are green"},
		{"skipped and neutral count as GitHub counts them, beside a success",
			input(run(1, "a", "skipped"), run(2, "b", "neutral"), run(3, "c", "success")), green,
			"1 required check is green, 2 skipped"},
		{"where nothing ran nothing was validated", input(run(1, "a", "skipped"), run(2, "b", "neutral")), none,
			"a was skipped, b was neutral"},
		{"a required check is skipped beside one that is not required",
			requiring(input(run(1, "a", "skipped"), run(2, "b", "success")), "a"), none, "a was skipped"},
		{"a required check is skipped beside another",
			requiring(input(run(1, "a", "skipped"), run(2, "b", "success")), "a", "b"), green,
			"1 required check is green, 1 skipped"},
		{"a failure", input(run(1, "build", "success"), run(2, "test", "failure")), red, "test failed"},
		{"a time-out", input(run(1, "test", "timed_out")), red, "timed out"},
		{"green, and what reports on the test merge is not known",
			with(input(run(1, "test", "success")), func(in *Input) { in.MergeUnknown, in.Final = true, true }), pending,
			"on the merge"},
		{"red by what may be overruled on the test merge",
			with(input(run(1, "test", "failure")), func(in *Input) { in.MergeUnknown = true }), pending, "on the merge"},
		{"red by a job, which nothing overrules", with(input(run(1, "test", "failure")), func(in *Input) {
			in.MergeUnknown, in.Runs[0].WorkflowRun = true, 7
		}), red, "test failed"},
		{"a startup failure", input(run(1, "test", "startup_failure")), red, "could not start"},
		{"a person is to act", input(run(1, "deploy", "action_required")), blocked, "asks a person"},
		{"an unknown conclusion is not a success", input(run(1, "test", "perplexed")), red, "perplexed"},
		{"one still runs, though another is red", input(unfinished(1, "build"), run(2, "test", "failure")), pending,
			"build has not finished"},
		{"queued again after a failure", input(run(1, "test", "failure"), unfinished(2, "test")), pending,
			"has not finished"},

		{"legacy statuses count", with(input(run(1, "build", "success")),
			func(in *Input) { in.Statuses = []Status{status("ci/x", "failure")} }), red, "ci/x failed"},
		{"a pending status", with(input(run(1, "build", "success")),
			func(in *Input) { in.Statuses = []Status{status("ci/x", "pending")} }), pending, "ci/x"},
		{"an errored status", with(input(), func(in *Input) { in.Statuses = []Status{status("ci/x", "error")} }), red,
			"error"},

		{"only required checks count", requiring(input(run(1, "build", "success"), run(2, "lint", "failure")), "build"),
			green, "1 required check is green"},
		{"settings require, too", with(requiring(input(run(1, "build", "success"), run(2, "lint", "failure")), "build"),
			func(in *Input) { in.Settings.Required = []string{"lint"} }), red, "lint failed"},
		{"a check that is not required runs on", requiring(input(run(1, "build", "success"), unfinished(2, "slow")), "build"),
			green, ""},
		{"a required check has not appeared",
			since(requiring(input(run(1, "build", "success")), "build", "e2e"), time.Minute), pending, "e2e has not appeared"},
		{"a required check never appeared", requiring(input(run(1, "build", "success")), "build", "e2e"), blocked,
			"e2e did not appear within 15m"},
		{"rules that can't be read are said",
			with(input(run(1, "build", "success")), func(in *Input) { in.RequiredKnown = false }), green,
			"rules could not be read"},

		{"no check yet", since(input(), time.Minute), pending, "No check has appeared"},
		{"no check at all", input(), none, "no signal"},
		{"its own check is required, which waits for the verdict",
			requiring(input(own(run(1, "SIA", "")), run(2, "test", "success")), "SIA"), green, "every check that ran counts"},
		{"its own check is required beside another",
			requiring(input(own(run(1, "SIA", "")), run(2, "test", "success"), run(3, "lint", "failure")), "SIA", "test"),
			green, "1 required check is green"},
		{"another app's check of that name is required", with(requiring(input(own(run(1, "SIA", "")),
			run(2, "test", "success")), "SIA"), func(in *Input) { in.Required[0].App = 7 }), blocked, "SIA did not appear"},
		{"a check that ended in another century", input(dated(run(1, "test", "success"))), green, "1 required check"},
		{"a check that began in another century", since(input(run(1, "test", "success"), dated(unfinished(2, "slow"))),
			7*time.Hour), blocked, "slow has not finished"},
		{"no check but its own", input(own(run(1, "SIA", "success"))), none, "no signal"},
		{"its own red check is ignored", input(own(run(1, "SIA", "failure")), run(2, "test", "success")), green, ""},
		{"no check at all, though one is required", requiring(input(), "test"), blocked, "test did not appear within"},

		{"red on the base commit, too",
			with(input(run(1, "old", "failure"), run(2, "test", "success")),
				func(in *Input) { in.Base = []Run{run(9, "old", "failure")} }), green, "old is excused"},
		{"green on the base commit", with(input(run(1, "test", "failure")),
			func(in *Input) { in.Base = []Run{run(9, "test", "success")} }), red, ""},
		{"red on the base commit by an earlier run only",
			with(input(run(1, "test", "failure")),
				func(in *Input) { in.Base = []Run{run(8, "test", "failure"), run(9, "test", "success")} }), red, ""},
		{"an excuse is no success", with(input(run(1, "test", "failure")),
			func(in *Input) { in.Base = []Run{run(9, "test", "failure")} }), none, "red on the base commit too"},
		{"a status red on the base commit, too", with(input(run(1, "test", "success")), func(in *Input) {
			in.Statuses, in.BaseStatuses = []Status{status("ci/x", "failure")}, []Status{status("ci/x", "failure")}
		}), green, "ci/x is excused"},

		{"flaky: passed in the end", input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success")), green, "flaky"},
		{"flaky: failed in the end", input(job(1, 7, 1, "test", "success"), job(2, 7, 2, "test", "failure")), rerun, "flaky"},
		{"flaky to the last", with(input(job(1, 7, 1, "test", "success"), job(2, 7, 2, "test", "failure")),
			func(in *Input) { in.Reruns = sia.MaxReruns }), blocked, "run again 3 times"},
		{"flaky to the last, and another is green",
			with(input(job(1, 7, 1, "test", "success"), job(2, 7, 2, "test", "failure"), run(3, "build", "success")),
				func(in *Input) { in.Reruns = sia.MaxReruns }), blocked, "test flaky: passed before, and fails now"},
		{"two apps' checks of one name", input(ofApp(run(1, "test", "failure"), "other-ci"), run(2, "test", "success")), red,
			"test (other-ci) failed"},

		{"cancelled", input(job(1, 7, 1, "test", "cancelled")), rerun, "was cancelled"},
		{"ended at its time limit", input(job(1, 7, 1, "test", "cancelled").class("timeout")), red, "test timed out"},
		{"ended at its time limit again", input(job(1, 7, 1, "test", "cancelled"),
			job(2, 7, 2, "test", "cancelled").class("timeout")), red, "test timed out"},
		{"another app's was cancelled", input(run(1, "test", "cancelled")), blocked,
			"test was cancelled, and GitHub lets only its own app and people run it again"},
		{"stale", input(job(1, 7, 1, "test", "stale")), rerun, "stale"},
		{"weather", input(job(1, 7, 1, "test", "failure").class("network")), rerun, "outside the code: network"},
		{"another app met bad weather", input(run(1, "test", "failure").class("network")), blocked,
			"outside the code: network"},
		{"a workflow says so through the API", input(ofApp(run(1, "test", "cancelled"), "github-actions")), blocked,
			"only its own app"},
		{"bad weather", with(input(job(1, 7, 1, "test", "failure").class("rate_limit")),
			func(in *Input) { in.Reruns = sia.MaxReruns }), red, "rate_limit"},
		{"another class is no weather", input(run(1, "test", "failure").class("compile_error")), red, "failed"},
		{"weather beside a failure", input(run(1, "a", "failure").class("network"), run(2, "b", "failure")), red, "b failed"},
		{"weather where nothing is required",
			requiring(input(run(1, "a", "failure").class("network"), run(2, "b", "success")), "b"), green, ""},

		{"tampering", with(input(run(1, "test", "success")),
			func(in *Input) { in.Tampering = []string{"a_test.go:3: t.Skip was added"} }), tampered, "t.Skip was added"},
		{"accepted tampering", with(input(run(1, "test", "success")),
			func(in *Input) { in.Tampering, in.Accepted = []string{"a_test.go:3"}, true }), green, "accepted"},
		{"the issue asks for it", with(input(run(1, "test", "success")), func(in *Input) {
			in.Tampering, in.Expectations = []string{"a_test.go:3"}, true
			in.Weighing = &sia.Weighing{Done: true, Findings: []string{"a_test.go:3"}, Quotes: []string{"It should be four."}}
		}), green, "The issue asks for that: “It should be four.”"},
		{"the issue asked for something else", with(input(run(1, "test", "success")), func(in *Input) {
			in.Tampering, in.Expectations = []string{"a_test.go:3", "a_test.go:9"}, true
			in.Weighing = &sia.Weighing{Done: true, Findings: []string{"a_test.go:3"}, Quotes: []string{"It should be four."}}
		}), tampered, "It does not pass until"},
		{"no issue can ask for this", with(input(run(1, "test", "success")), func(in *Input) {
			in.Tampering = []string{"a_test.go:3"}
			in.Weighing = &sia.Weighing{Done: true, Findings: []string{"a_test.go:3"}, Quotes: []string{"It should be four."}}
		}), tampered, "It does not pass until"},
		{"tampering that did not even help",
			with(input(run(1, "test", "failure")), func(in *Input) { in.Tampering = []string{"a_test.go:3"} }), red,
			"a_test.go:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(c.in)
			if got.Verdict != c.want || !strings.Contains(strings.Join(got.Explain, "\n"), c.says) {
				t.Errorf("verdict %s, want %s; explained by\n%s", got.Verdict, c.want, strings.Join(got.Explain, "\n"))
			}
		})
	}
}

func TestSettle(t *testing.T) {
	in := input(run(1, "test", "success"))
	in.Runs[0].CompletedAt = noon.Add(-10 * time.Second)
	got := Judge(in)
	if got.Verdict != sia.VerdictPending || !strings.Contains(strings.Join(got.Explain, "\n"), "waiting 20s in case") {
		t.Errorf("10 s after the last event: %s, %q", got.Verdict, got.Explain)
	}
	in.Now = noon.Add(20 * time.Second)
	if got := Judge(in); got.Verdict != sia.VerdictGreen {
		t.Errorf("30 s after the last event: %s", got.Verdict)
	}
	in.Runs[0].CompletedAt = noon.Add(time.Hour) // GitHub's clock is ahead
	if got := Judge(in); !strings.Contains(strings.Join(got.Explain, "\n"), "waiting 30s in case") {
		t.Errorf("an hour before the last event: %s, %q", got.Verdict, got.Explain)
	}
}

func TestChecksAndRuns(t *testing.T) {
	in := input(run(1, "test", "failure"), run(2, "build", "success"), run(3, "old", "failure"), run(4, "lint", "failure"),
		job(5, 7, 1, "net", "failure").class("network"))
	in.Required = []Required{{Name: "test"}, {Name: "build"}, {Name: "old"}, {Name: "net"}}
	in.Base = []Run{run(9, "old", "failure")}
	in.Runs[0].URL = "https://example.com/1"
	got := Judge(in)
	want := []sia.Check{
		{Name: "build", Colour: sia.Green, Required: true, From: "app ci", Code: true},
		{Name: "net", Colour: sia.Running, Required: true, Why: "failed for a reason outside the code: network",
			From: "app github-actions", Code: true},
		{Name: "old", Colour: sia.Excused, Required: true, Why: "red on the base commit too", From: "app ci", Code: true},
		{Name: "test", Colour: sia.Red, Required: true, URL: "https://example.com/1", Why: "failed",
			From: "app ci", Code: true},
		{Name: "lint", Colour: sia.Red, Why: "not required; failed", From: "app ci", Code: true},
	}
	if diff := cmp.Diff(want, got.Checks); diff != "" {
		t.Errorf("checks: -want +got\n%s", diff)
	}
	if len(got.Rerun) != 0 {
		t.Errorf("to run again %v", got.Rerun)
	}
	in.Required = []Required{{Name: "net"}}
	if got := Judge(in); !slices.Equal(got.Rerun, []int64{5}) {
		t.Errorf("to run again %v", got.Rerun)
	}
}

// TamperingIn distinguishes a finding in Judge's explanation from its other
// sentences.
func TestTamperingIsReadBack(t *testing.T) {
	in := input(run(1, "test", "success"))
	in.Tampering, in.RequiredKnown = []string{"a_test.go:3: a test is skipped"}, false
	var got []string
	for _, s := range Judge(in).Explain {
		if f, ok := TamperingIn(s); ok {
			got = append(got, f)
		}
	}
	if diff := cmp.Diff(in.Tampering, got); diff != "" {
		t.Error(diff)
	}
}
