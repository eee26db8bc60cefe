package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// LogDecision stores a decision. If one with its id exists, it writes nothing.
func (s *DecisionStore) LogDecision(ctx context.Context, d sia.Decision) error {
	op := "log decision " + d.ID
	if d.ID == "" || d.Type == "" {
		return fmt.Errorf("%s: a decision needs an id and a type", op)
	}
	return s.exec(ctx, op, `INSERT INTO decisions (`+decisionColumns+`) VALUES (`+params(decisionColumns)+`)
		ON CONFLICT (id) DO NOTHING`, decisionFields(&d)...)
}

// SettleDecision stores the outcome of a decision, and the credit for it.
// The error wraps [ErrNotFound] when there is no such decision.
func (s *DecisionStore) SettleDecision(ctx context.Context, id, outcome string, credit float64) error {
	return s.updateOne(ctx, "settle decision "+id, `UPDATE decisions SET outcome = ?, credit = ? WHERE id = ?`, outcome,
		credit, id)
}

const decisionColumns = `id, task_id, repo_id, attempt, type, policy, context, options, choice, propensity, reason, at,
	outcome, credit`

func decisionFields(d *sia.Decision) []any {
	return []any{&d.ID, &d.Task, &d.Repo, &d.Attempt, &d.Type, &d.Policy, jsonColumn{&d.Context}, jsonColumn{&d.Options},
		&d.Choice, &d.Propensity, &d.Reason, timeColumn{&d.At}, &d.Outcome, &d.Credit}
}

func scanDecision(from row) (d sia.Decision, err error) {
	err = from.Scan(decisionFields(&d)...)
	return d, err
}

// Decision loads a decision; the error wraps [ErrNotFound] when there is none.
func (s *DecisionStore) Decision(ctx context.Context, id string) (sia.Decision, error) {
	return load(ctx, s.DB, "load decision "+id, scanDecision, `SELECT `+decisionColumns+` FROM decisions WHERE id = ?`, id)
}

// Decisions lists the decisions for a task, oldest first.
func (s *DecisionStore) Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error) {
	return list(ctx, s.DB, "load the decisions of task "+string(id), scanDecision,
		`SELECT `+decisionColumns+` FROM decisions WHERE task_id = ? ORDER BY n`, id)
}

// DecisionsOf lists the last decisions of a type in a repository, oldest first; 0: in all
// repositories.
func (s *DecisionStore) DecisionsOf(
	ctx context.Context, typ sia.DecisionType, repo int64, limit int,
) ([]sia.Decision, error) {
	return s.latest(ctx, typ, `(repo_id = ? OR ? = 0)`, repo, repo, limit)
}

// DecisionsIn lists the last decisions of a type in an installation, oldest first.
func (s *DecisionStore) DecisionsIn(
	ctx context.Context, installation int64, typ sia.DecisionType, limit int,
) ([]sia.Decision, error) {
	return s.latest(ctx, typ, `repo_id IN (SELECT id FROM repositories WHERE installation_id = ?)`, installation, limit)
}

func (s *DecisionStore) latest(
	ctx context.Context, typ sia.DecisionType, where string, args ...any,
) ([]sia.Decision, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the last decisions of type %s", typ), scanDecision,
		`SELECT `+decisionColumns+` FROM (SELECT * FROM decisions WHERE type = ? AND `+where+`
			ORDER BY n DESC LIMIT ?) AS latest ORDER BY n`,
		append([]any{typ}, args...)...)
}

// Outcome is the result of an intervention: its attempt passed or it did not.
type Outcome struct {
	ID           int64 // ascending in the order of recording; assigned by RecordOutcome
	Task         sia.TaskID
	Intervention int      // 1-based within the task
	Repo         sia.Repo // its Owner is the organisation
	Pattern      sia.Pattern
	Technique    sia.TechniqueID
	Resolved     bool
	Attempt      int                // number of techniques tried earlier in the task
	Z            float64            // the confidence in the technique, standardized within its diagnosis; 0: none
	Confidence   map[string]float64 // technique → the model's confidence, in 0–1; nil: no model was asked
	Imported     ImportedTally      `json:",omitzero"` // of the technique, when it was chosen
	Setup        string             // identifies the models and prompts of the decision
	Decision     string             // id of the decision; empty: none was logged
	At           time.Time
}

// RestoredSetup is the [Outcome.Setup] of an outcome from a memory branch: whoever can push to it could invent models
// and prompts.
const RestoredSetup = "restored"

// ImportedTally is the imported experience of other installations, as a number of outcomes; zero: none.
type ImportedTally struct{ Resolved, Tried float64 }

// RecordOutcome appends an outcome, unless there is one of its intervention. isNew
// reports whether it was appended.
func (s *OutcomeStore) RecordOutcome(ctx context.Context, o Outcome) (isNew bool, err error) {
	return s.record(ctx, fmt.Sprintf("record the outcome of intervention %d of task %s", o.Intervention, o.Task),
		"outcomes", outcomeColumns, o.fields())
}

// record appends a row with an id as its first column, unless its key exists. Ids become visible in
// their order, because a lock serializes the transactions that assign them.
func (s *OutcomeStore) record(ctx context.Context, op, table, columns string, fields []any) (isNew bool, err error) {
	err = s.write(ctx, op, func(tx *sql.Tx) error {
		if err := s.advisoryLock(ctx, tx, table); err != nil {
			return err
		}
		n, err := affected(ctx, tx, `INSERT INTO `+table+` (`+columns+`)
			VALUES ((SELECT coalesce(max(id), 0) + 1 FROM `+table+`)`+strings.TrimPrefix(params(columns), "?")+`)
			ON CONFLICT DO NOTHING`, fields[1:]...)
		isNew = n == 1
		return err
	})
	return isNew, err
}

const outcomeColumns = `id, task_id, intervention, repo_id, org, repo, pattern, technique, resolved, attempt, z,
	confidence, setup, decision, at, imported_resolved, imported_tried`

func (o *Outcome) fields() []any {
	return []any{&o.ID, &o.Task, &o.Intervention, &o.Repo.ID, &o.Repo.Owner, &o.Repo.Name, &o.Pattern, &o.Technique,
		&o.Resolved, &o.Attempt, &o.Z, jsonColumn{&o.Confidence}, &o.Setup, &o.Decision, timeColumn{&o.At},
		&o.Imported.Resolved, &o.Imported.Tried}
}

func scanOutcome(from row) (o Outcome, err error) {
	err = from.Scan(o.fields()...)
	return o, err
}

// OutcomesSince lists the outcomes of all repositories that were recorded after
// the one with the given id, in their order; 0: all. No outcome appears
// later with an id below one that was listed.
func (s *OutcomeStore) OutcomesSince(ctx context.Context, id int64) ([]Outcome, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the outcomes since %d", id), scanOutcome,
		`SELECT `+outcomeColumns+` FROM outcomes WHERE id > ? ORDER BY id`, id)
}

// PatternOutcomes lists the outcomes of a repository for a pattern, in their order.
func (s *OutcomeStore) PatternOutcomes(ctx context.Context, repo int64, p sia.Pattern) ([]Outcome, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the outcomes of repository %d", repo), scanOutcome,
		`SELECT `+outcomeColumns+` FROM outcomes WHERE repo_id = ? AND pattern = ? ORDER BY id`, repo, p)
}
