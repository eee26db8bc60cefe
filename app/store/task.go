package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Task loads a task; the error wraps [ErrNotFound] when there is none.
func (s *TaskStore) Task(ctx context.Context, id sia.TaskID) (sia.Task, error) {
	t, err := task(ctx, s.r, id)
	return t, s.explain(fmt.Sprintf("load task %s", id), err)
}

// TaskByRef returns the tasks that a reference in a repository belongs to, newest
// first: see [sia.IssueRef], [sia.BranchRef] and [sia.CommitRef].
func (s *TaskStore) TaskByRef(ctx context.Context, repo int64, ref string) ([]sia.TaskID, error) {
	return list(ctx, s.DB, "find the task of "+ref, scanValue[sia.TaskID], `SELECT r.task_id
		FROM task_refs r JOIN tasks t ON t.id = r.task_id
		WHERE r.repo_id = ? AND r.ref = ? ORDER BY t.created_at DESC, t.id`, repo, ref)
}

// Filter selects tasks; a zero field selects all.
type Filter struct {
	State        sia.State
	Repo         int64 // GitHub's repository id
	Issue        int
	Installation int64
	Open         bool      // only those that are not final
	Since        time.Time // changed at or after it
	Limit        int       // at most; 0 is 100
}

// Tasks lists tasks, the most recently changed first.
func (s *TaskStore) Tasks(ctx context.Context, f Filter) ([]sia.Task, error) {
	query, args := tasksQuery(f)
	return list(ctx, s.DB, "list tasks", scanJSON[sia.Task], query, args...)
}

// conditions has the conditions of a query, with their arguments.
type conditions struct {
	all  []string
	args []any
}

// add adds a condition if asked is true. Unused conditions are left out, so that the database uses the right index.
func (c *conditions) add(asked bool, condition string, values ...any) {
	if asked {
		c.all, c.args = append(c.all, condition), append(c.args, values...)
	}
}

func (c *conditions) String() string { return strings.Join(c.all, " AND ") }

func tasksQuery(f Filter) (query string, args []any) {
	var c conditions
	c.add(true, "updated_at >= ?", micros(f.Since))
	c.add(f.State != "", "state = ?", f.State)
	c.add(f.Repo != 0, "repo_id = ?", f.Repo)
	c.add(f.Issue != 0, "issue = ?", f.Issue)
	c.add(f.Installation != 0, "installation_id = ?", f.Installation)
	c.add(f.Open, "state NOT IN (?, ?)", sia.Passed, sia.Stopped)
	return `SELECT task FROM tasks WHERE ` + c.String() + ` ORDER BY updated_at DESC, id LIMIT ?`,
		append(c.args, cmp.Or(max(f.Limit, 0), 100))
}

// EventRecord is one line of a task's log.
type EventRecord struct {
	Seq     int // 1-based, without gaps
	Event   sia.Event
	From    sia.State // "" before the first
	To      sia.State
	Why     string
	Ignored string
}

// Events returns a task's log, oldest first; empty for a task that does not exist.
func (s *TaskStore) Events(ctx context.Context, id sia.TaskID) ([]EventRecord, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the events of task %s", id), func(from row) (r EventRecord, err error) {
		err = from.Scan(&r.Seq, jsonColumn{&r.Event}, &r.From, &r.To, &r.Why, &r.Ignored)
		return r, err
	}, `SELECT seq, event, from_state, to_state, why, ignored FROM task_events WHERE task_id = ? ORDER BY seq`, id)
}

// EventsInBrief is [TaskStore.Events] for readers who need no details of the gate's looks, which are most of a long log
// if there are many checks: of those events it has only id, time and kind.
func (s *TaskStore) EventsInBrief(ctx context.Context, id sia.TaskID) ([]EventRecord, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the events of task %s in brief", id), func(from row) (EventRecord, error) {
		r, event := EventRecord{Event: sia.Event{Fact: sia.Judged{}}}, sql.NullString{}
		err := from.Scan(&r.Seq, &r.Event.ID, timeColumn{&r.Event.At}, &event, &r.From, &r.To, &r.Why, &r.Ignored)
		if err == nil && event.Valid {
			err = json.Unmarshal([]byte(event.String), &r.Event)
		}
		return r, err
	}, `SELECT seq, event_id, at, CASE WHEN kind <> ? THEN event END, from_state, to_state, why, ignored
		FROM task_events WHERE task_id = ? ORDER BY seq`, sia.KJudged, id)
}

// Applied reports whether an event was applied to a task, or was received without changing it. Received events are
// pruned together with deliveries.
func (s *TaskStore) Applied(ctx context.Context, id sia.TaskID, event string) (applied bool, err error) {
	applied, err = isApplied(ctx, s.r, id, event)
	return applied, s.explain("look whether "+event+" was applied", err)
}

