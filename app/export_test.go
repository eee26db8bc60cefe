package app

import (
	"context"
	"net/http"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/app/work"
)

// Parts are used by the engine of an [App]. Tests use them to run each step when they want. Commands can't be run:
// tests make the attempts themselves.
type Parts struct {
	Store   *store.Store
	Intake  *webhook.Intake
	Worker  *work.Worker
	Sweeper *sweep.Sweeper
}

// OpenParts opens them like New. The caller closes the store.
func OpenParts(ctx context.Context, c Config, o Options) (_ *Parts, err error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	g, err := newDeps(ctx, c, o)
	if err != nil {
		return nil, err
	}
	p, err := newParts(g, c, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Parts{Store: g.store, Intake: p.intake, Worker: p.worker, Sweeper: p.sweeper}, nil
}

// ReadyOf serves /readyz for a server that checks only the database and the free space of its folder, in bytes.
func ReadyOf(s *store.Store, free int64) http.Handler {
	a := &App{Store: s, now: time.Now, free: func() (int64, error) { return free, nil }}
	return http.HandlerFunc(a.ready)
}
