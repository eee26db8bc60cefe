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

// Draft is a user's edited version of a lesson, each field as entered.
type Draft struct {
	Seen string // [Lesson.Version] of the lesson that the user saw

	Text       string
	Context    string
	Correction string
	Action     string
	Outcome    string
	Kind       Kind
	Archived   bool   // attempts do not get it
	Tags       string // comma-separated names
	Tools      string // comma-separated names
}

// maxNames is the maximum number of a draft's tags, and of its tools.
const maxNames = 20

// DraftOf returns an unedited draft of a lesson.
func DraftOf(l Lesson) Draft {
	return Draft{Seen: l.Version(), Text: plainLine(l.Text), Context: plainLine(l.Context),
		Correction: plainLine(l.Correction), Action: plainLine(l.Action), Outcome: plainLine(l.Outcome), Kind: l.Kind,
		Archived: l.State == Archived, Tags: joinNames(l.Tags), Tools: joinNames(l.Tools)}
}

// Version returns a hash of everything in a lesson that a user can change.
func (l Lesson) Version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q",
		[]any{l.ID, l.Text, l.Context, l.Correction, l.Action, l.Outcome, l.Kind, l.State, l.Into, l.Tags, l.Tools}))
	return hex.EncodeToString(sum[:8])
}

// Editable reports whether a lesson can be edited: it is neither forgotten nor merged.
func (l Lesson) Editable() bool {
	return l.State == Active || l.State == Promoted || l.State == Archived
}

// Refused is the error for a rejected draft, or a lesson that can't be shared, as a message to the user.
type Refused string

func (r Refused) Error() string { return string(r) }

// StaleError is the error for a draft of a lesson that has changed since the user saw it.
type StaleError struct {
	Now Lesson // the current lesson, or the one that it was merged into
}

func (e *StaleError) Error() string { return fmt.Sprintf("lesson %s was changed meanwhile", e.Now.ID) }

// Edit returns the edit that turns a lesson into the draft. The error is [Refused] or a *[StaleError].
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

// Unmerged returns a lesson, or the one that it was finally merged into.
func Unmerged(known map[ID]Lesson, id ID) Lesson {
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

// Author returns the author to record for a lesson; the operator of the server has no account.
func Author(by sia.Actor) sia.Actor {
	if by.Operator {
		return sia.Actor{}
	}
	return by
}
