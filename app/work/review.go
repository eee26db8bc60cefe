package work

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/tamper"
)

// review requests a review of the diagnosis from a new model call that sees only the diagnosis package: no transcript,
// no history, no earlier reasoning.
func (w *learnWorker) review(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	return askOnce(ctx, w.common, f, textReview, f.Key, func() (out sia.Reviewed, err error) {
		diff, err := w.validationDiff(ctx, t, t.Attempt().Head)
		if err != nil {
			return out, err
		}
		r, prompt, usage, err := w.Reviewer.Review(ctx, diagnose.ReviewPackage{
			Title: t.Title, Body: t.Body, By: t.IssueBy(), Failures: t.Attempt().Failures, Diff: diff,
			Technique: t.Next.Diagnosis.Technique, Prompt: t.Next.Diagnosis.Prompt,
			Read: w.reader(ctx, t, t.Attempt().Head),
		})
		out = sia.Reviewed{Review: r, Prompt: prompt, Cost: sia.CreditsOf(usage.USD)}
		return sia.Masked(out, w.Secrets.Mask), err
	})
}

// readerLimit is the maximum size of a file that a reviewer requests, in bytes.
const readerLimit = 256 << 10

// reader returns a function that reads files at a head of the task, or else at the base, with secrets masked.
func (w *learnWorker) reader(ctx context.Context, t sia.Task, head sia.SHA) diagnose.Reader {
	repo := w.mirror(t)
	return func(path string) ([]byte, error) {
		err := fs.ErrNotExist
		for _, sha := range []sia.SHA{head, t.BaseSHA} {
			if sha == "" {
				continue
			}
			var content []byte
			if content, err = repo.ReadFile(ctx, string(sha), path, readerLimit); err == nil {
				return []byte(w.Secrets.Mask(string(content))), nil
			}
		}
		return nil, err
	}
}

// validationDiff returns the part of a head's change that touches tests, the configuration of checks, or protected
// paths, as a unified diff with secrets masked; empty if there is none. An interrupted attempt has no head because its
// changes were discarded.
func (w *learnWorker) validationDiff(ctx context.Context, t sia.Task, head sia.SHA) (string, error) {
	if head == "" {
		return "", nil
	}
	diff, err := w.mirror(t).Diff(ctx, string(t.BaseSHA), string(head))
	if err != nil {
		return "", fmt.Errorf("look at what the attempt did to tests: %w", err)
	}
	var b strings.Builder
	validates := tamper.Validating(t.Settings.Checks.Guarded())
	for _, f := range diff.Files {
		if validates(change(f, diff.Truncated)) {
			writeDiff(&b, f)
		}
	}
	return w.Secrets.Mask(b.String()), nil
}

// writeDiff writes one file's diff in readable form.
func writeDiff(b *strings.Builder, f gitops.FileDiff) {
	fmt.Fprintf(b, "%s %s", f.Status, f.Path)
	if f.OldPath != "" {
		fmt.Fprintf(b, ", from %s", f.OldPath)
	}
	b.WriteByte('\n')
	if len(f.Hunks) == 0 {
		b.WriteString("(the content is not shown: it is binary, too large, or the same)\n")
	}
	for _, h := range f.Hunks {
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n%s\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines,
			strings.Join(h.Lines, "\n"))
	}
}
