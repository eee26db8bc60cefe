package learn

import (
	"context"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// PreviewAssign returns the coders that would get a new task of a kind in a repository, by the policy in force, best
// first, with their statistics and the reason. It decides and logs nothing, and it is not randomized.
func (d *Decider) PreviewAssign(
	ctx context.Context, set *policies.Set, r sia.Repo, settings sia.Settings, kind policies.Kind,
	coders []coder.Candidate,
) (ranked []coder.Option, why string, err error) {
	t := sia.Task{ID: sia.NewTaskID(r.ID, 0), Repo: r, Settings: settings, Approaches: settings.SIA.MaxApproaches,
		Credits: sia.Ledger{Budget: sia.Credits(settings.Budget.Task) * sia.Credit}}
	c, err := d.Context(ctx, t, "", len(coders))
	if err != nil {
		return nil, "", err
	}
	c.Task.Kind = kind
	if err := d.catchUp(ctx); err != nil {
		return nil, "", err
	}
	chosen := d.assign(set.For(policies.TypeAssign, c).Assign(), t, nil, &decisionInput{Context: c}, coders)
	if len(chosen.options) > 0 && (chosen.answer.Choice == chosen.options[0].Coder || chosen.answer.Choice == "") {
		why = chosen.answer.Reason // otherwise the reason describes the random choice
	}
	return chosen.options, why, nil
}
