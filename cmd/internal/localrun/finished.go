package localrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// finishedKey returns the setting of a branch that says that a run was stopped while the check of its last attempt ran:
// a hash of the issue, the run's base and the branch's head. Git removes it with the branch.
func finishedKey(branch string) string { return "branch." + branch + ".siaFinished" }

// issueHash identifies the words of an issue.
func (j *job) issueHash() string {
	sum := sha256.Sum256([]byte(j.opts.Title + "\n" + j.opts.Body))
	return hex.EncodeToString(sum[:8])
}

// findFinished returns the base of the stopped run that left the job's base as a finished attempt at the same issue; ""
// if there was none.
func (j *job) findFinished(ctx context.Context) string {
	noted, err := j.git.Run(ctx, "config", "--get", finishedKey(j.opts.Base))
	if words := strings.Fields(string(noted)); err == nil && len(words) == 3 && words[0] == j.issueHash() &&
		words[2] == j.base {
		return words[1]
	}
	return ""
}

// noteFinished records that the head of the result's branch is a finished attempt, if the run was stopped during its
// check.
func (r *run) noteFinished(ctx context.Context, head string) {
	if r.finishedHead != head || r.job.judge != nil {
		return
	}
	if _, err := r.job.git.Run(ctx, "config", finishedKey(r.job.branch),
		strings.Join([]string{r.job.issueHash(), r.job.base, head}, " ")); err != nil {
		r.Logger.WarnContext(ctx, "a rerun will not know that the attempt is finished", "error", err)
	}
}

// takeFinished returns the result if the check passes on the finished attempt of a stopped run: no attempt is made.
func (r *run) takeFinished() (out Result, err error) {
	head := r.job.base
	r.job.base = r.job.finishedBase
	r.progress("An earlier run was stopped while it checked this change for the same issue. It is finished, so no "+
		"attempt is made. Its base is %.9s.", r.job.base)
	if err := r.testEdits(r.Ctx, head); err != nil {
		return out, err
	}
	diff, err := r.bare.Run(r.Ctx, "diff", "--binary", "--no-color", "--no-ext-diff", "--end-of-options", r.job.base,
		head)
	if err != nil {
		return out, err
	}
	out = Result{Passed: true, State: sia.Passed, Branch: r.job.opts.Base, Head: head, Base: r.job.base,
		Test: r.job.settings.Agent.Test, Attempts: []Attempt{}, Credits: "0",
		Seconds: time.Since(r.began).Seconds(), Diff: string(diff)}
	if out.Findings, err = r.findings(r.Ctx, sia.Task{}, head); err != nil {
		return out, err
	}
	if out.Findings = append(out.Findings, r.editFindings(head)...); len(out.Findings) > 0 {
		out.Passed, out.State = false, sia.Checking
		out.Reason = "The check is green, but tests or protected files were changed"
	}
	return out, nil
}
