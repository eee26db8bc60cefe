package lesson

import (
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// EditKind is the kind of a user's edit in lessons.md.
type EditKind string

// The kinds of edit.
const (
	Changed EditKind = "changed"
	Added   EditKind = "added"
	Deleted EditKind = "deleted"
)

// Edit is a user's edit of one lesson in lessons.md.
type Edit struct {
	Kind   EditKind
	Lesson Lesson // as in the edited file; for a deleted lesson, as before
	was    Lesson // for a changed lesson: as written by SIA
}

// Edits returns users' edits in lessons.md since SIA wrote it. before are the lessons that SIA wrote, after is the
// current file. Unreadable sections and changes to SIA's own figures are not edits.
func Edits(repo int64, before []Lesson, after MarkdownFile) []Edit {
	file, err := Markdown(repo, before, nil)
	if err != nil {
		return nil // impossible: there is no previous content that could be broken
	}
	written, err := Parse(repo, file)
	if err != nil {
		return nil // impossible: Parse reads what Markdown writes
	}
	base := map[ID]Lesson{}
	state := map[ID]State{} // of all lessons in before; a forgotten one that a user restores is Added
	for _, l := range written.Lessons {
		base[l.ID] = l
	}
	for _, l := range before {
		state[l.ID] = l.State
	}
	var edits []Edit
	for _, l := range after.Lessons {
		was, shown := base[l.ID]
		delete(base, l.ID)
		switch {
		case !shown && state[l.ID] == Merged: // replaced by another lesson
		case !shown:
			if _, ok := l.Upgrade(); ok {
				edits = append(edits, Edit{Kind: Added, Lesson: l})
			}
		default:
			if l.Kind == "" || l.Kind == Model {
				l.Kind = was.Kind
			}
			if !sameWords(l, was) || !sameLabels(l, was) || l.State != was.State {
				edits = append(edits, Edit{Kind: Changed, Lesson: l, was: was})
			}
		}
	}
	for _, l := range after.New {
		if s := state[l.ID]; s == "" || s == Forgotten {
			edits = append(edits, Edit{Kind: Added, Lesson: l})
		}
	}
	for _, l := range written.Lessons {
		if _, gone := base[l.ID]; gone && !after.broken[l.ID] {
			edits = append(edits, Edit{Kind: Deleted, Lesson: l})
		}
	}
	return edits
}

func sameWords(a, b Lesson) bool {
	return a.Text == b.Text && a.Context == b.Context && a.Correction == b.Correction && a.Action == b.Action &&
		a.Outcome == b.Outcome
}

func sameLabels(a, b Lesson) bool {
	return a.Kind == b.Kind && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Tools, b.Tools)
}

// Apply applies the edit. known are the repository's current lessons of every state, by id. It returns the lessons that
// replace known ones or are new; none when the edit was already applied.
//
// A lesson with words changed by a user becomes the user's, with the weight of a user's word. It replaces the old
// lesson, because the old evidence was about other words. The same holds for a lesson that a user restores after it was
// archived or forgotten, and for one that a user changed while it was removed elsewhere.
func (e Edit) Apply(known map[ID]Lesson, by sia.Actor, now time.Time) []Lesson {
	have, there := known[e.Lesson.ID]
	ended := have.State == Forgotten || have.State == Merged
	switch {
	case e.Kind == Added && (!there || have.State == Forgotten),
		e.Kind == Changed && !there && !sameWords(e.Lesson, e.was):
		l := e.Lesson.ownedBy(by, now)
		if there || e.Kind == Changed {
			if l.ID = successorID(known, l.Text, l.Repo); l.ID == "" {
				return nil
			}
		}
		return []Lesson{l}
	case e.Kind == Added || !there:
		return nil
	case e.Kind == Deleted, e.Lesson.State == Forgotten && e.was.State != Forgotten:
		if ended {
			return nil
		}
		have.State = Forgotten
		return []Lesson{have}
	}
	after := e.applyTo(have)
	revived := e.was.State == Archived && e.Lesson.State != Archived
	if sameWords(e.Lesson, e.was) && !revived {
		if ended || sameLabels(after, have) && after.State == have.State {
			return nil
		}
		return []Lesson{after}
	}
	mine := after.ownedBy(by, now)
	if mine.ID = successorID(known, mine.Text, mine.Repo); mine.ID == "" {
		return nil
	}
	if have.State == Forgotten {
		return []Lesson{mine}
	}
	have.State, have.Into = Merged, mine.ID
	return []Lesson{mine, have}
}

// applyTo applies the user's changes to a lesson that may have changed since the file was written.
func (e Edit) applyTo(l Lesson) Lesson {
	take := func(to *string, was, is string) {
		if was != is {
			*to = is
		}
	}
	take(&l.Text, e.was.Text, e.Lesson.Text)
	take(&l.Context, e.was.Context, e.Lesson.Context)
	take(&l.Correction, e.was.Correction, e.Lesson.Correction)
	take(&l.Action, e.was.Action, e.Lesson.Action)
	take(&l.Outcome, e.was.Outcome, e.Lesson.Outcome)
	take((*string)(&l.Kind), string(e.was.Kind), string(e.Lesson.Kind))
	if e.was.State != e.Lesson.State {
		l.State, l.ArchivedByHand = e.Lesson.State, e.Lesson.State == Archived
	}
	if !slices.Equal(e.Lesson.Tags, e.was.Tags) {
		l.Tags = e.Lesson.Tags
	}
	if !slices.Equal(e.Lesson.Tools, e.was.Tools) {
		l.Tools = e.Lesson.Tools
	}
	return l
}

// ownedBy returns the lesson as a user's own, with the counts of a new one.
func (l Lesson) ownedBy(by sia.Actor, now time.Time) Lesson {
	l = l.Clean(func(s string) string { return s })
	l.From.Source, l.From.By, l.State = FromPerson, by, Active
	l.Good, l.Bad, l.CountedAt, l.LastSeen, l.CreatedAt, l.Occurrences = PersonWeight, 0, now, now, now, 1
	l.Conflicts, l.ArchivedByHand = nil, false // they were about the old words
	if l.Kind == "" || l.Kind == Model {
		l.Kind = Discovery
	}
	words := Words(l.Text+" "+l.Context+" "+l.Correction, maxWords)
	for _, w := range l.Words {
		if len(words) < maxWords && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	l.Words = words
	return l
}

// successorID returns the first unused id for a user's lesson. It is "" when a live lesson has the same words.
func successorID(known map[ID]Lesson, text string, repo int64) ID {
	source := Path + "\x00" + plainLine(text)
	for {
		id := NewID(repo, source)
		l, used := known[id]
		if !used {
			return id
		}
		if l.State != Forgotten && l.State != Merged && l.State != Archived {
			return ""
		}
		source += "\x00again"
	}
}
