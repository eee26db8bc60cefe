package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// An attempt is offered to runners by its owner, the handler that carries its effect out. The runner that claims it
// gets a pass, a unique token. Reports about an attempt are accepted only with the newest pass, and while its lease
// lasts. So a delayed runner can report nothing any more. Nor can an owner change the attempt after another server took
// the effect over. See docs/adr/0033-runners.md.

// RunnerState is the state of an attempt that is offered to runners.
type RunnerState string

// The states.
const (
	RunnerOffered RunnerState = "offered" // waits for a runner
	// a run of tests that waits for a runner that can run them: a server of an older version gives it to none
	RunnerOfferedTests RunnerState = "offered-tests"

	RunnerRunning RunnerState = "running" // claimed by a runner
	RunnerDone    RunnerState = "done"    // has a result
	RunnerFailed  RunnerState = "failed"  // could not continue, and may be offered again
)

// RunnerAttempt is an attempt, or a run of tests, that is offered to runners.
type RunnerAttempt struct {
	Key     string // of its effect, or of a run of tests
	TestsOf string // key of the effect of a run of tests; empty: an attempt

	Task  sia.TaskID
	Owner string // id of the run of the effect that offers it
	Start string // the commit that it starts from
	Coder string
	Work  []byte // the input for the runner

	Credits, Spent   sia.Credits // limit for model calls; their cost, including reservations for running ones
	Calls, MostCalls int         // number of model calls, and its limit
}

// OfferAttempt offers an attempt, and replaces an earlier offer of its effect: the runner of that one can no longer
// report. An existing result is kept if the attempt starts from the same commit. The cost of earlier calls is always
// kept; Spent is the cost before the first offer.
func (s *RunnerStore) OfferAttempt(ctx context.Context, a RunnerAttempt) error {
	state := RunnerOffered
	if a.TestsOf != "" {
		state = RunnerOfferedTests
	}
	return s.exec(ctx, "offer attempt "+a.Key, `INSERT INTO runner_attempts
		(key, tests_of, task_id, owner, state, start, coder, work, credits, most_calls, at, spent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, coder = excluded.coder, work = excluded.work,
			state = CASE WHEN runner_attempts.state = ? AND runner_attempts.start = excluded.start
				THEN runner_attempts.state ELSE excluded.state END,
			start = excluded.start, credits = excluded.credits, most_calls = excluded.most_calls, at = excluded.at,
			runner = CASE WHEN runner_attempts.state = ? THEN runner_attempts.runner ELSE '' END,
			pass = '', until = 0, claims = 0, stop = 0, reported = 0, taken = 0, report = NULL, refused = ''`,
		a.Key, a.TestsOf, a.Task, a.Owner, state, a.Start, a.Coder, a.Work, a.Credits, a.MostCalls, micros(s.now()),
		a.Spent, RunnerDone, RunnerDone)
}

// RunnerWatch is the state of an attempt, for its owner.
type RunnerWatch struct {
	State   RunnerState
	Runner  string
	Lost    bool // the runner's lease has expired
	Claims  int
	Number  int    // of Report
	Report  []byte // a turn that waits to be taken; nil: none
	Spent   sia.Credits
	Refused string // why the last model call was not made; empty: it was made
	Asks    bool   // the runner asks about its change, which [RunnerStore.AttemptResult] returns
}

