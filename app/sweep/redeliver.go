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

// redeliverAfter is how long after its last try GitHub is asked to send a delivery once more, and then no more.
var redeliverAfter = [...]time.Duration{
	0, redeliverSoon, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// redeliverSoon is the same where another delivery has arrived since then: GitHub reaches SIA again.
const redeliverSoon = 10 * time.Minute

// redeliverMargin is how far before this look the next one begins: a delivery is listed once it was tried, and its time
// is by GitHub's clock.
const redeliverMargin = 30 * time.Minute

// redeliverMost is how many deliveries one round asks for: after an outage they come spread over the rounds, and what
// came first comes first, since GitHub drops that first.
const redeliverMost = 100

// redeliveries are the deliveries that failed, or were lost, and are not known to have arrived. The zero value knows
// none: then all that GitHub keeps is looked through.
type redeliveries struct {
	mu      sync.Mutex
	since   time.Time                   // what failed before is known
	more    bool                        // GitHub lists more than one look reads: the next begins when nothing is due
	missing map[string]*github.Delivery // by GUID; Tries counts the refusals as well, of which GitHub keeps no trace
	lost    lost
}

// redeliver has GitHub send again what it could not deliver, which it does not do by itself, and what a server had
// answered and the database lacks. One that is refused does not keep the others.
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
	round, err := s.round(ctx, now, latest.Received)
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
		case sia.RetryAfter(err) > 0: // it holds for the others as well
			return errors.Join(append(all, err)...)
		default:
			all = append(all, err)
		}
		d.Tries, d.Last = d.Tries+1, now
		if sia.IsPermanent(err) {
			d.Tries = len(redeliverAfter) + 1
		}
	}
	return errors.Join(append(all, s.noteAnswered(ctx, now))...)
}

// listFailed notes what failed since the last look, and forgets what GitHub does not keep any more.
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

// round are the deliveries that it is time to ask for and that never arrived, the oldest first.
func (s *Sweeper) round(ctx context.Context, now, heard time.Time) ([]*github.Delivery, error) {
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
	return due[:min(redeliverMost, len(due))], nil
}
