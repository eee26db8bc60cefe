package web

import (
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// moment is one line of a task's log, as people read it.
type moment struct {
	At      time.Time `json:"at"`
	Kind    sia.Kind  `json:"kind"`
	By      string    `json:"by,omitempty"`    // login of who caused it; empty: SIA or GitHub
	Words   string    `json:"words,omitempty"` // that the person wrote
	State   sia.State `json:"state"`           // of the task afterwards
	Why     string    `json:"why,omitempty"`
	Ignored string    `json:"ignored,omitempty"` // why it changed nothing
	Noise   bool      `json:"noise,omitempty"`   // it changed nothing that people see, and no person did it
}

// Who is who caused it, where the reason doesn't say so.
func (m moment) Who() string {
	if strings.Contains(m.Why, "@"+m.By) {
		return ""
	}
	return m.By
}

func moments(events []store.EventRecord) []moment {
	all := make([]moment, len(events))
	for i, e := range events {
		all[i] = moment{At: e.Event.At, Kind: e.Event.Fact.Kind(), By: e.Event.By.Login, Words: wordsOf(e.Event.Fact),
			State: e.To, Why: e.Why, Ignored: e.Ignored,
			Noise: e.Event.By.Login == "" && (e.From == e.To || e.Ignored != "")}
	}
	return all
}

// wordsOf is what a person wrote beside what they asked for.
func wordsOf(f sia.Fact) string {
	switch f := f.(type) {
	case sia.Start:
		return f.Text
	case sia.AnswerGiven:
		return strings.TrimSpace(f.Letter + " " + f.Text)
	}
	return ""
}

// chapter is a moment that people want to see, or a run of such as they don't.
type chapter struct {
	moment
	Folded []moment
}

// chapters folds machine noise between what matters.
func chapters(all []moment) (out []chapter) {
	for _, m := range all {
		switch last := len(out) - 1; {
		case !m.Noise:
			out = append(out, chapter{moment: m})
		case last >= 0 && out[last].Folded != nil:
			out[last].Folded = append(out[last].Folded, m)
		default:
			out = append(out, chapter{Folded: []moment{m}})
		}
	}
	return out
}
