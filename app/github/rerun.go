package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// rerunRetryAfter is the wait before trying again to re-run a workflow that is still running.
const rerunRetryAfter = 30 * time.Second

// Rerun tells which workflow runs are run again.
type Rerun struct {
	Accepted int     // number of workflow runs
	Refused  []int64 // ids of those that GitHub forbids to run again
	Why      error   // why, of the first of them
}

// RerunChecks re-runs jobs of GitHub Actions: all failed jobs of a workflow run at once. It continues after a failure
// and reports all of them. GitHub does not let apps re-run the check runs of other apps, and nobody workflow runs that
// are older than a month, or of workflows that it generates.
// https://docs.github.com/en/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
// https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run--status-codes
func (s *Actions) RerunChecks(ctx context.Context, runs []CheckRun) (out Rerun, err error) {
	var failed []error
	asked := map[int64]bool{}
	for _, run := range runs {
		if run.RunID == 0 || asked[run.RunID] {
			continue
		}
		asked[run.RunID] = true
		forbidden, err := s.rerun(ctx, run)
		switch {
		case err == nil:
			out.Accepted++
		case forbidden:
			out.Refused, out.Why = append(out.Refused, run.RunID), cmp.Or(out.Why, err)
		default:
			failed = append(failed, err)
		}
	}
	if len(failed) <= 1 {
		return out, errors.Join(failed...)
	}
	return out, joinErrors(failed)
}

func (s *Actions) rerun(ctx context.Context, run CheckRun) (forbidden bool, failure error) {
	_, err := s.gh.Actions.RerunFailedJobsByID(ctx, s.repo.Owner, s.repo.Name, run.RunID)
	if isAccepted(err) {
		return false, nil
	}
	code := statusOf(err)
	if (code == http.StatusForbidden || code == http.StatusConflict) && refusalContains(err, "already running") {
		return false, &sia.Error{Op: "run " + run.Name + " again in " + s.repo.String(), RetryAfter: rerunRetryAfter,
			Message: "its workflow is still running other jobs; SIA asks again", Err: &redactedError{err}}
	}
	failure = s.app.failure(err, "run %s again in %s", run.Name, s.repo)
	return code == http.StatusForbidden && sia.IsPermanent(failure), failure
}

// joinErrors joins errors. The result is permanent if all of them are.
func joinErrors(errs []error) error {
	out := &sia.Error{Op: "run checks again", Message: "several can't be run again", Permanent: true,
		Err: errors.Join(errs...)}
	for _, err := range errs {
		if !sia.IsPermanent(err) {
			out.Permanent = false
			out.RetryAfter = max(out.RetryAfter, sia.RetryAfter(err))
		}
	}
	return out
}

// refusalOf returns a refused response as an error, for requests that go-github does not check.
func refusalOf(resp *http.Response) error {
	if err := gh.CheckResponse(resp); err != nil {
		return err
	}
	return &gh.ErrorResponse{Response: resp, Message: "unexpected answer " + resp.Status}
}
