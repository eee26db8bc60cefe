package sweep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// redeliverAfter has the delays after each try of a delivery before a redelivery is requested. After the last it is
// given up.
var redeliverAfter = [...]time.Duration{
	0, redeliverSoon, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// redeliverSoon is the maximum delay if another delivery has arrived since then: GitHub can reach SIA again.
const redeliverSoon = 10 * time.Minute

// redeliverMargin is the overlap of two lists: a delivery is listed only after it was tried, and its time is from
// GitHub's clock.
const redeliverMargin = 30 * time.Minute

// maxRedeliveries is the maximum number of requests in one round: after an outage they are spread over several rounds,
// the oldest first, because GitHub drops the oldest first.
const maxRedeliveries = 100

// redeliveries tracks the deliveries that failed, or were lost, and have not arrived since. With the zero value,
// everything that GitHub keeps is listed.
type redeliveries struct {
	mu      sync.Mutex
	since   time.Time                   // all earlier failures are in missing
	more    bool                        // GitHub has more than one list reads: read on when nothing is due
	missing map[string]*github.Delivery // by GUID; Tries includes rejected requests, which GitHub does not list
	lost    lostScan
}

// redeliver makes GitHub redeliver the deliveries that failed, which it does not do automatically, and those that a
// server acknowledged and the database lacks. It continues when one request is rejected.
// https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
func (s *Sweeper) redeliver(ctx context.Context) error {
	r := &s.redeliveries
	r.mu.Lock()
	defer r.mu.Unlock()
	now := s.now()
	if !r.more {
		if err := s.listFailed(ctx, now); err != nil {
			return err
		}
	}
	if err := s.listLost(ctx, now); err != nil {
		return err
	}
	latest, err := s.store.LatestDelivery(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	round, err := s.dueRedeliveries(ctx, now, latest.Received)
	if err != nil {
		return err
	}
	r.more = r.more && len(round) > 0
	var all []error
	for _, d := range round {
		err := s.github.Redeliver(ctx, d.ID)
		switch {
		case err == nil:
			s.log.InfoContext(ctx, "asked for redelivery", "guid", d.GUID, "event", d.Event, "time", d.Tries)
		case sia.RetryAfter(err) > 0: // applies to the others as well
			return errors.Join(append(all, err)...)
		default:
			all = append(all, err)
		}
		d.Tries, d.Last = d.Tries+1, now
		if sia.IsPermanent(err) {
			d.Tries = len(redeliverAfter) + 1
		}
	}
	return errors.Join(append(all, s.recordAnswered(ctx, now))...)
}

// listFailed records the deliveries that failed since the last list, and drops those that GitHub no longer keeps.
func (s *Sweeper) listFailed(ctx context.Context, now time.Time) error {
	r := &s.redeliveries
	oldest := now.Add(-s.github.DeliveryRetention())
	if r.since.Before(oldest) {
		r.since, r.missing = oldest, map[string]*github.Delivery{}
	}
	failed, whole, err := s.github.FailedDeliveries(ctx, r.since)
	if err != nil {
		return err
	}
	for _, d := range failed {
		if r.missing[d.GUID] == nil && s.intake.Handles(d.Event) {
			r.missing[d.GUID] = &d
		}
	}
	for guid, d := range r.missing {
		if d.First.Before(oldest) {
			delete(r.missing, guid)
		}
	}
	if r.more = !whole; whole {
		r.since = now.Add(-redeliverMargin)
	}
	return nil
}

// dueRedeliveries returns the deliveries that are due for a request and have not arrived, the oldest first.
func (s *Sweeper) dueRedeliveries(ctx context.Context, now, heard time.Time) ([]*github.Delivery, error) {
	r := &s.redeliveries
	var due []*github.Delivery
	for _, d := range r.missing {
		if givenUp(d) {
			continue
		}
		after := redeliverAfter[d.Tries-1]
		if heard.After(d.Last) {
			after = min(after, redeliverSoon)
		}
		if !now.Before(d.Last.Add(after)) {
			due = append(due, d)
		}
	}
	slices.SortFunc(due, func(a, b *github.Delivery) int { return a.First.Compare(b.First) })
	guids := make([]string, len(due))
	for i, d := range due {
		guids[i] = d.GUID
	}
	arrived, err := s.store.Arrived(ctx, guids)
	if err != nil {
		return nil, err
	}
	for guid := range arrived {
		delete(r.missing, guid)
	}
	due = slices.DeleteFunc(due, func(d *github.Delivery) bool { return arrived[d.GUID] })
	return due[:min(maxRedeliveries, len(due))], nil
}
