package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// appliedEvent writes the result of one call of Step. After the first error its
// methods do nothing.
type appliedEvent struct {
	s             *DB
	ctx           context.Context
	tx            *sql.Tx
	before, after sia.Task
	e             sia.Event
	res           sia.Result
	joined        **sia.Effect // see [TaskStore.applyTx]
	seq           int64        // of the event in the task's log
	err           error
}

// errStale means that the task changed between loading and saving, which the
// lock of the task prevents.
var errStale = errors.New("the task was changed by somebody else meanwhile")

func (w *appliedEvent) exec(query string, args ...any) (changed int64) {
	if w.err != nil {
		return 0
	}
	var res sql.Result
	if res, w.err = w.tx.ExecContext(w.ctx, query, args...); w.err == nil {
		changed, w.err = res.RowsAffected()
	}
	return changed
}

func (w *appliedEvent) json(v any) string {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("encode %T: %w", v, err)
	}
	return string(b)
}

func (w *appliedEvent) saveTask() {
	t, now := w.after, micros(w.s.now())
	if w.before.ID == "" {
		w.exec(`INSERT INTO tasks (id, installation_id, repo_id, issue, state, temperature, title, version, task, needs,
			created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, t.Installation, t.Repo.ID, t.Issue, t.State, t.Temperature(), t.Title, t.Version, w.json(t),
			sia.TaskVersion, now, now)
		w.exec(`DELETE FROM deleted_tasks WHERE task_id = ?`, t.ID)
		return
	}
	n := w.exec(`UPDATE tasks SET installation_id = ?, state = ?, temperature = ?, title = ?, version = ?,
		task = ?, needs = ?, updated_at = ? WHERE id = ? AND version = ?`,
		t.Installation, t.State, t.Temperature(), t.Title, t.Version, w.json(t), sia.TaskVersion, now, t.ID,
		w.before.Version)
	if w.err == nil && n != 1 {
		w.err = errStale
	}
}

// saveHeard records a user's event that changed nothing, so that it is ignored later, too, such as a comment that is
// read again while a question is open. Events that SIA finds by polling are not recorded, because it polls again.
func (w *appliedEvent) saveHeard() {
	if w.e.By == (sia.Actor{}) || w.e.Fact.Kind() == sia.KCheckSeen {
		return
	}
	w.exec(`INSERT INTO heard (repo_id, event_id, issue, login, answer, at) VALUES (?, ?, 0, '', '', ?)
		ON CONFLICT DO NOTHING`, w.before.Repo.ID, heardEventID(w.before.ID, w.e.ID), micros(w.s.now()))
}

func (w *appliedEvent) saveEvent(stored []byte) {
	if w.err != nil {
		return
	}
	w.err = w.tx.QueryRowContext(w.ctx, `INSERT INTO task_events
		(task_id, seq, event_id, kind, at, by_id, by_login, event, from_state, to_state, why, ignored)
		VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM task_events WHERE task_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING seq`,
		w.after.ID, w.after.ID, w.e.ID, w.e.Fact.Kind(), micros(w.e.At), w.e.By.ID, w.e.By.Login, string(stored),
		w.before.State, w.after.State, w.res.Why, w.res.Ignored).Scan(&w.seq)
}

// saveEffects writes each effect with its job. A duplicate key is a bug in Step:
// the first effect is kept, and the error is logged.
func (w *appliedEvent) saveEffects() {
	for _, f := range w.res.Effects {
		n := w.exec(`INSERT INTO effects (key, task_id, kind, attempt, due_at, effect, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
			f.Key, f.Task, f.Kind, f.Attempt, micros(f.At), w.json(f), micros(w.s.now()))
		if w.err != nil {
			return
		}
		if n == 0 && f.Aside {
			continue // the record of an old event was pruned
		}
		if n == 0 {
			w.s.log.ErrorContext(w.ctx, "effect exists already, not written again", "task", f.Task, "effect", f.Key, "event",
				w.e.ID)
			continue
		}
		if w.joined != nil && *w.joined == nil && f.Kind.Joins() && !f.At.After(w.s.now()) {
			*w.joined = &f
			continue
		}
		w.err = w.s.insertJob(w.ctx, w.tx, f.Key, queueOf(f), f.At)
	}
}

// cancelTests cancels runs of tests that the task no longer waits for: nobody reads their results, and they would go on
// for minutes.
func (w *appliedEvent) cancelTests() {
	for key, kind := range w.before.Pending {
		if w.err != nil || !kind.RunsTests() || w.after.Pending[key] != "" || key == w.e.Effect {
			continue
		}
		if err := w.s.cancelEffect(w.ctx, w.tx, key); !errors.Is(err, ErrNotFound) {
			w.err = err
		}
	}
}

// queueOf returns the queue of an effect's job.
func queueOf(f sia.Effect) string {
	switch {
	case f.Kind.Long():
		return queueAttempts
	case f.Kind.RunsTests():
		return queueTests
	}
	return queueEffects
}

// insertJob inserts the job of an effect, due at a time.
func (s *DB) insertJob(ctx context.Context, tx *sql.Tx, key, queue string, at time.Time) error {
	queue, err := s.laneFor(ctx, tx, key, commonQueue(queue))
	var job int64
	if err == nil {
		job, err = s.insert(ctx, tx, effectArgs{Key: key}, queue, at)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE effects SET job_id = ? WHERE key = ?`, job, key)
	}
	if err != nil {
		return fmt.Errorf("write the job of effect %s: %w", key, err)
	}
	return nil
}

func (w *appliedEvent) saveRefs() {
	known := map[string]bool{}
	if w.before.ID != "" && w.before.Repo.ID == w.after.Repo.ID {
		for _, ref := range w.before.Refs() {
			known[ref] = true
		}
	}
	for _, ref := range w.after.Refs() {
		if !known[ref] {
			w.exec(`INSERT INTO task_refs (repo_id, ref, task_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
				w.after.Repo.ID, ref, w.after.ID)
		}
	}
}

