package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
)

// review has the diagnosis reviewed by a fresh model call that sees only the
// diagnosis package.
func (w *Worker) review(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	r, prompt, usage, err := w.Reviewer.Review(ctx, diagnose.Package{
		Title: t.Title, Body: t.Body, Failures: t.Attempt().Failures,
		Technique: t.Next.Diagnosis.Technique, Prompt: t.Next.Diagnosis.Prompt,
	})
	if err != nil {
		return nil, err
	}
	return sia.Reviewed{Review: r, Prompt: prompt, Cost: credits(w.RevPrice, usage)}, nil
}
