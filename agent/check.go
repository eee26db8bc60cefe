package agent

import (
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
)

// Bounds of a check.
const (
	checkWithin  = 10 * time.Minute
	checkExcerpt = 15 // lines
)

// wantedCheck is what is to be seen of something that is said to be done.
type wantedCheck struct {
	command string // empty: the repository's tests
	fails   bool   // a test is to fail, as one does that shows a fault
	// the result of the repository's tests before anything was changed; nil: not known. What failed
	// then may fail still.
	baseline *sia.CheckRun
}

// look runs the command in the sandbox. A nil runner sees nothing, and the result says so.
func (c wantedCheck) look(ctx context.Context, runner *attemptRunner, env tool.Env) sia.CheckRun {
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
	rep, res, err := readRun(ctx, runner, out.Command)
	if err != nil || ctx.Err() != nil {
		out.Missing = "it could not be run in the sandbox"
		return out
	}
	if res.OK() {
		out.Ran = testsRan.MatchString(string(res.Output))
		if out.Holds = !c.fails; c.fails {
			out.Excerpt = "the test passes on the code as it is"
		}
		return out
	}
	text := secret.Mask(strings.ToValidUTF8(string(res.Output), "\uFFFD"))
	out.Excerpt, out.Class = res.Ending(), string(rep.Class)
	if excerpt := strings.TrimSpace(secret.Mask(rep.Text)); excerpt != "" {
		out.Excerpt = excerpt
	}
	for _, t := range rep.Tests {
		out.Tests = append(out.Tests, secret.Mask(t.Name))
	}
	if out.Excerpt == res.Ending() && strings.TrimSpace(text) != "" {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		out.Excerpt = strings.Join(lines[max(0, len(lines)-checkExcerpt):], "\n")
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
		out.Holds = shows(rep.Class, len(out.Tests)) && !notBegun.MatchString(text) &&
			(len(out.Tests) > 0 || !nothingRan.MatchString(text))
	}
	return out
}

// readRun runs a command and reads all that it prints.
func readRun(
	ctx context.Context, runner *attemptRunner, command string,
) (rep failure.Report, res sandbox.Result, err error) {
	in, out := io.Pipe()
	read := make(chan error, 1)
	go func() {
		var err error
		rep, err = failure.Read(ctx, in, failure.Options{MaxLines: checkExcerpt, Name: command})
		_, _ = io.Copy(io.Discard, in) // where it was not read to its end
		read <- err
	}()
	res, err = runner.Run(ctx, command, checkWithin, out)
	out.Close()
	err = errors.Join(err, <-read)
	return rep, res, err
}

// notBegun is what usual runners print of tests that could not be built or loaded.
var notBegun = lazyregexp.New(`(?i)\[(setup|build) failed\]|collected \d+ items? / \d+ errors?|command not found`)

// nothingRan is what usual runners print when no test was run. They print it of one package of several, too.
var nothingRan = lazyregexp.New(`(?i)no tests? (files|found|ran|to run|were found)|collected 0 items|\b0 tests?\b`)

// testsRan is what usual runners print of tests that ran and passed: go test (not with "[no tests to run]"), pytest,
// unittest, node --test, Jest, Vitest, Mocha, Bun, cargo and Maven; RSpec, Minitest, PHPUnit, ExUnit and Swift.
var testsRan = lazyregexp.New(`(?im)^ok\s+\S+\s+(\(cached\)|[0-9.]+s)` +
	`(\s+coverage: (\[no statements\]|[^\[\n]*))?[ \t\r]*$|^\s*--- PASS: |^ok [1-9]\d* |` +
	`\b[1-9]\d* (tests? )?pass(ed|ing)?\b|^[#ℹ] pass [1-9]|^Ran [1-9]\d* tests?\b|\bTests run: [1-9]|` +
	`\b[1-9]\d* (tests?|runs?|examples?), (with )?\d+ (assertions?|failures?)\b`)

// noneFound is what unittest and pytest print when they found no test to run. unittest passes then, before Python 3.12.
var noneFound = lazyregexp.New(`(?m)^Ran 0 tests\b|^collected 0 items\b`)

// RanNone reports whether a test command that passed says that there was no test to run.
func RanNone(output []byte) bool { return noneFound.Match(output) && !testsRan.Match(output) }

// shows reports whether a failure is that of a test that ran, rather than of one that
// could not be built or begun.
func shows(class failure.Class, tests int) bool {
	broken := []failure.Class{failure.CompileError, failure.SyntaxError, failure.Dependency, failure.ConfigError,
		failure.Permission, failure.Timeout, failure.OutOfMemory, failure.Network, failure.Infrastructure}
	ran := []failure.Class{failure.TestFailure, failure.RuntimeError, failure.Crash, failure.Unknown}
	return !slices.Contains(broken, class) && (tests > 0 || slices.Contains(ran, class))
}

