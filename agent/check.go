package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of a check.
const (
	checkTimeout      = 10 * time.Minute
	checkExcerptLines = 15 // lines
)

// ClipName limits the size of a test's name, or of a reason why tests were not run.
func ClipName(s string) string { return text.Clip(text.OneLine(s), 300) }

// SandboxFailed is the [sia.CheckRun.Missing] of a command that the sandbox of this machine could not run.
const SandboxFailed = "it could not be run in the sandbox"

// LacksProgram begins the [sia.CheckRun.Missing] of tests that did not start.
const LacksProgram = "a program that it needs is not there, or can't be run"

// expectedCheck is a check to run on a change, with its expected outcome.
type expectedCheck struct {
	command string // empty: the repository's tests
	fails   bool   // a test is expected to fail, since it reproduces a fault
	// result of the repository's tests before any change; nil: unknown. Tests that failed then may still fail.
	baseline *sia.CheckRun
}

// run runs the command in the sandbox. If runner is nil, the result reports the missing sandbox.
func (c expectedCheck) run(ctx context.Context, runner *attemptRunner, env tool.Env) sia.CheckRun {
	out := sia.CheckRun{Command: c.command}
	if out.Command == "" {
		out.Command = tool.TestCommand(env)
	}
	switch {
	case runner == nil:
		out.Missing = "there is no sandbox on this server to run it in"
		return out
	case out.Command == "":
		out.Missing = "no way to test this repository is known: `agent.test` in its settings can say it"
		return out
	}
	rep, res, err := runAndRead(ctx, runner, out.Command)
	switch {
	case errors.Is(err, sandbox.ErrDiscarded):
		out.Missing = "it could not be run: " + sandbox.ErrDiscarded.Error()
		return out
	case err != nil || ctx.Err() != nil:
		if ctx.Err() == nil {
			runner.commands.log.WarnContext(ctx, "a check could not be run", "command", out.Command, "error", err)
		}
		out.Missing = SandboxFailed
		return out
	}
	if res.OK() {
		out.Ran = testsRan.MatchString(string(res.Output))
		if out.Holds = !c.fails; c.fails {
			out.Excerpt = "the test passes on the code as it is"
		}
		return out
	}
	if b := c.baseline; c.command == "" && (b == nil || b.Missing != "") && res.NotStarted() { // it never ran
		out.Missing = LacksProgram + " (" + res.Ending() + ")"
		return out
	}
	output := secret.Mask(strings.ToValidUTF8(string(res.Output), "\uFFFD"))
	out.Excerpt, out.Class = res.Ending(), string(rep.Class)
	if excerpt := strings.TrimSpace(secret.Mask(rep.Text)); excerpt != "" {
		out.Excerpt = excerpt
	}
	for _, t := range rep.Tests {
		out.Tests = append(out.Tests, ClipName(secret.Mask(t.Name)))
	}
	if out.Excerpt == res.Ending() && strings.TrimSpace(output) != "" {
		lines := strings.Split(strings.TrimSpace(output), "\n")
		out.Excerpt = strings.Join(lines[max(0, len(lines)-checkExcerptLines):], "\n")
	}
	if b := c.baseline; c.command == "" && !c.fails && b != nil && !b.Holds && b.Missing == "" {
		switch {
		case len(b.Tests) == 0 || len(out.Tests) == 0:
			out.Missing = "it fails in the sandbox before anything is changed, too"
		case max(len(b.Tests), len(out.Tests)) >= failure.MaxTests:
			out.Missing = "so many tests fail in the sandbox, before anything is changed, too, that not all are known"
			return out
		}
		out.Holds = !slices.ContainsFunc(out.Tests, func(t string) bool { return !slices.Contains(b.Tests, t) })
	}
	if c.fails {
		out.Holds = isTestFailure(rep.Class, len(out.Tests)) && !notStarted.MatchString(output) &&
			(len(out.Tests) > 0 || !noTestsRan.MatchString(output))
	}
	return out
}

// runAndRead runs a command and extracts the failures from its output.
func runAndRead(
	ctx context.Context, runner *attemptRunner, command string,
) (rep failure.Report, res sandbox.Result, err error) {
	in, out := io.Pipe()
	read := make(chan error, 1)
	go func() {
		var err error
		rep, err = failure.Read(ctx, in, failure.Options{MaxLines: checkExcerptLines, Name: command})
		_, _ = io.Copy(io.Discard, in) // drain unread output
		read <- err
	}()
	res, err = runner.Run(ctx, command, checkTimeout, out)
	out.Close()
	err = errors.Join(err, <-read)
	return rep, res, err
}

