package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// localRun works on one issue with its own server and its own simulated GitHub in this process. Its check is the test
// command, which runs in the sandbox on each pushed commit.
type localRun struct {
	*cli.Env
	*stage.Stage
	cmd               *runCmd
	job               localJob
	repo              string // owner/name there
	bare              string // its bare repository
	commands          *agent.Commands
	hasMemory         bool // earlier runs left a memory
	issue             int
	in                *bufio.Reader // answers of the user
	interactive       bool          // a user can be asked
	began             time.Time
	lastProgress      string // last line about the state of an attempt
	diagnosed         int    // number of diagnoses printed
	attempt           int    // number of the last attempt printed
	turns             printedTurns
	toolCalls         int       // tool calls of the model in all attempts, and turns of a command
	turnsWithoutCalls int       // turns of the model without a tool call
	truncatedTurns    int       // those of them with a truncated answer
	lastQuestion      string    // last question that was answered
	answeredAt        time.Time // when it was answered
	lastReply         int       // number of the last reply printed
	quiet             quiet
	trouble           trouble
	kept              string   // commit that the run last set the result's branch to; empty: none
	baseOK            bool     // the test command passes without any change
	flaky             []string // tests that failed without any change, where the test command then passed
	flakyLog          string   // log of that failure
	setupNeedless     bool     // setup fails without any change, and the test command passes without it
	outputMu          sync.Mutex
	step              atomic.Pointer[string] // step of the running check; nil: none is running
	tests             atomic.Pointer[string] // tests that SIA runs; nil: other output came since
	edits             sync.Map               // findings about edits of tests and their commands, by head
	finished          string                 // head of an attempt that was being checked when the run was stopped
	failed            sync.Map               // heads on which the check failed; the value says if it passed later
	broken            sync.Map               // sentences about the base's tests that a head breaks, by head
}

// runUser is the user who opens the issue and owns the repository.
const runUser = "local"

// start copies the commit, starts the servers, and prepares the check.
func (c *runCmd) start(e *cli.Env, j localJob) (_ *localRun, err error) {
	logger := silentLogger()
	if c.Verbose {
		logger = e.Logger
	}
	var r *localRun
	box, err := replaySandbox(e.Ctx, logger, func() {
		r.progress("%s", compilingStdlib)
		if r.step.Load() != nil { // for a check, not for an attempt
			r.step.Store(new(compilingStdlib))
		}
	})
	if err != nil {
		return nil, err
	}
	r = &localRun{Env: e, cmd: c, job: j, repo: runUser + "/" + j.name, began: time.Now(),
		in: bufio.NewReader(e.Stdin()), interactive: cli.Interactive(os.Stdin)}
	copied, err := os.MkdirTemp("", "sia-run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := copyCommit(e.Ctx, j, copied); err != nil {
		return nil, err
	}
	last, known, err := copyMemory(e.Ctx, j, copied)
	if err != nil {
		return nil, err
	}
	r.hasMemory = known
	var ignored []byte
	if j.judge == nil { // a replay is the same on every machine
		if ignored, err = j.git.ignored(e.Ctx); err != nil {
			return nil, err
		}
	}
	// Ctrl-C, and a write to a closed pipe, end the run. The run then stops the server, which has its own context.
	r.Stage, err = stage.Start(context.WithoutCancel(e.Ctx), stage.Config{Owner: runUser, Name: j.name,
		Spec:   ghsim.RepoSpec{From: copied, DefaultBranch: j.baseName, LastNumber: last},
		Models: j.models, Logger: logger, Forward: cli.ForwardCommand(), Stdlib: stdlibFolder(), NoWorkflows: true,
		Closed: true, Priced: !c.Free, SetupHosts: j.hosts, AgentPath: c.AgentPath, ModelsDir: userDir(),
		Local: app.Local{Anonymous: true, Settings: func(s *sia.Settings) { *s = r.job.settings }, Policies: j.policies,
			Ignored: ignored, BeforeTests: r.runsTests, Findings: r.editFindings}})
	if err != nil {
		return nil, err
	}
	made, err := r.Sim.Repo(r.repo)
	r.bare = made.Dir
	if err == nil {
		_, err = r.Sim.CreateApp(localApp)
	}
	if err == nil {
		r.commands, err = agent.NewCommands(box, filepath.Join(r.Config.Dir, "sandbox"), j.hosts, time.Now, logger)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// copyCommit creates a bare repository with the base commit as its only branch. It has no history, as a shallow clone:
// that of some repositories takes minutes to copy, and a partial clone may be unable to fetch its own.
func copyCommit(ctx context.Context, j localJob, to string) error {
	bare := ownGit(to)
	if _, err := bare.run(ctx, "init", "--quiet", "--bare", "--template=", "--initial-branch="+j.baseName); err != nil {
		return err
	}
	commits, first := []string{j.base}, cmp.Or(j.finished, j.base)
	if j.finished != "" { // the change since then is read
		after, err := j.git.run(ctx, "rev-list", "--end-of-options", j.finished+".."+j.base)
		if err != nil {
			return err
		}
		commits = append(strings.Fields(string(after)), j.finished)
	}
	var listed strings.Builder
	for _, commit := range commits {
		all, err := j.git.objects(ctx, commit)
		if err != nil {
			return err
		}
		listed.WriteString(all)
	}
	if err := j.git.copyObjects(ctx, listed.String(), bare); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "shallow"), []byte(first+"\n"), 0o644); err != nil {
		return err
	}
	_, err := bare.run(ctx, "update-ref", "refs/heads/"+j.baseName, j.base)
	return err
}

