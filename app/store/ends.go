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
	Helped bool // a person answered a question in it
}

// RecordTaskEnd notes the result of a task; the last word on it stands.
func (s *OutcomeStore) RecordTaskEnd(ctx context.Context, e TaskEnd) error {
	return s.exec(ctx, "record what came of task "+string(e.Task), `INSERT INTO task_ends
		(task_id, repo_id, kind, passed, helped, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (task_id) DO UPDATE SET passed = excluded.passed, helped = excluded.helped, at = excluded.at`,
		e.Task, e.Repo, e.Kind, e.Passed, e.Helped, micros(s.now()))
}

// TaskCount is how many tasks ended, and how many of them passed.
type TaskCount struct{ Ended, Passed int }

// TaskEnds counts the tasks of a kind in a repository: all of them, of which those passed alone that
// passed without a person's answer, and those in which a person gave one. To leave the latter out of the
// former would leave out those that were not passed alone.
func (s *OutcomeStore) TaskEnds(ctx context.Context, repo int64, kind string) (alone, helped TaskCount, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT count(*),
			count(CASE WHEN helped = 0 AND passed = 1 THEN 1 END),
			count(CASE WHEN helped = 1 THEN 1 END), count(CASE WHEN helped = 1 AND passed = 1 THEN 1 END)
		FROM task_ends WHERE repo_id = ? AND kind = ?`, repo, kind).
		Scan(&alone.Ended, &alone.Passed, &helped.Ended, &helped.Passed)
	return alone, helped, s.explain(fmt.Sprintf("count the tasks of repository %d", repo), err)
}

// CoderOutcome is the result of a coder's work on an attempt: what it cost, and whether it passed.
type CoderOutcome struct {
	ID       int64 // the place in the order in which outcomes are learned from; given by RecordCoderOutcome
	Task     sia.TaskID
	Attempt  int
	Repo     int64
	Org      string
	Kind     string // of task, as package policies names it
	Coder    string // its name in the server's configuration
	Agent    string // agent and model, as it was then
	Cost     sia.Credits
	Resolved bool
	Changed  bool     // it went by other instructions than those that had failed in the task before
	Failed   []string // coders that had failed in the task before, in order
	At       time.Time
}

// RecordCoderOutcome appends an outcome. The first one of a coder in an attempt stands.
func (s *OutcomeStore) RecordCoderOutcome(ctx context.Context, o CoderOutcome) error {
	_, err := s.record(ctx, fmt.Sprintf("record the outcome of attempt %d of task %s", o.Attempt, o.Task),
		"coder_outcomes", coderOutcomeColumns, o.fields())
	return err
}

const coderOutcomeColumns = `id, task_id, attempt, repo_id, org, kind, coder, agent, cost, resolved, changed, failed,
	at`

func (o *CoderOutcome) fields() []any {
	return []any{&o.ID, &o.Task, &o.Attempt, &o.Repo, &o.Org, &o.Kind, &o.Coder, &o.Agent, &o.Cost, &o.Resolved,
		&o.Changed, asJSON{&o.Failed}, asMicros{&o.At}}
}

func scanCoderOutcome(from row) (o CoderOutcome, err error) {
	err = from.Scan(o.fields()...)
	return o, err
}

// CoderOutcomesSince lists the outcomes of all repositories that were recorded after the
// one of this id, in their order; 0 is before the first.
func (s *OutcomeStore) CoderOutcomesSince(ctx context.Context, id int64) ([]CoderOutcome, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the outcomes of coders since %d", id), scanCoderOutcome,
		`SELECT `+coderOutcomeColumns+` FROM coder_outcomes WHERE id > ? ORDER BY id`, id)
}
