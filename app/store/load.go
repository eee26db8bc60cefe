package store

import (
	"context"
	"math"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Backlog is how much of something waits to be worked on.
type Backlog struct {
	Waiting int       // that are due
	Oldest  time.Time // since when the oldest of them is; zero without any
	Failed  int       // deliveries that were given up, of those that are still kept
}

// DeliveryBacklog is how many deliveries wait, and how many were given up: what they told is lost but for
// what SIA finds by looking.
func (s *DeliveryStore) DeliveryBacklog(ctx context.Context) (Backlog, error) {
	b, err := s.backlog(ctx, `SELECT count(CASE WHEN state = 'pending' THEN 1 END),
			coalesce(min(CASE WHEN state = 'pending' THEN received_at END), 0), count(CASE WHEN state = 'failed' THEN 1 END)
		FROM deliveries WHERE state IN ('pending', 'failed')`)
	return b, s.explain("count deliveries", err)
}

// EffectBacklog is how many effects wait, since they were due.
func (s *TaskStore) EffectBacklog(ctx context.Context) (Backlog, error) {
	b, err := s.backlog(ctx, `SELECT count(*), coalesce(min(due_at), 0), 0 FROM effects
		WHERE state = 'pending' AND due_at <= ?`, micros(s.now()))
	return b, s.explain("count effects", err)
}

func (s *DB) backlog(ctx context.Context, query string, args ...any) (b Backlog, err error) {
	err = s.r.QueryRowContext(ctx, query, args...).Scan(&b.Waiting, asMicros{&b.Oldest}, &b.Failed)
	return b, err
}

// CreditsSpentByAll is what all tasks cost from a time on and before another; a zero time bounds nothing.
func (s *CreditStore) CreditsSpentByAll(ctx context.Context, from, until time.Time) (c sia.Credits, err error) {
	to := int64(math.MaxInt64)
	if !until.IsZero() {
		to = micros(until)
	}
	err = s.r.QueryRowContext(ctx, spentByAllQuery, micros(from), to).Scan(&c)
	return c, s.explain("sum the credits spent", err)
}

const spentByAllQuery = `SELECT coalesce(sum(amount), 0) FROM credits
	WHERE kind IN ('spend', 'overrun') AND at >= ? AND at < ?`
