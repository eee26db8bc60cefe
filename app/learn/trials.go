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