// play works on the issue until it is resolved, or nothing more can be done.
func (r *localRun) play() (out runResult, err error) {
	r.progress("%s: %s", r.Style.Bold("Issue"), r.job.title)
	r.progress("Repository %s at %.9s, model %s, %s", r.job.git.dir, r.job.base, r.job.models.Coder.Model,
		r.cmd.budget(r.job))
	r.progress("Check: %s (%s)", r.job.check, r.job.why)
	if err := r.checkModelReachable(); err != nil {
		return out, err
	}
	if r.hasMemory {
		if err := r.loadMemory(); err != nil {
			return out, err
		}
	}
	r.forecast()
	if r.job.uncommitted {
		r.progress("What is not committed, untracked files included, is left alone and not checked. Commit what belongs " +
			"to the work first.")
	}
	if len(r.job.submodules) > 0 {
		r.progress("Submodules are not copied, so tests that need them fail: %s", strings.Join(r.job.submodules, ", "))
	}
	base := checkResult{passed: true}
	if r.job.judge == nil { // the tests of a replay task are known to fail
		r.joinOthers()
		base = r.checkBase(r.job.settings.Agent.Test)
	}
	if r.Ctx.Err() != nil {
		return r.end(sia.Task{})
	}
	if base.err != nil {
		return out, base.err
	}
	if base.setup != "" && !base.passed {
		return out, r.setupError(base)
	}
	if base.noRun == agent.LacksProgram || base.noRun != "" && r.job.isDetected {
		return out, r.noRunError(base)
	}
	if !base.passed {
		if err := r.untestable(base); err != nil {
			return out, err
		}
		base = r.checkBaseAgain(base)
		if r.Ctx.Err() != nil {
			return r.end(sia.Task{})
		}
	}
	r.baseOK, r.setupNeedless = base.passed, base.setup != ""
	switch {
	case r.job.judge != nil:
	case r.baseOK:
		r.progress("The check passes before any change, in %s.", base.took.Round(100*time.Millisecond))
		if r.setupNeedless {
			r.progress("Setup fails, and the check passes without it; to leave setup out, give --setup true:\n%s",
				excerptOf(base.setup, shownLines))
		}
	default:
		r.progress("The check fails before any change, too, so the result has to repair that as well. Where that is not "+
			"wanted, stop, and leave it out with --test:\n%s", excerptOf(base.log, shownLines))
	}
	if r.baseOK && r.job.finished != "" {
		return r.takeFinished()
	}
	body := r.job.body
	if !r.baseOK {
		body = strings.TrimSpace(fmt.Sprintf("%s\n\nBefore any change, `%s` fails:\n\n%s", body, r.job.settings.Agent.Test,
			excerptOf(base.log, promptLines)))
	}
	if r.issue, err = r.Sim.OpenIssue(r.repo, runUser, r.job.title, body); err != nil {
		return out, err
	}
	if err := r.Sim.Label(r.repo, r.issue, runUser, r.job.settings.Label); err != nil {
		return out, err
	}
	ctx, end := context.WithCancel(context.WithoutCancel(r.Ctx))
	broken, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.watchPushes(ctx); err != nil {
			broken <- err
		}
	}()
	task, err := r.followTask(broken)
	if err == nil && r.cmd.Memory && task.State == sia.Passed { // lessons are committed after the task has passed
		within, cancel := context.WithTimeout(ctx, stopTimeout)
		if err := r.App.Engine().Idle(within); err != nil {
			r.progress("What was learned may be committed in part: %v", err)
		}
		cancel()
	}
	end()
	<-ended
	if err != nil {
		return out, err
	}
	return r.end(task)
}

