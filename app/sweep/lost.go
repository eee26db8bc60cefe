package sweep

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/github"
)

// A database that was restored from a backup, or that lost its last seconds, lacks deliveries that a server had
// answered. GitHub does not count these as failed. The database notes up to when it has all of them; a process reads
// now and then, and at its first look, what GitHub says was answered since then, and has GitHub send again what is not
// there. The note moves on when all of it has arrived, so that whoever is started meanwhile looks from the same time.

// lostMargin is how far before the note the look begins: by GitHub's clock, a server's, and how much a standby may lack
// that became the primary.
const lostMargin = 30 * time.Minute

// lostEvery is how long after a look the next begins. A standby may become the primary while servers run, and none of
// them need notice. The note moves on between looks, so this is well below lostMargin.
const lostEvery = 10 * time.Minute

// lost is how far the look at what was answered is. The zero value has not begun.
type lost struct {
	began  time.Time
	done   bool
	since  time.Time // what was answered before is there
	cursor string    // where GitHub's list goes on
}

// listLost notes what was answered and is not in the database: a part of GitHub's list at a time.
func (s *Sweeper) listLost(ctx context.Context, now time.Time) error {
	r := &s.redeliveries
	l := &r.lost
	if l.done {
		if now.Before(l.began.Add(lostEvery)) {
			return nil
		}
		*l = lost{}
	}
	if l.since.IsZero() {
		at, err := s.store.Answered(ctx)
		if err != nil {
			return err
		}
		l.began = now
		if at.IsZero() { // a new database: what GitHub delivered before, another one had
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

// noteAnswered notes that all that was answered before now is in the database, when it is: a delivery is answered when
// it is stored.
func (s *Sweeper) noteAnswered(ctx context.Context, now time.Time) error {
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

// givenUp reports whether a delivery is not asked for any more.
func givenUp(d *github.Delivery) bool { return d.Tries > len(redeliverAfter) }
