package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// nearLines is the maximum distance of a change from a thread's lines that still counts as a change of them.
const nearLines = 3

// respond answers requests of users: in each thread that was in an attempt's input, and with one comment on the pull
// request for all other requests. Changes are read from the commits, reasons for not changing something from the
// agent's summary.
func (w *surfaceWorker) respond(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	i := slices.IndexFunc(t.Owed, func(o sia.Owed) bool { return o.Key == f.Key })
	if i < 0 || t.Pull.Number == 0 {
		return sia.Done{}, nil
	}
	o := t.Owed[i]
	said := sia.Answers(o.Summary, len(o.Words)+len(o.Threads))
	var diff gitops.Diff
	if o.Head != "" && o.From != "" && o.Head != o.From {
		var err error
		if diff, err = w.mirror(t).Diff(ctx, string(o.From), string(o.Head)); err != nil {
			return nil, fmt.Errorf("look at what dealt with a review: %w", err)
		}
	}
	var answers []github.Answer
	for i, thread := range o.Threads {
		came := render.ThreadAnswer{Head: o.Head, Why: o.Why, Said: said[len(o.Words)+i],
			Changed: touchesThread(diff, thread)}
		if thread.Suggestion != nil && came.Changed {
			var err error
			if came.Applied, err = w.isApplied(ctx, t, o.Head, thread); err != nil {
				return nil, err
			}
		}
		m := render.Marker{Task: t.ID, Kind: string(f.Kind), Key: fmt.Sprintf("%s/%d", f.Key, thread.ID)}
		answers = append(answers, github.Answer{Thread: thread.ID, Marker: m.String(), Body: render.Thread(t, came, w.Links)})
	}
	known := w.known(t, f)
	var err error
	if len(answers) > 0 {
		err = w.repo(t).AnswerThreads(ctx, t.Pull.Number, answers, known)
	}
	if len(o.Words) > 0 {
		text := render.Asked(t, o, said[:len(o.Words)], len(diff.Files) > 0, w.Links)
		_, failed := w.repo(t).UpsertComment(ctx, t.Pull.Number, markerLine(f), text, known)
		err = errors.Join(failed, err) // the error that a retry may solve comes first: a refused thread is refused again
	}
	return sia.Done{}, err
}

// touchesThread reports whether a change is near the lines of a thread, or anywhere in its file if those are unknown.
func touchesThread(d gitops.Diff, t sia.Thread) bool {
	for _, f := range d.Files {
		if f.OldPath != t.Path && f.Path != t.Path {
			continue
		}
		if t.Last == 0 || t.Old || len(f.Hunks) == 0 {
			return true
		}
		for _, h := range f.Hunks {
			if changedWithin(h, t.First-nearLines, t.Last+nearLines) {
				return true
			}
		}
	}
	return false
}

// changedWithin reports whether a hunk deletes lines of the old side between first and last, or adds lines there.
// Context lines don't count.
func changedWithin(h gitops.Hunk, first, last int) bool {
	at := h.OldStart
	for _, l := range h.Lines {
		if l != "" && l[0] != ' ' && at >= first && at <= last+1 {
			return true
		}
		if l == "" || l[0] != '+' {
			at++
		}
	}
	return false
}

// isApplied reports whether the file at a commit contains a suggestion literally.
func (w *surfaceWorker) isApplied(ctx context.Context, t sia.Task, head sia.SHA, thread sia.Thread) (bool, error) {
	if strings.TrimSpace(*thread.Suggestion) == "" {
		return false, nil // a deletion can't be found
	}
	content, err := w.mirror(t).ReadFile(ctx, string(head), thread.Path, searchedFileLimit)
	if err != nil {
		return false, ignoreMissing(err)
	}
	// Compare whole lines, so that a suggestion of "x" is not found in "xy".
	return strings.Contains("\n"+strings.ReplaceAll(string(content), "\r\n", "\n")+"\n", "\n"+*thread.Suggestion+"\n"), nil
}

// ignoreMissing returns nil if a file does not exist or is too large, and err otherwise.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitops.ErrTooLarge) {
		return nil
	}
	return err
}