func isApplied(ctx context.Context, q querier, id sia.TaskID, event string) (applied bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM task_events WHERE task_id = ? AND event_id = ?)
		OR EXISTS (SELECT 1 FROM heard WHERE repo_id = (SELECT repo_id FROM tasks WHERE id = ?) AND event_id = ?)`,
		id, event, id, heardEventID(id, event)).Scan(&applied)
	return applied, err
}

// heardEventID returns the id, in the table heard, of an event that changed nothing in a task.
func heardEventID(id sia.TaskID, event string) string { return string(id) + "/" + event }

// EffectState is the state of an effect.
type EffectState string

// The states of an effect.
const (
	EffectPending EffectState = "pending" // waits or runs
	EffectDone    EffectState = "done"    // its outcome was applied
	EffectFailed  EffectState = "failed"  // given up; sia.EffectFailed was applied
)

// EffectRecord is an effect with its state.
type EffectRecord struct {
	sia.Effect
	State     EffectState
	Tries     int       // number of failed tries
	Error     string    // of the last failed try; "" when none failed
	Cancelled bool      // cancellation was requested
	Ended     time.Time // zero while pending
}

const effectColumns = `effect, state, tries, error, cancelled, ended_at`

func scanEffect(from row) (r EffectRecord, err error) {
	return scanEffectWith(from)
}

// scanEffectWith scans additional columns after the effect's.
func scanEffectWith(from row, more ...any) (r EffectRecord, err error) {
	err = from.Scan(append([]any{jsonColumn{&r.Effect}, &r.State, &r.Tries, &r.Error, &r.Cancelled, timeColumn{&r.Ended}},
		more...)...)
	return r, err
}

// Effects lists a task's effects in the order in which they were written.
func (s *TaskStore) Effects(ctx context.Context, id sia.TaskID) ([]EffectRecord, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the effects of task %s", id), scanEffect,
		`SELECT `+effectColumns+` FROM effects WHERE task_id = ? ORDER BY created_at, rowid`, id)
}

// NextTry returns when a pending effect is tried next; zero: it runs, or has no job.
func (s *TaskStore) NextTry(ctx context.Context, key string) (at time.Time, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT min(scheduled_at) FROM river_job WHERE state IN ('available', 'scheduled')
		AND id = (SELECT job_id FROM effects WHERE key = ? AND state = ?)`, key, EffectPending).Scan(jobTime{&at})
	return at, s.explain("look when effect "+key+" is tried next", err)
}

// Retry is a pending effect that failed, or that had to wait.
type Retry struct {
	EffectRecord           // Tries of [DefaultTries] failed, and Error is that of the last
	Next         time.Time // when it is tried next; zero: now
}

// Retries lists a task's effects that are tried again, in the order in which they were written. It leaves out those
// that run now and have not failed.
func (s *TaskStore) Retries(ctx context.Context, id sia.TaskID) (all []Retry, err error) {
	effects, err := s.Effects(ctx, id)
	for _, f := range effects {
		if err != nil || f.State != EffectPending || f.Error == "" {
			continue
		}
		r := Retry{EffectRecord: f}
		if r.Next, err = s.NextTry(ctx, f.Key); f.Tries > 0 || !r.Next.IsZero() {
			all = append(all, r)
		}
	}
	return all, err
}

// Effect loads one effect; the error wraps [ErrNotFound] when there is none.
func (s *TaskStore) Effect(ctx context.Context, key string) (EffectRecord, error) {
	return load(ctx, s.DB, "load effect "+key, scanEffect, `SELECT `+effectColumns+` FROM effects WHERE key = ?`, key)
}

// Replay rebuilds a task from its log and returns an error when it differs from
// the stored one (docs/architecture.md#invariants, 5).
func (s *TaskStore) Replay(ctx context.Context, id sia.TaskID) (sia.Task, error) {
	op := fmt.Sprintf("replay task %s", id)
	tx, err := s.snapshot(ctx)
	if err != nil {
		return sia.Task{}, s.explain(op, err)
	}
	defer tx.Rollback() //nolint:errcheck // read-only
	stored, err := task(ctx, tx, id)
	if err != nil {
		return sia.Task{}, s.explain(op, err)
	}
	t, text, want, err := replay(ctx, tx, id, stored)
	if err == nil && text != want {
		err = fmt.Errorf("its events give\n%s\nbut stored is\n%s", text, want)
	}
	return t, s.explain(op, err)
}

// replay rebuilds a task from its log, and returns it and the stored one as JSON.
func replay(ctx context.Context, q querier, id sia.TaskID, stored sia.Task) (t sia.Task, text, want string, err error) {
	events, err := collect(ctx, q, scanJSON[sia.Event],
		`SELECT event FROM task_events WHERE task_id = ? ORDER BY seq`, id)
	if err != nil {
		return t, "", "", err
	}
	var b []byte
	for _, e := range events {
		if b, err = json.Marshal(sia.Replay(t, e).Task); err != nil {
			return t, "", "", fmt.Errorf("event %s: %w", e.ID, err)
		}
		t = sia.Task{}
		if err := json.Unmarshal(b, &t); err != nil {
			return t, "", "", fmt.Errorf("event %s: %w", e.ID, err)
		}
	}
	is, err := json.Marshal(stored)
	return t, string(b), string(is), err
}
