package github

import "context"

// FailedStep returns the number of the first failed step of a job, by GitHub's count, or 0 if no step failed, or if
// the run is no job of GitHub Actions.
// https://docs.github.com/en/rest/actions/workflow-jobs#get-a-job-for-a-workflow-run
func (r *Repo) FailedStep(ctx context.Context, run CheckRun) (int, error) {
	if run.JobID == 0 {
		return 0, nil
	}
	job, _, err := r.gh.Actions.GetWorkflowJobByID(ctx, r.repo.Owner, r.repo.Name, run.JobID)
	if err != nil {
		return 0, r.app.failure(err, "read the steps of %s in %s", run.Name, r.repo)
	}
	for _, s := range job.Steps {
		if c := s.GetConclusion(); c == "failure" || c == "timed_out" {
			return int(s.GetNumber()), nil
		}
	}
	return 0, nil
}
