package learn

import (
	"context"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// PreviewAssign is who would take a new task of a kind in a repository: the coders by the policy in
// force, the best first, with what is known of each, and why in words. Nothing is decided and
// nothing logged, and chance plays no part.
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
	chosen := d.assign(set.For(policies.TypeAssign, c).Assign(), t, nil, &asked{Context: c}, coders)
	if len(chosen.options) > 0 && (chosen.answer.Choice == chosen.options[0].Coder || chosen.answer.Choice == "") {
		why = chosen.answer.Reason // else the words are about a throw of dice that nobody asked for
	}
	return chosen.options, why, nil
}
