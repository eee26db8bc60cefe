package webhook

import (
	"context"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
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
		if known, ok := findUse(string(use.Technique), library, in.Coders); ok {
			targets[n].event.Fact = known
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

// findUse finds the technique or coder that the words after "/sia use" name: a technique by its id or, as comments show
// it, by its name. Words that follow the name are ignored.
func findUse(said string, library *technique.Library, coders []string) (sia.Use, bool) {
	words := strings.Fields(said)
	for n := len(words); n > 0; n-- {
		name, id := strings.Join(words[:n], " "), sia.TechniqueID(strings.Join(words[:n], "-"))
		if _, ok := library.Get(id); ok {
			return sia.Use{Technique: id}, true
		}
		for _, t := range library.All() {
			if strings.EqualFold(t.Name, name) {
				return sia.Use{Technique: t.ID}, true
			}
		}
		for _, coder := range coders {
			if strings.EqualFold(coder, name) {
				return sia.Use{Coder: coder}, true
			}
		}
	}
	return sia.Use{}, false
}
