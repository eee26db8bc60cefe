package sweep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// redeliverTries is how often GitHub is asked to send one delivery again. What did
// not arrive by then is found by looking.
const redeliverTries = 3

// redeliverMargin is how far before this look the next one begins: a delivery is
// listed once it was tried, and its time is by GitHub's clock.
const redeliverMargin = 30 * time.Minute

// redeliverMost is how many deliveries one round asks for: after an outage they come spread over the rounds, and what
// came first comes first, since GitHub drops that first.
const redeliverMost = 100

// redeliveries is what is known about deliveries that failed. The zero value knows
// nothing: then all that GitHub keeps is looked through.
type redeliveries struct {
	mu    sync.Mutex
	since time.Time        // nothing before needs anything more
	asked map[string]asked // by GUID
}

// asked is how often a delivery was asked for, refusals included, which leave no
// trace on GitHub.
type asked struct {
	times int
	first time.Time // when it was first tried
}

// redeliver has GitHub send again what it could not deliver; it does not do so by
// itself. One that is refused does not keep the others.
// https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
func (s *Sweeper) redeliver(ctx context.Context) error {
	r := &s.redeliveries
	r.mu.Lock()
	defer r.mu.Unlock()
	now := s.now()
	r.begin(now.Add(-s.github.DeliveriesKept()))
	failed, whole, err := s.github.FailedDeliveries(ctx, r.since)
	if err != nil {
		return err
	}
	if failed, err = s.missing(ctx, failed); err != nil {
		return err
	}
	var all []error
	next, round := now.Add(-redeliverMargin), 0
	for _, d := range slices.Backward(failed) {
		n := max(d.Tries-1, r.asked[d.GUID].times)
		if n >= redeliverTries {
			continue
		}
		if d.First.Before(next) {
			next = d.First
		}
		if round++; round > redeliverMost {
			break
		}
		err := s.github.Redeliver(ctx, d.ID)
		switch n++; {
		case err == nil:
			s.log.InfoContext(ctx, "asked for redelivery", "guid", d.GUID, "event", d.Event, "time", n)
		case sia.RetryAfter(err) > 0: // it holds for the others as well
			return errors.Join(append(all, err)...)
		case sia.IsPermanent(err):
			n = redeliverTries
		}
		if err != nil {
			all = append(all, err)
		}
		r.asked[d.GUID] = asked{n, d.First}
	}
	if whole {
		r.since = next
	}
	return errors.Join(all...)
}

// missing are those of the deliveries that are for SIA and never arrived.
func (s *Sweeper) missing(ctx context.Context, failed []github.Delivery) (out []github.Delivery, err error) {
	var guids []string
	for _, d := range failed {
		if s.intake.Handles(d.Event) {
			guids, out = append(guids, d.GUID), append(out, d)
		}
	}
	arrived, err := s.store.Arrived(ctx, guids)
	return slices.DeleteFunc(out, func(d github.Delivery) bool { return arrived[d.GUID] }), err
}

// begin forgets what GitHub does not keep any more.
func (r *redeliveries) begin(oldest time.Time) {
	if r.since.Before(oldest) {
		r.since = oldest
	}
	if r.asked == nil {
		r.asked = map[string]asked{}
	}
	for guid, a := range r.asked {
		if a.first.Before(oldest) {
			delete(r.asked, guid)
		}
	}
}
