package ghsim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

const workflowFile = ".github/workflows/ci.yml"

// pushed pushes a workflow to a new branch and returns the commit, after all ran.
func (s *sim) pushed(workflow string) string {
	s.t.Helper()
	sha, err := s.PushFiles(repoName, "topic", "dana", "Change", map[string]string{workflowFile: workflow})
	must(s.t, err)
	s.settle()
	return sha
}

// checks are the names of a commit's check runs, each with its conclusion or its status.
func (s *sim) checks(sha string) []string {
	s.t.Helper()
	all, err := s.CheckRuns(repoName, sha)
	must(s.t, err)
	var out []string
	for _, c := range all {
		how := c.Conclusion
		if how == "" {
			how = c.Status
		}
		out = append(out, c.App+" "+c.Name+" "+how)
	}
	return out
}

// conclusions are those of a commit's workflow runs, each after its event; REST and GraphQL suites must agree.
func (s *sim) conclusions(sha string) []string {
	s.t.Helper()
	c := s.bot()
	rest := map[int64]string{}
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(s.t, err)
	var out []string
	for _, r := range runs.WorkflowRuns {
		if r.GetHeadSHA() == sha {
			rest[r.GetID()] = r.GetConclusion()
			out = append(out, r.GetEvent()+" "+r.GetConclusion())
			st, _, err := c.Checks.GetCheckSuite(ctx, "acme", "shop", r.GetCheckSuiteID())
			must(s.t, err)
			if st.GetStatus() != r.GetStatus() || st.GetConclusion() != r.GetConclusion() {
				s.t.Errorf("run %s %s, its suite %s %s", r.GetStatus(), r.GetConclusion(), st.GetStatus(), st.GetConclusion())
			}
		}
	}
	look := s.look(s.token(nil), map[string]any{"commit": sha})
	suites, _ := at(look, "data", "repository", "object", "checkSuites", "nodes").([]any)
	for _, st := range suites {
		if id, _ := at(st, "workflowRun", "databaseId").(float64); id != 0 {
			if want := enumOf(rest[int64(id)]); at(st, "conclusion") != want {
				s.t.Errorf("the look says %v of run %v, REST %v", at(st, "conclusion"), id, want)
			}
		}
	}
	return out
}

func enumOf(s string) any {
	if s == "" {
		return nil
	}
	return strings.ToUpper(s)
}

// GitHub runs code scanning's default setup for the event dynamic, has no file of it, and runs it never again.
func TestDefaultSetup(t *testing.T) {
	s := newSim(t, nil)
	must(t, s.SetActions(repoName, ghsim.Actions{Default: "name: CodeQL\non: dynamic\n" +
		"jobs: {analyze: {name: Analyze (go), steps: [{run: exit 1}]}}\n"}))
	n := s.opened()
	s.settle()
	p, err := s.Pull(repoName, n)
	must(t, err)
	runs, _, err := s.bot().Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	var run *github.WorkflowRun
	for _, r := range runs.WorkflowRuns {
		if r.GetHeadSHA() == p.Head && r.GetEvent() == "dynamic" {
			run = r
		}
	}
	if run.GetConclusion() != "failure" || run.GetPath() != "dynamic/github-code-scanning/codeql" {
		t.Fatalf("got %v", run)
	}
	if _, err = s.bot().Actions.RerunFailedJobsByID(ctx, "acme", "shop", run.GetID()); err == nil ||
		!strings.Contains(err.Error(), "403 This workflow run cannot be retried") {
		t.Errorf("to run it again: %v", err)
	}
	look := s.look(s.token(nil), map[string]any{"commit": p.Head})
	suites, _ := at(look, "data", "repository", "object", "checkSuites", "nodes").([]any)
	without := 0
	for _, st := range suites {
		if of := at(st, "workflowRun"); of != nil && at(of, "file") == nil {
			without++
		}
	}
	if without != 1 {
		t.Errorf("GraphQL has %d runs without a file", without)
	}
}

