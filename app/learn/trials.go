package learn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// Trials returns the part of a library that a task's next choice may use, and records new techniques. The state of each
// trial is computed from the recorded outcomes, so every process and every replay has the same. A technique that a user
// requested for the task stays in the library, whatever its trial showed.
func (ch *Chooser) Trials(ctx context.Context, t sia.Task, library *technique.Library) (technique.Trials, error) {
	ids := library.OnTrial()
	if len(ids) == 0 {
		return technique.Trials{Library: library}, nil
	}
	noted, err := ch.store.NoteTrials(ctx, t.Repo.ID, ch.now(), ids...)
	if err != nil {
		return technique.Trials{}, err
	}
	out := technique.Trials{}
	var without []sia.TechniqueID
	var failed []string
	slots := technique.OnTrialAtOnce
	for _, id := range noted {
		if !slices.Contains(ids, id) {
			continue // its file was deleted
		}
		d := banditDiagnosis(t.Repo, "", nil)
		trial := ch.learner.Trial(d.Org, d.Repo, string(id))
		switch {
		case trial.Verdict == bandit.Kept:
			continue
		case trial.Verdict == bandit.Retired:
			retired, _ := library.Get(id)
			failed = append(failed, fmt.Sprintf("%s is retired: on trial it resolved %.0f of %.0f; its file `%s` can be "+
				"removed.", id, trial.Resolved, trial.Tried, retired.Path))
		case slots > 0:
			if slots--; len(t.Interventions) > 0 || id == t.Wanted {
				out.Active = append(out.Active, id)
				continue
			}
		}
		if id != t.Wanted {
			without = append(without, id)
		}
	}
	out.Library, out.Said = library.Without(without...), strings.Join(failed, " ")
	return out, nil
}

// TrialState is the state of a technique's trial, for users.
type TrialState string

// States of trials.
const (
	TrialWaits   TrialState = "waiting"
	TrialActive  TrialState = "on trial"
	TrialKept    TrialState = "kept"
	TrialRetired TrialState = "retired"
)

// TrialReport describes one technique that a repository has or had on trial.
type TrialReport struct {
	Technique sia.TechniqueID
	State     TrialState
	Resolved  float64 // out of Tried, in attempts; discounted after a change of models
	Tried     float64
	Better    float64 // probability that it resolves more than the fifth best, 0–1; 0 if it was never tried
}

// TrialReports returns the state of the techniques that a repository has or had on trial, in the order in which they
// were first seen, from the outcomes in a store. The store does not record deleted files: a removed technique is
// reported with its last state.
func TrialReports(ctx context.Context, s TrialStore, r sia.Repo, l Learner) ([]TrialReport, error) {
	ids, err := s.Trials(ctx, r.ID)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	outcomes, err := s.OutcomesSince(ctx, 0)
	if err != nil {
		return nil, err
	}
	new(replay).learn(l, outcomes)
	var all []TrialReport
	active := 0
	for _, id := range ids {
		d := banditDiagnosis(r, "", nil)
		t := l.Trial(d.Org, d.Repo, string(id))
		report := TrialReport{Technique: id, Resolved: t.Resolved, Tried: t.Tried, Better: t.Better}
		switch {
		case t.Verdict == bandit.Kept:
			report.State = TrialKept
		case t.Verdict == bandit.Retired:
			report.State = TrialRetired
		case active < technique.OnTrialAtOnce:
			report.State = TrialActive
			active++
		default:
			report.State = TrialWaits
		}
		all = append(all, report)
	}
	return all, nil
}
