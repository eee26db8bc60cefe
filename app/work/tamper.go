package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/tamper"
)

// oldLimit bounds a file that is read on the base to see a change in its
// place; of a larger one only what stands around the change is seen.
const oldLimit = 1 << 20

// maxLines bounds how many changed lines of one file are compared; a file with
// more is reported as a whole.
const maxLines = 3000

// tampering says what the head's difference from the base does to the tests,
// to what configures checks and to protected paths, a line for each finding; and
// whether a reviewer may say of all of them that the issue asks for it. Of tests that were run, what ran says it, and
// not what their text looks like.
func (w *checkWorker) tampering(ctx context.Context, t sia.Task) (lines []string, expectations bool, err error) {
	mirror := w.mirror(t)
	diff, err := mirror.Diff(ctx, string(t.BaseSHA), string(t.Head))
	if err != nil {
		return nil, false, fmt.Errorf("look for changes of tests: %w", err)
	}
	changes, err := TamperChanges(diff, func(path string, most int64) ([]byte, error) {
		return mirror.ReadFile(ctx, string(t.BaseSHA), path, most)
	})
	if err != nil {
		return nil, false, err
	}
	evidence := evidenceOf(t)
	expectations = t.Settings.SIA.Reviewer
	for _, f := range tamper.Find(changes, t.Settings.Checks.Protected, sia.AlwaysProtected()...) {
		if f.OfTests() && evidence.Ran(f.Path) {
			continue
		}
		lines = append(lines, w.Secrets.Mask(f.String()))
		expectations = expectations && f.Asks() == tamper.Reviewer
	}
	firm, broken := evidence.Asks()
	lines = append(append(lines, firm...), broken...)
	return lines, expectations && len(firm) == 0 && len(lines) > 0, nil
}

// TamperChanges is a difference as package tamper reads it; read reads a file of the base, of at most so many bytes.
func TamperChanges(diff gitops.Diff, read func(path string, most int64) ([]byte, error)) ([]tamper.Change, error) {
	changes := make([]tamper.Change, len(diff.Files))
	for i, f := range diff.Files {
		c := change(f, diff.Truncated)
		if tamper.ReadsOld(c) {
			old, err := read(cmp.Or(f.OldPath, f.Path), oldLimit)
			if err != nil && !errors.Is(err, gitops.ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("look for changes of tests: %w", err)
			}
			c.Old = string(old)
		}
		changes[i] = c
	}
	return changes, nil
}

// change is a file's difference as package tamper reads it. In a diff that was
// cut, a file without hunks may have changed in any way.
func change(f gitops.FileDiff, cut bool) tamper.Change {
	c := tamper.Change{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status)}
	lines := 0
	for _, h := range f.Hunks {
		lines += len(h.Lines)
		c.Hunks = append(c.Hunks, tamper.Hunk{OldStart: h.OldStart, NewStart: h.NewStart, Lines: h.Lines})
	}
	switch {
	case lines > maxLines: // a person looks at it if it is of tests
		c.Hunks, c.Opaque = nil, f.Status != gitops.FileDeleted
	case f.Binary:
		c.Opaque = true
	case cut && len(f.Hunks) == 0:
		c.Opaque = f.Status != gitops.FileDeleted
	}
	return c
}