// joinOthers adds the test commands of the repository's other languages to the check, and reports those that can't run
// here.
func (r *localRun) joinOthers() {
	for _, other := range r.job.others {
		res := r.checkBase(other.Line)
		if r.Ctx.Err() != nil {
			return
		}
		rep, err := failure.Read(r.Ctx, strings.NewReader(res.log), failure.Options{})
		if !res.passed && (res.err != nil || err != nil || res.noRun != "" || len(rep.Tests) == 0) {
			r.progress("Not part of the check, since it does not run here: %s (%s). To have it checked, too, give --test.",
				other.Line, other.Why)
			continue
		}
		r.job.settings.Agent.Test += " && " + other.Line
		r.job.check = r.job.settings.Agent.Test
		failing := ""
		if !res.passed {
			failing = "; it fails before any change, and --test with the first command alone leaves it out"
		}
		r.progress("The check runs this, too: %s (%s)%s", other.Line, other.Why, failing)
	}
}

// checkBase runs a check before any change, and reports now and then that it is running.
func (r *localRun) checkBase(command string) checkResult {
	ended := make(chan checkResult, 1)
	go func() { ended <- r.checkWith(r.Ctx, r.job.base, command) }()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case out := <-ended:
			return out
		case <-tick.C:
			r.reportSilence(sia.Task{})
		}
	}
}

// maxFirstRun is how long a check of the base may have taken that is run again because it failed.
const maxFirstRun = 2 * time.Minute

// checkBaseAgain runs the check before any change once more if it failed and was quick, so that no attempt has to
// repair a test that fails now and then. It returns the result that counts. The finished change of a stopped run is no
// such base: a second run would let it pass.
func (r *localRun) checkBaseAgain(first checkResult) checkResult {
	if r.job.judge != nil || r.job.finished != "" || first.noRun != "" || first.took > maxFirstRun {
		return first
	}
	again := r.checkBase(r.job.settings.Agent.Test)
	if !again.passed || again.err != nil {
		return first
	}
	r.flaky, r.flakyLog = first.failedTests(r.Ctx), first.log
	then := "Where only the same tests fail on a change, it is run once more, too"
	if len(r.flaky) == 0 {
		then = "It does not say which tests failed, so it is not run again where it fails on a change"
	}
	r.progress("The check failed before any change, and passed when it was run again. %s:\n%s", then,
		excerptOf(first.log, shownLines))
	return again
}

// lacksSetupProgram matches the exit status of a shell for a program that does not exist or can't be run.
var lacksSetupProgram = regexp.MustCompile(`(?m)^exit status 12[67]$`)

