package store

import (
	"context"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// TaskEnd is the result of a task.
type TaskEnd struct {
	Task   sia.TaskID
	Repo   int64
	Kind   string // of task, as package policies names it
	Passed bool
	Helped bool // a user answered a question in it
}

// RecordTaskEnd records the result of a task; the last record replaces earlier ones.
func (s *OutcomeStore) RecordTaskEnd(ctx context.Context, e TaskEnd) error {
	return s.exec(ctx, "record what came of task "+string(e.Task), `INSERT INTO task_ends
		(task_id, repo_id, kind, passed, helped, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (task_id) DO UPDATE SET passed = excluded.passed, helped = excluded.helped, at = excluded.at`,
		e.Task, e.Repo, e.Kind, e.Passed, e.Helped, micros(s.now()))
}

// TaskCount counts tasks that ended, and those of them that passed.
type TaskCount struct{ Ended, Passed int }

// TaskEnds counts the tasks of a kind in a repository. alone counts all of them as ended, and as passed
// only those that passed without a user's answer; to exclude helped tasks from it would exclude tasks
// that SIA could not pass alone. helped counts those in which a user answered.
func (s *OutcomeStore) TaskEnds(ctx context.Context, repo int64, kind string) (alone, helped TaskCount, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(*),
			count(CASE WHEN helped = 0 AND passed = 1 THEN 1 END),
			count(CASE WHEN helped = 1 THEN 1 END), count(CASE WHEN helped = 1 AND passed = 1 THEN 1 END)
		FROM task_ends WHERE repo_id = ? AND kind = ?`, repo, kind).
		Scan(&alone.Ended, &alone.Passed, &helped.Ended, &helped.Passed)
	return alone, helped, s.explain(fmt.Sprintf("count the tasks of repository %d", repo), err)
}

// CoderOutcome is the result of a coder's work on an attempt: its cost, and whether it passed.
type CoderOutcome struct {
	ID       int64 // ascending in the order of recording; assigned by RecordCoderOutcome
	Task     sia.TaskID
	Attempt  int
	Repo     int64
	Org      string
	Kind     string // of task, as package policies names it
	Coder    string // its name in the server's configuration
	Agent    string // agent and the models that answered
	Setup    string // agent and first model of its configuration; empty: unknown
	Cost     sia.Credits
	Resolved bool
	Changed  bool     // its instructions differ from those that failed earlier in the task
	Failed   []string // coders that failed earlier in the task, in order
	At       time.Time
}

// RecordCoderOutcome appends an outcome. The first one of a coder in an attempt is kept.
func (s *OutcomeStore) RecordCoderOutcome(ctx context.Context, o CoderOutcome) error {
	_, err := s.record(ctx, fmt.Sprintf("record the outcome of attempt %d of task %s", o.Attempt, o.Task),
		"coder_outcomes", coderOutcomeColumns, o.fields())
	return err
}

const coderOutcomeColumns = `id, task_id, attempt, repo_id, org, kind, coder, agent, cost, resolved, changed, failed,
	at, setup`

func (o *CoderOutcome) fields() []any {
	return []any{&o.ID, &o.Task, &o.Attempt, &o.Repo, &o.Org, &o.Kind, &o.Coder, &o.Agent, &o.Cost, &o.Resolved,
		&o.Changed, jsonColumn{&o.Failed}, timeColumn{&o.At}, &o.Setup}
}

func scanCoderOutcome(from row) (o CoderOutcome, err error) {
	err = from.Scan(o.fields()...)
	return o, err
}

// CoderOutcomesSince lists the outcomes of all repositories that were recorded after the
// one with the given id, in their order; 0: all.
func (s *OutcomeStore) CoderOutcomesSince(ctx context.Context, id int64) ([]CoderOutcome, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the outcomes of coders since %d", id), scanCoderOutcome,
		`SELECT `+coderOutcomeColumns+` FROM coder_outcomes WHERE id > ? ORDER BY id`, id)
}
