package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A pass requires a check that ran the code.
func TestPassRestsOnCode(t *testing.T) {
	const code, noCode = "steps: [{uses: actions/checkout@v4}]", "steps: [{uses: actions/labeler@v5}]"
	const runs = "steps: [{uses: actions/checkout@v4}, {run: make test}]"
	head := "steps: [{uses: actions/checkout@v4, with: {ref: '${{ github.event.pull_request.head.sha }}'}}]"
	// ran returns a commit with one green job and its workflow file.
	ran := func(event, name, does string) Input {
		in := input(job(1, 7, 1, name, "success")).with(workflow(7, "CI", event, "success"))
		in.Files, in.FilesKnown = []File{ReadFile(ciPath, []byte("on: "+event+"\njobs:\n  other: {"+noCode+"}\n  "+
			strings.ReplaceAll(name, " ", "-")+": {name: '"+name+"', "+does+"}\n"))}, true
		return in
	}
	file := func(in Input, f File) Input { in.Files = []File{f}; return in }
	statuses := func(in Input, ss ...Status) Input { in.Statuses = ss; return in }
	draft := func(in Input) Input { in.Draft = true; return in }
	young := func(in Input) Input { in.Since = noon.Add(-time.Minute); return in }
	foreign := func(in Input) Input { in.Repo, in.Workflows[0].Repository = "ada/shop", "acme/rules"; return in }
	judgeAll(t, []row{
		{"a job that checks out", ran("pull_request", "test", code), sia.VerdictGreen,
			"It rests on `test` (workflow CI on pull_request)."},
		{"a job that does not", ran("pull_request", "test", noCode), sia.VerdictNone,
			"Nothing ran the code, as far as SIA can tell: all that is green is test."},
		{"a job that does not, and another that does was skipped", func() Input {
			in := ran("pull_request", "test", code)
			in.Runs = []Run{job(1, 7, 1, "test", "skipped"), job(2, 7, 1, "other", "success")}
			return in
		}(), sia.VerdictNone, "test was skipped"},
		{"one more may come", young(ran("pull_request", "test", noCode)), sia.VerdictPending, "Nothing has run the code yet"},
		{"a reusable workflow", ran("push", "test", "uses: ./.github/workflows/x.yml"), sia.VerdictGreen, ""},
		{"on the base's code", ran("pull_request_target", "test", code), sia.VerdictNone, "test"},
		{"on the head's code by name", ran("pull_request_target", "test", head), sia.VerdictGreen, ""},
		{"on a comment", ran("issue_comment", "test", code), sia.VerdictNone, ""},
		{"on a review, of the test merge", ran("pull_request_review", "test", code), sia.VerdictGreen, ""},
		{"on demand", ran("workflow_dispatch", "test", code), sia.VerdictGreen, ""},
		{"nobody can read the file", file(ran("push", "test", noCode), File{Path: ciPath, Unread: true}),
			sia.VerdictGreen, ""},
		{"nobody can read the file, and it ran on the base's code", file(ran("pull_request_target", "test", noCode),
			File{Path: ciPath, Unread: true}), sia.VerdictNone, ""},
		{"the file came with the test merge", file(ran("pull_request", "test", noCode), File{Path: ciPath, Gone: true}),
			sia.VerdictGreen, ""},
		{"another repository's file of that path", foreign(ran("pull_request", "test", noCode)), sia.VerdictGreen, ""},

		{"a licence alone", statuses(input(), status("license/cla", "success")), sia.VerdictNone, "license/cla"},
		{"titles and labels alone", input(run(1, "Semantic Pull Request", "success"), run(2, "labels", "success"),
			run(3, "DCO", "success")), sia.VerdictNone, "DCO, Semantic Pull Request and labels"},
		{"a licence beside a status", statuses(input(), status("license/cla", "success"), status("ci/x", "success")),
			sia.VerdictGreen, "It rests on `ci/x` (commit status)."},
		{"a licence beside an app's check", statuses(input(run(1, "build", "success")), status("license/cla", "success")),
			sia.VerdictGreen, "It rests on `build` (app ci)."},
		{"a licence beside an excused check", input(run(1, "cla", "success"), run(2, "test", "failure")).onBase(
			[]Run{run(9, "test", "failure")}), sia.VerdictNone, "Nothing ran the code"},
		{"a licence beside one that is not required", input(run(1, "cla", "success"), run(2, "test",
			"success")).requiring("cla"), sia.VerdictGreen, "It rests on `test` (app ci)."},
		{"a licence beside one that is not required and red", input(run(1, "cla", "success"), run(2, "test",
			"failure")).requiring("cla"), sia.VerdictNone, "Nothing ran the code"},
		{"a licence beside one that is not required and runs", input(run(1, "cla", "success"), Run{ID: 2, Name: "test",
			App: "ci", Status: "in_progress", StartedAt: noon.Add(-time.Hour)}).requiring("cla"), sia.VerdictPending,
			"Nothing has run the code yet"},
		{"a licence beside a red check", input(run(1, "cla", "success"), run(2, "test", "failure")), sia.VerdictRed, ""},
		{"a reviewer's status alone", statuses(input(), status("CodeRabbit", "success")), sia.VerdictNone, "CodeRabbit"},
		{"checks of apps that only read", input(run(1, "Cursor Bugbot", "success"), run(2, "GitGuardian Security Checks",
			"success"), run(3, "Socket Security: Pull Request Alerts", "success"), Run{ID: 4, Name: "PR Agent",
			App: "qodo-merge-pro", Status: "completed", Conclusion: "success"}), sia.VerdictNone, "PR Agent"},
		{"a reviewer beside a status", statuses(input(), status("CodeRabbit", "success"), status("ci/x", "success")),
			sia.VerdictGreen, "It rests on `ci/x` (commit status)."},
		{"a job that is called like a reader", ran("push", "cursor", code), sia.VerdictGreen, ""},
		{"a job that checks licences", ran("push", "license", code), sia.VerdictNone, ""},
		{"a service of reviews", ran("push", "reviews-service", runs), sia.VerdictGreen, ""},
		{"tests of approvals", ran("push", "Approval tests", runs), sia.VerdictGreen, ""},
		{"titles that are looked at with git", ran("push", "title", "steps: [{uses: actions/checkout@v4}, "+
			"{run: \"git log -1 --format=%s | grep -E '^feat'\"}]"), sia.VerdictNone, ""},
		{"a title in a file that nobody can read", file(ran("push", "title", runs), File{Path: ciPath, Unread: true}),
			sia.VerdictNone, ""},
		{"many are named", input(run(1, "a", "success"), run(2, "b", "success"), run(3, "c", "success"),
			run(4, "d", "success"), run(5, "e", "success")), sia.VerdictGreen,
			"It rests on `a` (app ci), `b` (app ci), `c` (app ci) and 2 others."},
	})
	for in, want := range map[bool]Input{true: draft(ran("push", "test", noCode)), false: ran("push", "test", noCode)} {
		if got := Judge(want); got.Guarded != in {
			t.Errorf("on a draft %t: guarded %t", in, got.Guarded)
		}
	}
	in := draft(young(ran("push", "test", code)))
	in.Runs = []Run{job(1, 7, 1, "test", "skipped"), job(2, 7, 1, "other", "success")}
	if got := Judge(in); got.Verdict != sia.VerdictNone || !got.Guarded {
		t.Errorf("a guarded draft waits: %s, %q", got.Verdict, got.Explain)
	}
}

