package ghsim_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

const workflow = `name: CI
on:
  push:
    branches-ignore: [main]
env:
  GREETING: hello
jobs:
  test:
    name: test
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: {go-version: "1.26"}
      - name: Prepare
        run: |
          echo "MODE=strict" >> "$GITHUB_ENV"
          echo "out=42" >> "$GITHUB_OUTPUT"
        id: prep
      - name: Test
        run: |
          echo "$GREETING $MODE ${{ steps.prep.outputs.out }} ${{ github.ref_name }}"
          sh ./test.sh
      - name: Never
        run: echo not reached
      - name: Always
        if: always()
        run: echo cleanup
  lint:
    runs-on: ubuntu-latest
    needs: test
    steps: [{run: "true"}]
`

func TestFailingWorkflow(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x", ".github/workflows/ci.yml": workflow,
		"test.sh": "echo '--- FAIL: TestBooking'\necho '::error file=src/a.go,line=7::booking broke'\nexit 3\n"})
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	_, err = s.OpenPull(repoName, "dana", "topic", "main", "T", "", true)
	must(t, err)
	es := s.settle()
	c := s.bot()
	l, _, err := c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", sha, nil)
	must(t, err)
	got := map[string]string{}
	var test *github.CheckRun
	for _, r := range l.CheckRuns {
		got[r.GetName()] = r.GetApp().GetSlug() + " " + r.GetStatus() + " " + r.GetConclusion()
		if r.GetName() == "test" {
			test = r
		}
	}
	if diff := cmp.Diff(map[string]string{"test": "github-actions completed failure",
		"lint": "github-actions completed skipped"}, got); diff != "" {
		t.Fatalf("check runs (-want +got):\n%s", diff)
	}
	if test.GetApp().GetID() != 15368 {
		t.Errorf("app id %d", test.GetApp().GetID())
	}
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop",
		&github.ListWorkflowRunsOptions{HeadSHA: sha})
	must(t, err)
	if runs.GetTotalCount() != 1 || runs.WorkflowRuns[0].GetConclusion() != "failure" {
		t.Fatalf("runs %v", runs)
	}
	jobs, _, err := c.Actions.ListWorkflowJobs(ctx, "acme", "shop", runs.WorkflowRuns[0].GetID(), nil)
	must(t, err)
	var steps []string
	for _, st := range jobs.Jobs[0].Steps {
		steps = append(steps, st.GetName()+": "+st.GetConclusion())
	}
	if diff := cmp.Diff([]string{"Set up job: success", "Run actions/checkout@v4: success",
		"Run actions/setup-go@v5: success", "Prepare: success", "Test: failure",
		"Never: skipped", "Always: success", "Complete job: success"}, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	log := s.log(c, jobs.Jobs[0].GetID())
	for _, want := range []string{"Z ##[group]Run echo \"$GREETING", "Z hello strict 42 topic\n",
		"Z --- FAIL: TestBooking\n", "Z ##[error]booking broke\n", "Z ##[error]Process completed with exit code 3.\n",
		"Z cleanup\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "not reached\n##") {
		t.Error("a step after the failure ran")
	}
	as, _, err := c.Checks.ListCheckRunAnnotations(ctx, "acme", "shop", test.GetID(), nil)
	must(t, err)
	if len(as) != 2 || as[0].GetPath() != "src/a.go" || as[0].GetStartLine() != 7 ||
		as[1].GetMessage() != "Process completed with exit code 3." {
		t.Errorf("annotations %v", as)
	}
	var seen []string
	for _, n := range names(es) {
		if strings.HasPrefix(n, "check_run") || strings.HasPrefix(n, "workflow_run") || n == "check_suite.completed" {
			seen = append(seen, n)
		}
	}
	if diff := cmp.Diff([]string{"workflow_run.requested", "check_run.created", "check_run.created",
		"workflow_run.in_progress", "check_run.completed", "check_run.completed", "check_suite.completed",
		"workflow_run.completed"}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// log downloads a job's log through its short-lived address.
func (s *sim) log(c *github.Client, job int64) string {
	s.t.Helper()
	u, _, err := c.Actions.GetWorkflowJobLogs(ctx, "acme", "shop", job, 0)
	must(s.t, err)
	resp, err := http.Get(u.String())
	must(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return string(b)
}

func TestRerun(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "marker")
	s := newSim(t, map[string]string{".github/workflows/ci.yml": `on: [push]
jobs:
  flaky:
    steps:
      - run: 'test -e ` + marker + ` || { touch ` + marker + `; exit 1; }'
  good:
    steps: [{run: "true"}]
`})
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	c := s.bot()
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop",
		&github.ListWorkflowRunsOptions{HeadSHA: sha})
	must(t, err)
	id := runs.WorkflowRuns[0].GetID()
	_, err = c.Actions.RerunFailedJobsByID(ctx, "acme", "shop", id)
	must(t, err)
	s.settle()
	run, _, err := c.Actions.GetWorkflowRunByID(ctx, "acme", "shop", id)
	must(t, err)
	if run.GetConclusion() != "success" || run.GetRunAttempt() != 2 {
		t.Errorf("run %s, attempt %d", run.GetConclusion(), run.GetRunAttempt())
	}
	jobs, _, err := c.Actions.ListWorkflowJobs(ctx, "acme", "shop", id, nil)
	must(t, err)
	if jobs.GetTotalCount() != 2 {
		t.Errorf("jobs of the last attempt: %d, want 2", jobs.GetTotalCount())
	}
	for filter, want := range map[string]int{"latest": 2, "all": 3} {
		l, _, err := c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", sha, &github.ListCheckRunsOptions{Filter: ptr(filter)})
		must(t, err)
		if l.GetTotal() != want {
			t.Errorf("filter %s: %d check runs, want %d", filter, l.GetTotal(), want)
		}
	}
	if _, err := c.Actions.RerunFailedJobsByID(ctx, "acme", "shop", id); err == nil {
		t.Error("ran failed jobs again where there were none")
	}
	_, _, err = c.Actions.GetWorkflowJobByID(ctx, "acme", "shop", jobs.Jobs[0].GetID())
	must(t, err)
	cks, err := s.CheckRuns(repoName, sha)
	must(t, err)
	must(t, s.RerequestCheckRun(repoName, cks[0].ID, "dana"))
	s.settle()
}

func TestRunnerRefusesWhatItDoesNotKnow(t *testing.T) {
	s := newSim(t, map[string]string{
		".github/workflows/a.yml": "on: push\n" +
			"jobs: {matrix: {strategy: {matrix: {os: [a, b]}}, steps: [{run: 'test ${{ matrix.os }} = a'}]}}\n",
		".github/workflows/b.yml": "on: push\njobs: {unknown: {steps: [{uses: someone/thing@v1}]}}\n",
		".github/workflows/c.yml": "on: push\njobs: {x: {needs: y, steps: [{run: x}]}}\n",
		".github/workflows/d.yml": "on: {push: {branches: ['release/**']}}\njobs: {x: {steps: [{run: x}]}}\n",
		".github/workflows/e.yml": "on: push\njobs: {tolerant: {steps: [{run: 'exit 1', continue-on-error: true}]}}\n",
	})
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	ks, err := s.CheckRuns(repoName, sha)
	must(t, err)
	got := map[string]string{}
	for _, k := range ks {
		got[k.Name] = k.Conclusion
		if k.Name == "unknown" && !strings.Contains(k.Log, "Unable to resolve action someone/thing@v1") {
			t.Errorf("log:\n%s", k.Log)
		}
	}
	if diff := cmp.Diff(map[string]string{"matrix (a)": "success", "matrix (b)": "failure", "unknown": "failure",
		"tolerant": "success"}, got); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

// No process of a workflow outlives Close. The step writes its process id to a pipe, and blocks on another.
func TestCloseKillsWorkflows(t *testing.T) {
	dir := t.TempDir()
	pipe, never := filepath.Join(dir, "pid"), filepath.Join(dir, "never")
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, syscall.Mkfifo(never, 0o600))
	s := newSim(t, map[string]string{".github/workflows/ci.yml": "on: push\njobs:\n  slow:\n    steps:\n      - run: |\n" +
		"          echo $$ > " + pipe + "\n          cat " + never + " &\n          cat " + never + "\n"})
	_, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	b, err := os.ReadFile(pipe)
	must(t, err)
	must(t, s.Close())
	pid := strings.TrimSpace(string(b))
	if b, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(b), ") Z ") {
		t.Errorf("the step still runs: %s", b)
	}
}

func TestJobTimeout(t *testing.T) {
	s := newSim(t, map[string]string{".github/workflows/ci.yml": "on: push\n" +
		"jobs: {slow: {steps: [{run: 'read x < <(:); cat /dev/zero > /dev/null'}]}}\n"},
		func(c *ghsim.Config) { c.JobTimeout = 300 * time.Millisecond })
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	ks, err := s.CheckRuns(repoName, sha)
	must(t, err)
	if len(ks) != 1 || ks[0].Conclusion != "failure" && ks[0].Conclusion != "cancelled" {
		t.Errorf("check runs %+v", ks)
	}
}
