package work

import (
	"context"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
)

// weigh asks a new model call for the sentence of the issue that requests each expectation that the head changed. A
// quote counts if it occurs in text by a user with the required permission.
func (w *learnWorker) weigh(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	asked := t.Gate.Weighing
	if asked == nil || asked.SHA != t.Head {
		return sia.Done{}, nil // about an earlier head
	}
	return askOnce(ctx, w.common, f, textWeighed, f.Key, func() (out sia.Weighed, err error) {
		diff, err := w.validationDiff(ctx, t, t.Head)
		if err != nil {
			return out, err
		}
		quotes, why, usage, err := w.Reviewer.Weigh(ctx, diagnose.WeighPackage{
			Issue: t.Title + "\n\n" + t.Body, By: t.IssueBy(), Findings: asked.Findings, Diff: diff,
		})
		out = sia.Weighed{SHA: asked.SHA, Quotes: quotes, Why: why, Cost: sia.CreditsOf(usage.USD)}
		return sia.Masked(out, w.Secrets.Mask), err
	})
}
