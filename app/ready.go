package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// Problem is a failure outside this process.
type Problem struct {
	What  string // "GitHub", or "model" and its name
	Err   error  // includes a remedy
	Fatal bool   // nothing works without it, and only a person can change that
}

func (p Problem) String() string { return p.What + ": " + p.Err.Error() }

// Time limit of a check, and the time for which its result is reused.
const (
	checkTimeout  = 5 * time.Second
	checkValidity = 15 * time.Second
)

// healthCache caches the last check, so that readiness probes don't reach GitHub and the models each time.
type healthCache struct {
	mu       sync.Mutex
	at       time.Time
	problems []Problem
}

// Problems checks whether GitHub accepts the app, and whether each model's endpoint is available and accepts its key.
// It takes at most checkTimeout, and is free of charge.
func (a *App) Problems(ctx context.Context) []Problem {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if a.GitHub == nil {
		return nil // no external services are needed
	}
	var models []ModelConfig
	if a.config.Roles.Has(RoleWork) {
		models = a.config.Models.Named()
	}
	found := make([]*Problem, 1+len(models))
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := a.GitHub.Hook(ctx); err != nil {
			found[0] = &Problem{What: "GitHub", Err: err, Fatal: sia.IsPermanent(err) || github.IsUnauthorized(err)}
		}
	})
	for i, m := range models {
		all.Go(func() {
			if err := a.checkModel(ctx, m); err != nil {
				found[1+i] = &Problem{What: "model " + m.Name, Err: err}
			}
		})
	}
	all.Wait()
	var out []Problem
	for _, p := range found {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// checkModel returns why a model's endpoint can't be used, with a remedy.
func (a *App) checkModel(ctx context.Context, m ModelConfig) error {
	client, err := m.Client(a.log, 0)
	if err != nil {
		return err
	}
	err = client.Reach(ctx)
	var known *llm.Error
	if errors.As(err, &known) {
		return fmt.Errorf("%w. %s", err, known.Advice())
	}
	return err
}

// blockingProblems returns the problems that block all tasks, at most checkValidity old. A model counts if no other can
// replace it.
func (a *App) blockingProblems(ctx context.Context) []Problem {
	a.health.mu.Lock()
	defer a.health.mu.Unlock()
	if a.health.at.IsZero() || a.now().Sub(a.health.at) >= checkValidity {
		seen := a.Problems(ctx)
		if ctx.Err() != nil {
			return seen // the caller is gone; the next one checks again
		}
		a.health.problems, a.health.at = seen, a.now()
	}
	down := map[string]bool{}
	for _, p := range a.health.problems {
		down[p.What] = true
	}
	var out []Problem
	for _, p := range a.health.problems {
		if p.What == "GitHub" || a.isIndispensable(p.What, down) {
			out = append(out, p)
		}
	}
	return out
}

// isIndispensable reports whether the named model belongs to a role without any model that is up.
func (a *App) isIndispensable(what string, down map[string]bool) bool {
	named := a.config.Models.Named()
	nameOf := func(m ModelConfig) string {
		for _, n := range named {
			if n.same(m) {
				return "model " + n.Name
			}
		}
		return ""
	}
	for _, first := range a.config.Models.Roles() {
		left, concerned := false, false
		for _, m := range append([]ModelConfig{first}, first.Backups...) {
			name := nameOf(m)
			left, concerned = left || !down[name], concerned || name == what
		}
		if concerned && !left {
			return true
		}
	}
	return false
}

// ready responds with 200 if tasks can make progress: the database is readable and writable, the server's folder has
// free space, GitHub accepts the app, and each role has an available model. Otherwise it responds with 503 and the
// problems, one per line.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if _, err := a.Store.Version(ctx); err != nil {
		http.Error(w, "database: it does not answer", http.StatusServiceUnavailable)
		return
	}
	if a.Store.Refused() != "" { // the details name a file or a server; they are in the log
		http.Error(w, "database: it does not take what is written to it; the log says why", http.StatusServiceUnavailable)
		return
	}
	if a.config.Roles.Has(RoleWork) { // the others don't write to the folder
		if free, err := a.free(); err == nil {
			if err := CheckFree(free); err != nil {
				http.Error(w, "disk: "+err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
	}
	problems := a.blockingProblems(r.Context())
	if len(problems) == 0 {
		_, _ = w.Write([]byte("ready\n"))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, p := range problems {
		fmt.Fprintln(w, a.secrets.Mask(p.String()))
	}
}
