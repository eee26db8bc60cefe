//test:plain
//test:thorough
package probe_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/probe"
	"github.com/sia-bot/sia/sim/ghsim/conformance"
)

// planted is a fault of a GitHub, and the fact that detects it. also are facts that depend on that fact.
type planted struct {
	fact string
	on   string // regular expression that matches requests: method, path and body
	do   func(*answered)
	also []string
}

const (
	anyLook      = `^POST api/graphql .*checkSuites`
	workflowRuns = `^GET /actions/runs\?head_sha=\w+&`
)

func faults() []planted {
	const pull, issue, run = `^GET /pulls/\d+ $`, `^GET /issues/\d+ $`, `^GET /check-runs/\d+ $`
	const node = "data.repository.pullRequest."
	return []planted{
		{fact: "answers/no-access", on: `^GET repos/acme/sia-probe-`, do: status(404, 403)},
		{fact: "answers/no-content", on: `^DELETE /git/refs/heads/`, do: func(a *answered) { a.body = []byte("{}") }},
		{fact: "answers/dates", on: issue, do: replaced(`"created_at":"(\S+)T(\S+)Z"`, `"created_at":"$1 $2"`)},
		{fact: "answers/creator", on: `^GET /issues\?creator`, do: func(a *answered) { a.body = []byte("[]") }},
		{fact: "answers/pages", on: `^GET /issues/\d+/comments\?`, do: without("Link")},
		{fact: "answers/version", on: ``, do: without("X-GitHub-Api-Version-Selected")},
		{fact: "deliveries/pages", on: `^GET app/hook/deliveries`, do: without("Link")},
		{fact: "deliveries/answered", on: `^GET app/hook/deliveries\?status=success`, do: set("0.status_code", 502)},
		{fact: "deliveries/rerequested", on: `^POST /check-suites/\d+/rerequest`, do: status(0, 403)},
		{fact: "tokens/hour", on: `access_tokens`, do: set("expires_at", "2126-01-01T00:00:00Z")},
		{fact: "tokens/narrowed", on: `^POST /issues `, do: status(403, 201)},
		{fact: "tokens/not-granted", on: `access_tokens .*"secrets"`, do: status(422, 201)},
		{fact: "tokens/git", on: `info/refs`, do: status(200, 404)},
		{fact: "pushes/workflow-files", on: `^POST /git/trees`, do: status(403, 201)},
		{fact: "pushes/noreply", on: `^GET /commits/\w+ $`, do: set("author", nil)},
		{fact: "pushes/signed", on: `^POST /git/commits`, do: set("verification.verified", false)},
		{fact: "pushes/outside-heads", on: `^GET /git/ref/sia-probe`, do: status(200, 404)},
		{fact: "pushes/fast-forward", on: `^PATCH /git/refs/heads`, do: status(422, 200)},
		{fact: "pushes/taken-name", on: `^POST /git/refs `, do: status(422, 201)},
		{fact: "pulls/mergeable", on: pull, do: set("mergeable", nil)},
		{fact: "pulls/head", on: pull, do: set("head.sha", strings.Repeat("0", 40)),
			also: []string{"graphql/one-request", "pulls/retarget"}},
		{fact: "pulls/branch-deleted", on: pull, do: set("state", "open")},
		{fact: "pulls/retarget", on: `^PATCH /pulls/\d+ .*"base"`, do: status(0, 422)},
		{fact: "pulls/one", on: `^POST /pulls `, do: replaced("already exists", "is there")},
		{fact: "pulls/drafts", on: pull, do: set("draft", true)},
		{fact: "pulls/ready-permissions", on: `markPullRequestReadyForReview`, do: dropped("errors")},
		{fact: "pulls/closing-words", on: `closedByPullRequestsReferences`,
			do: set("data.repository.issue.closedByPullRequestsReferences.nodes", []any{})},
		{fact: "pulls/merge-of-another-head", on: `^PUT /pulls/\d+/merge`, do: status(409, 405)},
		{fact: "pulls/test-merge", on: anyLook, do: set(node+"potentialMergeCommit.status", nil)},
		{fact: "pulls/bots-commits", on: anyLook,
			do: set(node+"commits.nodes.0.commit.author.user", map[string]any{"login": "x"})},
		{fact: "reviews/comment-on-a-line", on: `^GET /pulls/\d+/reviews`, do: replaced("COMMENTED", "PENDING")},
		{fact: "reviews/outdated", on: `^GET /pulls/comments/`, do: set("line", 1)},
		{fact: "reviews/line-outside", on: `^POST /pulls/\d+/reviews .*4000`, do: status(422, 200)},
		{fact: "reviews/own", on: `^POST /pulls/\d+/reviews .*APPROVE`, do: status(422, 200)},
		{fact: "checks/new-run", on: `^POST /check-runs .*"success".*-twice`, do: set("check_suite.id", 1)},
		{fact: "checks/latest", on: `^GET /commits/\w+/check-runs\?.*filter=all`, do: set("check_runs", []any{}),
			also: []string{"graphql/one-request"}},
		{fact: "checks/conclusion", on: `^PATCH /check-runs/\d+ .*neutral`, do: set("conclusion", "failure")},
		{fact: "checks/annotations", on: run, do: set("output.annotations_count", 1)},
		{fact: "checks/output", on: `^POST /check-runs `, do: status(422, 201)},
		{fact: "checks/rerequested", on: `^POST /check-runs/\d+/rerequest`, do: status(0, 403)},
		{fact: "checks/statuses", on: `^GET /commits/\w+/status `, do: set("statuses.0.state", "failure")},
		{fact: "workflows/app-pushes", on: workflowRuns, do: set("workflow_runs", []any{}), also: allOf("workflows/")},
		{fact: "workflows/skipped-job", on: `^GET /actions/runs/\d+/jobs `, do: replaced("skipped", "success")},
		{fact: "workflows/empty-matrix", on: workflowRuns, do: ended("empty", "success")},
		{fact: "workflows/broken-file", on: workflowRuns, do: ended("broken", "success")},
		{fact: "workflows/same-name", on: `check_name=same`, do: set("check_runs", []any{})},
		{fact: "workflows/job-is-check-run", on: run, do: set("details_url", "https://ci.example.com/1")},
		{fact: "workflows/logs", on: `^GET /actions/jobs/\d+/logs`, do: status(302, 404)},
		{fact: "workflows/skip-ci", on: `^GET /actions/runs\?head_sha=\w+ `, do: set("total_count", 1)},
		{fact: "workflows/not-rerequested", on: `^POST /check-runs/\d+/rerequest`, do: status(403, 201)},
		{fact: "workflows/again", on: `^POST /actions/runs/\d+/rerun-failed-jobs`, do: status(0, 403)},
		{fact: "rules/told-to-everybody", on: `^GET /branches/main/protection`, do: status(403, 200)},
		{fact: "rules/required-check", on: `^GET /rules/branches/`, do: set("0.ruleset_id", 0)},
		{fact: "rules/never-reports", on: anyLook, do: replaced(`"BLOCKED"`, `"CLEAN"`),
			also: []string{"rules/skipped-counts"}},
		{fact: "rules/skipped-counts", on: anyLook, do: replaced(`"(CLEAN|UNSTABLE)"`, `"BLOCKED"`),
			also: []string{"rules/unstable"}},
		{fact: "rules/unstable", on: anyLook, do: replaced(`"UNSTABLE"`, `"CLEAN"`)},
		{fact: "rules/behind", on: anyLook, do: replaced(`"BEHIND"`, `"CLEAN"`)},
		{fact: "rules/draft", on: anyLook, do: replaced(`"DRAFT"`, `"UNKNOWN"`)},
		{fact: "rules/pages", on: `^GET /rules/branches/`, do: without("Link")},
		{fact: "issues/markers", on: `^GET /issues/comments/`, do: set("body", "**Text**")},
		{fact: "issues/length", on: `^POST /issues/\d+/comments`, do: status(422, 201)},
		{fact: "issues/reactions", on: `^POST /issues/\d+/reactions`, do: status(200, 201)},
		{fact: "issues/labels", on: `^POST /labels`, do: set("errors.0.code", "invalid")},
		{fact: "issues/pulls-are-issues", on: issue, do: dropped("pull_request")},
		{fact: "issues/closed", on: `^PATCH /issues/\d+ `, do: set("state_reason", "completed")},
		{fact: "issues/blocked-by", on: issue, do: dropped("issue_dependencies_summary")},
		{fact: "issues/sub-issues", on: issue, do: dropped("sub_issues_summary")},
		{fact: "pushes/fetched-by-id", on: `^POST .*git-upload-pack`, do: replaced("packfile", "ERR nothing")},
		{fact: "tokens/old-form", on: `access_tokens`, do: replaced(`"token":"ghs_`, `"token":"ghs_1.2.`)},
		{fact: "rules/no-such-branch", on: `^GET /rules/branches/.*/none-`, do: status(0, 404)},
		{fact: "rules/commits", on: `^POST api/graphql .*refUpdateRule`, do: set("data.repository.ref", nil)},
		{fact: "graphql/one-request", on: anyLook, do: set("data.repository.object.checkSuites.nodes", []any{}),
			also: []string{"graphql/capitals"}},
		{fact: "graphql/errors-beside-data", on: anyLook, do: dropped("errors")},
		{fact: "graphql/pages", on: `^POST api/graphql .*on CheckSuite`, do: set("data.node.checkRuns.nodes", []any{})},
		{fact: "graphql/capitals", on: anyLook, do: replaced(`"COMPLETED"`, `"completed"`),
			also: []string{"graphql/one-request"}},
		{fact: "addresses/derived", on: `^GET  $`, do: set("html_url", "https://elsewhere.example.com/")},
		{fact: "limits/told", on: ``, do: without("X-RateLimit-Reset")},
		{fact: "limits/unchanged-is-free", on: ``, do: status(304, 200)},
	}
}

