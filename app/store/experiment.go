package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// ExperimentPhase is the phase of a policy change.
type ExperimentPhase string

// The phases. A change moves from one to one further down, and ends in one of the last four.
const (
	ExperimentDrafted  ExperimentPhase = "drafted"  // no pull request yet
	ExperimentProposed ExperimentPhase = "proposed" // waits for approval
	ExperimentRunning  ExperimentPhase = "running"  // half of the tasks are decided by it
	ExperimentBetter   ExperimentPhase = "better"   // ready to be merged
	ExperimentPromoted ExperimentPhase = "promoted" // in force, and watched
	// the previous version decides again, and its file has to be restored
	ExperimentReverting ExperimentPhase = "reverting"

	ExperimentKept       ExperimentPhase = "kept"        // in force, and no longer watched: the next change builds on it
	ExperimentRejected   ExperimentPhase = "rejected"    // not tried
	ExperimentStopped    ExperimentPhase = "stopped"     // tried, and not better
	ExperimentRolledBack ExperimentPhase = "rolled-back" // the previous version is in force again
)

// Open reports whether a change has not ended: it may still take effect, or is in force and watched.
func (p ExperimentPhase) Open() bool {
	switch p {
	case ExperimentKept, ExperimentRejected, ExperimentStopped, ExperimentRolledBack:
		return false
	}
	return true
}

// Experiment is one change of a policy, from its proposal to its end.
type Experiment struct {
	ID           string          `json:"id"` // seeds the assignment of tasks
	Installation int64           `json:"installation"`
	Place        sia.Repo        `json:"place"` // repository of the policy file
	Alone        bool            `json:"alone"` // applies to Place only; else to every repository of the installation
	Layer        int             `json:"-"`     // of the candidate, as numbered by package policies
	Decision     string          `json:"decision"`
	Name         string          `json:"name"`      // of the policy
	File         string          `json:"file"`      // its path in Place
	Present      string          `json:"present"`   // id of the version in force
	Candidate    string          `json:"candidate"` // id of the changed version
	Change       string          `json:"change"`    // in words, such as "parameters.threshold: 0.65 -> 0.5"
	Path         string          `json:"path"`      // of the changed member
	Value        string          `json:"value"`     // its new value
	Reason       string          `json:"reason"`
	By           string          `json:"by"`     // login of the proposer, or the model's name
	Number       int             `json:"number"` // 1-based, among all changes proposed for this policy; 0: not tried
	Phase        ExperimentPhase `json:"phase"`
	Why          string          `json:"why"`            // reason for the phase, for users
	Gate         string          `json:"gate,omitempty"` // result of replaying past tasks
	Pull         int             `json:"pull,omitempty"`
	PullURL      string          `json:"pull_url,omitempty"`
	Head         string          `json:"-"` // SIA's commit on the pull request
	Comment      int64           `json:"-"` // id of the status comment on the pull request
	ApprovedBy   string          `json:"approved_by,omitempty"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    time.Time       `json:"started_at,omitzero"` // tasks created after this take part
	PromotedAt   time.Time       `json:"promoted_at,omitzero"`
	WatchedAt    time.Time       `json:"watched_at,omitzero"` // restart of the watch, after an alarm with another cause
	EndedAt      time.Time       `json:"ended_at,omitzero"`
}

// ExperimentUnmerged begins the reason of a change that has proved better, and that SIA could not merge.
const ExperimentUnmerged = "it does better, and a person has to merge it: "

// Waits reports whether the change waits for a person to approve it, for which SIA asks in a comment, or to merge it.
func (x Experiment) Waits() bool {
	return x.Phase == ExperimentProposed && x.Comment != 0 ||
		x.Phase == ExperimentBetter && strings.HasPrefix(x.Why, ExperimentUnmerged)
}

// ExperimentEvent is an entry in the log of an experiment.
type ExperimentEvent struct {
	Experiment string          `json:"experiment"`
	At         time.Time       `json:"at"`
	Phase      ExperimentPhase `json:"phase"`
	What       string          `json:"what"` // in words
}

// ErrStale means that something else has changed a row since it was read.
var ErrStale = errors.New("something else has changed it meanwhile")

// SaveExperiment saves an experiment that was read in the phase was, "" if it is new, and, in the same transaction, an
// event described by what; an empty what adds no event. The error wraps [ErrStale] if the stored phase is another: a
// command works beside the server.
func (s *ExperimentStore) SaveExperiment(
	ctx context.Context, was ExperimentPhase, x Experiment, what string,
) error {
	return s.write(ctx, "save experiment "+x.ID, func(tx *sql.Tx) error {
		n, err := affected(ctx, tx, `INSERT INTO experiments (`+experimentColumns+`) VALUES (`+params(experimentColumns)+`)
			ON CONFLICT (id) DO UPDATE SET present = excluded.present, phase = excluded.phase, why = excluded.why,
				gate = excluded.gate, pull = excluded.pull, pull_url = excluded.pull_url, head = excluded.head,
				comment = excluded.comment, approved_by = excluded.approved_by,
				started_at = excluded.started_at, promoted_at = excluded.promoted_at,
				watched_at = excluded.watched_at, ended_at = excluded.ended_at WHERE experiments.phase = ?`,
			append(x.fields(), was)...)
		if err == nil && n == 0 {
			return ErrStale
		}
		if err != nil || what == "" {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO experiment_events (experiment, at, phase, what) VALUES (?, ?, ?, ?)`,
			x.ID, micros(s.now()), x.Phase, what)
		return err
	})
}