// notStarted matches the output of common runners for tests that could not be built or loaded.
var notStarted = lazyregexp.New(`(?i)\[(setup|build) failed\]|collected \d+ items? / \d+ errors?|command not found`)

// noTestsRan matches the output of common runners when no test ran. With several packages, it may match one of them.
var noTestsRan = lazyregexp.New(`(?i)no tests? (files|found|ran|to run|were found)|collected 0 items|\b0 tests?\b`)

// testsRan matches the output of common runners for tests that ran and passed: go test (not with "[no tests to run]"),
// pytest, unittest, node --test, Jest, Vitest, Mocha, Bun, cargo, Maven and ctest; RSpec, Minitest, PHPUnit, ExUnit and
// Swift.
var testsRan = lazyregexp.New(`(?im)^ok\s+\S+\s+(\(cached\)|[0-9.]+s)` +
	`(\s+coverage: (\[no statements\]|[^\[\n]*))?[ \t\r]*$|^\s*--- PASS: |^ok [1-9]\d* |` +
	`\b[1-9]\d* (tests? )?pass(ed|ing)?\b|^[#ℹ] pass [1-9]|^Ran [1-9]\d* tests?\b|\bTests run: [1-9]|` +
	`\b[1-9]\d* (tests?|runs?|examples?), (with )?\d+ (assertions?|failures?)\b|` +
	`tests passed, 0 tests failed out of [1-9]`)

// noTestsFound matches the output of common runners that found no test: unittest, pytest, go test, gotestsum, cargo,
// node --test, Jest, Mocha, Maven, ctest, RSpec and Minitest. Most of them then exit with 0.
var noTestsFound = lazyregexp.New(`(?m)^Ran 0 tests\b|^collected 0 items\b|^\?\s+\S+\s+\[no test files\]|` +
	`^ok\s.*\[no tests to run\]|^DONE 0 tests\b|^running 0 tests$|^[#ℹ] tests 0$|^No tests found, exiting|` +
	`^\s*0 passing\b|^(\[INFO\] )?No tests to run\.|^0 (examples|runs|tests), |^None of the (selected )?packages has|` +
	`^No tests were found!!!`)

// RanNoTests reports whether the output of a test command that passed shows that it ran no tests. npm runs the tests of
// those workspaces that have some; without any it prints nothing.
func RanNoTests(command string, output []byte) bool {
	if strings.Contains(command, "--workspaces --if-present") && len(bytes.TrimSpace(output)) == 0 {
		return true
	}
	return noTestsFound.Match(output) && !testsRan.Match(output)
}

// isTestFailure reports whether a failure is that of a test that ran, as opposed to one that could not be built or
// started.
func isTestFailure(class failure.Class, tests int) bool {
	broken := []failure.Class{failure.CompileError, failure.SyntaxError, failure.Dependency, failure.ConfigError,
		failure.Permission, failure.Timeout, failure.OutOfMemory, failure.Network, failure.Infrastructure}
	ran := []failure.Class{failure.TestFailure, failure.RuntimeError, failure.Crash, failure.Unknown}
	return !slices.Contains(broken, class) && (tests > 0 || slices.Contains(ran, class))
}

// unmetMessage returns the message to an agent about a check that failed.
func unmetMessage(c sia.CheckRun, fails bool) string {
	want := "It should end with 0."
	if fails {
		want = "A test that runs and fails is wanted, for the reason that the issue tells."
	}
	return middleOut(fmt.Sprintf("It is not done yet. SIA ran `%s` in the sandbox. %s\n\n%s\n\nMend it, then call "+
		"finish again. The next call ends the run whatever comes of it.", clipLine(c.Command, maxStep), want,
		c.Excerpt), 8000)
}

// Limits of the tests that run before a push.
const (
	affectedTimeout     = 4 * time.Minute
	affectedBudgetShare = 0.75 // share of the budget; an agent that has used more is not asked to continue
	maxAffectedNamed    = 20
)

