package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// LogDecision writes a decision down. When one of its id is there already, that
// one stands and nothing is written.
func (s *DecisionStore) LogDecision(ctx context.Context, d sia.Decision) error {
	op := "log decision " + d.ID
	if d.ID == "" || d.Type == "" {
		return fmt.Errorf("%s: a decision needs an id and a type", op)
	}
	return s.exec(ctx, op, `INSERT INTO decisions
		(id, task_id, repo_id, attempt, type, policy, context, options, choice, propensity, reason, at, outcome, credit)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		d.ID, d.Task, d.Repo, d.Attempt, d.Type, d.Policy, jsonOrNull(d.Context), jsonOrNull(d.Options),
		d.Choice, d.Propensity, d.Reason, micros(d.At), d.Outcome, d.Credit)
}

// SettleDecision notes the result of a decision, and what of that is its merit.
// The error wraps [ErrNotFound] when there is no such decision.
func (s *DecisionStore) SettleDecision(ctx context.Context, id, outcome string, credit float64) error {
	return s.change(ctx, "settle decision "+id, `UPDATE decisions SET outcome = ?, credit = ? WHERE id = ?`, outcome,
		credit, id)
}

const decisionColumns = `id, task_id, repo_id, attempt, type, policy, context, options, choice, propensity, reason, at,
	outcome, credit`

func scanDecision(scan func(...any) error) (d sia.Decision, err error) {
	var context, options string
	var at int64
	err = scan(&d.ID, &d.Task, &d.Repo, &d.Attempt, &d.Type, &d.Policy, &context, &options, &d.Choice, &d.Propensity,
		&d.Reason, &at, &d.Outcome, &d.Credit)
	d.Context, d.Options, d.At = json.RawMessage(context), json.RawMessage(options), fromMicros(at)
	return d, err
}

// Decision loads a decision; the error wraps [ErrNotFound] when there is none.
func (s *DecisionStore) Decision(ctx context.Context, id string) (sia.Decision, error) {
	d, err := scanDecision(s.r.QueryRowContext(ctx, `SELECT `+decisionColumns+` FROM decisions WHERE id = ?`, id).Scan)
	return d, s.explain("load decision "+id, orNotFound(err))
}

// Decisions lists what was decided for a task, oldest first.
func (s *DecisionStore) Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error) {
	ds, err := collect(ctx, s.r, func(rows *sql.Rows) (sia.Decision, error) { return scanDecision(rows.Scan) },
		`SELECT `+decisionColumns+` FROM decisions WHERE task_id = ? ORDER BY n`, id)
	return ds, s.explain("load the decisions of task "+string(id), err)
}

// Outcome is the result of an intervention: its attempt passed or it did not.
type Outcome struct {
	ID           int64 // the place in the order in which outcomes are learned from; given by RecordOutcome
	Task         sia.TaskID
	Intervention int      // 1-based within the task
	Repo         sia.Repo // its Owner is the organisation
	Pattern      sia.Pattern
	Technique    sia.TechniqueID
	Resolved     bool
	Attempt      int                // techniques tried in the task before, from 0
	Z            float64            // the confidence in the technique, standardised within its diagnosis; 0: none
	Confidence   map[string]float64 // technique → what the model said, in 0–1; nil: no model said anything
	Imported     ImportedTally      `json:",omitzero"` // of the technique, when it was chosen
	Setup        string             // names the models and prompts that it was decided under
	Decision     string             // id of the decision; empty: none was logged
	At           time.Time
}

// ImportedTally is what other installations had seen, as so many outcomes; zero: nothing was imported.
type ImportedTally struct{ Resolved, Tried float64 }

// RecordOutcome appends an outcome. The first one of an intervention stands: new
// tells whether this is it.
func (s *OutcomeStore) RecordOutcome(ctx context.Context, o Outcome) (isNew bool, err error) {
	op := fmt.Sprintf("record the outcome of intervention %d of task %s", o.Intervention, o.Task)
	confidence, err := json.Marshal(o.Confidence)
	if err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	err = s.write(ctx, op, func(tx *sql.Tx) error {
		// Ids become visible in their order because one transaction at a time gives them.
		if err := s.hold(ctx, tx, "outcomes"); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO outcomes
			(id, task_id, intervention, repo_id, org, repo, pattern, technique, resolved, attempt, z, confidence, setup,
				decision, at, imported_resolved, imported_tried)
			VALUES ((SELECT coalesce(max(id), 0) + 1 FROM outcomes), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (task_id, intervention) DO NOTHING`,
			o.Task, o.Intervention, o.Repo.ID, o.Repo.Owner, o.Repo.Name, o.Pattern, o.Technique, o.Resolved, o.Attempt, o.Z,
			string(confidence), o.Setup, o.Decision, micros(o.At), o.Imported.Resolved, o.Imported.Tried)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		isNew = n == 1
		return err
	})
	return isNew, err
}

const outcomeColumns = `id, task_id, intervention, repo_id, org, repo, pattern, technique, resolved, attempt, z,
	confidence, setup, decision, at, imported_resolved, imported_tried`

func scanOutcome(rows *sql.Rows) (o Outcome, err error) {
	var confidence string
	var at int64
	if err := rows.Scan(&o.ID, &o.Task, &o.Intervention, &o.Repo.ID, &o.Repo.Owner, &o.Repo.Name, &o.Pattern, &o.Technique,
		&o.Resolved, &o.Attempt, &o.Z, &confidence, &o.Setup, &o.Decision, &at, &o.Imported.Resolved,
		&o.Imported.Tried); err != nil {
		return o, err
	}
	o.At = fromMicros(at)
	return o, json.Unmarshal([]byte(confidence), &o.Confidence)
}

// OutcomesSince lists the outcomes of all repositories that were recorded after
// the one of this id, in their order; 0 is before the first. No outcome appears
// later with an id below one that was listed.
func (s *OutcomeStore) OutcomesSince(ctx context.Context, id int64) ([]Outcome, error) {
	os, err := collect(ctx, s.r, scanOutcome, `SELECT `+outcomeColumns+` FROM outcomes WHERE id > ? ORDER BY id`, id)
	return os, s.explain(fmt.Sprintf("load the outcomes since %d", id), err)
}

// PatternOutcomes lists the outcomes of a repository for a pattern, in their order.
func (s *OutcomeStore) PatternOutcomes(ctx context.Context, repo int64, p sia.Pattern) ([]Outcome, error) {
	os, err := collect(ctx, s.r, scanOutcome,
		`SELECT `+outcomeColumns+` FROM outcomes WHERE repo_id = ? AND pattern = ? ORDER BY id`, repo, p)
	return os, s.explain(fmt.Sprintf("load the outcomes of repository %d", repo), err)
}

// jsonOrNull is JSON as it is stored.
func jsonOrNull(j json.RawMessage) string {
	if len(j) == 0 {
		return "null"
	}
	return string(j)
}
