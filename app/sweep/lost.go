package sweep

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/github"
)

// A database that was restored from a backup, or that lost its last seconds, lacks deliveries that a server had
// acknowledged. GitHub does not list these as failed. The database has a mark: the time until which it has all of them.
// At the start and then periodically, a process lists the deliveries that were acknowledged since the mark, and makes
// GitHub redeliver the missing ones. The mark advances when all have arrived, so that a process that starts in the
// meantime begins at the same time.

// lostMargin is the time before the mark at which the list begins. It covers differences between GitHub's clock and a
// server's, and the replication lag of a standby that became the primary.
const lostMargin = 30 * time.Minute

// lostInterval is the interval between two lists. A standby may become the primary while servers run, without their
// noticing. The mark advances between lists, so this is well below lostMargin.
const lostInterval = 10 * time.Minute

// lostScan is the progress of the list of acknowledged deliveries. The zero value has not begun.
type lostScan struct {
	began  time.Time
	done   bool
	since  time.Time // all that were acknowledged before are in the database
	cursor string    // of the next page of GitHub's list
}

// listLost records acknowledged deliveries that are missing in the database, from one page of GitHub's list.
func (s *Sweeper) listLost(ctx context.Context, now time.Time) error {
	r := &s.redeliveries
	l := &r.lost
	if l.done {
		if now.Before(l.began.Add(lostInterval)) {
			return nil
		}
		*l = lostScan{}
	}
	if l.since.IsZero() {
		at, err := s.store.Answered(ctx)
		if err != nil {
			return err
		}
		l.began = now
		if at.IsZero() { // a new database: earlier deliveries belong to another one
			l.done = true
			return nil
		}
		l.since = at.Add(-lostMargin)
	}
	if kept := now.Add(-s.github.DeliveryRetention()); l.since.Before(kept) {
		l.since = kept
	}
	answered, next, err := s.github.AnsweredDeliveries(ctx, l.since, l.cursor)
	if err != nil {
		return err
	}
	var guids []string
	for _, d := range answered {
		if s.intake.Handles(d.Event) {
			guids = append(guids, d.GUID)
		}
	}
	arrived, err := s.store.Arrived(ctx, guids)
	if err != nil {
		return err
	}
	found := 0
	for _, d := range answered {
		if !s.intake.Handles(d.Event) || arrived[d.GUID] {
			continue
		}
		if known := r.missing[d.GUID]; known != nil {
			known.First, known.Answered = d.First, true
			continue
		}
		r.missing[d.GUID] = &d
		found++
	}
	if found > 0 {
		s.log.WarnContext(ctx, "the database lacks deliveries that were answered; GitHub is asked to send them again",
			"deliveries", found, "since", l.since)
	}
	l.cursor, l.done = next, next == ""
	return nil
}

// recordAnswered advances the mark to now if no acknowledged delivery is missing: a delivery is acknowledged after it
// is stored.
func (s *Sweeper) recordAnswered(ctx context.Context, now time.Time) error {
	r := &s.redeliveries
	if !r.lost.done {
		return nil
	}
	for _, d := range r.missing {
		if d.Answered && !givenUp(d) {
			return nil
		}
	}
	return s.store.SaveAnswered(ctx, now)
}

// givenUp reports whether no further redelivery of a delivery is requested.
func givenUp(d *github.Delivery) bool { return d.Tries > len(redeliverAfter) }