// A job that makes no job fails its run, and only the run shows it.
func TestEmptyMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		jobs       string
		checks     []string
		conclusion string
	}{
		"of another job's output": {`
  list: {outputs: {names: '[]'}, steps: [{run: 'true'}]}
  test: {needs: list, strategy: {matrix: {x: '${{ fromJSON(needs.list.outputs.names) }}'}}, steps: [{run: 'true'}]}
`, []string{"github-actions list success"}, "push failure"},
		"of a list with something in it": {`
  list: {outputs: {names: '["a","b"]'}, steps: [{run: 'true'}]}
  test: {needs: list, strategy: {matrix: {x: '${{ fromJSON(needs.list.outputs.names) }}'}}, steps: [{run: 'true'}]}
`, []string{"github-actions list success", "github-actions test (a) success", "github-actions test (b) success"},
			"push success"},
		"written out": {`
  lint: {steps: [{run: 'true'}]}
  test: {strategy: {matrix: {x: []}}, steps: [{run: 'true'}]}
`, []string{"github-actions lint success"}, "push failure"},
		"without a vector": {`
  lint: {steps: [{run: 'true'}]}
  test: {strategy: {matrix: {include: []}}, steps: [{run: 'true'}]}
`, []string{"github-actions lint success"}, "push failure"},
		"alone": {`
  test: {strategy: {matrix: {x: '${{ fromJSON(''[]'') }}'}}, steps: [{run: 'true'}]}
`, nil, "push failure"},
		"not wanted": {`
  list: {outputs: {names: '[]'}, steps: [{run: 'true'}]}
  test: {needs: list, if: "needs.list.outputs.names != '[]'", steps: [{run: 'true'}],
         strategy: {matrix: {x: '${{ fromJSON(needs.list.outputs.names) }}'}}}
`, []string{"github-actions list success", "github-actions test skipped"}, "push success"},
		"and what needs it": {`
  test: {strategy: {matrix: {x: []}}, steps: [{run: 'true'}]}
  ok: {needs: test, steps: [{run: 'true'}]}
  all: {needs: test, if: always(), steps: [{run: "test ${{ needs.test.result }} = success"}]}
`, []string{"github-actions ok skipped", "github-actions all failure"}, "push failure"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, nil)
			sha := s.pushed("on: push\njobs:" + c.jobs)
			if diff := cmp.Diff(c.checks, s.checks(sha)); diff != "" {
				t.Errorf("check runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{c.conclusion}, s.conclusions(sha)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

// A rerun of a run with an empty matrix evaluates the matrix again.
func TestRerunOfAnEmptyMatrix(t *testing.T) {
	s := newSim(t, nil)
	sha := s.pushed("on: push\njobs:\n  lint: {steps: [{run: 'true'}]}\n" +
		"  test: {strategy: {matrix: {x: []}}, steps: [{run: 'true'}]}\n")
	c := s.bot()
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	_, err = c.Actions.RerunFailedJobsByID(ctx, "acme", "shop", runs.WorkflowRuns[0].GetID())
	must(t, err)
	s.settle()
	if diff := cmp.Diff([]string{"push failure"}, s.conclusions(sha)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"github-actions lint success"}, s.checks(sha)); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

// Neither an invalid file nor a start-up failure makes a check run.
func TestRunsWithoutJobs(t *testing.T) {
	s := newSim(t, nil)
	sha := s.pushed("on: push\njobs: {test: {needs: nothing, steps: [{run: 'true'}]}}\n")
	if diff := cmp.Diff([]string{"push failure"}, s.conclusions(sha)); diff != "" {
		t.Errorf("an invalid file (-want +got):\n%s", diff)
	}
	if got := s.checks(sha); len(got) != 0 {
		t.Errorf("an invalid file has check runs %v", got)
	}
	must(t, s.SetActions(repoName, ghsim.Actions{Startup: true}))
	sha = s.pushed("on: push\njobs: {test: {steps: [{run: 'true'}]}}\n")
	if diff := cmp.Diff([]string{"push startup_failure"}, s.conclusions(sha)); diff != "" {
		t.Errorf("a start-up failure (-want +got):\n%s", diff)
	}
	if got := s.checks(sha); len(got) != 0 {
		t.Errorf("a start-up failure has check runs %v", got)
	}
}

// A job that needs others has no check run before those have ended.
func TestLateJobs(t *testing.T) {
	s := newSim(t, nil)
	must(t, s.SetActions(repoName, ghsim.Actions{Late: true, NoRunner: true}))
	sha := s.pushed("on: push\njobs:\n  test: {steps: [{run: 'true'}]}\n  ok: {needs: test, steps: [{run: 'true'}]}\n")
	if diff := cmp.Diff([]string{"github-actions test queued"}, s.checks(sha)); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	must(t, s.SetActions(repoName, ghsim.Actions{Late: true}))
	s.settle()
	want := []string{"github-actions test success", "github-actions ok success"}
	if diff := cmp.Diff(want, s.checks(sha)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"push success"}, s.conclusions(sha)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// A run cancelled before its jobs were made has no check runs of them.
func TestCancelledBeforeItsJobs(t *testing.T) {
	s := newSim(t, nil)
	must(t, s.SetActions(repoName, ghsim.Actions{Late: true, NoRunner: true}))
	sha := s.pushed("on: push\nconcurrency: {group: ci, cancel-in-progress: true}\njobs:\n" +
		"  test: {steps: [{run: 'true'}]}\n  ok: {needs: test, steps: [{run: 'true'}]}\n")
	_, err := s.PushFiles(repoName, "topic", "dana", "Again", map[string]string{"again.txt": "x"})
	must(t, err)
	s.settle()
	if diff := cmp.Diff([]string{"github-actions test cancelled"}, s.checks(sha)); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"push cancelled"}, s.conclusions(sha)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	must(t, s.SetActions(repoName, ghsim.Actions{}))
	s.settle()
	runs, _, err := s.bot().Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	_, err = s.bot().Actions.RerunWorkflowByID(ctx, "acme", "shop", runs.WorkflowRuns[1].GetID())
	must(t, err)
	s.settle()
	want := []string{"github-actions test cancelled", "github-actions test success", "github-actions ok success"}
	if diff := cmp.Diff(want, s.checks(sha)); diff != "" {
		t.Errorf("check runs after the re-run (-want +got):\n%s", diff)
	}
}
