package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
)

// Draft is a lesson as a person would have it, each field as people write it.
type Draft struct {
	Seen string // [Lesson.Version] of the lesson that they saw

	Text       string
	Context    string
	Correction string
	Action     string
	Outcome    string
	Kind       Kind
	Archived   bool   // attempts don't get it
	Tags       string // names, with commas between them
	Tools      string // too
}

// maxNames bounds the tags of a draft, and its tools.
const maxNames = 20

// DraftOf is a lesson as it is.
func DraftOf(l Lesson) Draft {
	return Draft{Seen: l.Version(), Text: plainLine(l.Text), Context: plainLine(l.Context),
		Correction: plainLine(l.Correction), Action: plainLine(l.Action), Outcome: plainLine(l.Outcome), Kind: l.Kind,
		Archived: l.State == Archived, Tags: joinNames(l.Tags), Tools: joinNames(l.Tools)}
}

// Version changes with whatever of a lesson a person can change.
func (l Lesson) Version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q",
		[]any{l.ID, l.Text, l.Context, l.Correction, l.Action, l.Outcome, l.Kind, l.State, l.Into, l.Tags, l.Tools}))
	return hex.EncodeToString(sum[:8])
}

// Editable reports whether a lesson can still be edited: nobody forgot it, and no other stands for it.
func (l Lesson) Editable() bool {
	return l.State == Active || l.State == Promoted || l.State == Archived
}

// Refused says to a person why a draft is not taken.
type Refused string

func (r Refused) Error() string { return string(r) }

// StaleError says that a lesson is not what a person saw when they began their draft.
type StaleError struct {
	Now Lesson // the lesson as it is, or what stands for it
}

func (e *StaleError) Error() string { return fmt.Sprintf("lesson %s was changed meanwhile", e.Now.ID) }

// Edit is the change that makes a lesson what the draft says. The error is [Refused], or a *[StaleError].
func (d Draft) Edit(was Lesson) (Edit, error) {
	if !was.Editable() || d.Seen != was.Version() {
		return Edit{}, &StaleError{Now: was}
	}
	is := was
	for _, f := range []struct {
		key, value string
		to         *string
		most       int
	}{
		{keyText, d.Text, &is.Text, MaxText}, {keyContext, d.Context, &is.Context, maxShort},
		{keyCorrection, d.Correction, &is.Correction, maxShort}, {keyAction, d.Action, &is.Action, maxShort},
		{keyOutcome, d.Outcome, &is.Outcome, maxShort},
	} {
		value := plainLine(f.value)
		if n := utf8.RuneCountInString(value); n > f.most {
			return Edit{}, Refused(fmt.Sprintf("“%s” has %d characters; at most %d are kept. Shorten it.", f.key, n, f.most))
		}
		if value != plainLine(*f.to) {
			*f.to = value
		}
	}
	if is.Text == "" {
		return Edit{}, Refused("“" + keyText + "” is empty, and that is what attempts are told. To have the lesson " +
			"forgotten, there is a button of its own.")
	}
	if is.Kind = d.Kind; !slices.Contains(Kinds, d.Kind) {
		return Edit{}, Refused("There is no such kind of lesson. Choose one of the list.")
	}
	if d.Archived {
		is.State = Archived
	} else if was.State == Archived {
		is.State = Active
	}
	for _, f := range []struct {
		key, value string
		to         *[]string
	}{{keyTags, d.Tags, &is.Tags}, {keyTools, d.Tools, &is.Tools}} {
		names := splitNames(f.value)
		if len(names) > maxNames ||
			slices.ContainsFunc(names, func(n string) bool { return utf8.RuneCountInString(n) > maxLabel }) {
			return Edit{}, Refused(fmt.Sprintf("“%s” are at most %d names of at most %d characters, with commas between them.",
				f.key, maxNames, maxLabel))
		}
		if strings.Join(names, ", ") != joinNames(*f.to) {
			*f.to = names
		}
	}
	if sameWords(is, was) && sameLabels(is, was) && is.State == was.State {
		return Edit{}, Refused("Nothing is different from what the lesson says already.")
	}
	return Edit{Kind: Changed, Lesson: is, was: was}, nil
}

// Standing is the lesson that stands for one: itself, or what it was merged into.
func Standing(known map[ID]Lesson, id ID) Lesson {
	l := known[id]
	for range known {
		into, there := known[l.Into]
		if l.State != Merged || !there {
			break
		}
		l = into
	}
	return l
}

// Author is the author of a lesson that somebody wrote; whoever runs the server has no account.
func Author(by sia.Actor) sia.Actor {
	if by.Operator {
		return sia.Actor{}
	}
	return by
}
