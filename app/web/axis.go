package web

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// shownAttempts is how many attempts fit an axis: the last ones.
const shownAttempts = 40

// span is a stretch of time.
type span struct{ from, to time.Time }

// within are the stretches in which a task was in some states, up to a time.
func within(all []moment, until time.Time, states ...sia.State) (out []span) {
	in := false
	for _, m := range all {
		switch now := slices.Contains(states, m.State); {
		case now && !in:
			out = append(out, span{m.At, until})
		case in && !now:
			out[len(out)-1].to = m.At
		}
		in = slices.Contains(states, m.State)
	}
	return out
}

// axis shows a task's attempts on one time axis, with when its checks ran, when it was worked out why an
// attempt failed, and when people said something. It is empty before the first attempt.
func axis(t sia.Task, all []moment, now time.Time) template.HTML {
	if len(t.Attempts) == 0 {
		return ""
	}
	from, to := t.CreatedAt, now
	if t.State.Final() {
		to = t.Since
	}
	if first := t.Attempts[0].StartedAt; first.Before(from) {
		from = first
	}
	const left, right, wide, row = 95.0, 555.0, 640.0, 24.0
	length := max(to.Sub(from), time.Second)
	x := func(at time.Time) float64 {
		return left + (right-left)*max(0, min(1, float64(at.Sub(from))/float64(length)))
	}
	shown := t.Attempts[max(0, len(t.Attempts)-shownAttempts):]
	p := newPicture("axis", "Attempts on one time axis",
		fmt.Sprintf("%d attempts from %s to %s, with checks, diagnoses and what "+
			"people said; the table of attempts and the list of what happened say the same.", len(t.Attempts),
			from.UTC().Format(time.DateTime), to.UTC().Format(time.DateTime)), wide, row*float64(len(shown)+3)+24)
	y := 0.0
	next := func(name string) {
		p.words(0, y+17, "name", name)
		y += row
	}
	for _, a := range shown {
		end := a.EndedAt
		if end.IsZero() {
			end = to
		}
		outcome, class := attemptWords(a)
		p.bar(x(a.StartedAt), y+5, x(end)-x(a.StartedAt), row-10, class)
		p.words(x(end)+4, y+17, "number", outcome)
		next(fmt.Sprintf("Attempt %d", a.Number))
	}
	for _, phase := range []struct {
		name   string
		states []sia.State
	}{{"Checks", []sia.State{sia.Checking}}, {"Diagnosis", []sia.State{sia.Diagnosing, sia.Reviewing}}} {
		for _, s := range within(all, to, phase.states...) {
			p.bar(x(s.from), y+9, x(s.to)-x(s.from), row-18, "phase")
		}
		next(phase.name)
	}
	for _, m := range all {
		if m.By != "" {
			p.line(x(m.At), y+5, x(m.At), y+row-5, "person")
		}
	}
	next("People")
	p.line(left, y, right, y, "even")
	p.words(left, y+16, "name", from.UTC().Format("2 Jan 15:04"))
	p.words(right, y+16, "end", to.UTC().Format("2 Jan 15:04"))
	return p.html()
}

// attemptWords is how an attempt ended, and the class of its bar.
func attemptWords(a sia.Attempt) (outcome, class string) {
	switch a.Outcome {
	case "":
		return "under way", "busy"
	case sia.AttemptPass:
		return string(a.Outcome), "good"
	case sia.AttemptFail, sia.AttemptError:
		return string(a.Outcome), "bad"
	}
	return string(a.Outcome), "busy"
}
