package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// Bounds of a diff on a page. GitHub shows all of it.
const (
	shownFiles   = 100
	shownLines   = 3000 // of all files
	noiseLines   = 200  // of generated files
	shownLine    = 400  // characters
	shownInAFile = 1000 // lines
)

// diffView is a diff as shown on a page.
type diffView struct {
	Why            string // why there is none, for people
	URL            string // on GitHub
	Count          string // of files, for people
	Added, Deleted int
	Files, Noise   []fileView // Noise: generated files
	More           string     // what is left out, for people; empty: nothing
}

// fileView is one file of a diff.
type fileView struct {
	ID             string
	Path, From     string // From: the former path of a renamed file
	Status         gitops.FileStatus
	Added, Deleted int
	Why            string // why there are no lines, or not all
	Lines          []lineView
}

// lineView is a line of a diff. Its first character marks additions and removals without colour.
type lineView struct{ Class, Text string }

// diff is the change of an attempt, if this server has the commits; nil if it pushed nothing.
func (s *site) diff(ctx context.Context, t sia.Task, a sia.Attempt) (*diffView, error) {
	if a.Head == "" || t.BaseSHA == "" {
		return nil, nil //nolint:nilnil // none is a valid result
	}
	base, err := s.baseOf(ctx, t, a)
	if err != nil {
		return nil, err
	}
	v := &diffView{URL: s.Links.Compare(t.Repo, base, a.Head)}
	d, more, err := s.Diffs.Diff(ctx, t.Installation, t.Repo, base, a.Head)
	switch {
	case errors.Is(err, gitops.ErrNotHere):
		v.Why = "This server does not have these commits any more; GitHub has."
	case err != nil:
		s.Logger.WarnContext(ctx, "no diff on a page", "task", t.ID, "attempt", a.Number, "error", err)
		v.Why = "The diff could not be made in time here; GitHub has it."
	default:
		v.fill(d, more)
	}
	return v, nil
}

// baseOf is the base commit of an attempt: the last one in the task's log before it.
func (s *site) baseOf(ctx context.Context, t sia.Task, a sia.Attempt) (sia.SHA, error) {
	events, err := s.From.EventsInBrief(ctx, t.ID)
	for _, e := range slices.Backward(events) {
		if b, ok := e.Event.Fact.(sia.Begun); ok && e.Ignored == "" && b.BaseSHA != "" && !e.Event.At.After(a.StartedAt) {
			return b.BaseSHA, nil
		}
	}
	return t.BaseSHA, err
}

// fill adds as much of a diff as a page can show: hand-written files first.
func (v *diffView) fill(d gitops.Diff, more int) {
	v.Added, v.Deleted = d.Added, d.Deleted
	v.Count = text.Count(len(d.Files)+more, "file")
	lines, noise := shownLines, noiseLines
	for i, f := range d.Files {
		if i >= shownFiles {
			more += len(d.Files) - i
			break
		}
		if render.Generated(f.Path, f.FirstLines()) {
			v.Noise = append(v.Noise, viewOf(f, i, d.Truncated, &noise))
			continue
		}
		v.Files = append(v.Files, viewOf(f, i, d.Truncated, &lines))
	}
	if more > 0 {
		v.More = text.Count(more, "more file") + " changed; GitHub shows all."
	}
}

// viewOf is a file with at most *left lines, which it subtracts.
func viewOf(f gitops.FileDiff, n int, truncated bool, left *int) fileView {
	v := fileView{ID: fmt.Sprintf("file-%d", n+1), Path: cleanLine(f.Path, shownLine),
		From:   cleanLine(f.OldPath, shownLine),
		Status: f.Status, Added: f.Added, Deleted: f.Deleted}
	switch {
	case f.Binary:
		v.Why = "It is binary."
	case len(f.Hunks) == 0 && truncated && f.Status != gitops.FileRenamed:
		v.Why = "It is too large to be shown."
	case len(f.Hunks) == 0:
		v.Why = "No line differs: it is empty, or only its name or mode changed."
	}
	most := min(*left, shownInAFile)
	for _, h := range f.Hunks {
		if len(v.Lines) >= most {
			break
		}
		v.Lines = append(v.Lines,
			lineView{"hunk", fmt.Sprintf("@@ −%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)})
		for _, l := range h.Lines[:min(len(h.Lines), most-len(v.Lines)+1)] {
			v.Lines = append(v.Lines, lineView{map[byte]string{'+': "add", '-': "del"}[l[0]],
				l[:1] + cleanLine(l[1:], shownLine)})
		}
	}
	*left = max(0, *left-len(v.Lines))
	total := 0
	for _, h := range f.Hunks {
		total += 1 + len(h.Lines)
	}
	if total > len(v.Lines) {
		v.Why = "Shown are " + text.Count(len(v.Lines), "line") + " of " + fmt.Sprint(total) + "."
	}
	return v
}

// cleanLine is a masked line of a file, with invisible characters named, cut to most characters.
func cleanLine(line string, most int) string {
	line = text.Clip(strings.ToValidUTF8(text.HeadOf(line, 8*most), "\uFFFD"), 2*most)
	return text.Clip(nameInvisible(secret.Mask(line)), most)
}

// nameInvisible is a text with invisible characters named.
func nameInvisible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if visible.Hidden(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