// checkAffected runs the tests that the changes can reach and stores their results in res. If tests fail for the first
// time, and at most affectedBudgetShare of the budget is used, it returns the message to the agent about them. then is
// its instruction for when they pass.
func checkAffected(
	ctx context.Context, in Input, res *Result, used float64, journal *turnJournal, then string,
) (message string) {
	before := res.Affected
	if in.Affected == nil || before != nil && !before.Told {
		return ""
	}
	within, cancel := context.WithTimeout(ctx, affectedTimeout)
	defer cancel()
	got, err := in.Affected(within)
	if err != nil {
		journal.addNote("the tests that the change reaches could not be run: " + secret.Mask(err.Error()))
		return ""
	}
	if before != nil {
		again := *before // before is in the transcript, so it is copied
		again.Again, again.Ran, again.Left = true, got.Ran, got.Failed
		res.Affected = &again
		return ""
	}
	res.Affected = &sia.AffectedTests{Ran: got.Ran, Failed: got.Failed}
	if len(got.Failed) == 0 || used > affectedBudgetShare || ctx.Err() != nil {
		return ""
	}
	res.Affected.Told = true
	return failedTestsMessage(got, then)
}

// checkPush returns a message to an agent about changes that can't be pushed; "": nothing known prevents the push. then
// is its instruction for afterwards.
func checkPush(ctx context.Context, in Input, journal *turnJournal, then string) (message string) {
	if in.PushRefusal == nil || in.Planning || ctx.Err() != nil {
		return ""
	}
	why, err := in.PushRefusal(ctx)
	switch {
	case err != nil:
		journal.addNote("whether the change can be pushed is not known: " + secret.Mask(err.Error()))
		return ""
	case why == "":
		return ""
	}
	journal.addNote("told why the change can't be pushed")
	return middleOut("Nothing is pushed yet. With the change as it is, the attempt fails: "+sanitizeText(why)+
		".\n\nTake back what can't be pushed, keep the rest, "+then, 8000)
}

// Instructions to an agent for when it has mended what it was told.
const (
	finishAgain = "then call finish again. The next call ends the attempt in any case."
	endAgain    = "and end. You are not told again."
)

// verifyEnd returns the message for a restart of the command; "": it is done.
func (r *commandRun) verifyEnd(ctx context.Context) (message string) {
	if r.res.End != sia.EndFinished || r.in.Planning {
		return ""
	}
	return joinMessages(checkPush(ctx, r.in, &r.turnJournal, endAgain),
		checkAffected(ctx, r.in, &r.res, r.meter.usedShare(), &r.turnJournal, endAgain))
}

// joinMessages joins the messages that are not empty.
func joinMessages(messages ...string) string {
	return strings.Join(slices.DeleteFunc(messages, func(m string) bool { return m == "" }), "\n\n")
}

// failedTestsMessage returns the message to an agent about tests that fail with its change. then is its instruction for
// when they pass.
func failedTestsMessage(got TestsRun, then string) string {
	var b strings.Builder
	b.WriteString("Nothing is pushed yet. SIA ran the tests that your change can reach. These fail with it and do not " +
		"fail without it:\n\n")
	for _, name := range got.Failed[:min(len(got.Failed), maxAffectedNamed)] {
		fmt.Fprintf(&b, "- %s\n", clipLine(sanitizeText(name), maxStep))
	}
	if more := len(got.Failed) - maxAffectedNamed; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	fmt.Fprintf(&b, "\n%s\n\nMend the code, or a test where the issue asks for other behaviour, "+
		"%s", sanitizeText(got.Log), then)
	return middleOut(b.String(), 8000)
}

// Check runs commands on a work tree, one after the other, until ctx ends. "" is the repository's tests; the baseline
// records which of them failed before. Of in, only Dir, Repo, Issue, OnBase, Services, Setup and Test are used.
func (c *Commands) Check(
	ctx context.Context, in Input, commands []string, baseline *sia.CheckRun,
) ([]sia.CheckRun, error) {
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	var runner *attemptRunner
	if c.Runs() {
		if runner, _, _, err = c.openRunner(ctx, in); err != nil {
			return nil, err
		}
		defer runner.close()
	}
	env := tool.Env{Root: root, Test: in.Test}
	var out []sia.CheckRun
	for _, command := range commands {
		got := expectedCheck{command: command, baseline: baseline}.run(ctx, runner, env)
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if !slices.ContainsFunc(out, func(o sia.CheckRun) bool { return o.Command == got.Command }) {
			out = append(out, got)
		}
	}
	return out, nil
}
