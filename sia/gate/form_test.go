package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A check of a pull request's form, or one that waits for a review, is neither blamed on the attempt nor waited for.
func TestForm(t *testing.T) {
	const ok, red, pending, blocked = sia.VerdictGreen, sia.VerdictRed, sia.VerdictPending, sia.VerdictBlocked
	checkout := "steps: [{uses: actions/checkout@v5}, {run: make}]"
	// beside returns a green job that tests, and another job with its workflow file.
	beside := func(r Run, event, does string) Input {
		r.WorkflowRun, r.SuiteID, r.App, r.Attempt = 8, 1008, actionsApp, 1
		in := input(job(1, 7, 1, "test", "success"), r).with(workflow(7, "CI", "pull_request", "success"),
			workflow(8, "Form", event, "failure"))
		in.Files, in.FilesKnown = []File{ReadFile(ciPath, []byte("on: pull_request\njobs:\n  test: {"+checkout+"}\n")),
			ReadFile(".github/workflows/Form.yml", []byte("on: "+event+"\njobs:\n  a: {name: '"+r.Name+"', "+does+"}\n"))}, true
		return in
	}
	says := func(context, state, description string) Input {
		in := input(job(1, 7, 1, "test", "success"))
		in.Statuses = []Status{{Context: context, State: state, Description: description,
			UpdatedAt: noon.Add(-5 * time.Minute)}}
		return in
	}
	app := func(slug, name, status, conclusion string) Input {
		r := run(2, name, conclusion)
		r.App, r.Status, r.StartedAt = slug, status, noon.Add(-5*time.Minute)
		return input(job(1, 7, 1, "test", "success"), r)
	}
	telling := func(in Input, class, line string) Input {
		in.Runs[1].Read, in.Runs[1].Class, in.Runs[1].Telling = true, class, line
		return in
	}
	waived := func(in Input, names ...string) Input { in.Waived = names; return in }
	young := func(in Input) Input { in.Runs, in.Since = nil, noon.Add(-5*time.Minute); return in }
	const noCheckout = "steps: [{uses: amannn/action-semantic-pull-request@v6}]"
	judgeAll(t, []row{
		{"tide", says("tide", "pending", "Not mergeable. Needs approved, lgtm labels."), blocked,
			"tide waits for a person: “Not mergeable. Needs approved, lgtm labels.”."},
		{"Reviewable", says("code-review/reviewable", "pending", "0 of 1 reviewed"), blocked, "0 of 1 reviewed"},
		{"a licence that is not signed", says("license/cla", "pending", "Contributor License Agreement is not signed yet."),
			blocked, "not signed yet"},
		{"the same, red", says("EasyCLA", "failure", "Missing CLA Authorization."), blocked, "asks a person"},
		{"a preview that its service does not allow", says("Vercel", "failure", "Authorization required to deploy."), blocked,
			"Vercel failed, and asks a person: “Authorization required to deploy.”"},
		{"who is no member", says("ci/x", "error", "ada is not a member of the team"), blocked, ""},
		{"its app says so", telling(app("vercel", "Vercel", "completed", "failure"), "unknown",
			"Authorization required to deploy."), blocked, "Authorization required"},
		{"a test of another CI about it", telling(app("circleci-checks", "test", "completed", "failure"), "test_failure",
			"FAIL src/authorization.test.ts: ada is not a collaborator"), red, "test (circleci-checks) failed"},
		{"a test whose class is not known", telling(app("circleci-checks", "test", "completed", "failure"), "unknown",
			"authorization header is missing"), red, "test (circleci-checks) failed"},
		{"a preview that does not build", says("Vercel", "failure", "Deployment has failed"), red, "Vercel failed"},
		{"a draft's app", app("wip", "WIP", "in_progress", ""), blocked, "WIP waits for a person"},
		{"a reviewing model has time", says("CodeRabbit", "pending", "Review in progress"), pending, ""},
		{"a build has time", says("ci/x", "pending", "Review apps are built"), pending, ""},
		{"nothing has run the code yet", young(says("license/cla", "pending", "not signed")), pending,
			"Nothing has run the code yet"},
		{"a title", beside(run(2, "Semantic PR title", "failure"), "pull_request_target", noCheckout), blocked, ""},
		{"an approval", beside(run(2, "Check independent approval", "failure"), "pull_request_review", noCheckout), blocked,
			""},
		{"a job that tests approvals", beside(run(2, "Approval tests", "failure"), "pull_request", checkout), red, ""},
		{"a changelog is part of the change", beside(run(2, "changelog", "failure"), "pull_request", noCheckout), red, ""},
		{"it is red beside code that is", func() Input {
			in := says("license/cla", "failure", "not signed")
			in.Runs = []Run{job(1, 7, 1, "test", "failure")}
			return in
		}(), red, "test failed"},
		{"a rule requires it", says("license/cla", "failure", "not signed").requiring("license/cla", "test"), blocked,
			"a rule requires it, and GitHub will not merge this before"},
		{"a person goes on without it", waived(says("tide", "pending", ""), "tide"), ok, ""},
		{"though a rule requires it", waived(says("tide", "pending", "").requiring("tide", "test"), "tide"), ok, ""},
		{"though its service forbids", waived(says("Vercel", "failure", "Authorization required to deploy."), "Vercel"), ok,
			""},
		{"what fails for the change is not waived", waived(says("Vercel", "failure", "Deployment has failed"), "Vercel"), red,
			""},
	})
	got := Judge(says("tide", "pending", ""))
	if len(got.Blocked) != 1 || !got.Blocked[0].Waivable {
		t.Errorf("a person can't say to go on without it: %+v", got.Blocked)
	}
	in := says("Vercel", "failure", strings.Repeat("Authorization required. ", 50))
	if why := Judge(in).Blocked[0].Reason; len(why) > 400 {
		t.Errorf("a long status is quoted whole: %d bytes", len(why))
	}
}
