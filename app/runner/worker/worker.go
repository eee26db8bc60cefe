// Package worker is a runner: it takes attempts, and with a sandbox tests, from a server and runs them, on a machine
// that has neither GitHub's nor a model's keys.
//
// For each attempt it fetches the start commit, creates a work tree, and runs the same agent as a server, in the same
// sandbox. It reports each turn before it continues, and at the end the agent's result and a pack of the change. It
// makes outgoing requests only, and only to the server, which also forwards the agent's requests to the model.
//
// An attempt that is no longer this runner's, because it missed its heartbeats for a minute or the server assigned it
// to another runner, is given up immediately. The package may import app/runner, agent, agent/llm, agent/sandbox,
// gitops and sia. Start reading at [Run], then attempt.go. [Attempt] runs one that another process took.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/gitops"
)

// failurePause gives another runner time to take an attempt that could not be run here.
const failurePause = 5 * time.Second

// fullDiskPause is that time when the disk is full, which another attempt here would find, too.
const fullDiskPause = time.Minute

// Config configures a runner.
type Config struct {
	Server    string // address of the server
	PlainHTTP bool   // allows http to another machine
	Token     string
	Dir       string           // folder of mirrors, work trees and caches
	Attempts  int              // maximum number of concurrent attempts; one run of tests may be beside them
	Once      bool             // exit after one attempt
	Sandbox   *sandbox.Sandbox // nil: no commands are run
	AgentPath []string         // folders with command agents
	AgentEnv  []string         // names of variables that repositories may request
	About     string           // description, shown by the server
	Logger    *slog.Logger
	Heartbeat time.Duration // interval of heartbeats; 0: [runner.HeartbeatInterval]
}

// worker is a running runner.
type worker struct {
	Config
	client   *runner.Client
	git      *gitops.Cache
	tests    *evidence.Looker
	patience time.Duration // to retry what the attempt needs of the server, or the server of it
}

func newWorker(c Config) (*worker, error) {
	client, err := runner.NewClient(c.Server, c.PlainHTTP)
	if err != nil {
		return nil, err
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = runner.HeartbeatInterval
	}
	git, err := gitops.OpenCache(filepath.Join(c.Dir, "git"), gitops.CacheOptions{Logger: c.Logger,
		Remove: sandbox.RemoveAll})
	if err != nil {
		return nil, err
	}
	tests := evidence.NewLooker(c.Sandbox, filepath.Join(c.Dir, "sandbox", "tests"), nil, time.Now)
	return &worker{Config: c, client: client, git: git, tests: tests, patience: runner.Lease}, nil
}

// Run takes attempts and runs them until ctx ends. Then it releases the running ones. It returns [runner.ErrToken] when
// the token is not valid.
func Run(ctx context.Context, c Config) error {
	w, err := newWorker(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go runner.Daily(ctx, func() {
		w.git.Tidy(ctx)
		w.tests.Tidy()
		agent.Tidy(filepath.Join(w.Dir, "sandbox"), time.Now, w.Logger)
	})
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	serve := func(takes runner.Takes) {
		all.Go(func() {
			if err := w.serve(ctx, takes); err != nil {
				once.Do(func() { failed = err })
				cancel(err) // stops the others, too
			}
		})
	}
	takes := runner.TakesAttempts
	if w.tests.Runs() {
		takes = runner.TakesBoth
	}
	for range max(1, c.Attempts) {
		serve(takes)
	}
	if w.tests.Runs() && !c.Once {
		serve(runner.TakesTests)
	}
	all.Wait()
	return failed
}

// serve runs what a slot takes, one after the other, whatever the results.
func (w *worker) serve(ctx context.Context, takes runner.Takes) error {
	about := func() string { return w.About }
	for ctx.Err() == nil {
		o, err := w.client.Take(ctx, w.Token, about, takes, w.Logger)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // canceled by the caller
		case err != nil:
			return err
		}
		failed := w.runAttempt(ctx, o)
		if w.Once {
			return nil
		}
		switch { // let another runner take it
		case errors.Is(failed, syscall.ENOSPC):
			runner.Sleep(ctx, fullDiskPause)
		case failed != nil:
			runner.Sleep(ctx, failurePause)
		}
	}
	return nil
}

// Attempt runs the attempt of a pass, which another process took. It returns an error when the attempt could not be run
// here, and not when it was released because ctx ended, or when the pass is no longer valid.
func Attempt(ctx context.Context, c Config, pass string) error {
	w, err := newWorker(c)
	if err != nil {
		return err
	}
	work, err := w.client.Work(ctx, pass)
	o := &runner.Offer{Pass: pass, Work: work}
	if err != nil {
		return w.finish(ctx, w.newAttempt(o), err)
	}
	return w.runAttempt(ctx, o)
}

func (w *worker) newAttempt(o *runner.Offer) *attempt {
	return &attempt{worker: w, offer: o, log: w.Logger.With("effect", o.Work.Key),
		models: modelTransport{next: w.client.Transport()}}
}

// runAttempt runs one attempt.
func (w *worker) runAttempt(ctx context.Context, o *runner.Offer) error {
	a := w.newAttempt(o)
	begins := "attempt begins"
	if o.Work.Run != nil {
		begins = "tests begin"
	}
	a.log.InfoContext(ctx, begins, "task", o.Work.Input.Task, "repo", o.Work.Input.Repo,
		"issue", o.Work.Input.Issue, "start", o.Work.Start, "saved", len(o.Work.Input.Saved))
	return w.finish(ctx, a, a.run(ctx))
}

// finish logs the end of an attempt, and releases it if another runner has to run it. It returns err if the attempt
// could not be run here.
func (w *worker) finish(ctx context.Context, a *attempt, err error) error {
	switch {
	case errors.Is(err, runner.ErrGone):
		a.log.WarnContext(ctx, "attempt given up: it is no longer this runner's", "why", err)
	case ctx.Err() != nil:
		a.release(ctx, false)
		a.log.InfoContext(ctx, "attempt given back: this runner ends")
	case errors.Is(err, syscall.ENOSPC):
		a.release(ctx, false)
		a.log.ErrorContext(ctx, "attempt given back: the disk of this runner's folder is full; free some space", "dir",
			w.Dir, "error", err)
		return err
	case errors.Is(err, runner.ErrUnavailable): // as for another runner
		a.release(ctx, false)
		a.log.WarnContext(ctx, "attempt given back: the server did not give what it needs", "error", err)
		return err
	case err != nil:
		a.release(ctx, true)
		a.log.ErrorContext(ctx, "attempt can't be made here; another runner may take it", "error", err)
		return err
	default:
		a.log.InfoContext(ctx, "attempt reported")
	}
	return nil
}

// release releases the attempt for another runner.
func (a *attempt) release(ctx context.Context, lost bool) {
	err := a.client.Release(context.WithoutCancel(ctx), a.offer.Pass, lost)
	if err != nil && !errors.Is(err, runner.ErrGone) {
		a.log.WarnContext(ctx, "attempt not given back; another runner has it in a minute", "error", err)
	}
}