// toldOf says to an agent what its part still lacks.
func toldOf(c sia.CheckRun, fails bool) string {
	want := "It should end with 0."
	if fails {
		want = "A test that runs and fails is wanted, for the reason that the issue tells."
	}
	return middleOut(fmt.Sprintf("It is not done yet. SIA ran `%s` in the sandbox. %s\n\n%s\n\nMend it, then call "+
		"finish again. The next call ends the run whatever comes of it.", clipLine(c.Command, mostStep), want,
		c.Excerpt), 8000)
}

// Bounds of the tests that are run before a push.
const (
	affectedWithin = 4 * time.Minute
	affectedShare  = 0.75 // of the budget: an agent that has used more is not asked to go on
	affectedNamed  = 20
)

// lookAffected runs the tests that the changes can reach, and keeps in res their results. It returns them the first
// time that some fail, for the agent to be told, where it has used no more than affectedShare of its budget.
func lookAffected(ctx context.Context, in Input, res *Result, used float64, journal *turnJournal) *TestsRun {
	before := res.Affected
	if in.Affected == nil || before != nil && !before.Told {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, affectedWithin)
	defer cancel()
	got, err := in.Affected(within)
	if err != nil {
		journal.addNote("the tests that the change reaches could not be run: " + secret.Mask(err.Error()))
		return nil
	}
	if before != nil {
		again := *before // which is in the transcript
		again.Again, again.Ran, again.Left = true, got.Ran, got.Failed
		res.Affected = &again
		return nil
	}
	res.Affected = &sia.AffectedTests{Ran: got.Ran, Failed: got.Failed}
	if len(got.Failed) == 0 || used > affectedShare || ctx.Err() != nil {
		return nil
	}
	res.Affected.Told = true
	return &got
}

// lookAffected says what the agent is told in place of the end of its attempt; "" when it is done.
func (r *builtinRun) lookAffected(ctx context.Context) (told string) {
	if !r.env.Changed || r.res.End != "" {
		return ""
	}
	got := lookAffected(ctx, r.in, &r.res, r.budget.usedShare(), &r.turnJournal)
	if got == nil {
		return ""
	}
	return toldOfTests(*got, "then call finish again. The next call ends the attempt in any case.")
}

// lookAffected says what the command is told when it is started once more; "" when it is done.
func (r *commandRun) lookAffected(ctx context.Context) (told string) {
	if r.res.End != sia.EndFinished || r.in.Planning {
		return ""
	}
	got := lookAffected(ctx, r.in, &r.res, r.meter.usedShare(), &r.turnJournal)
	if got == nil {
		return ""
	}
	return toldOfTests(*got, "and end. You are not told again.")
}

// toldOfTests says to an agent which tests fail with its change, and what it does when they are mended.
func toldOfTests(got TestsRun, then string) string {
	var b strings.Builder
	b.WriteString("Nothing is pushed yet. SIA ran the tests that your change can reach. These fail with it and do not " +
		"fail without it:\n\n")
	for _, name := range got.Failed[:min(len(got.Failed), affectedNamed)] {
		fmt.Fprintf(&b, "- %s\n", clipLine(sanitizeText(name), mostStep))
	}
	if more := len(got.Failed) - affectedNamed; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	fmt.Fprintf(&b, "\n%s\n\nMend the code, or a test where the issue asks for other behaviour, "+
		"%s", sanitizeText(got.Log), then)
	return middleOut(b.String(), 8000)
}

// Check runs commands on a work tree, one after the other, until ctx ends; "" is the
// repository's tests, of which a baseline says what failed before. Of in, Dir, Repo, Issue,
// OnBase, Services, Setup and Test count.
func (c *Commands) Check(
	ctx context.Context, in Input, commands []string, baseline *sia.CheckRun,
) ([]sia.CheckRun, error) {
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	var runner *attemptRunner
	if c.runners != nil {
		if runner, _, _, err = c.runners.openRunner(ctx, in); err != nil {
			return nil, err
		}
		defer runner.close()
	}
	env := tool.Env{Root: root, Test: in.Test}
	var out []sia.CheckRun
	for _, command := range commands {
		got := wantedCheck{command: command, baseline: baseline}.look(ctx, runner, env)
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if !slices.ContainsFunc(out, func(o sia.CheckRun) bool { return o.Command == got.Command }) {
			out = append(out, got)
		}
	}
	return out, nil
}
