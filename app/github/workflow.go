package github

import (
	"context"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/gate"
)

// Actions reads the workflow runs of GitHub Actions in a repository, with their jobs, logs and artifacts, and runs jobs
// again.
type Actions struct{ *conn }

// Workflows reads the workflow runs of a commit. known is false if the app lacks the permission. If a rule requires the
// workflow from another repository, only its address shows that, and not which repository it is.
// https://docs.github.com/en/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
// https://github.com/cli/cli/issues/9228
func (s *Actions) Workflows(ctx context.Context, sha string) (all []gate.Workflow, known bool, err error) {
	for w, err := range eachPage(func(o gh.ListOptions) ([]*gh.WorkflowRun, *gh.Response, error) {
		got, resp, err := s.gh.Actions.ListRepositoryWorkflowRuns(ctx, s.repo.Owner, s.repo.Name,
			&gh.ListWorkflowRunsOptions{HeadSHA: sha, ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return got.WorkflowRuns, resp, nil
	}) {
		if hiddenFromApp(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, s.app.failure(err, "read the workflow runs of %s in %s", shortSHA(sha), s.repo)
		}
		if w.GetHeadSHA() != sha {
			continue // not every server applies the filter
		}
		path, _, _ := strings.Cut(w.GetPath(), "@") // a ref may follow
		repository := ""
		if strings.Contains(w.GetWorkflowURL(), "/actions/required_workflows/") {
			repository = gate.AnotherRepository
		}
		all = append(all, gate.Workflow{
			ID: w.GetID(), SuiteID: w.GetCheckSuiteID(), Path: path, Repository: repository, Name: w.GetName(),
			Event:   w.GetEvent(),
			Attempt: w.GetRunAttempt(), Status: w.GetStatus(), Conclusion: w.GetConclusion(), URL: w.GetHTMLURL(),
			StartedAt: w.GetCreatedAt().Time, UpdatedAt: w.GetUpdatedAt().Time,
		})
	}
	return all, true, nil
}

// Attempts returns the attempt of a workflow run in which each of its jobs ran, by the id of the job, which is also
// that of its check run. It returns nil if the app lacks the permission.
// https://docs.github.com/en/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
func (s *Actions) Attempts(ctx context.Context, workflowRun int64) (map[int64]int, error) {
	out := map[int64]int{}
	for j, err := range eachPage(func(o gh.ListOptions) ([]*gh.WorkflowJob, *gh.Response, error) {
		got, resp, err := s.gh.Actions.ListWorkflowJobs(ctx, s.repo.Owner, s.repo.Name, workflowRun,
			&gh.ListWorkflowJobsOptions{Filter: "all", ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return got.Jobs, resp, nil
	}) {
		if hiddenFromApp(err) {
			return nil, nil
		}
		if err != nil {
			return nil, s.app.failure(err, "read the jobs of workflow run %d in %s", workflowRun, s.repo)
		}
		out[j.GetID()] = int(j.GetRunAttempt())
	}
	return out, nil
}

// FailedStep returns the number of the first failed step of a job, by GitHub's count, or 0 if no step failed, or if
// the run is no job of GitHub Actions.
// https://docs.github.com/en/rest/actions/workflow-jobs#get-a-job-for-a-workflow-run
func (s *Actions) FailedStep(ctx context.Context, run CheckRun) (int, error) {
	if run.JobID == 0 {
		return 0, nil
	}
	job, _, err := s.gh.Actions.GetWorkflowJobByID(ctx, s.repo.Owner, s.repo.Name, run.JobID)
	if err != nil {
		return 0, s.app.failure(err, "read the steps of %s in %s", run.Name, s.repo)
	}
	for _, step := range job.Steps {
		if c := step.GetConclusion(); c == "failure" || c == "timed_out" {
			return int(step.GetNumber()), nil
		}
	}
	return 0, nil
}
