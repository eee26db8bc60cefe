package webhook

import (
	"context"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// resolveUse determines whether a command names a technique or a coder. It answers if it is neither, so that a
// misspelling is not taken for a technique, or for the answer to an open question.
func (in *Intake) resolveUse(ctx context.Context, targets []target) error {
	for n, t := range targets {
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
		i := slices.IndexFunc(in.Coders, func(name string) bool { return strings.EqualFold(name, string(use.Technique)) })
		if i >= 0 {
			targets[n].event.Fact = sia.Use{Coder: in.Coders[i]}
			continue
		}
		var ids []sia.TechniqueID
		for _, tech := range library.All() {
			if !task.Used(tech.ID) {
				ids = append(ids, tech.ID)
			}
		}
		targets[n].event.Fact = sia.Query{Topic: "say", Text: render.NoTechnique(use.Technique, ids, in.Coders)}
	}
	return nil
}
