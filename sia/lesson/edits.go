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

// Edits are what people changed in lessons.md since SIA wrote it: before are the
// lessons that it then wrote, after is the file as it is. A lesson whose section
// can't be read is not edited, and neither is anything by what SIA shows of its
// own counting.
func Edits(repo int64, before []Lesson, after Sheet) []Edit {
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
	return a.Text == b.Text && a.Context == b.Context && a.Correction == b.Correction && a.Action == b.Action && a.Outcome == b.Outcome
}

func sameLabels(a, b Lesson) bool {
	return a.Kind == b.Kind && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Tools, b.Tools)
}

// Apply makes the edit: have is the lesson as it is known now, the zero Lesson
// when it is not. A text that a person changed is the person's from then on, with
// a person's weight: what was counted for and against it was about other words.
// Applied again it changes nothing, and changed is false.
func (e Edit) Apply(have Lesson, by sia.Actor, now time.Time) (_ Lesson, changed bool) {
	l := e.Lesson
	switch {
	case e.Kind == Deleted || have.ID != "" && l.State == Forgotten && e.was.State != Forgotten:
		if have.ID == "" || have.State == Forgotten || have.State == Merged {
			return have, false
		}
		have.State = Forgotten
		return have, true
	case have.ID == "":
		if e.Kind == Changed {
			return have, false // it is gone: forgotten by another way
		}
		l = l.Clean(func(s string) string { return s })
		if l.Kind == "" {
			l.Kind = Discovery
		}
		l.State = Active
		return l.person(by, now), true
	case e.Kind == Added:
		if have.State != Forgotten {
			return have, false // read before
		}
		have.State = Active // it comes back because a person brings it back
		return have.person(by, now), true
	}
	before := have
	merge := func(was, is string, to *string) {
		if was != is {
			*to = is
		}
	}
	merge(e.was.Text, l.Text, &have.Text)
	merge(e.was.Context, l.Context, &have.Context)
	merge(e.was.Correction, l.Correction, &have.Correction)
	merge(e.was.Action, l.Action, &have.Action)
	merge(e.was.Outcome, l.Outcome, &have.Outcome)
	if l.Kind != e.was.Kind {
		have.Kind = l.Kind
	}
	if l.State != e.was.State {
		have.State = l.State
	}
	if !slices.Equal(l.Tags, e.was.Tags) {
		have.Tags = l.Tags
	}
	if !slices.Equal(l.Tools, e.was.Tools) {
		have.Tools = l.Tools
	}
	have = have.Clean(func(s string) string { return s })
	if !sameWords(have, before) {
		return have.person(by, now), true
	}
	return have, !sameLabels(have, before) || have.State != before.State
}

// person makes a lesson a person's word.
func (l Lesson) person(by sia.Actor, now time.Time) Lesson {
	l.From.Source = FromPerson
	if by != (sia.Actor{}) {
		l.From.By = by
	}
	l.Good, l.Bad, l.CountedAt, l.LastSeen = PersonWeight, 0, now, now
	if l.CreatedAt.IsZero() {
		l.CreatedAt = now
	}
	l.Occurrences = max(1, l.Occurrences)
	if l.State == Archived {
		l.State = Active
	}
	l.Words = merged(Words(l.Text+" "+l.Context+" "+l.Correction, maxWords), l.Words)
	return l
}

// merged are the words of both lists, the first list's first, at most as many as
// a lesson is found by.
func merged(a, b []string) []string {
	out := slices.Clone(a)
	for _, w := range b {
		if len(out) < maxWords && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