func TestPaperwork(t *testing.T) {
	for _, name := range []string{"cla", "CLA", "license/cla", "licence", "WIP", "DCO", "Semantic PR",
		"SemanticPullRequest",
		"pr-title", "PR_Title", "label", "labeler", "sign-off", "signoff", "Signed-off-by", "code-review/approved",
		"size", "pull-request-size", "changelog", "milestone", "lint / title", "title (x)"} {
		if !isPaperwork(name) {
			t.Errorf("%s judges code", name)
		}
	}
	for _, name := range []string{"test", "build", "classes", "subtitle", "resize", "swipe", "unlicensed-lib", "reviewdog",
		"test (title)", "design off", "codecov/patch", "ci/circleci: build", ""} {
		if isPaperwork(name) {
			t.Errorf("%s judges no code", name)
		}
	}
}

// The source of a check is shown with it.
func TestFrom(t *testing.T) {
	in := input(job(1, 7, 1, "test", "success"), job(2, 99, 1, "lost", "success"), run(3, "e2e", "skipped")).with(
		workflow(7, "CI", "push", "success"), workflow(8, "Bad", "pull_request", "failure"))
	in.Statuses, in.Earlier = []Status{status("ci/x", "success")}, []sia.Reported{{Name: "ci/y"}}
	want := []string{"Bad: workflow Bad on pull_request, false", "ci/x: commit status, true",
		"ci/y: commit status, false", "e2e: app ci, false", "lost: app github-actions, true",
		"test: workflow CI on push, true"}
	var got []string
	for _, c := range Judge(in).Checks {
		got = append(got, c.Name+": "+c.From+", "+map[bool]string{true: "true", false: "false"}[c.Code])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
