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

// redeliverAfter is how long after its last try GitHub is asked to send a delivery once more: at once, later in case
// what is between GitHub and SIA is away for longer, and then no more. What did not arrive by then is found by looking.
var redeliverAfter = [...]time.Duration{0, 10 * time.Minute, 2 * time.Hour}

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
	since time.Time         // nothing before needs anything more
	asked map[string]asked  // by GUID
	due   []github.Delivery // of the last list, that are still to be asked for, the oldest first
}

// asked is how often a delivery was asked for, refusals included, which leave no
// trace on GitHub.
type asked struct {
	times       int
	first, last time.Time // when it was first tried, and last asked for
}

// redeliver has GitHub send again what it could not deliver; it does not do so by
// itself. One that is refused does not keep the others. The next list is read when all
// of the last was asked for: after a long outage it has many pages.
// https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
func (s *Sweeper) redeliver(ctx context.Context) error {
	r := &s.redeliveries
	r.mu.Lock()
	defer r.mu.Unlock()
	now := s.now()
	if len(r.due) == 0 {
		if err := s.listFailed(ctx, now); err != nil {
			return err
		}
	}
	round, err := s.missing(ctx, r.due[:min(redeliverMost, len(r.due))])
	if err != nil {
		return err
	}
	later := r.due[min(redeliverMost, len(r.due)):]
	var all []error
	for i, d := range round {
		n := r.tries(d)
		err := s.github.Redeliver(ctx, d.ID)
		switch n++; {
		case err == nil:
			s.log.InfoContext(ctx, "asked for redelivery", "guid", d.GUID, "event", d.Event, "time", n)
		case sia.RetryAfter(err) > 0: // it holds for the others as well
			r.due = slices.Concat(round[i:], later)
			return errors.Join(append(all, err)...)
		case sia.IsPermanent(err):
			n = len(redeliverAfter)
		}
		if err != nil {
			all = append(all, err)
		}
		r.asked[d.GUID] = asked{n, d.First, now}
	}
	r.due = later
	return errors.Join(all...)
}

// listFailed finds what it is time to ask for.
func (s *Sweeper) listFailed(ctx context.Context, now time.Time) error {
	r := &s.redeliveries
	r.begin(now.Add(-s.github.DeliveriesKept()))
	failed, whole, err := s.github.FailedDeliveries(ctx, r.since)
	if err != nil {
		return err
	}
	if failed, err = s.missing(ctx, failed); err != nil {
		return err
	}
	since := now.Add(-redeliverMargin)
	for _, d := range slices.Backward(failed) {
		n, last := r.tries(d), d.Last
		if n >= len(redeliverAfter) {
			continue
		}
		if d.First.Before(since) {
			since = d.First
		}
		if a := r.asked[d.GUID].last; a.After(last) {
			last = a
		}
		if !now.Before(last.Add(redeliverAfter[n])) {
			r.due = append(r.due, d)
		}
	}
	if whole {
		r.since = since
	}
	return nil
}

// tries is how often a delivery was asked for, by this process or an earlier one.
func (r *redeliveries) tries(d github.Delivery) int { return max(d.Tries-1, r.asked[d.GUID].times) }

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
