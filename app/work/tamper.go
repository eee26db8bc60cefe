package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/tamper"
)

// oldLimit is the maximum size of a base file that is read as context of a change, in bytes. For a larger one only the
// lines of the diff are used.
const oldLimit = 1 << 20

// maxComparedLines limits the changed lines of one test file that are compared; one with more is reported as a whole.
const maxComparedLines = 3000

// tampering returns a line for each way in which the head's change affects the tests, the configuration of checks, or
// protected paths; and whether a reviewer may confirm all of them as requested by the issue. For tests that were run,
// the results count instead of the text of the change.
func (w *checkWorker) tampering(ctx context.Context, t sia.Task) (lines []string, expectations bool, err error) {
	mirror := w.mirror(t)
	diff, err := mirror.Diff(ctx, string(t.BaseSHA), string(t.Head))
	if err != nil {
		return nil, false, fmt.Errorf("look for changes of tests: %w", err)
	}
	read := func(path string, most int64) ([]byte, error) {
		return mirror.ReadFile(ctx, string(t.BaseSHA), path, most)
	}
	workflows, err := mirror.Files(ctx, string(t.BaseSHA), workflowsFolder)
	if err != nil {
		return nil, false, fmt.Errorf("look for changes of tests: %w", err)
	}
	var names []string
	for _, f := range workflows {
		names = append(names, f.Path)
	}
	changes, err := TamperChanges(diff, names, read)
	if err != nil {
		return nil, false, err
	}
	evidence := evidenceOf(t)
	expectations = t.Settings.SIA.Reviewer
	found := tamper.Find(changes, t.Settings.Checks.Protected, sia.AlwaysProtected()...)
	for _, f := range unexcused(t, changes, found) {
		lines = append(lines, w.Secrets.Mask(f.String()))
		expectations = expectations && f.Asks() == tamper.Reviewer
	}
	firm, broken := evidence.Asks()
	lines = slices.Concat(lines, firm, broken, w.Findings(string(t.Head)))
	return lines, expectations && len(firm) == 0 && len(lines) > 0, nil
}

// unexcused returns the findings without those about tests that SIA ran. A test that failed in a check of an earlier
// head fails where SIA does not run it, as on another system, so its file is judged by its text.
func unexcused(t sia.Task, changes []tamper.Change, found []tamper.Finding) []tamper.Finding {
	evidence, failed := evidenceOf(t), t.FailedBefore()
	judged := map[string]bool{}
	for _, c := range changes {
		judged[c.Path] = !evidence.Ran(c.Path) || sia.NamesTest(failed, cmp.Or(c.OldPath, c.Path), baseText(c))
	}
	return slices.DeleteFunc(slices.Clone(found), func(f tamper.Finding) bool { return f.OfTests() && !judged[f.Path] })
}

// baseText returns what is known of a file's text on the base.
func baseText(c tamper.Change) string {
	if c.Old != "" {
		return c.Old
	}
	var b strings.Builder
	for _, h := range c.Hunks {
		for _, l := range h.Lines {
			if !strings.HasPrefix(l, "+") {
				b.WriteString(l[min(1, len(l)):] + "\n")
			}
		}
	}
	return b.String()
}

// TamperChanges converts a diff for package tamper. workflows are the paths of the base's workflows; read reads a file
// of the base of at most the given size, in bytes, also one that did not change.
func TamperChanges(
	diff gitops.Diff, workflows []string, read func(path string, most int64) ([]byte, error),
) ([]tamper.Change, error) {
	var commands strings.Builder
	for _, path := range workflows {
		b, err := read(path, oldLimit)
		if err != nil && !errors.Is(err, gitops.ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for changes of tests: %w", err)
		}
		commands.Write(append(b, '\n'))
	}
	changes := make([]tamper.Change, len(diff.Files))
	for i, f := range diff.Files {
		c := change(f, diff.Truncated)
		c.Runs = tamper.RunBy(commands.String(), cmp.Or(f.OldPath, f.Path))
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

// change converts a file's diff for package tamper. In a truncated diff, a file without hunks may have changed in any
// way.
func change(f gitops.FileDiff, cut bool) tamper.Change {
	c := tamper.Change{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), LostExec: f.LostExec}
	lines := 0
	for _, h := range slices.Concat(f.Hunks, f.BinaryHunks) {
		lines += len(h.Lines)
		c.Hunks = append(c.Hunks, tamper.Hunk{OldStart: h.OldStart, NewStart: h.NewStart, Lines: h.Lines})
	}
	switch {
	case f.Binary:
		c.Opaque = true
	case lines > maxComparedLines && f.Status == gitops.FileDeleted:
		c.Hunks = nil
	case lines > maxComparedLines: // escalated to a user if it is a test
		c.Opaque = true
	case cut && len(f.Hunks) == 0:
		c.Opaque = f.Status != gitops.FileDeleted
	}
	return c
}
