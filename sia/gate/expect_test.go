package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

const ciPath = ".github/workflows/CI.yml"

// ciJob returns a job of the workflow CI that reported on another commit.
func ciJob(name, event string) sia.Reported {
	return sia.Reported{Name: name, App: actionsApp, Workflow: ciPath, Event: event}
}

// fileOf returns CI's file with one trigger and one job.
func fileOf(triggers ...Trigger) []File {
	return []File{{Path: ciPath, Triggers: triggers, Jobs: []Job{{Name: "test", Code: true}}}}
}

func TestExpect(t *testing.T) {
	jenkins, codecov := sia.Reported{Name: "ci/jenkins"}, sia.Reported{Name: "codecov/patch", App: "codecov"}
	deploy := sia.Reported{Name: "deploy", App: "vercel"}
	all := func(rs ...sia.Reported) []sia.Reported { return rs }
	earlier := func(rs ...sia.Reported) []sia.Reported { return rs }
	for _, c := range []struct {
		name    string
		earlier []sia.Reported
		h       History
		files   []File
		want    []sia.Reported
	}{
		{name: "nothing is known"},
		{name: "a status and an app's check of an earlier commit", earlier: earlier(codecov, jenkins, jenkins),
			want: all(jenkins, codecov)},
		{name: "a job, and its file was not read", earlier: earlier(ciJob("test", "push")), want: all(ciJob("test", "push"))},
		{name: "a job that nobody can place", earlier: earlier(sia.Reported{Name: "test", App: actionsApp}),
			files: fileOf(), want: all(sia.Reported{Name: "test", App: actionsApp})},
		{name: "a job", earlier: earlier(ciJob("test", "push")), files: fileOf(Trigger{Event: "push"}),
			want: all(ciJob("test", "push"))},
		{name: "a job of another event", earlier: earlier(ciJob("test", "push")),
			files: fileOf(Trigger{Event: "pull_request"})},
		{name: "a job that was run by hand", earlier: earlier(ciJob("test", "workflow_dispatch")),
			files: fileOf(Trigger{Event: "workflow_dispatch"})},
		{name: "a job whose file is gone", earlier: earlier(ciJob("test", "push")),
			files: []File{{Path: ciPath, Gone: true}}},
		{name: "a job whose file nobody can read", earlier: earlier(ciJob("test", "push")),
			files: []File{{Path: ciPath, Unread: true}}, want: all(ciJob("test", "push"))},
		{name: "a job with a filter of paths", earlier: earlier(ciJob("test", "push"), ciJob("test", "pull_request")),
			files: fileOf(Trigger{Event: "push", Narrow: true}, Trigger{Event: "pull_request"}),
			want:  all(ciJob("test", "pull_request"))},
		{name: "a filter of branches lets the same branch through", earlier: earlier(ciJob("test", "push")),
			files: fileOf(Trigger{Event: "push", Branches: true}), want: all(ciJob("test", "push"))},

		{name: "most merged pull requests had it", h: History{Merged: [][]sia.Reported{all(jenkins), all(jenkins, codecov),
			nil}}, want: all(jenkins)},
		{name: "one merged pull request had it", h: History{Merged: [][]sia.Reported{all(jenkins, jenkins)}},
			want: all(jenkins)},
		{name: "half of them had it", h: History{Merged: [][]sia.Reported{all(jenkins), all(codecov)}}},
		{name: "most had the job, for pull requests into the same branch",
			h:     History{Merged: [][]sia.Reported{all(ciJob("test", "pull_request"))}},
			files: fileOf(Trigger{Event: "pull_request", Branches: true}), want: all(ciJob("test", "pull_request"))},
		{name: "most had the job, of branches with such names", h: History{Merged: [][]sia.Reported{all(ciJob("test",
			"push"))}}, files: fileOf(Trigger{Event: "push", Branches: true})},

		{name: "most of the base's commits had it", h: History{Base: [][]sia.Reported{all(deploy, jenkins), all(deploy)}},
			want: all(deploy)},
		{name: "the base's alone, as a deployment", h: History{Base: [][]sia.Reported{all(deploy)},
			Merged: [][]sia.Reported{all(jenkins)}}, want: all(jenkins)},
		{name: "the base's, and one merged pull request's", h: History{Base: [][]sia.Reported{all(deploy)},
			Merged: [][]sia.Reported{all(deploy), all(jenkins), all(jenkins)}}, want: all(jenkins, deploy)},
		{name: "the base's, and nothing reported on merged pull requests", h: History{Base: [][]sia.Reported{all(deploy)},
			Merged: [][]sia.Reported{nil, nil}}, want: all(deploy)},
		{name: "a job of pushes", h: History{Base: [][]sia.Reported{all(ciJob("test", "push"))},
			Merged: [][]sia.Reported{all(jenkins)}}, files: fileOf(Trigger{Event: "push"}),
			want: all(jenkins, ciJob("test", "push"))},
		{name: "a job of pushes to some branches", h: History{Base: [][]sia.Reported{all(ciJob("test", "push"))}},
			files: fileOf(Trigger{Event: "push", Branches: true})},
		{name: "a job of a schedule", h: History{Base: [][]sia.Reported{all(ciJob("test", "schedule"))}},
			files: fileOf(Trigger{Event: "schedule"})},
		{name: "GitHub's own workflow, as GraphQL tells it", h: History{Merged: [][]sia.Reported{all(sia.Reported{
			Name: "Analyze (go)", App: actionsApp, Event: "dynamic"})}}},
		{name: "GitHub's own workflow, as REST tells it", h: History{Merged: [][]sia.Reported{all(sia.Reported{
			Name: "Analyze (go)", App: actionsApp, Workflow: "dynamic/github-code-scanning/codeql", Event: "dynamic"})}}},
		{name: "a workflow's own, made on the base", h: History{Base: [][]sia.Reported{all(sia.Reported{Name: "report",
			App: actionsApp})}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []sia.Reported
			for _, e := range Expect(c.earlier, c.h, c.files, nil) {
				got = append(got, e.Reported)
				if e.Why == "" {
					t.Errorf("%+v for no reason", e)
				}
			}
			slices.SortFunc(c.want, compareReported)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// An expected check that did not report is missed.
func TestMissed(t *testing.T) {
	ci := func(event string) Workflow { return workflow(7, "CI", event, "success") }
	push, pull := Trigger{Event: "push"}, Trigger{Event: "pull_request"}
	earlier := func(in Input, rs ...sia.Reported) Input { in.Earlier = rs; return in }
	young := func(in Input) Input { in.Since = noon.Add(-time.Minute); return in }
	files := func(in Input, fs []File) Input { in.Files, in.FilesKnown = fs, true; return in }
	on := func(in Input, f func(*Input)) Input { f(&in); return in }
	jenkins := sia.Reported{Name: "ci/jenkins"}
	lint := run(1, "lint", "success")
	test := func(event string) Input { return input(job(1, 7, 1, "test", "success")).with(ci(event)) }
	skippedCI := sia.Reported{Name: "CI", App: "github-actions", Workflow: ".github/workflows/CI.yml",
		Event: "pull_request", Whole: true}
	ofCI := func(name string) sia.Reported { return sia.Reported{Name: name, App: "ci"} }
	judgeAll(t, []row{
		{"a status of an earlier commit", earlier(input(lint), jenkins), sia.VerdictBlocked,
			"ci/jenkins did not appear within 15m0s; it reported on an earlier commit of this task"},
		{"it may yet come", young(earlier(input(lint), jenkins)), sia.VerdictPending, "ci/jenkins has not appeared yet"},
		{"it came", on(earlier(input(lint), jenkins), func(in *Input) {
			in.Statuses = []Status{status("ci/jenkins", "success")}
		}), sia.VerdictGreen, ""},
		{"it runs", on(earlier(input(lint), jenkins), func(in *Input) {
			in.Statuses = []Status{status("ci/jenkins", "pending")}
		}), sia.VerdictPending, "ci/jenkins has not finished"},
		{"it came as a check run", earlier(input(lint, run(2, "ci/jenkins", "success")), jenkins), sia.VerdictBlocked,
			"ci/jenkins (commit status) did not appear"},
		{"a check run", earlier(input(lint), ofCI("e2e")), sia.VerdictBlocked, "e2e did not appear"},
		{"a check run of another app came", earlier(input(lint, func() Run {
			r := run(2, "e2e", "success")
			r.App = "other"
			return r
		}()), ofCI("e2e")), sia.VerdictBlocked, "e2e (app ci) did not appear"},
		{"a workflow of which all was skipped", earlier(input(lint), skippedCI), sia.VerdictBlocked, "CI did not appear"},
		{"it ran, and all of it was skipped again", earlier(input(lint,
			job(2, 7, 1, "test", "skipped")).with(ci("pull_request")), skippedCI), sia.VerdictGreen, ""},
		{"it ran for another event alone", earlier(input(lint, job(2, 7, 1, "test", "skipped")).with(ci("push")), skippedCI),
			sia.VerdictBlocked, "CI did not appear"},
		{"it was made by SIA", earlier(input(lint, func() Run {
			r := run(2, "e2e", "success")
			r.Own = true
			return r
		}()), ofCI("e2e")), sia.VerdictBlocked, "e2e did not appear"},
		{"a job of a matrix is named after it", earlier(input(job(1, 7, 1, "e2e (1)", "success")).with(ci("pull_request")),
			sia.Reported{Name: "e2e", App: actionsApp}), sia.VerdictBlocked, "e2e did not appear"},
		{"it is skipped beside others", earlier(input(lint, run(2, "e2e", "skipped")), ofCI("e2e")), sia.VerdictGreen, ""},
		{"another is red", earlier(input(run(1, "lint", "failure")), jenkins), sia.VerdictRed, "lint failed"},
		{"another is red, and it may yet come", young(earlier(input(run(1, "lint", "failure")), jenkins)), sia.VerdictRed,
			"lint failed"},
		{"all others were skipped", earlier(input(run(1, "lint", "skipped")), jenkins), sia.VerdictBlocked, "ci/jenkins"},
		{"nothing came", earlier(input(), jenkins), sia.VerdictNone, "ci/jenkins is missing; it reported on an earlier"},
		{"rules name what counts", earlier(input(lint).requiring("lint"), jenkins), sia.VerdictGreen, ""},
		{"rules can't be read", on(earlier(input(lint), jenkins), func(in *Input) {
			in.RequiredKnown, in.Settings.Required = false, []string{"lint"}
		}), sia.VerdictBlocked, "ci/jenkins did not appear"},
		{"of merged pull requests", on(input(lint), func(in *Input) {
			in.History.Merged = [][]sia.Reported{{jenkins}, {jenkins, ofCI("lint")}}
		}), sia.VerdictBlocked, "it reported on 2 of the last 2 merged pull requests"},
		{"of the base", on(input(lint), func(in *Input) { in.History.Base = [][]sia.Reported{{jenkins}} }),
			sia.VerdictBlocked, "it reported on 1 of the last 1 commit of the base branch"},

		{"a job", files(earlier(input(lint), ciJob("test", "push")), fileOf(push)), sia.VerdictBlocked,
			"test did not appear"},
		{"a job, and nobody read its file", earlier(input(lint), ciJob("test", "push")), sia.VerdictBlocked,
			"test did not appear"},
		{"a job with a filter", files(earlier(input(lint), ciJob("test", "push")),
			fileOf(Trigger{Event: "push", Narrow: true})), sia.VerdictGreen, ""},
		{"a job came", files(earlier(test("push"), ciJob("test", "push")), fileOf(push)), sia.VerdictGreen, ""},
		{"a job came for one of two events", files(earlier(test("push"), ciJob("test", "push"), ciJob("test",
			"pull_request")), fileOf(push, pull)), sia.VerdictBlocked,
			"test (workflow .github/workflows/CI.yml on pull_request) did not appear"},
		{"a job came in another workflow", files(earlier(input(job(1, 7, 1, "test", "success")).with(workflow(7, "Nightly",
			"push", "success")), ciJob("test", "push")), fileOf(push)), sia.VerdictBlocked, "test (workflow"},
		{"a job came as a check run that is none", files(earlier(input(func() Run {
			r := run(2, "test", "success")
			r.App = actionsApp
			return r
		}()).with(ci("push")), ciJob("test", "push")), fileOf(push)), sia.VerdictBlocked, "test (workflow"},
		{"a job came, and nobody says in which workflow", earlier(input(job(1, 7, 1, "test", "success")),
			ciJob("test", "push")), sia.VerdictGreen, ""},
		{"a job's run was cancelled for one of another event", files(earlier(input(job(1, 8, 1, "test",
			"success")).with(workflow(7, "CI", "push", "cancelled"), workflow(8, "CI", "pull_request", "success")),
			ciJob("test", "push")), fileOf(push, pull)), sia.VerdictGreen, ""},
		{"another leg of a matrix", files(earlier(input(job(1, 7, 1, "test (2)", "success")).with(ci("push")),
			ciJob("test (1)", "push"), ciJob("test (2)", "push")), fileOf(push)), sia.VerdictBlocked, "test (1) did not appear"},
		{"a job became a matrix", files(earlier(input(job(1, 7, 1, "test (1)", "success")).with(ci("push")),
			ciJob("test", "push")), fileOf(push)), sia.VerdictGreen, ""},
		{"a matrix was skipped", files(earlier(input(lint, job(2, 7, 1, "test", "skipped")).with(ci("push")),
			ciJob("test (1)", "push"), ciJob("test (2)", "push")), fileOf(push)), sia.VerdictBlocked,
			"test was skipped; it ran on an earlier commit of this task"},
		{"a matrix with a name of its own was skipped", files(earlier(input(lint, job(2, 7, 1, "on ${{ matrix.os }}",
			"skipped")).with(ci("push")), ciJob("on linux", "push")), fileOf(push)), sia.VerdictBlocked,
			"was skipped; it ran"},
		{"a reusable workflow was skipped", files(earlier(input(lint, job(2, 7, 1, "call", "skipped")).with(ci("push")),
			ciJob("call / test", "push")), fileOf(push)), sia.VerdictBlocked,
			"call was skipped; it ran"},
		{"something of a similar name was skipped", files(earlier(input(lint, job(2, 7, 1, "te", "skipped")).with(
			ci("push")), ciJob("test", "push")), fileOf(push)), sia.VerdictBlocked, "test did not appear"},
	})
	many := input(lint)
	for i := range 50 {
		many.Earlier = append(many.Earlier, sia.Reported{Name: fmt.Sprintf("ci/%02d", i)})
	}
	got := Judge(many)
	if len(got.Blocked) != maxMissed || !got.Blocked[0].Absent || len(got.Checks) != 51 {
		t.Errorf("%d obstacles, %d checks", len(got.Blocked), len(got.Checks))
	}
	draft := earlier(input(lint), jenkins)
	draft.Draft = true
	if !Judge(draft).Guarded {
		t.Error("what is missing on a draft may wait for it to be ready")
	}
}

func TestReported(t *testing.T) {
	own := run(5, "SIA", "success")
	own.Own = true
	in := input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success"), run(3, "e2e", "cancelled"),
		run(4, "docs", "skipped"), own, job(6, 99, 1, "lost", "success"), job(8, 8, 1, "e2e", "skipped")).with(
		workflow(7, "CI", "push", "success"),
		workflow(8, "CI", "pull_request", "skipped"))
	in.Statuses = []Status{status("ci/x", "pending")}
	skipped := ciJob("CI", "pull_request")
	skipped.Whole = true
	want := []sia.Reported{skipped, {Name: "ci/x"}, {Name: "e2e", App: "ci"}, {Name: "lost", App: actionsApp},
		ciJob("test", "push")}
	if d := cmp.Diff(want, Judge(in).Reported); d != "" {
		t.Error(d)
	}
	for i := range 10 * sia.MaxReported {
		in.Statuses = append(in.Statuses, status(fmt.Sprint(i), "success"))
	}
	if n := len(Judge(in).Reported); n != sia.MaxReported {
		t.Errorf("%d are kept", n)
	}
}

// A job may have the name of its workflow, which reported without jobs elsewhere: both are expected, in one order.
func TestExpectSortsEqualNames(t *testing.T) {
	job := ciJob("CI", "pull_request")
	whole := job
	whole.Whole = true
	merged := History{Merged: [][]sia.Reported{{job}}}
	for range 100 {
		got := Expect([]sia.Reported{whole}, merged, nil, nil)
		if len(got) != 2 || got[0].Whole || !got[1].Whole {
			t.Fatalf("%+v", got)
		}
	}
}
