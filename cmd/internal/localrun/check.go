package localrun

import (
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
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/visible"
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
func (r *run) check(ctx context.Context, sha string) checkResult {
	return r.checkWith(ctx, sha, r.job.settings.Agent.Test)
}

// checkWith runs a command on a commit, in the sandbox.
func (r *run) checkWith(ctx context.Context, sha, command string) (out checkResult) {
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
	res, failed, err := r.commands.Run(ctx, in, command, r.job.opts.TestWithin, nil)
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
	if failed != "" && !out.passed && r.baseCheck.setup == "" {
		out.log = "Setup failed:\n" + failed + "\n" + out.log
	}
	if !out.passed {
		out.log += "\n" + res.String() + "\n" + res.Why
	}
	return out
}

// failsAsBase reports whether a check of a change failed only in tests that failed now and then without any change, as
// far as its log names tests: what else it says of failures, such as a crash, was in the log without any change, too.
func (r *run) failsAsBase(ctx context.Context, c checkResult) bool {
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
func (r *run) checkOut(ctx context.Context, sha, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet", "--template="},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
			"--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack", "--", r.bare.Dir, sha},
		{"checkout", "--quiet", "--detach", sha}} {
		if _, err := localgit.Own(dir).Run(ctx, args...); err != nil {
			return fmt.Errorf("check out %.9s: %w", sha, err)
		}
	}
	return nil
}
