package web

import (
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// moment is one line of a task's log, for display.
type moment struct {
	At      time.Time `json:"at"`
	Kind    sia.Kind  `json:"kind"`
	By      string    `json:"by,omitempty"`    // login of the actor; empty: SIA or GitHub
	Words   string    `json:"words,omitempty"` // the person's text
	State   sia.State `json:"state"`           // the task's state afterwards
	Why     string    `json:"why,omitempty"`
	Ignored string    `json:"ignored,omitempty"` // why it changed nothing
	Noise   bool      `json:"noise,omitempty"`   // it has no visible effect, and no person caused it
}

// Who is the actor, if the reason doesn't name it.
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

// wordsOf is a person's text other than the command itself.
func wordsOf(f sia.Fact) string {
	switch f := f.(type) {
	case sia.Start:
		return f.Text
	case sia.AnswerGiven:
		return strings.TrimSpace(f.Letter + " " + f.Text)
	}
	return ""
}

// chapter is a relevant moment, or a run of irrelevant ones.
type chapter struct {
	moment
	Folded []moment
}

// chapters folds runs of noise between relevant moments.
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
