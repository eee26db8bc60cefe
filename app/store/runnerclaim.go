package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/sia-bot/sia/sia"
)

// validPass returns the SQL condition under which a runner's pass is valid.
func (s *RunnerStore) validPass() string {
	return ` pass = ? AND state = 'running' AND until > ` + s.leaseClock()
}

// ClaimAttempt assigns the oldest waiting attempt to a runner, for the duration of a lease; found is false when none
// waits. attempts and tests are what the runner takes: if both, it gets a run of tests first, because those are short,
// and a pull request waits for them. pass is the hash of the token for requests about it.
func (s *RunnerStore) ClaimAttempt(
	ctx context.Context, runner, pass string, attempts, tests bool, lease time.Duration,
) (a RunnerAttempt, found bool, err error) {
	one, other := RunnerOffered, RunnerOfferedTests
	if !tests {
		other = one
	} else if !attempts {
		one = other
	}
	var any bool // avoids a write when none waits
	if err := s.r.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runner_attempts WHERE state IN (?, ?))`,
		one, other).Scan(&any); err != nil || !any {
		return a, false, s.explain("look for an attempt", err)
	}
	err = s.write(ctx, "take an attempt", func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, `UPDATE runner_attempts
			SET state = ?, runner = ?, pass = ?, until = `+s.leaseClock()+` + ?,
				claims = claims + 1, reported = 0, taken = 0, report = NULL, refused = '', result = NULL, pack = NULL
			WHERE key = (SELECT key FROM runner_attempts WHERE state IN (?, ?) ORDER BY tests_of = '', at, key LIMIT 1)
				AND state IN (?, ?)
				AND EXISTS (SELECT 1 FROM runners WHERE name = ?)
			RETURNING key, task_id, start, coder, work`, RunnerRunning, runner, pass, lease.Microseconds(), one,
			other, one, other, runner)
		err := row.Scan(&a.Key, &a.Task, &a.Start, &a.Coder, &a.Work)
		found = err == nil
		return ignoreNoRows(err) // another runner was faster
	})
	return a, found, err
}

// HeldAttempt returns the attempt of a pass, without Work, or [ErrNotFound] when the pass is no longer valid.
func (s *RunnerStore) HeldAttempt(ctx context.Context, pass string) (a RunnerAttempt, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT key, tests_of, task_id, start, coder, credits, spent, calls, most_calls
		FROM runner_attempts WHERE`+s.validPass(), pass).
		Scan(&a.Key, &a.TestsOf, &a.Task, &a.Start, &a.Coder, &a.Credits, &a.Spent, &a.Calls, &a.MostCalls)
	return a, s.explain("find an attempt", orNotFound(err))
}

// RenewAttempt renews the lease of a pass, and reports whether the runner has to stop the attempt.
func (s *RunnerStore) RenewAttempt(ctx context.Context, pass string, lease time.Duration) (stop bool, err error) {
	err = s.write(ctx, "renew an attempt", func(tx *sql.Tx) error {
		var runner string
		err := tx.QueryRowContext(ctx, `UPDATE runner_attempts SET until = `+s.leaseClock()+` + ? WHERE`+s.validPass()+
			` RETURNING stop, runner`, lease.Microseconds(), pass).Scan(&stop, &runner)
		if err != nil {
			return orNotFound(err)
		}
		_, err = tx.ExecContext(ctx, `UPDATE runners SET seen_at = ? WHERE name = ?`, micros(s.now()), runner)
		return err
	})
	return stop, err
}

// AttemptWork returns the input for the runner of a pass, or [ErrNotFound] when the pass is no longer valid.
func (s *RunnerStore) AttemptWork(ctx context.Context, pass string) (work []byte, err error) {
	return load(ctx, s.DB, "load the work of an attempt", scanValue[[]byte],
		`SELECT work FROM runner_attempts WHERE`+s.validPass(), pass)
}

// ReleaseAttempt ends the lease of a pass. With lost, the claim counts as a lost runner, because the runner could not
// run the attempt. A runner that shuts down, or has no free capacity, is not counted.
func (s *RunnerStore) ReleaseAttempt(ctx context.Context, pass string, lost bool) error {
	set := `until = 0, claims = claims - 1`
	if lost {
		set = `until = 0`
	}
	return s.updateByPass(ctx, "give back an attempt", set, pass)
}

