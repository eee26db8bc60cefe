package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// localRun is one issue on the way: a server of SIA's and a GitHub of its own, in this process. The check is the
// test command, which runs in the sandbox on each commit that is pushed.
type localRun struct {
	*cli.Env
	*demoStage
	cmd       *runCmd
	job       localJob
	repo      string // owner/name there
	bare      string // its bare repository
	commands  *agent.Commands
	recalls   bool // earlier runs left something
	issue     int
	in        *bufio.Reader // answers of the person
	terminal  bool          // somebody can be asked
	began     time.Time
	told      string // the last line of progress
	diagnosed int    // diagnoses that were told
	attempt   int    // the last one that was told of
	turns     toldTurns
	calls     int       // of tools, by the model in all attempts, and turns of a command
	talk      int       // turns of the model's that called none
	cut       int       // of these, with an answer that was cut off at its length
	asked     string    // the last question that was asked
	answered  time.Time // when it was answered
	heard     int       // number of the last reply that was told
	quiet     quiet
	trouble   trouble
	baseOK    bool // the test command passes without any change
	needless  bool // setup fails without any change, and the test command passes without it
	telling   sync.Mutex
	step      atomic.Pointer[string] // of the check that runs; nil: none does
	tests     atomic.Pointer[string] // which tests SIA runs; nil: something else was told since
}

// runUser is who asks, and has the repository.
const runUser = "local"

// start copies the commit, starts everything, and opens the issue.
func (c *runCmd) start(e *cli.Env, j localJob) (_ *localRun, err error) {
	logger := silentLogger()
	if c.Verbose {
		logger = e.Logger
	}
	var r *localRun
	box, err := replaySandbox(e.Ctx, logger, func() {
		r.progress("%s", compilingStdlib)
		if r.step.Load() != nil { // it is for a check, and not for an attempt
			r.step.Store(new(compilingStdlib))
		}
	})
	if err != nil {
		return nil, err
	}
	r = &localRun{Env: e, cmd: c, job: j, repo: runUser + "/" + j.name, began: time.Now(),
		in: bufio.NewReader(e.Stdin()), terminal: cli.Interactive(os.Stdin)}
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
	r.recalls = known
	var ignored []byte
	if j.judge == nil { // a replay is the same on every machine
		if ignored, err = j.git.ignored(e.Ctx); err != nil {
			return nil, err
		}
	}
	// Ctrl-C ends the run, and so does that nobody reads the output. It then has the server stop.
	r.demoStage, err = newStage(context.WithoutCancel(e.Ctx), stageConfig{name: j.name, owner: runUser,
		spec:   ghsim.RepoSpec{From: copied, DefaultBranch: j.baseName, LastNumber: last},
		models: j.models, logger: logger, noWorkflows: true, closed: true, priced: !c.Free, setupHosts: j.hosts,
		modelsDir: defaultDir(),
		local: app.Local{Anonymous: true, Settings: func(s *sia.Settings) { *s = j.settings }, Policies: j.policies,
			Ignored: ignored, BeforeTests: r.runsTests}})
	if err != nil {
		return nil, err
	}
	made, err := r.sim.Repo(r.repo)
	r.bare = made.Dir
	if err == nil {
		_, err = r.sim.CreateApp(localApp)
	}
	if err == nil {
		r.commands, err = agent.NewCommands(box, filepath.Join(r.config.Dir, "sandbox"), j.hosts, time.Now, logger)
	}
	if err != nil {
		return nil, errors.Join(err, r.shut())
	}
	return r, nil
}

// copyCommit makes a bare repository with the base commit as its only branch, whatever a person's git does with a push.
func copyCommit(ctx context.Context, j localJob, to string) error {
	bare := localGit{to}
	for _, args := range [][]string{{"init", "--quiet", "--bare", "--initial-branch=" + j.baseName},
		{"config", "receive.shallowUpdate", "true"}, {"config", "receive.advertisePushOptions", "true"}} {
		if _, err := bare.run(ctx, args...); err != nil {
			return err
		}
	}
	_, err := j.git.run(ctx, "push", "--quiet", "--no-verify", "--no-signed", "--no-recurse-submodules", "--", to,
		j.base+":refs/heads/"+j.baseName)
	return err
}

