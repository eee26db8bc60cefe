package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/sia"
)

// The rate limit for setting up the repositories of an installation. One setup takes up to seven
// writes: one for each label and one for the pull request that proposes settings. GitHub allows 80
// content-creating requests a minute and 500 an hour; this leaves a quarter of them to tasks.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const (
	setupGap   = time.Minute // average time between two setups
	setupBurst = 8           // setups at once after an idle period
	setupTries = 4           // during an outage, EngineConfig.OutageTries
)

// setupSlot returns when the next repository of an installation is set up: due. slot is the
// stored state of the rate limit, and last its previous value, zero for the first.
func setupSlot(now, last time.Time) (slot, due time.Time) {
	if last.Before(now) {
		last = now
	}
	slot = last.Add(setupGap)
	if due = slot.Add(-setupBurst * setupGap); due.Before(now) {
		due = now
	}
	return slot, due
}

// SetupTime returns about how long a number of pending setups of an installation takes.
func SetupTime(pending int) time.Duration { return time.Duration(pending) * setupGap }

// MaxTogether is the maximum number of repositories added at once that get a pull request with proposed settings each.
// More would send a flood of mail.
const MaxTogether = 10

// SetupState is the state of a repository's setup.
type SetupState string

// The states of a repository's setup.
const (
	SetupPending  SetupState = "pending"
	SetupDone     SetupState = "done"
	SetupArchived SetupState = "archived" // read-only: there is nothing to set up
	SetupFailed   SetupState = "failed"   // given up; Error has the reason
)

// Setup is a repository with the state of its setup.
type Setup struct {
	Repository
	State SetupState
	Tries int    // number of failed tries
	Error string // of the last failed try, for users
	// number of repositories that were added at once, including this one; 0: it is not known to be new
	Together int
	Welcome  string // the result of proposing settings, for users; empty: not tried yet
	Checks   *int   // number of checks that the push of the proposed settings started; nil: it was not looked at
	// the checks had time to begin, and are to be counted; only for [Handlers].Setup
	Due bool
}

// Unasked reports whether settings were not proposed because of the way the repository was added, so that a person can
// request it.
func (v Setup) Unasked() bool {
	return v.State == SetupDone && v.Welcome != "" && (v.Together == 0 || v.Together > MaxTogether) &&
		v.Name != sia.OwnersRepo
}

// SetupResult is the result of a setup.
type SetupResult struct {
	State   SetupState
	Welcome string // as in [Setup]
	Checks  *int   // as in [Setup]
	// the repository is set up once more after this time, with [Setup].Due; 0: it is not
	Again time.Duration
}

// setupArgs has the arguments of the job that sets up a repository.
type setupArgs struct {
	Repo int64 `json:"repo"`
	Due  bool  `json:"due,omitempty"` // as in [Setup]
}

// Kind names the job for River.
func (setupArgs) Kind() string { return "setup" }

// repoBatch is the number of repositories in one transaction, so that other writers are not
// blocked for long.
const repoBatch = 100

