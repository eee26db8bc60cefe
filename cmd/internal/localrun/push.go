package localrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Name of the check of a local run, and of the app that creates it.
const (
	checkName = "test"
	appName   = "local"
)

// maxCheckLog is the maximum size of a log in a check run's summary, in bytes.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const maxCheckLog = 60_000

// watchPushes runs the check, one after the other, on each commit that SIA pushes and on each that SIA requests again.
// It also checks commits that have been replaced: the next attempt learns from the result.
func (r *run) watchPushes(ctx context.Context) error {
	prefix, seq := fmt.Sprintf("sia/issue-%d-", r.issue), 0
	for {
		entry, err := r.Sim.WaitEntry(ctx, seq, func(e ghsim.Entry) bool {
			return e.Kind == "check_run.rerequested" ||
				strings.HasPrefix(e.Kind, "push") && e.Kind != "push.deleted" && strings.HasPrefix(e.Ref, prefix)
		})
		switch {
		case ctx.Err() != nil: // the task has ended
			return nil //nolint:nilerr // as it should
		case err != nil:
			return err
		}
		seq = entry.Seq
		if entry.Kind != "check_run.rerequested" {
			if err := r.keep(ctx, entry.SHA); err != nil && ctx.Err() == nil { // retried at the end
				r.progress("%v", err)
			}
		}
		if err := r.report(ctx, entry.SHA); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// report runs the check on a commit and reports the result there, under each name that the settings require.
func (r *run) report(ctx context.Context, sha string) error {
	names, test := r.job.settings.Checks.Required, r.job.check
	if len(names) == 0 {
		names = []string{checkName}
	}
	ids := make([]int64, len(names))
	for i, name := range names {
		var err error
		if ids[i], err = r.Sim.CreateCheck(r.repo, sha, ghsim.AppCheck{App: appName, Name: name,
			Status: "in_progress"}); err != nil {
			return err
		}
	}
	res := r.check(ctx, sha)
	if r.failsAsBase(ctx, res) {
		r.failed.Store(sha, false)
		r.progress("%s fails on %.9s, and is run once more:\n%s", test, sha, excerptOf(res.log, shownLines))
		res = r.check(ctx, sha)
	}
	failed := test + " fails"
	if res.passed && res.err == nil && r.job.judge == nil { // before the pass is known, so that it waits for the finding
		if res.err = r.testEdits(ctx, sha); res.err == nil {
			var broken sia.TestEvidence
			broken, res.err = r.brokenTests(ctx, sha)
			if tests := slices.Concat(broken.Red, broken.Broken); len(tests) > 0 {
				failed = "Tests of the base that the change does not edit fail"
				res.passed, res.log = false, test+" passes, but it does not run all tests. The change breaks some that it does "+
					"not edit:\n"+strings.Join(slices.Concat(broken.Asks()), "\n")+"\nFAILED "+strings.Join(tests, "\nFAILED ")
			}
		}
	}
	if res.err != nil || ctx.Err() != nil { // a canceled check has no result
		return errors.Join(res.err, ctx.Err())
	}
	check := ghsim.AppCheck{App: appName, Status: "completed", Conclusion: "failure", Title: failed,
		Summary: text.Fit(res.log, maxCheckLog, text.Tail)}
	if res.passed {
		check.Conclusion, check.Title = "success", test+" passed"
		r.failed.CompareAndSwap(sha, false, true)
	} else {
		r.failed.Store(sha, false)
	}
	for i, name := range names {
		check.Name = name
		if err := r.Sim.UpdateCheck(r.repo, ids[i], check); err != nil {
			return err
		}
	}
	if res.passed {
		r.progress("%s %s passes on %.9s, in %s", r.Style.Green("✓"), test, sha, res.took.Round(100*time.Millisecond))
	} else {
		r.progress("%s %s on %.9s, in %s:\n%s", r.Style.Red("✗"), failed, sha,
			res.took.Round(100*time.Millisecond), excerptOf(res.log, shownLines))
	}
	return nil
}

// passedLater reports whether the check failed on a head before it passed.
func (r *run) passedLater(head string) bool {
	passed, _ := r.failed.Load(head)
	return passed == true
}

// keep updates the clone's new branch to a commit that SIA pushed, so that nothing is lost if the process ends. If the
// branch can't be updated, it continues on another one: the branch may have been checked out or changed, or another run
// may have the same name.
func (r *run) keep(ctx context.Context, sha string) error {
	first, was := r.job.branch, r.kept
	err := r.fetch(ctx, sha)
	if err == nil {
		return nil
	}
	r.job.branch, r.kept = r.job.git.FreeBranch(ctx, first), ""
	if r.fetch(ctx, sha) != nil {
		r.job.branch, r.kept = first, was
		return err
	}
	r.progress("%v\nIt is on the branch %s.", err, r.job.branch)
	return nil
}

// fetch sets the branch of the result to a commit of the run, unless it is not where this run left it.
func (r *run) fetch(ctx context.Context, sha string) error {
	failed := func(err error) error { return fmt.Errorf("keep what was done as the branch %s: %w", r.job.branch, err) }
	ref := "refs/heads/" + r.job.branch
	if at, err := r.job.git.Line(ctx, "for-each-ref", "--format=%(worktreepath)", "--", ref); err != nil {
		return failed(err)
	} else if at != "" {
		return failed(fmt.Errorf("it is checked out at %s", at))
	}
	if err := r.job.git.Take(ctx, r.bare, sha, r.job.base); err != nil {
		return failed(err)
	}
	was := cmp.Or(r.kept, strings.Repeat("0", len(sha)))
	if _, err := r.job.git.Run(ctx, "update-ref", "--create-reflog", ref, sha, was); err != nil {
		return failed(fmt.Errorf("somebody else changed it: %w", err))
	}
	r.kept = sha
	return nil
}
