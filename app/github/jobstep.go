package github

import "context"

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