const experimentColumns = `id, installation, place_id, place_owner, place_name, alone, layer, decision, name, file,
	present, candidate, change, path, value, reason, proposed_by, number, phase, why, gate, pull, pull_url, head, comment,
	approved_by, created_at, started_at, promoted_at, watched_at, ended_at`

func (x *Experiment) fields() []any {
	return []any{&x.ID, &x.Installation, &x.Place.ID, &x.Place.Owner, &x.Place.Name, &x.Alone, &x.Layer, &x.Decision,
		&x.Name, &x.File, &x.Present, &x.Candidate, &x.Change, &x.Path, &x.Value, &x.Reason, &x.By, &x.Number, &x.Phase,
		&x.Why, &x.Gate, &x.Pull, &x.PullURL, &x.Head, &x.Comment, &x.ApprovedBy, timeColumn{&x.CreatedAt},
		timeColumn{&x.StartedAt}, timeColumn{&x.PromotedAt}, timeColumn{&x.WatchedAt}, timeColumn{&x.EndedAt}}
}

func scanExperiment(from row) (x Experiment, err error) {
	err = from.Scan(x.fields()...)
	return x, err
}

// Experiments lists the changes of an installation's policies, oldest first; 0: of all
// installations. open leaves out those that have ended.
func (s *ExperimentStore) Experiments(ctx context.Context, installation int64, open bool) ([]Experiment, error) {
	return list(ctx, s.DB, "load experiments", scanExperiment, `SELECT `+experimentColumns+`
		FROM experiments
		WHERE (installation = ? OR ? = 0) AND (? = 0 OR phase IN (?, ?, ?, ?, ?, ?)) ORDER BY created_at, id`,
		installation, installation, open, ExperimentDrafted, ExperimentProposed, ExperimentRunning, ExperimentBetter,
		ExperimentPromoted, ExperimentReverting)
}

// OpenExperiments lists the changes of an installation's policies for one type of decision that
// currently decide for some tasks, oldest first.
func (s *ExperimentStore) OpenExperiments(
	ctx context.Context, installation int64, decision string,
) ([]Experiment, error) {
	return list(ctx, s.DB, "load the experiments about "+decision, scanExperiment, `SELECT `+experimentColumns+`
		FROM experiments
		WHERE installation = ? AND decision = ? AND phase IN (?, ?, ?) ORDER BY created_at, id`,
		installation, decision, ExperimentRunning, ExperimentBetter, ExperimentPromoted)
}

