package probe

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// workflows are facts about GitHub Actions.
func workflows() []Fact {
	const needs = "contents:write workflows:write actions:write checks:read"
	return []Fact{{
		ID:     "workflows/app-pushes",
		Text:   "A push of an app starts workflows. One with `GITHUB_TOKEN` starts none.",
		Source: "actions/concepts/security/github_token#when-github_token-triggers-workflow-runs",
		Needs:  needs,
		Probe: func(t *Try) {
			t.That(len(t.runs().byFile) >= 4, "a run of each workflow that the push starts", "%d", len(t.runs().byFile))
		},
	}, {
		ID: "workflows/skipped-job",
		Text: "A job that needs one that failed is skipped, which counts as success for a required check. SIA " +
			"does not count it so.",
		Source: "https://github.com/G-Research/ParquetSharp/issues/367",
		Needs:  needs,
		Probe: func(t *Try) {
			run := t.runs().byFile["needs"]
			t.Equal("the conclusion of its run", run.conclusion, "failure")
			jobs := t.Want(t.Get("/actions/runs/%s/jobs", run.id), http.StatusOK)
			got := map[string]string{}
			for i, name := range jobs.Each("jobs", "name") {
				got[name] = jobs.Str(path("jobs.%d.conclusion", i))
			}
			t.Equal("the job that fails, and the one that needs it", got["first"]+" "+got["after"], "failure skipped")
		},
	}, {
		ID:     "workflows/empty-matrix",
		Text:   "A workflow run has a conclusion of its own: an empty matrix makes no job, and fails the run.",
		Source: "https://github.com/canonical/operator-workflows/issues/918",
		Needs:  needs,
		Probe: func(t *Try) {
			run := t.runs().byFile["empty"]
			t.Equal("the conclusion of a run with an empty matrix", run.conclusion, "failure")
			jobs := t.Want(t.Get("/actions/runs/%s/jobs", run.id), http.StatusOK)
			t.Equal("its jobs", len(jobs.List("jobs")), 0)
		},
	}, {
		ID: "workflows/broken-file",
		Text: "A workflow file with a mistake makes a run that fails, `failure` or `startup_failure`, without " +
			"a job and without a check run.",
		Source: "https://github.com/MinBZK/regelrecht/pull/1284",
		Needs:  needs,
		Probe: func(t *Try) {
			run := t.runs().byFile["broken"]
			t.That(slices.Contains([]string{"failure", "startup_failure"}, run.conclusion), "failure or startup_failure", "%q",
				run.conclusion)
			a := t.Want(t.Get("/check-suites/%s/check-runs", run.suite), http.StatusOK)
			t.Equal("its check runs", a.Int("total_count"), 0)
		},
	}, {
		ID: "workflows/same-name",
		Text: "Jobs of one name in two workflows are two check runs of that name. GitHub warns that what " +
			"requires the name is ambiguous; the worst counts.",
		Source: "pull-requests/collaborating-with-pull-requests/" +
			"collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks",
		Needs: needs,
		Probe: func(t *Try) {
			a := t.Want(t.Get("/commits/%s/check-runs?check_name=same", t.runs().head), http.StatusOK)
			t.Equal("check runs of one name", len(a.List("check_runs")), 2)
		},
	}, {
		ID:     "workflows/job-is-check-run",
		Text:   "A job's id is its check run's, and the check run's details lead to `/actions/runs/RUN/job/JOB`.",
		Source: "rest/actions/workflow-jobs",
		Needs:  needs,
		Probe: func(t *Try) {
			run := t.runs().byFile["needs"]
			job := t.Want(t.Get("/actions/runs/%s/jobs", run.id), http.StatusOK).Str("jobs.0.id")
			a := t.Want(t.Get("/check-runs/%s", job), http.StatusOK)
			want := "/actions/runs/" + run.id + "/job/" + job
			t.That(strings.HasSuffix(a.Str("details_url"), want), want, "%s", a.Str("details_url"))
		},
	}, {
		ID:     "workflows/logs",
		Text:   "A job's log is a redirect to a storage, good for a minute. That host must be reachable, too.",
		Source: "rest/actions/workflow-jobs",
		Needs:  needs,
		Probe: func(t *Try) {
			job := t.failedJob()
			t.Until("the log of a job is a redirect", func() bool {
				a := t.Get("/actions/jobs/%s/logs", job)
				t.Want(a, http.StatusFound, http.StatusNotFound) // 404 until it is stored
				to, err := url.Parse(a.Header.Get("Location"))
				return a.Status == http.StatusFound && err == nil && to.IsAbs()
			})
		},
	}, {
		ID:     "workflows/skip-ci",
		Text:   "A commit with `[skip ci]` in its message starts no workflows, so nothing reports on it.",
		Source: "actions/how-tos/manage-workflow-runs/skip-workflow-runs",
		Needs:  needs,
		Probe: func(t *Try) {
			a := t.Want(t.Get("/actions/runs?head_sha=%s", t.runs().skipped), http.StatusOK)
			t.Equal("runs for a commit that says so", a.Int("total_count"), 0)
		},
	}, {
		ID: "workflows/not-rerequested",
		Text: "A check run is requested again by its own app alone, or by people: of another app, GitHub Actions among " +
			"them, `403`. SIA has jobs run again through their run, and asks a person for the checks of other apps.",
		Source: "rest/checks/runs",
		Needs:  needs + " checks:write",
		Probe: func(t *Try) {
			t.Want(t.Post(path("/check-runs/%s/rerequest", t.failedJob()), nil), http.StatusForbidden)
		},
	}, {
		ID:     "workflows/again",
		Text:   "What failed can be run again: it is the next attempt of the same run, with check runs of its own.",
		Source: "rest/actions/workflow-runs",
		Needs:  needs,
		Probe: func(t *Try) {
			run, job := t.runs().byFile["needs"], t.failedJob()
			t.Want(t.Post("/actions/runs/"+run.id+"/rerun-failed-jobs", nil), http.StatusCreated)
			t.Until("the second attempt of the run has ended", func() bool {
				a := t.Want(t.Get("/actions/runs/%s", run.id), http.StatusOK)
				return a.Int("run_attempt") == 2 && a.Str("status") == "completed"
			})
			t.That(t.failedJob() != job, "another check run", "the same")
		},
	}}
}

