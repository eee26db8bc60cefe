package ghsim_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

// pulled is a repository with one workflow and an open pull request.
func pulled(t *testing.T, draft bool, workflow string) (s *sim, sha string, number int) {
	t.Helper()
	s = newSim(t, map[string]string{"README.md": "x", ".github/workflows/ci.yml": workflow})
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"src/x.txt": "x"})
	must(t, err)
	s.settle()
	number, err = s.OpenPull(repoName, "dana", "topic", "main", "T", "", draft)
	must(t, err)
	s.settle()
	return s, sha, number
}

// ran lists a commit's workflow runs and their jobs as GitHub shows them.
func (s *sim) ran(sha string) []string {
	s.t.Helper()
	c := s.bot()
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop",
		&github.ListWorkflowRunsOptions{HeadSHA: sha})
	must(s.t, err)
	var out []string
	for _, r := range slices.Backward(runs.WorkflowRuns) {
		jobs, _, err := c.Actions.ListWorkflowJobs(ctx, "acme", "shop", r.GetID(),
			&github.ListWorkflowJobsOptions{Filter: "all"})
		must(s.t, err)
		line := fmt.Sprintf("%s %s %s:", r.GetEvent(), r.GetStatus(), r.GetConclusion())
		for _, j := range jobs.Jobs {
			line += fmt.Sprintf(" %s %s", j.GetName(), first(j.GetConclusion(), j.GetStatus()))
		}
		out = append(out, line)
	}
	return out
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestRunsForEachEvent(t *testing.T) {
	s, sha, _ := pulled(t, false, "on: [push, pull_request]\njobs:\n  test:\n    steps:\n"+
		"      - uses: actions/checkout@v4\n"+
		"      - run: echo $GITHUB_REF; git log --format=%s -1\n")
	want := []string{"push completed success: test success", "pull_request completed success: test success"}
	if d := cmp.Diff(want, s.ran(sha)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	checks, err := s.CheckRuns(repoName, sha)
	must(t, err)
	if len(checks) != 2 || !strings.Contains(checks[0].Log, "Z refs/heads/topic\n") ||
		!strings.Contains(checks[1].Log, "Z refs/pull/1/merge\n") || !strings.Contains(checks[1].Log, "Z Merge "+sha) {
		t.Errorf("both report on the head, and one is of its merge:\n%+v", checks)
	}
}

func TestDraftGuard(t *testing.T) {
	s, sha, number := pulled(t, true, "on:\n  pull_request: {types: [opened, synchronize, ready_for_review]}\njobs:\n"+
		"  test:\n    if: github.event.pull_request.draft == false\n    steps: [{run: \"true\"}]\n")
	if d := cmp.Diff([]string{"pull_request completed skipped: test skipped"}, s.ran(sha)); d != "" {
		t.Errorf("on a draft: -want +got\n%s", d)
	}
	must(t, s.setDraft(number, false))
	s.settle()
	want := []string{"pull_request completed skipped: test skipped", "pull_request completed success: test success"}
	if d := cmp.Diff(want, s.ran(sha)); d != "" {
		t.Errorf("ready: -want +got\n%s", d)
	}
}

func (s *sim) setDraft(number int, draft bool) error {
	c := s.bot()
	p, _, err := c.PullRequests.Get(ctx, "acme", "shop", number)
	if err != nil {
		return err
	}
	name := "markPullRequestReadyForReview"
	if draft {
		name = "convertPullRequestToDraft"
	}
	req, err := c.NewRequest("POST", "graphql", map[string]any{"variables": map[string]string{"id": p.GetNodeID()},
		"query": "mutation($id: ID!) { " + name + "(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"})
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, req, nil)
	return err
}

func TestPathFilter(t *testing.T) {
	s, sha, _ := pulled(t, false, "on:\n  push: {paths: ['docs/**']}\n  pull_request: {paths-ignore: ['src/**']}\njobs:\n"+
		"  test: {steps: [{run: \"true\"}]}\n")
	if got := s.ran(sha); len(got) != 0 {
		t.Errorf("ran %v", got)
	}
}

func TestApproval(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: \"true\"}]}}\n"})
	must(t, s.SetActions(repoName, ghsim.Actions{Approval: true}))
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	if d := cmp.Diff([]string{"push completed action_required:"}, s.ran(sha)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	must(t, s.ApproveWorkflows(repoName, "dana"))
	s.settle()
	if d := cmp.Diff([]string{"push completed success: test success"}, s.ran(sha)); d != "" {
		t.Errorf("approved: -want +got\n%s", d)
	}
}

// A job that is never started has no step, no log, and an annotation.
func TestRefusal(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: \"true\"}]}}\n"})
	must(t, s.SetActions(repoName, ghsim.Actions{Refusal: "The job was not started because of billing."}))
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	c := s.bot()
	l, _, err := c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", sha, nil)
	must(t, err)
	run := l.CheckRuns[0]
	as, _, err := c.Checks.ListCheckRunAnnotations(ctx, "acme", "shop", run.GetID(), nil)
	must(t, err)
	if run.GetConclusion() != "failure" || len(as) != 1 || !strings.Contains(as[0].GetMessage(), "billing") {
		t.Errorf("%s with %v", run.GetConclusion(), as)
	}
	job, _, err := c.Actions.GetWorkflowJobByID(ctx, "acme", "shop", run.GetID())
	must(t, err)
	_, resp, err := c.Actions.GetWorkflowJobLogs(ctx, "acme", "shop", run.GetID(), 0)
	if len(job.Steps) != 0 || err == nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("%d steps, log %v", len(job.Steps), err)
	}
}

func TestNoRunner(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: \"true\"}]}}\n"})
	must(t, s.SetActions(repoName, ghsim.Actions{NoRunner: true}))
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	if d := cmp.Diff([]string{"push queued : test queued"}, s.ran(sha)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	must(t, s.SetActions(repoName, ghsim.Actions{}))
	s.settle()
	if d := cmp.Diff([]string{"push completed success: test success"}, s.ran(sha)); d != "" {
		t.Errorf("with a runner: -want +got\n%s", d)
	}
}

// One run of a group cancels the other; a rerun of that cancels the first.
func TestCancelInProgress(t *testing.T) {
	s, _, _ := pulled(t, false, "on: [push, pull_request]\nconcurrency:\n"+
		"  group: ci-${{ github.head_ref || github.ref_name }}\n"+
		"  cancel-in-progress: true\njobs:\n  test: {steps: [{run: \"true\"}]}\n")
	sha, err := s.PushFiles(repoName, "topic", "dana", "y", map[string]string{"y.txt": "y"})
	must(t, err)
	s.settle()
	want := []string{"push completed cancelled: test cancelled", "pull_request completed success: test success"}
	if d := cmp.Diff(want, s.ran(sha)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