// ExperimentEvents lists the events of an experiment, oldest first.
func (s *ExperimentStore) ExperimentEvents(ctx context.Context, id string) ([]ExperimentEvent, error) {
	return list(ctx, s.DB, "load what happened to experiment "+id, func(from row) (e ExperimentEvent, err error) {
		err = from.Scan(&e.Experiment, timeColumn{&e.At}, &e.Phase, &e.What)
		return e, err
	}, `SELECT experiment, at, phase, what FROM experiment_events WHERE experiment = ? ORDER BY n`, id)
}

// ExperimentTask is a task that takes part in an experiment.
type ExperimentTask struct {
	ID sia.TaskID
	evolve.Task
}

// Enrol adds a task to an experiment, unless it takes part already, and returns the stored assignment.
func (s *ExperimentStore) Enrol(
	ctx context.Context, experiment string, t ExperimentTask,
) (stands ExperimentTask, err error) {
	stands = t
	err = s.write(ctx, fmt.Sprintf("enrol task %s in experiment %s", t.ID, experiment), func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, "experiment "+experiment); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO experiment_tasks (experiment, n, task_id, candidate, after, at)
			VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM experiment_tasks WHERE experiment = ?), ?, ?, ?, ?)
			ON CONFLICT (experiment, task_id) DO NOTHING`, experiment, experiment, t.ID, t.Candidate, t.After, micros(t.At))
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT candidate, after FROM experiment_tasks WHERE experiment = ? AND task_id = ?`,
			experiment, t.ID).Scan(&stands.Candidate, &stands.After)
	})
	return stands, err
}

// Enrolled returns the assignment of a task in an experiment. When the task does not take part,
// known is false, and since is the number of tasks that take part since the promotion.
func (s *ExperimentStore) Enrolled(ctx context.Context, experiment string, task sia.TaskID) (
	t ExperimentTask, since int, known bool, err error,
) {
	t.ID = task
	err = s.r.QueryRowContext(ctx, `SELECT candidate, after FROM experiment_tasks WHERE experiment = ? AND task_id = ?`,
		experiment, task).Scan(&t.Candidate, &t.After)
	if err == nil {
		return t, 0, true, nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = s.r.QueryRowContext(ctx, `SELECT count(*) FROM experiment_tasks WHERE experiment = ? AND after = 1`,
			experiment).Scan(&since)
	}
	return t, since, false, s.explain(fmt.Sprintf("look for task %s in experiment %s", task, experiment), err)
}

// ExperimentTasks lists the tasks of an experiment in the order in which they were assigned.
func (s *ExperimentStore) ExperimentTasks(ctx context.Context, experiment string) ([]ExperimentTask, error) {
	return list(ctx, s.DB, "load the tasks of experiment "+experiment, func(from row) (t ExperimentTask, err error) {
		err = from.Scan(&t.ID, &t.Candidate, &t.After, timeColumn{&t.At}, &t.Came, &t.Credits, &t.Seconds, &t.Escalated,
			&t.Tampered)
		return t, err
	}, `SELECT task_id, candidate, after, at, came, credits, seconds, escalated, tampered FROM experiment_tasks
		WHERE experiment = ? ORDER BY n`, experiment)
}

// SettleExperimentTasks stores the results of tasks that take part. The first result of each task is kept.
func (s *ExperimentStore) SettleExperimentTasks(ctx context.Context, experiment string, ts []ExperimentTask) error {
	if len(ts) == 0 {
		return nil
	}
	return s.write(ctx, "settle tasks of experiment "+experiment, func(tx *sql.Tx) error {
		for _, t := range ts {
			if _, err := tx.ExecContext(ctx, `UPDATE experiment_tasks
				SET came = ?, credits = ?, seconds = ?, escalated = ?, tampered = ?
				WHERE experiment = ? AND task_id = ? AND came = ''`,
				t.Came, t.Credits, t.Seconds, t.Escalated, t.Tampered, experiment, t.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