// play works on the issue until it is resolved, or nothing more can be done.
func (r *localRun) play() (out runResult, err error) {
	r.progress("%s: %s", r.Style.Bold("Issue"), r.job.title)
	r.progress("Repository %s at %.9s, model %s, %s", r.job.git.dir, r.job.base, r.job.models.Coder.Model,
		r.cmd.budget(r.job))
	r.progress("Check: %s (%s)", r.job.check, r.job.why)
	if err := r.reachModel(); err != nil {
		return out, err
	}
	if r.recalls {
		if err := r.recall(); err != nil {
			return out, err
		}
	}
	r.forecast()
	if r.job.uncommitted {
		r.progress("Changes that are not committed are left alone, and are no part of this.")
	}
	if len(r.job.submodules) > 0 {
		r.progress("Submodules are not copied, so tests that need them fail: %s", strings.Join(r.job.submodules, ", "))
	}
	base := checkResult{passed: true}
	if r.job.judge == nil { // a replay task's tests fail then
		base = r.checkBase()
	}
	if r.Ctx.Err() != nil {
		return r.end(sia.Task{})
	}
	if base.err != nil {
		return out, base.err
	}
	if base.setup != "" && !base.passed {
		return out, r.noSetup(base)
	}
	r.baseOK, r.needless = base.passed, base.setup != ""
	switch {
	case r.job.judge != nil:
	case r.baseOK:
		r.progress("The check passes before any change, in %s.", base.took.Round(100*time.Millisecond))
		if r.needless {
			r.progress("Setup fails, and the check passes without it; to leave setup out, give --setup true:\n%s",
				excerptOf(base.setup, shownLines))
		}
	default:
		r.progress("The check fails before any change, too, so the result has to repair that as well:\n%s",
			excerptOf(base.log, shownLines))
	}
	body := r.job.body
	if !r.baseOK {
		body = strings.TrimSpace(fmt.Sprintf("%s\n\nBefore any change, `%s` fails:\n\n%s", body, r.job.settings.Agent.Test,
			excerptOf(base.log, toldLines)))
	}
	if r.issue, err = r.sim.OpenIssue(r.repo, runUser, r.job.title, body); err != nil {
		return out, err
	}
	if err := r.sim.Label(r.repo, r.issue, runUser, r.job.settings.Label); err != nil {
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
	task, err := r.follow(broken)
	if err == nil && r.cmd.Memory && task.State == sia.Passed { // what was learned is committed after that
		within, cancel := context.WithTimeout(ctx, graceful)
		if err := r.app.Engine().Idle(within); err != nil {
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

// checkBase runs the check before any change, and says now and then that it runs.
func (r *localRun) checkBase() checkResult {
	ended := make(chan checkResult, 1)
	go func() { ended <- r.check(r.Ctx, r.job.base) }()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case out := <-ended:
			return out
		case <-tick.C:
			r.tellQuiet(sia.Task{})
		}
	}
}

// noSetup says that there is no use in attempts where setup and the tests fail before any change.
func (r *localRun) noSetup(base checkResult) error {
	hosts := "no host"
	if len(r.job.hosts) > 0 {
		hosts = strings.Join(r.job.hosts, ", ")
	}
	return fmt.Errorf("setup fails before any change, and the tests with it, so nothing was begun:\n%s\n"+
		"Give other commands with --setup, or the hosts that they need with --setup-hosts (now %s)",
		excerptOf(base.setup, shownLines), hosts)
}

// reachModel refuses to begin with a model that is away or does not take the key. The server's loop would wait for it
// for hours, as it should: nobody is at its terminal.
func (r *localRun) reachModel() error {
	for _, p := range r.app.Problems(r.Ctx) {
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

// pace is how often a run looks how its task goes.
const pace = 500 * time.Millisecond

// follow tells how the task goes until it ends, waits for somebody who can't be asked, or broken says that its commits
// can't be checked.
func (r *localRun) follow(broken <-chan error) (t sia.Task, err error) {
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
		now, err := r.taskOf(r.Ctx, r.issue)
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
		if lost, err := r.inTrouble(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		} else if lost {
			return r.stop(t)
		}
		r.tellReplies()
		r.tellQuiet(t)
		switch {
		case t.State == sia.Passed || t.State == sia.Stopped:
			return t, nil
		case render.Waiting(t) == "" || t.State == sia.Escalated && !t.Escalation.Kind.OnIssue() && t.Escalation.Issue == 0:
		case !r.terminal:
			return t, nil
		default:
			if done, err := r.ask(t); done || err != nil {
				return t, err
			}
		}
	}
}

// graceful bounds how long a stopped run may take to put its work on the branch.
const graceful = 20 * time.Second

// stop has SIA put what was done on the branch, after Ctrl-C, or when nobody reads the output any more.
func (r *localRun) stop(t sia.Task) (sia.Task, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), graceful)
	defer cancel()
	r.progress("Stopping; what was done is kept.")
	if _, err := r.sim.Comment(r.repo, r.issue, runUser, "/sia stop"); err != nil {
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
		now, err := r.taskOf(ctx, r.issue)
		if err != nil {
			return t, nil // what is on the branch is all that there is
		}
		if now.ID != "" {
			t = now
		}
	}
	return t, r.app.Engine().Idle(ctx)
}
