package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// GitHub's secondary rate limits for content-creating requests of an installation. Requests are counted in slots of
// five seconds. A request is counted in the slot in which it is sent, and may arrive in the next, so a window is two
// slots longer than GitHub's.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const writeSlot = 5 * time.Second

var writeLimits = []struct {
	most  int
	slots int64
}{
	{80, int64(time.Minute/writeSlot) + 2},
	{500, int64(time.Hour/writeSlot) + 2},
}

// TakeWrite counts a content-creating request to GitHub for an installation, across all servers. If until is zero, the
// request may be sent now. Otherwise it is not counted, and until is the time of the next try.
func (s *WriteStore) TakeWrite(ctx context.Context, installation int64) (until time.Time, err error) {
	err = s.write(ctx, "count a write to GitHub", func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, fmt.Sprintf("writes to GitHub for installation %d", installation)); err != nil {
			return err
		}
		now := s.slotNow()
		if until, err = writesHeld(ctx, tx, installation, now); err != nil || !until.IsZero() {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM github_writes WHERE installation_id = ? AND slot <= ?`, installation,
			now-writeLimits[len(writeLimits)-1].slots); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO github_writes (installation_id, slot, writes) VALUES (?, ?, 1)
			ON CONFLICT (installation_id, slot) DO UPDATE SET writes = github_writes.writes + 1`, installation, now)
		return err
	})
	return until, err
}

// WritesHeld returns until when an installation may not create content on GitHub; zero: it may.
func (s *WriteStore) WritesHeld(ctx context.Context, installation int64) (time.Time, error) {
	until, err := writesHeld(ctx, s.r, installation, s.slotNow())
	return until, s.explain("read what was written to GitHub", err)
}

// slotNow returns the current slot.
func (s *WriteStore) slotNow() int64 { return s.now().UnixMicro() / writeSlot.Microseconds() }

// writesHeld returns until when a limit of an installation is used up.
func writesHeld(ctx context.Context, q querier, installation, now int64) (until time.Time, err error) {
	for _, limit := range writeLimits {
		var sent int
		if err := q.QueryRowContext(ctx, `SELECT coalesce(sum(writes), 0) FROM github_writes
			WHERE installation_id = ? AND slot > ?`, installation, now-limit.slots).Scan(&sent); err != nil {
			return until, err
		}
		if sent < limit.most {
			continue
		}
		// The newest slot with which the limit is reached has to leave the window.
		var last int64
		err = q.QueryRowContext(ctx, `SELECT slot FROM (SELECT slot, sum(writes) OVER (ORDER BY slot DESC) AS since
			FROM github_writes WHERE installation_id = ? AND slot > ?) w WHERE since >= ? ORDER BY slot DESC LIMIT 1`,
			installation, now-limit.slots, limit.most).Scan(&last)
		if err != nil {
			return until, err
		}
		if at := fromMicros((last + limit.slots) * writeSlot.Microseconds()); at.After(until) {
			until = at
		}
	}
	return until, nil
}

// postponeWrites postpones all waiting effects that create content on GitHub for a task's installation while its limit
// is used up. Otherwise each of them would run, only to find this out.
func (s *DB) postponeWrites(ctx context.Context, id sia.TaskID) {
	t, err := task(ctx, s.r, id)
	var until time.Time
	if err == nil {
		until, err = (&WriteStore{s}).WritesHeld(ctx, t.Installation)
	}
	if err == nil && !until.IsZero() {
		s.log.WarnContext(ctx, "waiting for GitHub's write limit", "installation", t.Installation, "until", until)
		err = s.exec(ctx, "wait for GitHub's write limit", `UPDATE river_job SET scheduled_at = ?
			WHERE state = 'available' AND queue LIKE ? ESCAPE '\' AND scheduled_at < ?`, s.stamp(until),
			fmt.Sprintf(`%s\_%d\_%%\_w`, queueEffects, t.Installation), s.stamp(until))
	}
	if err != nil {
		s.log.WarnContext(ctx, "each effect finds out alone about GitHub's write limit", "task", id, "err", err)
	}
}