// setupError returns the error for setup and tests that fail before any change, which makes attempts useless.
func (r *localRun) setupError(base checkResult) error {
	hosts := "no host"
	if len(r.job.hosts) > 0 {
		hosts = strings.Join(r.job.hosts, ", ")
	}
	log, unreachable, notAllowed := excerptOf(base.setup, shownLines), false, false
	for line := range strings.Lines(base.setup) { // the reason, which a package manager's own words don't give
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, agent.RefusedPrefix) {
			continue
		}
		if strings.Contains(line, ": "+sandbox.Unreachable) {
			unreachable = true
		} else {
			notAllowed = true
		}
		if !strings.Contains(log, line) {
			log += "\n    " + line
		}
	}
	then := "Give other commands with --setup, or the hosts that they need with --setup-hosts (now " + hosts + ")"
	switch {
	case lacksSetupProgram.MatchString(base.setup):
		then = "A program that setup needs is not installed, or not where commands can see it: in /usr, or in the folder " +
			"of a toolchain that is in PATH. Install it, or give other commands with --setup"
	case unreachable && !notAllowed:
		then = "This machine can't reach a host that setup needs. If what it installs is on the machine, --setup true " +
			"leaves setup out; otherwise give other commands with --setup"
	}
	return fmt.Errorf("setup fails before any change, and the tests with it, so nothing was begun:\n%s\n%s", log, then)
}

// checkModelReachable returns an error if the model is unreachable or rejects the key. The server's loop would wait for
// hours, which makes no sense for a user at a terminal.
func (r *localRun) checkModelReachable() error {
	for _, p := range r.App.Problems(r.Ctx) {
		e := (*llm.Error)(nil)
		switch {
		case r.Ctx.Err() != nil || !errors.As(p.Err, &e):
		case e.Kind == llm.KindNetwork || e.Kind == llm.KindAuth:
			return fmt.Errorf("the model can't be asked, so nothing was begun: %w", p.Err)
		case e.Kind == llm.KindTimeout:
			r.progress("The model's endpoint is slow to answer, or silent; it is asked all the same.")
		}
	}
	return nil
}

// pace is the interval at which a run polls its task.
const pace = 500 * time.Millisecond

// followTask prints the progress of the task until it ends, until it waits for a user who can't be asked, or until
// broken receives an error of the check.
func (r *localRun) followTask(broken <-chan error) (t sia.Task, err error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-r.Ctx.Done():
			return r.stop(t)
		case err := <-broken:
			return t, err
		case <-tick.C:
		}
		now, err := r.TaskOf(r.Ctx, r.issue)
		if err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if now.ID == "" {
			continue
		}
		t = now
		if err := r.tell(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if lost, err := r.checkRetries(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		} else if lost {
			return r.stop(t)
		}
		r.printReplies()
		r.reportSilence(t)
		switch {
		case t.State == sia.Passed || t.State == sia.Stopped:
			return t, nil
		case render.Waiting(t) == "" || t.State == sia.Escalated && !t.Escalation.Kind.OnIssue() && t.Escalation.Issue == 0:
		case !r.interactive:
			return t, nil
		default:
			if done, err := r.ask(t); done || err != nil {
				return t, err
			}
		}
	}
}

// stopTimeout is how long a stopped run may take to put its work on the branch.
const stopTimeout = 20 * time.Second

// stop makes SIA put the work on the branch, after Ctrl-C or when nobody reads the output any more.
func (r *localRun) stop(t sia.Task) (sia.Task, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), stopTimeout)
	defer cancel()
	r.progress("Stopping; what was done is kept.")
	if t.State == sia.PushedOut || t.State == sia.Checking {
		r.finished = string(t.Head)
	}
	if _, err := r.Sim.Comment(r.repo, r.issue, runUser, "/sia stop"); err != nil {
		return t, err
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for t.State != sia.Stopped && t.State != sia.Passed {
		select {
		case <-ctx.Done():
			return t, nil
		case <-tick.C:
		}
		now, err := r.TaskOf(ctx, r.issue)
		if err != nil {
			return t, nil // keep what is on the branch
		}
		if now.ID != "" {
			t = now
		}
	}
	if err := r.App.Engine().Idle(ctx); err != nil && ctx.Err() == nil {
		return t, err
	}
	return t, nil // tests that still run add nothing to the branch
}
