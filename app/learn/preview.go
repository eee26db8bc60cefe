package learn

import (
	"context"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// Preview returns the techniques that would be tried first in a new task of a repository, after a failure with this
// pattern and without statements of a model: the candidates by a policy, best first, with their statistics and the
// reason. It decides and logs nothing, and it is not randomized.
func (ch *Chooser) Preview(
	ctx context.Context, r sia.Repo, p sia.Pattern, library *technique.Library, by bandit.Policy,
) (ranked []sia.Candidate, why string, err error) {
	if err := ch.catchUp(ctx); err != nil {
		return nil, "", err
	}
	t := sia.Task{ID: sia.NewTaskID(r.ID, 0), Repo: r, Approaches: sia.DefaultSettings().SIA.MaxApproaches,
		Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptFail, // with a failure that has a log
			Failures: []sia.CheckFailure{{Check: "a check", Excerpt: "it failed"}}}}}
	trials := technique.Trials{Library: library}
	candidates := ch.Candidates(trials, t, "", p, by)
	d := ch.newQuestion(t, "", diagnose.Choice{Pattern: p, Candidates: candidates}, trials).decide(ch.learner, &by)
	ranked = evidence(candidates, d.Options)
	if !d.Explored { // otherwise the reason describes the random choice
		why = d.Reason
	}
	return ranked, why, nil
}
