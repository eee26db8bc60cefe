package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sia-bot/sia/sia"
)

// Apply applies an event to a task: it calls [sia.Step] and writes the result, in
// one transaction: the task, the event, the effects with their jobs, and the
// rows that are derived from them.
//
// Events of one task are applied one at a time, in the order of their
// transactions. An event with an id that was applied to the task before changes
// nothing and is returned as ignored. So is every fact except Start and Restored for a
// task that does not exist. An event that changes nothing is not added to the task's log (see
// [sia.Step]): only the effects that answer it are written, and that it was received.
func (s *TaskStore) Apply(ctx context.Context, id sia.TaskID, e sia.Event) (sia.Result, error) {
	var res sia.Result
	err := s.write(ctx, fmt.Sprintf("apply event %s to task %s", e.ID, id), func(tx *sql.Tx) (err error) {
		res, err = s.applyTx(ctx, tx, id, e, nil)
		return err
	})
	if err != nil {
		return sia.Result{}, err
	}
	s.logApplied(ctx, id, e, res)
	return res, nil
}

func (s *TaskStore) logApplied(ctx context.Context, id sia.TaskID, e sia.Event, res sia.Result) {
	level := slog.LevelDebug
	if res.Ignored == "" && res.Task.Since.Equal(e.At) { // it moved the task to another state
		level = slog.LevelInfo
	}
	s.log.Log(ctx, level, "event applied", "task", id, "event", e.ID, "kind", e.Fact.Kind(),
		"state", res.Task.State, "why", res.Why, "ignored", res.Ignored, "effects", len(res.Effects))
}

// applyTx is Apply inside a transaction. One effect that the caller carries out
// itself is stored in *joined and gets no job (see [sia.EffectKind.Joins]); nil: each gets one.
func (s *TaskStore) applyTx(
	ctx context.Context, tx *sql.Tx, id sia.TaskID, e sia.Event, joined **sia.Effect,
) (sia.Result, error) {
	if e.ID == "" || e.Fact == nil {
		return sia.Result{}, errors.New("an event needs an id and a fact")
	}
	if err := s.advisoryLock(ctx, tx, taskLock(id)); err != nil {
		return sia.Result{}, err
	}
	before, err := taskToChange(ctx, tx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		if k := e.Fact.Kind(); k != sia.KStart && k != sia.KRestored {
			return sia.Result{Ignored: "there is no such task"}, nil
		}
	case err != nil:
		return sia.Result{}, err
	}
	known, err := isApplied(ctx, tx, id, e.ID)
	if err != nil {
		return sia.Result{}, err
	}
	if known {
		return sia.Result{Task: before, Ignored: "the event " + e.ID + " was applied already"}, nil
	}

	if e.Fact, err = s.checkBudgets(ctx, tx, before, e.Fact); err != nil {
		return sia.Result{}, err
	}
	if e.Fact, err = endHalt(ctx, tx, before, e.Fact); err != nil {
		return sia.Result{}, err
	}
	// Pass Step the event as a replay will: decoded from its stored form.
	e.Rules = sia.Rules
	stored, err := json.Marshal(e)
	if err != nil {
		return sia.Result{}, fmt.Errorf("encode the event: %w", err)
	}
	if err := json.Unmarshal(stored, &e); err != nil {
		return sia.Result{}, fmt.Errorf("decode the event: %w", err)
	}

	res := sia.Step(before, e)
	if res.Task.ID != id {
		return sia.Result{}, fmt.Errorf("the event is about task %q", res.Task.ID)
	}
	w := &appliedEvent{s: s.DB, ctx: ctx, tx: tx, before: before, after: res.Task, e: e, res: res, joined: joined}
	if before.ID != "" && res.Task.Version == before.Version {
		w.saveHeard()
		w.saveEffects()
		return res, w.err
	}
	w.saveTask()
	w.saveEvent(stored)
	w.saveEffects()
	w.cancelTests()
	w.saveRefs()
	w.saveAttempts()
	w.saveCredits()
	return res, w.err
}

// taskLock returns the name of the lock for applying events to a task.
func taskLock(id sia.TaskID) string { return "task " + string(id) }

// task loads a task; an error wraps ErrNotFound when there is none.
func task(ctx context.Context, q querier, id sia.TaskID) (sia.Task, error) {
	t, err := scanJSON[sia.Task](q.QueryRowContext(ctx, `SELECT task FROM tasks WHERE id = ?`, id))
	if err != nil {
		return sia.Task{}, fmt.Errorf("task %s: %w", id, orNotFound(err))
	}
	return t, nil
}

// errNewerTask is the reason why a task waits for another program.
var errNewerTask = errors.New("a newer version of SIA changed the task: it waits for that version")

// taskToChange loads a task of which this program knows all fields: it would drop others when it writes the task. The
// error wraps errNewerTask when there may be others, and ErrNotFound when there is no such task.
func taskToChange(ctx context.Context, q querier, id sia.TaskID) (t sia.Task, err error) {
	var needs int
	err = q.QueryRowContext(ctx, `SELECT needs, task FROM tasks WHERE id = ?`, id).Scan(&needs, jsonColumn{&t})
	switch {
	case needs > sia.TaskVersion:
		return sia.Task{}, &sia.Error{Op: "change task " + string(id), Message: errNewerTask.Error(), Turn: true,
			RetryAfter: unknownKindDelay, Err: errNewerTask}
	case err != nil:
		return sia.Task{}, fmt.Errorf("task %s: %w", id, orNotFound(err))
	}
	return t, nil
}
