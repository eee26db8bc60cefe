package lesson

import (
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// EditKind says what a person did to a lesson in lessons.md.
type EditKind string

// The kinds of edit.
const (
	Changed EditKind = "changed"
	Added   EditKind = "added"
	Deleted EditKind = "deleted"
)

// Edit is what a person did to one lesson in lessons.md.
type Edit struct {
	Kind   EditKind
	Lesson Lesson // as the file has it; of a deleted one, as it was
	was    Lesson // of a changed one: as SIA had written it
}

// Edits are what people changed in lessons.md since SIA wrote it. before are the lessons that SIA
// then wrote, after is the file as it is now. Sections that can't be read and the figures that SIA
// counts itself make no edit.
func Edits(repo int64, before []Lesson, after MarkdownFile) []Edit {
	file, err := Markdown(repo, before, nil)
	if err != nil {
		return nil // there is no previous content that could be broken
	}
	written, err := Parse(repo, file)
	if err != nil {
		return nil // what Markdown writes can be read
	}
	base := map[ID]Lesson{}
	state := map[ID]State{} // of all that there were; what people bring back after it was forgotten is added
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
		case !shown && state[l.ID] == Merged: // another one stands for it
		case !shown:
			edits = append(edits, Edit{Kind: Added, Lesson: l})
		default:
			if l.Kind == "" {
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

// Apply makes the edit. known are the repository's lessons of every state as they are now, by id.
// It returns the lessons that replace known ones or are new; none when the edit was made before.
//
// A lesson with words that a person changed is the person's, with a person's weight. It stands for
// the old lesson, because what was counted for and against that was about other words. The same
// holds for a lesson that a person brings back after it was archived or forgotten, and for one that
// a person changed while it was taken back elsewhere.
func (e Edit) Apply(known map[ID]Lesson, by sia.Actor, now time.Time) []Lesson {
	have, there := known[e.Lesson.ID]
	ended := have.State == Forgotten || have.State == Merged
	switch {
	case e.Kind == Added && (!there || have.State == Forgotten),
		e.Kind == Changed && !there && !sameWords(e.Lesson, e.was):
		l := e.Lesson.asPersons(by, now)
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
	mine := after.asPersons(by, now)
	if mine.ID = successorID(known, mine.Text, mine.Repo); mine.ID == "" {
		return nil
	}
	if have.State == Forgotten {
		return []Lesson{mine}
	}
	have.State, have.Into = Merged, mine.ID
	return []Lesson{mine, have}
}

// applyTo makes the person's changes to a lesson that may have changed since the file was written.
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

// asPersons is the lesson as a person's own word, with the counts of a new one.
func (l Lesson) asPersons(by sia.Actor, now time.Time) Lesson {
	l = l.Clean(func(s string) string { return s })
	l.From.Source, l.From.By, l.State = FromPerson, by, Active
	l.Good, l.Bad, l.CountedAt, l.LastSeen, l.CreatedAt, l.Occurrences = PersonWeight, 0, now, now, now, 1
	l.Conflicts, l.ArchivedByHand = nil, false // of the old words
	if l.Kind == "" {
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

// successorID is the first unused id for a lesson in a person's words. It is "" when a lesson in
// these words is alive already.
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
