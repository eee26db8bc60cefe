package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Name of the check of a local run, and of the app that creates it.
const (
	localCheck = "test"
	localApp   = "local"
)

// ranNoTest says, as [agent.LacksProgram] does, why the result of a check may prove nothing.
const ranNoTest = "it runs no test"

// checkResult is the result of one run of the test command.
type checkResult struct {
	passed bool
	log    string
	setup  string // error of setup; empty: it succeeded
	took   time.Duration
	noRun  string // ranNoTest or [agent.LacksProgram]; empty: the result is valid
	err    error  // the command could not be run

	timedOut bool // the command was ended after its time
}

// Limits of log excerpts: lines shown to users, and lines and bytes sent to a model.
const (
	shownLines      = 8
	promptLines     = 60
	maxExcerptBytes = 6000
)

// excerptOf returns a short log, or the lines about the failure in a longer one, or else its end; indented, and without
// what controls a terminal.
func excerptOf(log string, lines int) string {
	if log = strings.TrimSpace(visible.Text(log)); strings.Count(log, "\n") >= lines {
		rep, err := failure.Read(context.Background(), strings.NewReader(log), failure.Options{MaxLines: lines})
		if err == nil && rep.Text != "" {
			log = rep.Text
		}
	}
	all := strings.Split(testrun.LongTail(log, maxExcerptBytes), "\n")
	return "    " + strings.Join(all[max(0, len(all)-lines):], "\n    ")
}

// check runs the test command on a commit, in the sandbox.
func (r *localRun) check(ctx context.Context, sha string) checkResult {
	return r.checkWith(ctx, sha, r.job.settings.Agent.Test)
}

// checkWith runs a command on a commit, in the sandbox.
func (r *localRun) checkWith(ctx context.Context, sha, command string) (out checkResult) {
	r.step.Store(new("SIA checks out the commit"))
	defer r.step.Store(nil)
	if r.job.judge != nil {
		began := time.Now()
		j, err := r.job.judge(ctx, func(dir string) error { return r.checkOut(ctx, sha, dir) })
		return checkResult{passed: j.Resolved, log: j.Log + "\n" + j.Why, took: time.Since(began), err: err}
	}
	// The sandbox changes the owner of a tree, so each check has its own.
	dir, err := os.MkdirTemp(r.Dir, "check-")
	if err != nil {
		return checkResult{err: err}
	}
	defer func() { out.err = errors.Join(out.err, sandbox.RemoveAll(dir)) }()
	if err := r.checkOut(ctx, sha, dir); err != nil {
		return checkResult{err: err}
	}
	set := r.job.settings.Agent
	in := agent.Input{Repo: r.repo, Dir: dir, OnBase: sha == r.job.base, Setup: set.Setup, Services: set.Services,
		Begins: r.begins}
	res, failed, err := r.commands.Run(ctx, in, command, r.cmd.TestWithin, nil)
	if err != nil {
		return checkResult{err: fmt.Errorf("run %s: %w", command, err)}
	}
	out = checkResult{passed: res.OK(), log: string(res.Output), setup: failed, took: res.Duration,
		timedOut: res.Ended == sandbox.ByTime}
	if out.passed && agent.RanNoTests(command, res.Output) {
		out.passed, out.log, out.noRun = false, out.log+"\nNo test was run.", ranNoTest
		return out
	}
	if res.NotStarted() || !out.passed && lacksRunner(command, res.Output) {
		out.noRun = agent.LacksProgram
	}
	if failed != "" && !out.passed && !r.setupNeedless {
		out.log = "Setup failed:\n" + failed + "\n" + out.log
	}
	if !out.passed {
		out.log += "\n" + res.String() + "\n" + res.Why
	}
	return out
}

// failedTests returns the full names of the tests that failed; none if the log may not name all of them.
func (c checkResult) failedTests(ctx context.Context) (names []string) {
	rep, err := failure.Read(ctx, strings.NewReader(c.log), failure.Options{})
	if err != nil || rep.Cut != "" || len(rep.Tests) >= failure.MaxTests {
		return nil
	}
	for _, t := range rep.Tests {
		names = append(names, t.FullName())
	}
	return names
}

