package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// RunnerStore stores the machines that run attempts and tests for a server, and what is offered to them
// (runnerattempt.go).
type RunnerStore struct{ *DB }

// Runner is a machine that runs attempts.
type Runner struct {
	Name     string
	About    string    // its own description
	Seen     time.Time // last request; zero: never
	Tests    bool      // it can run tests, by its last request
	Attempts []string  // keys of its running attempts and runs of tests
}

// awayAfter is the time after which a runner is away. One that makes nothing asks for an attempt every half minute.
const awayAfter = time.Minute

// testsAwayAfter is the time after which no run of tests waits for a runner that was not seen.
const testsAwayAfter = time.Hour

// TakesTests reports whether a run of tests may wait for the runner: it can run tests, and was seen lately.
func (r Runner) TakesTests(now time.Time) bool { return r.Tests && now.Sub(r.Seen) < testsAwayAfter }

// Away reports whether a runner makes no attempt and was not seen lately, or never.
func (r Runner) Away(now time.Time) bool { return len(r.Attempts) == 0 && now.Sub(r.Seen) > awayAfter }

// AddRunner adds a runner by the hash of its token.
func (s *RunnerStore) AddRunner(ctx context.Context, name, hash string) error {
	err := s.write(ctx, "add runner "+name, func(tx *sql.Tx) error {
		if err := updateOneTx(ctx, tx, `INSERT INTO runners (name, hash, added_at) VALUES (?, ?, ?)
			ON CONFLICT (name) DO NOTHING`, name, hash, micros(s.now())); err != nil {
			return err
		}
		return logAct(ctx, tx, Act{At: s.now(), What: "add runner", Detail: name})
	})
	if errors.Is(err, ErrNotFound) {
		return &sia.Error{Op: "add runner", Permanent: true, Message: fmt.Sprintf("there is a runner %q already; "+
			"remove it first, or choose another name", name)}
	}
	return err
}

// RemoveRunner removes a runner and ends the leases of its attempts. The error wraps [ErrNotFound] when there is none.
func (s *RunnerStore) RemoveRunner(ctx context.Context, name string) error {
	return s.write(ctx, "remove runner "+name, func(tx *sql.Tx) error {
		if err := updateOneTx(ctx, tx, `DELETE FROM runners WHERE name = ?`, name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE runner_attempts SET until = 0 WHERE runner = ? AND state = ?`, name,
			RunnerRunning); err != nil {
			return err
		}
		return logAct(ctx, tx, Act{At: s.now(), What: "remove runner", Detail: name})
	})
}

const runnerColumns = `name, about, seen_at, tests`

func scanRunner(from row) (r Runner, err error) {
	err = from.Scan(&r.Name, &r.About, timeColumn{&r.Seen}, &r.Tests)
	return r, err
}

// Runners lists the runners by name.
func (s *RunnerStore) Runners(ctx context.Context) ([]Runner, error) {
	all, err := collect(ctx, s.r, scanRunner,
		`SELECT `+runnerColumns+` FROM runners ORDER BY name`)
	if err != nil {
		return nil, s.explain("list runners", err)
	}
	held, err := collect(ctx, s.r, func(from row) (h [2]string, err error) {
		err = from.Scan(&h[0], &h[1])
		return h, err
	},
		`SELECT runner, key FROM runner_attempts WHERE state = ? AND until > `+s.leaseClock()+` ORDER BY key`, RunnerRunning)
	for i := range all {
		for _, h := range held {
			if h[0] == all[i].Name {
				all[i].Attempts = append(all[i].Attempts, h[1])
			}
		}
	}
	return all, s.explain("list runners", err)
}

// RunnerByHash returns the runner with the given hash of its token, or [ErrNotFound].
func (s *RunnerStore) RunnerByHash(ctx context.Context, hash string) (Runner, error) {
	return load(ctx, s.DB, "find a runner", scanRunner, `SELECT `+runnerColumns+` FROM runners WHERE hash = ?`, hash)
}

// MarkRunnerSeen records the time of a runner's last request, its description, and whether it can run tests.
func (s *RunnerStore) MarkRunnerSeen(ctx context.Context, name, about string, tests bool) error {
	return s.exec(ctx, "note runner "+name, `UPDATE runners SET seen_at = ?, about = ?, tests = ? WHERE name = ?`,
		micros(s.now()), about, tests, name)
}

// HasTestRunner reports whether a run of tests may wait for a runner; see [Runner.TakesTests].
func (s *RunnerStore) HasTestRunner(ctx context.Context) (bool, error) {
	return load(ctx, s.DB, "look for a runner of tests", scanValue[bool],
		`SELECT EXISTS (SELECT 1 FROM runners WHERE tests = 1 AND seen_at > ?)`, micros(s.now().Add(-testsAwayAfter)))
}