// saveAttempts writes the attempts that changed.
func (w *appliedEvent) saveAttempts() {
	for i, a := range w.after.Attempts {
		text := w.json(a)
		if i < len(w.before.Attempts) && bytes.Equal([]byte(w.json(w.before.Attempts[i])), []byte(text)) {
			continue
		}
		w.exec(`INSERT INTO attempts
			(task_id, number, repo_id, agent, prompt_hash, technique, outcome, cost, started_at, ended_at, attempt)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (task_id, number) DO UPDATE SET agent = excluded.agent, prompt_hash = excluded.prompt_hash,
				technique = excluded.technique, outcome = excluded.outcome, cost = excluded.cost,
				started_at = excluded.started_at, ended_at = excluded.ended_at, attempt = excluded.attempt`,
			w.after.ID, a.Number, w.after.Repo.ID, a.Agent, a.PromptHash, a.Technique, a.Outcome, a.Cost,
			micros(a.StartedAt), micros(a.EndedAt), text)
	}
}

// saveCredits writes the changes of the task's account. Each kind of row sums to
// one field of the account: grants to the budget; reservations less returns to
// the reserved credits (a reservation is returned in full, and its spent part is
// a separate row); and so on.
func (w *appliedEvent) saveCredits() {
	was, is := w.before.Credits, w.after.Credits
	row := func(kind string, amount sia.Credits) {
		if amount != 0 {
			w.exec(`INSERT INTO credits (task_id, seq, repo_id, installation_id, at, kind, amount, team)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				w.after.ID, w.seq, w.after.Repo.ID, w.after.Installation, micros(w.e.At), kind, amount, w.after.Settings.Team)
		}
	}
	row("grant", is.Budget-was.Budget)
	row("reserve", max(0, is.Reserved-was.Reserved))
	row("return", max(0, was.Reserved-is.Reserved))
	row("spend", is.Spent-was.Spent)
	row("overrun", is.Overrun-was.Overrun)
}