// failsAsBase reports whether a check of a change failed only in tests that failed now and then without any change, as
// far as its log names tests: what else it says of failures, such as a crash, was in the log without any change, too.
func (r *localRun) failsAsBase(ctx context.Context, c checkResult) bool {
	if len(r.flaky) == 0 || c.passed || c.timedOut || c.err != nil || ctx.Err() != nil {
		return false
	}
	names := c.failedTests(ctx)
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(r.flaky, n) }) {
		return false
	}
	rep, err := failure.Read(ctx, strings.NewReader(c.log), failure.Options{Green: strings.NewReader(r.flakyLog)})
	return err == nil && rep.Signature == ""
}

// passedLater reports whether the check failed on a head before it passed.
func (r *localRun) passedLater(head string) bool {
	passed, _ := r.failed.Load(head)
	return passed == true
}

// noModule matches what Python prints when it does not find the module of its option -m.
var noModule = lazyregexp.New(`(?m)^\S*python[\d.]*(?:\.exe)?: No module named '?([\w.]+)'?\s*$`)

// lacksRunner reports whether a command ran a module of Python, such as pytest, that is not installed.
func lacksRunner(command string, output []byte) bool {
	m := noModule.FindSubmatch(output)
	return m != nil && strings.Contains(command+" ", "-m "+string(m[1])+" ")
}

// checkOut checks a commit out into a folder that is empty or does not exist. The folder is a repository of its own
// with this commit, as in attempts, since the sandbox hides the one that it comes from: tests may use git. As in
// attempts, files are as in the commit: those of Git LFS stay pointers, and lines end as they do there.
func (r *localRun) checkOut(ctx context.Context, sha, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet", "--template="},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
			"--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack", "--", r.bare, sha},
		{"checkout", "--quiet", "--detach", sha}} {
		if _, err := ownGit(dir).run(ctx, args...); err != nil {
			return fmt.Errorf("check out %.9s: %w", sha, err)
		}
	}
	return nil
}

// maxCheckLog is the maximum size of a log in a check run's summary, in bytes.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
const maxCheckLog = 60_000

// watchPushes runs the check, one after the other, on each commit that SIA pushes and on each that SIA requests again.
// It also checks commits that have been replaced: the next attempt learns from the result.
func (r *localRun) watchPushes(ctx context.Context) error {
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
func (r *localRun) report(ctx context.Context, sha string) error {
	names, test := r.job.settings.Checks.Required, r.job.check
	if len(names) == 0 {
		names = []string{localCheck}
	}
	ids := make([]int64, len(names))
	for i, name := range names {
		var err error
		if ids[i], err = r.Sim.CreateCheck(r.repo, sha, ghsim.AppCheck{App: localApp, Name: name,
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
	check := ghsim.AppCheck{App: localApp, Status: "completed", Conclusion: "failure", Title: failed,
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

// keep updates the clone's new branch to a commit that SIA pushed, so that nothing is lost if the process ends. If the
// branch can't be updated, it continues on another one: the branch may have been checked out or changed, or another run
// may have the same name.
func (r *localRun) keep(ctx context.Context, sha string) error {
	first, was := r.job.branch, r.kept
	err := r.fetch(ctx, sha)
	if err == nil {
		return nil
	}
	r.job.branch, r.kept = r.job.git.freeBranch(ctx, first), ""
	if r.fetch(ctx, sha) != nil {
		r.job.branch, r.kept = first, was
		return err
	}
	r.progress("%v\nIt is on the branch %s.", err, r.job.branch)
	return nil
}

// fetch sets the branch of the result to a commit of the run, unless it is not where this run left it.
func (r *localRun) fetch(ctx context.Context, sha string) error {
	failed := func(err error) error { return fmt.Errorf("keep what was done as the branch %s: %w", r.job.branch, err) }
	ref := "refs/heads/" + r.job.branch
	if used, err := r.job.git.run(ctx, "for-each-ref", "--format=%(worktreepath)", "--", ref); err != nil {
		return failed(err)
	} else if at := strings.TrimSpace(string(used)); at != "" {
		return failed(fmt.Errorf("it is checked out at %s", at))
	}
	if err := r.job.git.take(ctx, ownGit(r.bare), sha, r.job.base); err != nil {
		return failed(err)
	}
	was := cmp.Or(r.kept, strings.Repeat("0", len(sha)))
	if _, err := r.job.git.run(ctx, "update-ref", "--create-reflog", ref, sha, was); err != nil {
		return failed(fmt.Errorf("somebody else changed it: %w", err))
	}
	r.kept = sha
	return nil
}
