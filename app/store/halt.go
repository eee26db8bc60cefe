package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Halt is a pause of all tasks in a scope.
type Halt struct {
	Scope  sia.HaltScope
	By     string // login; empty: GitHub, or the server's operator
	Reason string // for users, such as "everything in this repository is paused: @ada said so"
	At     time.Time
}

// Actor returns who made the halt: a user, the server's operator, or GitHub.
func (h Halt) Actor() sia.Actor {
	return sia.Actor{Login: h.By, Operator: h.By == "" && !isSuspension(h.Scope)}
}

// Halt pauses every task of a scope that has not ended, and prevents others from starting
// until [HaltStore.Lift]. Running attempts are stopped, and their progress is saved. It may be
// called while a server runs, which obeys immediately, or while none runs. tasks is the number
// of paused tasks. If the scope was halted before, only the reason changes.
func (s *HaltStore) Halt(ctx context.Context, h Halt) (tasks int, err error) {
	err = s.write(ctx, "halt "+string(h.Scope), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO halts (scope, by_login, reason, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (scope) DO UPDATE SET by_login = excluded.by_login, reason = excluded.reason, at = excluded.at`,
			h.Scope, h.By, h.Reason, micros(h.At))
		if err != nil {
			return err
		}
		return logHalt(ctx, tx, h.Scope, h.By, h.At, "halt", h.Reason)
	})
	if err != nil {
		return 0, err
	}
	ctx, cancel := toTheEnd(ctx)
	defer cancel()
	return s.applyToScope(ctx, h.Scope, h.By, h.At, func(sia.Task) (sia.Fact, bool) {
		return sia.PauseAsked{Reason: h.Reason, Scope: h.Scope}, true
	})
}

// toTheEnd returns a context for telling the tasks of a scope, which does not end when the one who asked goes away.
func toTheEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
}

// Lift ends a halt: the tasks that it paused continue, unless they are in the scope of
// another halt. known is false when there was none, and no task was left paused by an earlier one.
func (s *HaltStore) Lift(ctx context.Context, scope sia.HaltScope, by string, at time.Time) (
	tasks int, known bool, err error,
) {
	err = s.write(ctx, "lift the halt of "+string(scope), func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `DELETE FROM halts WHERE scope = ?`, scope)
		if known = n > 0; err != nil || !known {
			return err
		}
		return logHalt(ctx, tx, scope, by, at, "lift", "goes on")
	})
	if err != nil {
		return 0, false, err
	}
	ctx, cancel := toTheEnd(ctx)
	defer cancel()
	left, err := s.Halts(ctx)
	if err != nil {
		return 0, known, err
	}
	tasks, err = s.applyToScope(ctx, scope, by, at, func(t sia.Task) (sia.Fact, bool) {
		if t.Pause == nil || t.Pause.Scope != scope {
			return nil, false
		}
		return underHalts(t, left)
	})
	return tasks, known || tasks > 0, err
}

// underHalts returns the fact that makes a task agree with the halts; false: it agrees. A task that a person or a
// budget paused agrees.
func underHalts(t sia.Task, halts []Halt) (sia.Fact, bool) {
	scopes := sia.HaltScopes(t.Installation, t.Repo.ID)
	over := slices.DeleteFunc(slices.Clone(halts), func(h Halt) bool { return !slices.Contains(scopes, h.Scope) })
	switch {
	case t.Pause != nil && (t.Pause.Scope == "" ||
		slices.ContainsFunc(over, func(h Halt) bool { return h.Scope == t.Pause.Scope })):
		return nil, false
	case len(over) > 0:
		return sia.PauseAsked{Reason: over[0].Reason, Scope: over[0].Scope}, true
	case t.Pause != nil:
		return sia.Resume{Scope: t.Pause.Scope}, true
	}
	return nil, false
}

// endHalt adds the scope of a halt that has ended, or no longer concerns the task, to a fact that resumes the task
// alone: otherwise the task would stay paused until [HaltStore.ApplyHalts].
func endHalt(ctx context.Context, tx *sql.Tx, t sia.Task, fact sia.Fact) (sia.Fact, error) {
	f, resumes := fact.(sia.Resume)
	if !resumes || f.Scope != "" || t.Pause == nil || t.Pause.Scope == "" {
		return fact, nil
	}
	halts, err := collect(ctx, tx, scanHalt, selectHalts)
	if err != nil {
		return fact, err
	}
	healing, _ := underHalts(t, halts)
	if r, ended := healing.(sia.Resume); ended {
		f.Scope = r.Scope
	}
	return f, nil
}

// ApplyHalts makes the tasks that have not ended agree with the halts: a process may have ended before it told all of
// them, or a task changed its owner.
func (s *HaltStore) ApplyHalts(ctx context.Context, at time.Time) error {
	tasks := &TaskStore{s.DB}
	// The tasks first: then a task is not resumed because of a halt that is newer than the list.
	paused, err := tasks.Tasks(ctx, Filter{State: sia.OnHold, Limit: NoLimit})
	if err != nil {
		return err
	}
	halts, err := s.Halts(ctx)
	if err != nil {
		return err
	}
	fact := func(t sia.Task) (sia.Fact, bool) { return underHalts(t, halts) }
	_, err = s.applyTo(ctx, paused, "halts", sia.Actor{}, at, fact)
	all := []error{err}
	for _, h := range halts {
		_, err := s.applyToScope(ctx, h.Scope, h.By, at, fact)
		all = append(all, err)
	}
	return errors.Join(all...)
}

// logHalt logs a halt or lift. by is a login; empty: GitHub, or the server's operator.
func logHalt(
	ctx context.Context, tx *sql.Tx, scope sia.HaltScope, by string, at time.Time, what, detail string,
) error {
	a := Act{At: at, Who: by, What: what, Repo: openIn(scope).Repo, Detail: string(scope) + ": " + detail}
	if isSuspension(scope) && by == "" {
		return logActOf(ctx, tx, own, a)
	}
	return logAct(ctx, tx, a)
}

// isSuspension reports whether a scope is an installation that is suspended on GitHub.
func isSuspension(scope sia.HaltScope) bool { return strings.HasPrefix(string(scope), "suspended ") }

// applyToScope applies a fact to the tasks of a scope that have not ended. by is a login; empty:
// GitHub, or the server's operator.
func (s *HaltStore) applyToScope(
	ctx context.Context, scope sia.HaltScope, by string, at time.Time, fact func(sia.Task) (sia.Fact, bool),
) (told int, err error) {
	open, err := (&TaskStore{s.DB}).Tasks(ctx, openIn(scope))
	if err != nil {
		return 0, err
	}
	return s.applyTo(ctx, open, string(scope), Halt{Scope: scope, By: by}.Actor(), at, fact)
}

// openIn returns the filter of the tasks of a scope that have not ended.
func openIn(scope sia.HaltScope) Filter {
	f := Filter{Open: true, Limit: NoLimit}
	kind, id, _ := strings.Cut(string(scope), " ")
	n, _ := strconv.ParseInt(id, 10, 64) // ours
	switch kind {
	case "repository":
		f.Repo = n
	case "installation", "suspended":
		f.Installation = n
	}
	return f
}

// applyTo applies a fact to tasks. It continues after an error. about begins the ids of the events.
func (s *HaltStore) applyTo(
	ctx context.Context, tasks []sia.Task, about string, by sia.Actor, at time.Time,
	fact func(sia.Task) (sia.Fact, bool),
) (told int, err error) {
	var all []error
	for _, t := range tasks {
		f, ok := fact(t)
		if !ok {
			continue
		}
		e := sia.Event{ID: fmt.Sprintf("%s/%s/%d/v%d", about, f.Kind(), micros(at), t.Version), At: at, By: by, Fact: f}
		res, err := (&TaskStore{s.DB}).Apply(ctx, t.ID, e)
		if err != nil {
			all = append(all, err)
		} else if res.Ignored == "" {
			told++
		}
	}
	return told, errors.Join(all...)
}

// NoLimit is a limit above the number of tasks that a server ever has open.
const NoLimit = 1_000_000

// HaltOver returns a halt that applies to a repository; false: there is none.
func (s *HaltStore) HaltOver(ctx context.Context, installation, repo int64) (Halt, bool, error) {
	all, err := s.Halts(ctx)
	for _, h := range all {
		if slices.Contains(sia.HaltScopes(installation, repo), h.Scope) {
			return h, true, err
		}
	}
	return Halt{}, false, err
}

// Halts lists the halts, the newest last.
func (s *HaltStore) Halts(ctx context.Context) ([]Halt, error) {
	return list(ctx, s.DB, "list what is paused", scanHalt, selectHalts)
}

const selectHalts = `SELECT scope, by_login, reason, at FROM halts ORDER BY at, scope`

func scanHalt(from row) (h Halt, err error) {
	err = from.Scan(&h.Scope, &h.By, &h.Reason, timeColumn{&h.At})
	return h, err
}