// updateByPass updates the attempt of a pass. The error wraps [ErrNotFound] when the pass is no longer valid.
func (s *RunnerStore) updateByPass(ctx context.Context, op, set, pass string, args ...any) error {
	return s.updateOne(ctx, op, `UPDATE runner_attempts SET `+set+` WHERE`+s.validPass(), append(args, pass)...)
}

// ReportTurn stores a turn for the owner of an attempt. It fails until the turn before it was taken. Reporting a turn
// again changes nothing.
func (s *RunnerStore) ReportTurn(ctx context.Context, pass string, number int, turn []byte) error {
	return s.write(ctx, "report a turn", func(tx *sql.Tx) error {
		var reported, taken int
		err := tx.QueryRowContext(ctx, `SELECT reported, taken FROM runner_attempts WHERE`+s.validPass()+s.forUpdate(), pass).
			Scan(&reported, &taken)
		switch {
		case err != nil:
			return orNotFound(err)
		case number <= reported:
			return nil
		case number != reported+1 || taken != reported:
			return &sia.Error{Op: "report a turn", Permanent: true, Message: "the turn before it was not reported yet"}
		}
		_, err = tx.ExecContext(ctx, `UPDATE runner_attempts SET report = ?, reported = ? WHERE`+s.validPass(), turn, number,
			pass)
		return err
	})
}

// TakenTurns returns the number of the last turn of a pass that is in the transcript.
func (s *RunnerStore) TakenTurns(ctx context.Context, pass string) (number int, err error) {
	return load(ctx, s.DB, "look for a turn", scanValue[int],
		`SELECT taken FROM runner_attempts WHERE`+s.validPass(), pass)
}

// FinishAttempt stores the result of an attempt for its owner, with the pack of the new commit; nil: there is none.
func (s *RunnerStore) FinishAttempt(ctx context.Context, pass string, result, pack []byte) error {
	return s.updateByPass(ctx, "finish an attempt", `state = 'done', result = ?, pack = ?`, pass, result, pack)
}

// AskAboutChange stores a change of a running attempt, which its owner has to judge. result describes it like that of
// [RunnerStore.FinishAttempt].
func (s *RunnerStore) AskAboutChange(ctx context.Context, pass string, result, pack []byte) error {
	return s.updateByPass(ctx, "ask about a change", `result = ?, pack = ?`, pass, result, pack)
}

// ChangeAnswer returns the owner's answer about a change; answered is false until there is one.
func (s *RunnerStore) ChangeAnswer(ctx context.Context, pass string) (answer []byte, answered bool, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT result, CASE WHEN pack IS NULL THEN 1 ELSE 0 END
		FROM runner_attempts WHERE`+s.validPass(), pass).Scan(&answer, &answered)
	return answer, answered, s.explain("look for the answer about a change", orNotFound(err))
}

// ReserveCall reserves the maximum cost of a model call. ok is false when the attempt's credits or calls do not cover
// it.
func (s *RunnerStore) ReserveCall(ctx context.Context, pass string, most sia.Credits) (ok bool, err error) {
	err = s.write(ctx, "set credits aside", func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `UPDATE runner_attempts SET spent = spent + ?, calls = calls + 1, refused = ''
			WHERE`+s.validPass()+` AND calls < most_calls AND (? = 0 OR spent + ? <= credits)`, most, pass, most, most)
		ok = n > 0
		return err
	})
	return ok, err
}

// SettleCall replaces the reservation for a model call by its cost.
func (s *RunnerStore) SettleCall(ctx context.Context, key string, most, cost sia.Credits) error {
	return s.exec(ctx, "book a call of attempt "+key, `UPDATE runner_attempts SET spent = spent - ? + ? WHERE key = ?`,
		most, cost, key)
}

// RefuseCall records why a model call was not made.
func (s *RunnerStore) RefuseCall(ctx context.Context, pass, why string) error {
	return s.exec(ctx, "refuse a call", `UPDATE runner_attempts SET refused = ? WHERE`+s.validPass(), why, pass)
}
