package store

import (
	"context"
	"math"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Backlog counts waiting work.
type Backlog struct {
	Waiting int       // number of due items
	Oldest  time.Time // when the oldest of them became due; zero if there is none
	Failed  int       // number of stored deliveries that were given up
}

// DeliveryBacklog counts the deliveries that wait, and those that were given up: their content is lost, except
// for what SIA finds by polling.
func (s *DeliveryStore) DeliveryBacklog(ctx context.Context) (Backlog, error) {
	b, err := s.backlog(ctx, `SELECT count(CASE WHEN state = 'pending' THEN 1 END),
			coalesce(min(CASE WHEN state = 'pending' THEN received_at END), 0), count(CASE WHEN state = 'failed' THEN 1 END)
		FROM deliveries WHERE state IN ('pending', 'failed')`)
	return b, s.explain("count deliveries", err)
}

// EffectBacklog counts the effects that are due.
func (s *TaskStore) EffectBacklog(ctx context.Context) (Backlog, error) {
	b, err := s.backlog(ctx, `SELECT count(*), coalesce(min(due_at), 0), 0 FROM effects
		WHERE state = 'pending' AND due_at <= ?`, micros(s.now()))
	return b, s.explain("count effects", err)
}

func (s *DB) backlog(ctx context.Context, query string, args ...any) (b Backlog, err error) {
	err = s.r.QueryRowContext(ctx, query, args...).Scan(&b.Waiting, timeColumn{&b.Oldest}, &b.Failed)
	return b, err
}

// TotalCreditsSpent returns the cost of all tasks at or after from and before until; a zero time is no bound.
func (s *CreditStore) TotalCreditsSpent(ctx context.Context, from, until time.Time) (c sia.Credits, err error) {
	to := int64(math.MaxInt64)
	if !until.IsZero() {
		to = micros(until)
	}
	err = s.r.QueryRowContext(ctx, spentByAllQuery, micros(from), to).Scan(&c)
	return c, s.explain("sum the credits spent", err)
}

const spentByAllQuery = `SELECT coalesce(sum(amount), 0) FROM credits
	WHERE kind IN ('spend', 'overrun') AND at >= ? AND at < ?`
