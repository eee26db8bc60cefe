package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
)

// finalReview makes a new model call that compares the head's change with the issue, and reviews the pull request if
// the model has remarks. The answer is stored before the review is written, so that a crash repeats only the search for
// it. Model failures and permanent refusals by GitHub are outcomes, not errors: nothing waits longer for a review.
func (w *learnWorker) finalReview(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head {
		return sia.Done{}, nil // about an earlier head
	}
	out, err := askOnce(ctx, w.common, f, textFinal, string(f.SHA), func() (sia.FinalReviewed, error) {
		return w.requestFinalReview(ctx, t, f)
	})
	if err != nil || t.Pull.Number == 0 || out.Review.Silent() && !isFollowUp(t, out.Review) {
		return out, err
	}
	text := render.FinalReview(t, out.Review, w.Links)
	review := github.NewReview{Head: string(f.SHA), Body: text.Body, Lines: text.Lines, Whole: text.Whole}
	// A head is reviewed at most once, so the key contains the head instead of the effect.
	m := render.Marker{Task: t.ID, Kind: string(f.Kind), Key: string(t.ID) + "/" + string(f.SHA)}
	address, err := w.repo(t).EnsureReview(ctx, t.Pull.Number, m.String(), review, w.knownSince(m.String(), f.At))
	refused, err := refusal(err)
	if err != nil {
		return nil, err
	}
	if out.Review.URL = address; refused != "" {
		out.Review.Why = "GitHub does not take it: " + refused
	}
	return out, nil
}

// isFollowUp reports whether an earlier head has a review that this review of a follow-up answers: it informs users
// that nothing is open any more.
func isFollowUp(t sia.Task, r sia.FinalReview) bool {
	return r.Why == "" && len(r.Demands) > 0 && t.Omission != nil && t.Omission.Review.URL != ""
}

// requestFinalReview requests the final review of a head from the model.
func (w *learnWorker) requestFinalReview(
	ctx context.Context, t sia.Task, f sia.Effect,
) (out sia.FinalReviewed, err error) {
	diff, err := w.mirror(t).Diff(ctx, string(t.BaseSHA), string(f.SHA))
	if err != nil {
		return out, fmt.Errorf("look at the final change: %w", err)
	}
	review, usage, err := w.Reviewer.Final(ctx, diagnose.FinalPackage{
		Title: t.Title, Body: t.Body, By: t.IssueBy(), Files: w.changedFiles(diff), Cut: diff.Truncated,
		Read: w.reader(ctx, t, f.SHA), Failing: evidenceOf(t).Contradicts(),
	})
	if err != nil {
		return out, err
	}
	review.SHA = f.SHA
	return sia.Masked(sia.FinalReviewed{Review: review, Cost: sia.CreditsOf(usage.USD)}, w.Secrets.Mask), nil
}

// changedFiles returns the files of a diff for a reviewer, with secrets masked. It omits hunks in which masking changes
// the number of lines, because their line numbers would be wrong.
func (w *learnWorker) changedFiles(diff gitops.Diff) []diagnose.ChangedFile {
	files := make([]diagnose.ChangedFile, len(diff.Files))
	for i, f := range diff.Files {
		files[i] = diagnose.ChangedFile{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status)}
		for _, h := range f.Hunks {
			lines := strings.Split(w.Secrets.Mask(strings.Join(h.Lines, "\n")), "\n")
			if len(lines) == len(h.Lines) {
				files[i].Hunks = append(files[i].Hunks,
					diagnose.Hunk{OldStart: h.OldStart, NewStart: h.NewStart, Lines: lines})
			}
		}
	}
	return files
}
