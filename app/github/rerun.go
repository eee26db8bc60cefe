package github

import (
	"context"
	"errors"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// rerunLater is when to try again to re-run a workflow that is still running.
const rerunLater = 30 * time.Second

// RerunChecks asks for jobs of GitHub Actions to be run again, the failed ones of a
// workflow run together. It goes on when one can't be re-run and reports all that
// can't. GitHub lets no app have the check runs of another run again.
// https://docs.github.com/en/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
// https://docs.github.com/en/rest/checks/runs#rerequest-a-check-run--status-codes
func (r *Repo) RerunChecks(ctx context.Context, runs []CheckRun) error {
	var failed []error
	asked := map[int64]bool{}
	for _, run := range runs {
		if run.RunID == 0 || asked[run.RunID] {
			continue
		}
		asked[run.RunID] = true
		if err := r.rerun(ctx, run); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) <= 1 {
		return errors.Join(failed...)
	}
	return worstOf(failed)
}

func (r *Repo) rerun(ctx context.Context, run CheckRun) error {
	_, err := r.gh.Actions.RerunFailedJobsByID(ctx, r.repo.Owner, r.repo.Name, run.RunID)
	if isAccepted(err) {
		return nil
	}
	if s := statusOf(err); (s == http.StatusForbidden || s == http.StatusConflict) &&
		refusalContains(err, "already running") {
		return &sia.Error{Op: "run " + run.Name + " again in " + r.repo.String(), RetryAfter: rerunLater,
			Message: "its workflow is still running other jobs; SIA asks again", Err: &redactedError{err}}
	}
	return r.fail(err, "run %s again in %s", run.Name, r.repo)
}

// worstOf joins errors so that trying again is worth it when it is for one.
func worstOf(errs []error) error {
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

// refusalOf is a refused answer as an error, for requests that go-github does not
// check itself.
func refusalOf(resp *http.Response) error {
	if err := gh.CheckResponse(resp); err != nil {
		return err
	}
	return &gh.ErrorResponse{Response: resp, Message: "unexpected answer " + resp.Status}
}