// workflowRun is a run of one of the bench's workflows.
type workflowRun struct{ id, suite, conclusion string }

// workflowRuns are the workflow runs of a push to a branch with workflows.
type workflowRuns struct {
	head, skipped string // commits: one with runs, and one that asks for none
	byFile        map[string]workflowRun
}

const workflowFolder = ".github/workflows/" + mark + "-"

// workflowFiles are workflows that run on the bench's branches only.
func workflowFiles() map[string]string {
	const on = "on: {push: {branches: ['" + mark + "/**']}}\n"
	const job = "runs-on: ubuntu-latest\n    timeout-minutes: 5\n"
	return map[string]string{
		workflowFolder + "needs.yml": on + "jobs:\n  first:\n    " + job + "    steps: [{run: exit 1}]\n" +
			"  after:\n    needs: first\n    " + job + "    steps: [{run: 'true'}]\n",
		workflowFolder + "empty.yml": on + "jobs:\n  none:\n    " + job +
			"    strategy: {matrix: {x: \"${{ fromJSON('[]') }}\"}}\n    steps: [{run: 'true'}]\n",
		workflowFolder + "broken.yml": on + "jobs:\n  broken:\n    needs: nobody\n    " + job +
			"    steps: [{run: 'true'}]\n",
		workflowFolder + "twin.yml":  on + "jobs:\n  same:\n    " + job + "    steps: [{run: 'true'}]\n",
		workflowFolder + "other.yml": on + "jobs:\n  same:\n    " + job + "    steps: [{run: 'true'}]\n",
	}
}

// runs pushes workflows to a branch of the bench and waits until their runs have ended.
func (t *Try) runs() workflowRuns {
	return share(t, "workflow runs", func(t *Try) workflowRuns {
		files := workflowFiles()
		w := workflowRuns{skipped: t.commit(commitSpec{parent: t.start(), files: files,
			message: t.name() + "\n\n[skip ci]"}).Str("sha")}
		t.branch(w.skipped)
		w.head = t.commit(commitSpec{parent: t.start(), files: files}).Str("sha")
		t.branch(w.head)
		waiting := 0 // workflows with unfinished runs
		ended := t.poll(func() bool {
			a := t.Want(t.Get("/actions/runs?head_sha=%s&per_page=100", w.head), http.StatusOK)
			w.byFile, waiting = map[string]workflowRun{}, 0
			for i := range a.List("workflow_runs") {
				at := path("workflow_runs.%d.", i)
				file := strings.TrimSuffix(strings.TrimPrefix(a.Str(at+"path"), workflowFolder), ".yml")
				if a.Str(at+"status") == "completed" {
					w.byFile[file] = workflowRun{a.Str(at + "id"), a.Str(at + "check_suite_id"), a.Str(at + "conclusion")}
				} else {
					waiting++
				}
			}
			return len(w.byFile) == len(files)
		})
		switch after := polls * pollEvery; {
		case ended:
		case waiting > 0: // as on a GitHub Enterprise Server, which has no GitHub-hosted runners
			t.Skip(fmt.Sprintf("needs a runner for ubuntu-latest that is free: after %s, %d workflows wait or are under way",
				after, waiting))
		default:
			t.Differ("runs of all workflows, where GitHub Actions is switched on",
				fmt.Sprintf("%d of %d after %s", len(w.byFile), len(files), after))
		}
		return w
	})
}

// failedJob returns the failed job of the latest attempt.
func (t *Try) failedJob() string {
	jobs := t.Want(t.Get("/actions/runs/%s/jobs?filter=latest", t.runs().byFile["needs"].id), http.StatusOK)
	for i, name := range jobs.Each("jobs", "name") {
		if name == "first" {
			return jobs.Str(path("jobs.%d.id", i))
		}
	}
	t.Differ("a job that failed", "none")
	return ""
}
