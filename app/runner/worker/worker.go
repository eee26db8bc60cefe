// Package worker is a runner: it asks a server for attempts and makes them, on a machine that has neither GitHub's nor
// a model's keys.
//
// For each attempt it fetches the commit that this begins on, makes a work tree of it, and lets the same agent work as
// a server would, in the same sandbox. It reports each turn before it goes on, and in the end what the agent said and
// a pack of what it changed. It calls out only, and speaks with nobody but the server: that passes on what the agent
// asks the model.
//
// An attempt that is no longer this runner's, because the server did not hear of it for a minute or gave the attempt
// to another, is given up at once. The package may import app/runner, agent, agent/llm, agent/sandbox, gitops and sia.
// Start reading at [Run], then attempt.go. [Attempt] makes one that somebody else took.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/gitops"
)

// pauseAfter is for another runner to take what could not be made here.
const pauseAfter = 5 * time.Second

// Config is what a runner works with.
type Config struct {
	Server    string // its address
	PlainHTTP bool   // it may be http on another machine
	Token     string
	Dir       string           // of mirrors, work trees and caches
	Attempts  int              // at the same time
	Once      bool             // makes one attempt, and ends
	Sandbox   *sandbox.Sandbox // nil: nothing is run
	AgentPath []string         // folders with agents that are commands
	AgentEnv  []string         // names of variables that repositories may ask for
	About     string           // what the server shows of it
	Logger    *slog.Logger
	Beat      time.Duration // how often the server hears of it; 0: [runner.Beat]
}

// worker is a runner at work.
type worker struct {
	Config
	client *runner.Client
	git    *gitops.Cache
	tests  *evidence.Looker
}

func newWorker(c Config) (*worker, error) {
	client, err := runner.NewClient(c.Server, c.PlainHTTP)
	if err != nil {
		return nil, err
	}
	if c.Beat == 0 {
		c.Beat = runner.Beat
	}
	git, err := gitops.OpenCache(filepath.Join(c.Dir, "git"), gitops.CacheOptions{Logger: c.Logger,
		Remove: sandbox.RemoveAll})
	if err != nil {
		return nil, err
	}
	tests := evidence.NewLooker(c.Sandbox, filepath.Join(c.Dir, "sandbox", "tests"), nil, time.Now)
	return &worker{Config: c, client: client, git: git, tests: tests}, nil
}

// Run asks for attempts and makes them until ctx ends. Those under way are given back then. It ends with
// [runner.ErrToken] when the token is not valid, or no longer.
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
	for range max(1, c.Attempts) {
		all.Go(func() {
			if err := w.serve(ctx); err != nil {
				once.Do(func() { failed = err })
				cancel(err) // the others end as well
			}
		})
	}
	all.Wait()
	return failed
}

// serve makes attempts one after the other. It goes on whatever the result of one.
func (w *worker) serve(ctx context.Context) error {
	about := func() string { return w.About }
	for ctx.Err() == nil {
		o, err := w.client.Take(ctx, w.Token, about, w.Logger)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case err != nil:
			return err
		}
		failed := w.make(ctx, o)
		if w.Once {
			return nil
		}
		if failed != nil { // so that another has it
			runner.Sleep(ctx, pauseAfter)
		}
	}
	return nil
}

// Attempt makes the attempt of a pass, which somebody else took. It ends with an error when it could not be made here,
// and another has to; an attempt that is given back since ctx ends, or that is no longer this one's, is none.
func Attempt(ctx context.Context, c Config, pass string) error {
	w, err := newWorker(c)
	if err != nil {
		return err
	}
	work, err := w.client.Work(ctx, pass)
	o := &runner.Offer{Pass: pass, Work: work}
	if err != nil {
		return w.ended(ctx, w.begin(o), err)
	}
	return w.make(ctx, o)
}

func (w *worker) begin(o *runner.Offer) *attempt {
	return &attempt{worker: w, offer: o, log: w.Logger.With("key", o.Work.Key)}
}

// make makes one attempt.
func (w *worker) make(ctx context.Context, o *runner.Offer) error {
	a := w.begin(o)
	a.log.InfoContext(ctx, "attempt begins", "repo", o.Work.Input.Repo, "issue", o.Work.Input.Issue, "start", o.Work.Start,
		"saved", len(o.Work.Input.Saved))
	return w.ended(ctx, a, a.run(ctx))
}

// ended says how an attempt ended, and gives it back where another has to make it: then it returns why.
func (w *worker) ended(ctx context.Context, a *attempt, err error) error {
	switch {
	case errors.Is(err, runner.ErrGone):
		a.log.WarnContext(ctx, "attempt given up: it is no longer this runner's", "why", err)
	case ctx.Err() != nil:
		a.giveBack(ctx, false)
		a.log.InfoContext(ctx, "attempt given back: this runner ends")
	case err != nil:
		a.giveBack(ctx, true)
		a.log.ErrorContext(ctx, "attempt can't be made here; another runner may take it", "error", err)
		return err
	default:
		a.log.InfoContext(ctx, "attempt reported")
	}
	return nil
}

// giveBack lets another runner have the attempt at once.
func (a *attempt) giveBack(ctx context.Context, lost bool) {
	err := a.client.Release(context.WithoutCancel(ctx), a.offer.Pass, lost)
	if err != nil && !errors.Is(err, runner.ErrGone) {
		a.log.WarnContext(ctx, "attempt not given back; another runner has it in a minute", "error", err)
	}
}