// PlanSetups inserts a setup job for each of the given known repositories, subject to the rate
// limit of their installation. It skips pending repositories and, unless again is set, finished
// ones. together is as in [Setup], and applies to repositories that were never planned.
func (s *SetupStore) PlanSetups(
	ctx context.Context, installation int64, repos []sia.Repo, together int, again bool,
) error {
	for some := range slices.Chunk(repos, repoBatch) {
		err := s.write(ctx, "plan the setup of repositories", func(tx *sql.Tx) error {
			if err := s.advisoryLock(ctx, tx, setupLock(installation)); err != nil {
				return err
			}
			for _, r := range some {
				if err := s.planSetup(ctx, tx, installation, r.ID, together, again); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *SetupStore) planSetup(
	ctx context.Context, tx *sql.Tx, installation, repo int64, together int, again bool,
) error {
	var state SetupState
	err := tx.QueryRowContext(ctx, `SELECT state FROM setups WHERE repo_id = ? AND installation_id = ?`, repo,
		installation).Scan(&state)
	switch {
	case ignoreNoRows(err) != nil:
		return err
	case state == SetupPending, state == SetupDone && !again:
		return nil
	}
	slot, due, err := s.nextSetup(ctx, tx, installation)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO setups (repo_id, installation_id, slot, together, updated_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (repo_id) DO UPDATE SET installation_id = excluded.installation_id, state = 'pending',
			slot = excluded.slot, tries = 0, error = '', updated_at = excluded.updated_at`,
		repo, installation, micros(slot), together, micros(s.now())); err != nil {
		return err
	}
	_, err = s.insert(ctx, tx, setupArgs{Repo: repo}, queueSetups, due)
	return err
}

// ProposeSettings plans another setup of a repository that proposes settings, as to one that was added alone, subject
// to the rate limit of its installation.
func (s *SetupStore) ProposeSettings(ctx context.Context, installation, repo int64) error {
	return s.write(ctx, "plan to propose settings", func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, setupLock(installation)); err != nil {
			return err
		}
		if err := updateOneTx(ctx, tx, `UPDATE setups SET together = 1 WHERE repo_id = ? AND installation_id = ?`, repo,
			installation); err != nil {
			return err
		}
		return s.planSetup(ctx, tx, installation, repo, 1, true)
	})
}

// setupLock returns the name of the lock for the slots of an installation.
func setupLock(installation int64) string { return fmt.Sprintf("setups of %d", installation) }

// nextSetup returns the next slot of an installation.
func (s *SetupStore) nextSetup(ctx context.Context, tx *sql.Tx, installation int64) (slot, due time.Time, err error) {
	var last int64
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(slot), 0) FROM setups WHERE installation_id = ?`,
		installation).Scan(&last)
	slot, due = setupSlot(s.now(), fromMicros(last))
	return slot, due, err
}

const setupQuery = `SELECT r.id, r.installation_id, r.owner, r.name, r.default_branch, r.private, s.state, s.tries,
	s.error, s.together, s.welcome, nullif(s.checks, -1) FROM setups s JOIN repositories r ON r.id = s.repo_id`

func scanSetup(from row) (v Setup, err error) {
	err = from.Scan(&v.ID, &v.Repository.Installation, &v.Owner, &v.Name, &v.DefaultBranch, &v.Private, &v.State,
		&v.Tries, &v.Error, &v.Together, &v.Welcome, &v.Checks)
	return v, err
}

// Setups lists the setups of an installation's repositories, by name; 0: of all installations.
func (s *SetupStore) Setups(ctx context.Context, installation int64) ([]Setup, error) {
	return list(ctx, s.DB, "list how far repositories are set up", scanSetup,
		setupQuery+` WHERE ? = 0 OR s.installation_id = ? ORDER BY r.owner, r.name`, installation, installation)
}

// setup loads the setup of a repository; the error wraps [ErrNotFound] when none is planned.
func (s *SetupStore) setup(ctx context.Context, repo int64) (Setup, error) {
	return load(ctx, s.DB, "read how far a repository is set up", scanSetup, setupQuery+` WHERE s.repo_id = ?`, repo)
}

// setupWorker sets up repositories.
type setupWorker struct {
	river.WorkerDefaults[setupArgs]
	e *Engine
}

// Work implements river.Worker. A repository that can't be set up blocks no other: it is
// retried in a later slot, and given up after setupTries, or, during an outage, after three days.
func (w *setupWorker) Work(ctx context.Context, job *river.Job[setupArgs]) error {
	s := w.e.s
	repo, err := s.setup(ctx, job.Args.Repo)
	if errors.Is(err, ErrNotFound) {
		return nil // it was removed from the installation meanwhile
	}
	if err != nil {
		return river.JobSnooze(setupGap)
	}
	repo.Due = job.Args.Due
	result, err := w.e.setUp(ctx, repo)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err == nil {
		s.log.InfoContext(ctx, "repository set up", "repo", repo.String(), "state", result.State, "welcome", result.Welcome)
		return w.done(saving, job, result)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("setup of %s was interrupted: %w", repo, context.Canceled)
	}
	return w.failed(saving, job, repo.Repository, err)
}

// done records the result of a setup, and plans the next if there is to be one.
func (w *setupWorker) done(ctx context.Context, job *river.Job[setupArgs], result SetupResult) error {
	s := w.e.s
	checks := result.Checks
	if result.Again > 0 {
		later := -1
		checks = &later
	}
	return s.write(ctx, "note a setup", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE setups SET state = ?, tries = 0, error = '', welcome = ?, checks = ?,
			updated_at = ? WHERE repo_id = ?`, result.State, result.Welcome, checks, micros(s.now()), job.Args.Repo)
		if err != nil || result.Again == 0 {
			return err
		}
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		// The visit that an earlier setup planned is postponed: the checks are counted once.
		later := s.now().Add(result.Again)
		postponed, err := affected(ctx, tx, `UPDATE river_job SET scheduled_at = ? WHERE kind = 'setup'
			AND state IN ('available', 'scheduled') AND CAST(args ->> 'repo' AS bigint) = ? AND args ->> 'due' IS NOT NULL`,
			s.stamp(later), job.Args.Repo)
		if err != nil || postponed > 0 {
			return err
		}
		_, err = s.insert(ctx, tx, setupArgs{Repo: job.Args.Repo, Due: true}, queueSetups, later)
		return err
	})
}

// failed records a failed try, and plans the next. A repository that is set up stays so: only the count of its checks
// is given up.
func (w *setupWorker) failed(ctx context.Context, job *river.Job[setupArgs], repo Repository, cause error) error {
	s := w.e.s
	s.log.WarnContext(ctx, "repository not set up", "repo", repo.String(), "err", cause)
	return s.write(ctx, "note a failed setup", func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, setupLock(repo.Installation)); err != nil {
			return err
		}
		failed := 1
		if sia.WaitsTurn(cause) {
			failed = 0
		}
		most := setupTries
		if sia.IsOutage(cause) {
			most = w.e.c.OutageTries
		}
		var state SetupState
		var tries int
		if err := tx.QueryRowContext(ctx, `UPDATE setups SET tries = tries + ?, error = ?, updated_at = ? WHERE repo_id = ?
			RETURNING state, tries`, failed, userMessage(cause), micros(s.now()), repo.ID).Scan(&state, &tries); err != nil {
			return err
		}
		if sia.IsPermanent(cause) || tries >= most {
			end := `state = 'failed'`
			if state == SetupDone {
				end = `tries = 0, error = '', checks = nullif(checks, -1)`
			}
			_, err := tx.ExecContext(ctx, `UPDATE setups SET `+end+` WHERE repo_id = ?`, repo.ID)
			return err
		}
		slot, due, err := s.nextSetup(ctx, tx, repo.Installation)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `UPDATE setups SET slot = ? WHERE repo_id = ?`, micros(slot), repo.ID); err != nil {
			return err
		}
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		again := max(due.Sub(s.now()), setupGap, w.e.c.Backoff(tries), sia.RetryAfter(cause))
		_, err = s.insert(ctx, tx, job.Args, queueSetups, s.now().Add(again))
		return err
	})
}

// setUp calls the handler, with its timeout.
func (e *Engine) setUp(ctx context.Context, r Setup) (result SetupResult, err error) {
	if e.h.Setup == nil {
		return SetupResult{State: SetupPending, Welcome: r.Welcome}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.c.FetchTimeout)
	defer cancel()
	defer e.s.recoverPanic(ctx, "set up "+r.String(), &err)
	return e.h.Setup(ctx, r)
}