// WatchAttempt returns the state of an attempt. The error wraps [ErrNotFound] when another owner has it.
func (s *RunnerStore) WatchAttempt(ctx context.Context, key, owner string) (w RunnerWatch, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT state, runner,
			CASE WHEN state = ? AND until <= `+s.leaseClock()+` THEN 1 ELSE 0 END,
			claims, reported, CASE WHEN reported > taken THEN report END, spent, refused,
			CASE WHEN state = ? AND pack IS NOT NULL THEN 1 ELSE 0 END
		FROM runner_attempts WHERE key = ? AND owner = ?`, RunnerRunning, RunnerRunning, key, owner).
		Scan(&w.State, &w.Runner, &w.Lost, &w.Claims, &w.Number, &w.Report, &w.Spent, &w.Refused, &w.Asks)
	return w, s.explain("watch attempt "+key, orNotFound(err))
}

// AttemptSpent returns the cost of the model calls of an attempt that is offered to runners; 0 if it is not.
func (s *RunnerStore) AttemptSpent(ctx context.Context, key string) (spent sia.Credits, err error) {
	return load(ctx, s.DB, "find what an attempt spent", scanValue[sia.Credits],
		`SELECT coalesce(sum(spent), 0) FROM runner_attempts WHERE key = ?`, key)
}

// updateOwn updates the attempt of an owner. The error wraps [ErrNotFound] when another owner has it.
func (s *RunnerStore) updateOwn(ctx context.Context, op, set, key, owner string, args ...any) error {
	return s.updateOne(ctx, op+" "+key, set+` WHERE key = ? AND owner = ?`, append(args, key, owner)...)
}

// TakeReport records that a turn is in the transcript.
func (s *RunnerStore) TakeReport(ctx context.Context, key, owner string, number int) error {
	return s.updateOwn(ctx, "take a turn of attempt", `UPDATE runner_attempts SET
		report = CASE WHEN reported = ? THEN NULL ELSE report END, taken = ?`, key, owner, number, number)
}

// ReofferAttempt offers an attempt again after its runner was lost, with the input for the next one.
func (s *RunnerStore) ReofferAttempt(ctx context.Context, key, owner string, work []byte) error {
	return s.updateOwn(ctx, "offer again attempt", `UPDATE runner_attempts SET
		state = CASE WHEN tests_of = '' THEN 'offered' ELSE 'offered-tests' END, work = ?, pass = '', runner = '',
		until = 0, reported = 0, taken = 0, report = NULL, at = ?`, key, owner, work, micros(s.now()))
}

// StopAttempt asks the runner of an attempt to stop it.
func (s *RunnerStore) StopAttempt(ctx context.Context, key, owner string) error {
	return s.updateOwn(ctx, "stop attempt", `UPDATE runner_attempts SET stop = 1`, key, owner)
}

// FailAttempt deletes the result of an attempt that may be offered again. It keeps the cost of its calls.
func (s *RunnerStore) FailAttempt(ctx context.Context, key, owner string) error {
	return s.updateOwn(ctx, "fail attempt", `UPDATE runner_attempts SET state = ?, result = NULL, pack = NULL`, key, owner,
		RunnerFailed)
}

// CloseAttempt deletes an attempt that has ended, and returns the cost of its calls.
func (s *RunnerStore) CloseAttempt(ctx context.Context, key, owner string) (spent sia.Credits, err error) {
	err = s.write(ctx, "close attempt "+key, func(tx *sql.Tx) error {
		return orNotFound(tx.QueryRowContext(ctx, `DELETE FROM runner_attempts WHERE key = ? AND owner = ? RETURNING spent`,
			key, owner).Scan(&spent))
	})
	return spent, err
}

// PruneRunnerAttempts deletes the attempts of effects that have ended, if their owners died before they could.
func (s *RunnerStore) PruneRunnerAttempts(ctx context.Context) error {
	return s.exec(ctx, "prune the attempts of runners", `DELETE FROM runner_attempts
		WHERE CASE WHEN tests_of = '' THEN key ELSE tests_of END NOT IN (SELECT key FROM effects WHERE state = ?)`,
		EffectPending)
}

// AnswerAboutChange answers the runner of an attempt, which asks about its change. It has no effect once the attempt
// has ended.
func (s *RunnerStore) AnswerAboutChange(ctx context.Context, key, owner string, answer []byte) error {
	return s.exec(ctx, "answer about a change of attempt "+key, `UPDATE runner_attempts SET result = ?, pack = NULL
		WHERE key = ? AND owner = ? AND state = ?`, answer, key, owner, RunnerRunning)
}

// AttemptResult returns the result and the pack that a runner sent, at the end of an attempt or to ask about its
// change.
func (s *RunnerStore) AttemptResult(ctx context.Context, key, owner string) (result, pack []byte, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT result, pack FROM runner_attempts WHERE key = ? AND owner = ?`, key, owner).
		Scan(&result, &pack)
	return result, pack, s.explain("load the result of attempt "+key, orNotFound(err))
}

// RunnerStanding is the state of an attempt or a run of tests, for users.
type RunnerStanding struct {
	Key    string
	Tests  bool // a run of tests
	Task   sia.TaskID
	State  RunnerState
	Runner string
	Since  time.Time // time of the offer
}

// Waits reports whether it waits for a runner.
func (a RunnerStanding) Waits() bool {
	return a.State == RunnerOffered || a.State == RunnerOfferedTests
}

// String returns its name within the task, such as "attempt 2" or "tests of attempt 2". The number follows the task in
// its key.
func (a RunnerStanding) String() string {
	number, _, _ := strings.Cut(strings.TrimPrefix(a.Key, string(a.Task)+"/"), "/")
	if a.Tests {
		return "tests of attempt " + number
	}
	return "attempt " + number
}

// RunnerStandings lists the attempts that are offered to runners, except failed ones, the oldest first.
func (s *RunnerStore) RunnerStandings(ctx context.Context) ([]RunnerStanding, error) {
	return list(ctx, s.DB, "list the attempts of runners", func(from row) (a RunnerStanding, err error) {
		err = from.Scan(&a.Key, &a.Tests, &a.Task, &a.State, &a.Runner, timeColumn{&a.Since})
		return a, err
	}, `SELECT key, tests_of <> '', task_id, state, runner, at FROM runner_attempts WHERE state <> ? ORDER BY at, key`,
		RunnerFailed)
}
