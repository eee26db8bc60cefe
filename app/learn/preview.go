package learn

import (
	"context"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// Preview is what would be tried first in a new task of a repository, after a failure with this pattern and
// with nothing said by a model: the candidates by a policy, the best first, with what is known of each, and
// why in words. Nothing is decided and nothing logged, and chance plays no part.
func (ch *Chooser) Preview(
	ctx context.Context, r sia.Repo, p sia.Pattern, library *technique.Library, by bandit.Policy,
) (ranked []sia.Candidate, why string, err error) {
	if err := ch.catchUp(ctx); err != nil {
		return nil, "", err
	}
	t := sia.Task{ID: sia.NewTaskID(r.ID, 0), Repo: r, Approaches: sia.DefaultSettings().SIA.MaxApproaches,
		Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptFail, // in a way that a log tells of
			Failures: []sia.CheckFailure{{Check: "a check", Excerpt: "it failed"}}}}}
	trials := technique.Trials{Library: library}
	candidates := ch.Candidates(trials, t, "", p, by)
	d := ch.ask(t, "", diagnose.Choice{Pattern: p, Candidates: candidates}, trials).decide(ch.learner, &by)
	ranked = evidence(candidates, d.Options)
	if !d.Explored { // else the words are about a throw of dice that nobody asked for
		why = d.Reason
	}
	return ranked, why, nil
}