// allOf returns the ids of a section's facts that have a probe.
func allOf(prefix string) (ids []string) {
	for _, f := range probe.Facts() {
		if f.Probe != nil && strings.HasPrefix(f.ID, prefix) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// All facts hold on the simulator, served on a port like a GitHub Enterprise Server, or report why they were not tried;
// so they do without a runner for jobs. If GitHub differs in a fact, that fact and the ones that depend on it report
// it, and no others: the simulator's responses are recorded once, and replayed with a fault.
func TestFacts(t *testing.T) {
	s := open(t, conformance.New(t).Middleware)
	recording := &tape{answers: map[string][]answered{}}
	raw := s.sign(t)
	whole := probe.Run(t.Context(), recording.through(raw, true), s.options())
	for _, r := range whole.Results {
		switch {
		case r.Verdict == probe.Differs:
			t.Errorf("%s: expected %s; answered %s", r.ID, r.Expected, r.Answered)
		case r.Verdict == probe.NotTried && (r.Why == "" || r.Broken):
			t.Errorf("%s was not tried: %q", r.ID, r.Why)
		}
	}
	if len(whole.Left) > 0 || t.Failed() {
		t.Fatalf("left behind: %v", whole.Left)
	}
	t.Logf("%d hold, %d not tried", whole.Count(probe.Holds), whole.Count(probe.NotTried))
	play := func(f *fault, raw github.Raw) probe.Report {
		o := s.options()
		o.Sleep = func(context.Context, time.Duration) error { return nil }
		playing := &tape{answers: recording.answers, played: map[string]int{}, fault: f}
		return probe.Run(t.Context(), playing.through(raw, false), o)
	}
	if again := play(nil, raw); !again.OK() {
		t.Fatalf("what was recorded does not play: %v", differing(again))
	}
	named := map[string]bool{"tokens/form": true}
	other := raw
	other.Token = "v2." + strings.Repeat("a", 40)
	if d := cmp.Diff([]string{"tokens/form"}, differing(play(nil, other))); d != "" {
		t.Errorf("another form of token: %s", d)
	}
	queued := replaced(`"status":\s*"completed"`, `"status":"queued"`)
	waiting := play(&fault{regexp.MustCompile(workflowRuns), queued}, raw)
	for _, r := range waiting.Results {
		if slices.Contains(allOf("workflows/"), r.ID) && (r.Broken || !strings.Contains(r.Why, "needs a runner")) {
			t.Errorf("%s, where no runner takes a job: %s %s", r.ID, r.Verdict, r.Why)
		}
	}
	for _, p := range faults() {
		want := append([]string{p.fact}, p.also...)
		slices.Sort(want)
		report := play(&fault{regexp.MustCompile(p.on), p.do}, raw)
		if d := cmp.Diff(slices.Compact(want), differing(report)); d != "" {
			t.Errorf("a fault in %s (-named, +not): %s", p.fact, d)
		}
		named[p.fact] = true
	}
	for _, r := range whole.Results {
		if r.Verdict == probe.Holds && !named[r.ID] {
			t.Errorf("no fault was planted in %s", r.ID)
		}
	}
	t.Logf("%d faults", len(slices.Collect(maps.Keys(named))))
}

// differing returns the facts in which GitHub differs, or that could not be tried because of a failure.
func differing(r probe.Report) (ids []string) {
	for _, x := range r.Results {
		if x.Verdict == probe.Differs || x.Broken {
			ids = append(ids, x.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
