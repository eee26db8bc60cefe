package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

const (
	// scanLimit bounds a file that is scanned whole because its lines were not compared; GitHub warns
	// of files larger than 50 MiB
	// (https://docs.github.com/en/repositories/working-with-files/managing-large-files/about-large-files-on-github).
	scanLimit = 50 << 20
	// mostLeaks is how many are named; more say nothing new.
	mostLeaks = 10
)

// leaks names the secrets that a commit would add to the repository, as
// "config.yml:3 (github-pat)", and never their values. What the base has already
// is not the commit's doing.
func (w *Worker) leaks(ctx context.Context, t sia.Task, sha string, diff gitops.Diff) ([]string, error) {
	var all []string
	for _, f := range diff.Files {
		switch {
		case f.Status == gitops.FileDeleted:
		case len(f.Hunks) > 0:
			for _, h := range f.Hunks {
				all = append(all, hunkLeaks(w.Secrets, f.Path, h)...)
			}
		case f.Status != gitops.FileRenamed: // its lines were not compared: binary, or large
			b, err := w.mirror(t).ReadFile(ctx, sha, f.Path, scanLimit)
			if errors.Is(err, gitops.ErrTooLarge) || errors.Is(err, fs.ErrNotExist) {
				continue // or a link, or a submodule
			}
			if err != nil {
				return nil, fmt.Errorf("look for secrets: %w", err)
			}
			old, err := w.mirror(t).ReadFile(ctx, string(t.BaseSHA), oldPath(f), scanLimit)
			if err != nil && !errors.Is(err, gitops.ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("look for secrets: %w", err)
			}
			for _, x := range w.Secrets.Find(string(b)) {
				if x.Sure && !strings.Contains(string(old), string(b[x.Start:x.End])) {
					all = append(all, fmt.Sprintf("`%s` (%s)", f.Path, x.Rule))
				}
			}
		}
		if len(all) > mostLeaks {
			break
		}
	}
	return slices.Compact(all), nil
}

// hunkLeaks names the secrets in a hunk's added lines. They are read with the lines
// around them, since a key goes over several, and count where an added line has
// a part of them that no removed line had.
func hunkLeaks(m *secret.Masker, path string, h gitops.Hunk) []string {
	var after, before strings.Builder
	var starts []int // of each line of after
	var added []bool
	for _, l := range h.Lines {
		if l[0] != '+' {
			before.WriteString(l[1:] + "\n")
		}
		if l[0] != '-' {
			starts, added = append(starts, after.Len()), append(added, l[0] == '+')
			after.WriteString(l[1:] + "\n")
		}
	}
	text := after.String()
	var out []string
	for _, x := range m.Find(text) {
		if !x.Sure || strings.Contains(before.String(), text[x.Start:x.End]) {
			continue
		}
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if added[i] && start < x.End && end > x.Start {
				out = append(out, fmt.Sprintf("`%s:%d` (%s)", path, h.NewStart+i, x.Rule))
				break
			}
		}
	}
	return out
}

// refuse makes an attempt whose commit has secrets one that failed. Nothing of it
// is pushed, and nothing is kept: the commit would be as public on any branch.
func refuse(fact *sia.AttemptEnded, leaks []string) {
	named := leaks[:min(len(leaks), mostLeaks)]
	fact.Reason = fmt.Sprintf("nothing was pushed, since the change adds a secret: %s. Read it from the environment; "+
		"in a test, make one up at run time",
		strings.Join(named, ", "))
	if fact.End != sia.EndCancelled && fact.End != sia.EndError {
		fact.End = sia.EndFinished
	}
}
