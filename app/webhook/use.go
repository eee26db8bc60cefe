package webhook

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// known answers where a technique is asked for that there is not: a misspelt wish is
// neither taken for one nor for the answer to an open question.
func (in *Intake) known(ctx context.Context, targets []target) error {
	for i, t := range targets {
		use, ok := t.event.Fact.(sia.Use)
		if !ok {
			continue
		}
		task, err := in.Store.Task(ctx, t.task)
		if err != nil {
			return err
		}
		library, _, err := in.Settings.Techniques(ctx, task)
		if err != nil {
			return err
		}
		if _, ok := library.Get(use.Technique); ok {
			continue
		}
		var ids []sia.TechniqueID
		for _, tech := range library.All() {
			if !task.Used(tech.ID) {
				ids = append(ids, tech.ID)
			}
		}
		targets[i].event.Fact = sia.Query{Topic: "say", Text: render.NoTechnique(use.Technique, ids)}
	}
	return nil
}
