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
// Start reading at [Run], then attempt.go.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/gitops"
)

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
	client *client
	git    *gitops.Cache
}

// ErrToken says that the server does not know the token.
var ErrToken = errors.New("the server does not know this runner's token: it was removed, or never added; " +
	"`sia runner add NAME` on the server makes one")

// Run asks for attempts and makes them until ctx ends. Those under way are given back then. It ends with [ErrToken]
// when the token is not valid, or no longer.
func Run(ctx context.Context, c Config) error {
	client, err := newClient(c.Server, c.PlainHTTP)
	if err != nil {
		return err
	}
	if c.Beat == 0 {
		c.Beat = runner.Beat
	}
	git, err := gitops.OpenCache(filepath.Join(c.Dir, "git"), gitops.CacheOptions{Logger: c.Logger})
	if err != nil {
		return err
	}
	w := &worker{Config: c, client: client, git: git}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
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

// serve makes attempts one after the other.
func (w *worker) serve(ctx context.Context) error {
	pause := time.Second
	for ctx.Err() == nil {
		o, err := w.client.next(ctx, w.Token, w.About)
		var r *refusal
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case errors.As(err, &r) && r.status == http.StatusUnauthorized:
			return ErrToken
		case err != nil:
			w.Logger.WarnContext(ctx, "the server can't be asked for an attempt; trying again", "error", err, "in", pause)
			wait := pause
			if r != nil {
				wait = max(wait, r.after)
			}
			pause = min(2*pause, retryAtMost)
			sleep(ctx, wait)
			continue
		}
		if pause = time.Second; o == nil {
			continue
		}
		w.make(ctx, o)
		if w.Once {
			return nil
		}
	}
	return nil
}

// make makes one attempt. Whatever becomes of it, the runner goes on.
func (w *worker) make(ctx context.Context, o *runner.Offer) {
	a := &attempt{worker: w, offer: o, log: w.Logger.With("key", o.Work.Key)}
	a.log.InfoContext(ctx, "attempt begins", "repo", o.Work.Input.Repo, "issue", o.Work.Input.Issue, "start", o.Work.Start,
		"saved", len(o.Work.Input.Saved))
	switch err := a.run(ctx); {
	case errors.Is(err, errGone):
		a.log.WarnContext(ctx, "attempt given up: it is no longer this runner's", "why", err)
	case ctx.Err() != nil:
		a.giveBack(ctx)
		a.log.InfoContext(ctx, "attempt given back: this runner ends")
	case err != nil:
		a.giveBack(ctx)
		a.log.ErrorContext(ctx, "attempt can't be made here; another runner may take it", "error", err)
		sleep(ctx, 5*time.Second) // so that another does
	default:
		a.log.InfoContext(ctx, "attempt reported")
	}
}

// giveBack lets another runner have the attempt at once.
func (a *attempt) giveBack(ctx context.Context) {
	err := a.client.tell(context.WithoutCancel(ctx), beatWithin, runner.ReleasePath, a.offer.Pass, nil, nil)
	if err != nil && !errors.Is(err, errGone) {
		a.log.WarnContext(ctx, "attempt not given back; another runner has it in a minute", "error", fmt.Sprint(err))
	}
}
