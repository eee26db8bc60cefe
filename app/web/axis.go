package web

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// shownAttempts is how many attempts an axis shows: the last ones.
const shownAttempts = 12

// span is a period of time.
type span struct{ from, to time.Time }

// spansIn returns the periods in which a task was in one of the states, up to a time.
func spansIn(all []moment, until time.Time, states ...sia.State) (out []span) {
	in := false
	for _, m := range all {
		was := in
		in = slices.Contains(states, m.State)
		switch {
		case in && !was:
			out = append(out, span{m.At, until})
		case was && !in:
			out[len(out)-1].to = m.At
		}
	}
	return out
}

// timeAxis shows a task's attempts on a common time axis, with its checks, diagnoses and people's comments.
type timeAxis struct {
	From, To time.Time
	Rows     []axisRow // none before the first attempt
}

// axisRow is a row of an axis: its label, its periods, and the text after them.
type axisRow struct {
	Name, Said string
	Bar        template.HTML
}

// Label is an end of the axis: with seconds, if both would otherwise be equal.
func (a timeAxis) Label(t time.Time) string {
	layout := "2 Jan 15:04"
	if a.To.Sub(a.From) < 2*time.Minute {
		layout = "15:04:05"
	}
	return t.UTC().Format(layout)
}

func axis(t sia.Task, all []moment, now time.Time) (a timeAxis) {
	if len(t.Attempts) == 0 {
		return a
	}
	a.From, a.To = t.CreatedAt, now
	if t.State.Final() {
		a.To = t.Since
	}
	if first := t.Attempts[0].StartedAt; first.Before(a.From) {
		a.From = first
	}
	length := max(a.To.Sub(a.From), time.Second)
	x := func(at time.Time) float64 { return 1000 * max(0, min(1, float64(at.Sub(a.From))/float64(length))) }
	row := func(name, said string, draw func(p *picture)) {
		p := strip("", 20)
		p.line(0, 10, 1000, 10, "even")
		draw(p)
		a.Rows = append(a.Rows, axisRow{name, said, p.html()})
	}
	stretches := func(name string, of []span) {
		if len(of) == 0 {
			return
		}
		var took time.Duration
		for _, s := range of {
			took += max(0, s.to.Sub(s.from))
		}
		row(name, lasted(took), func(p *picture) {
			for _, s := range of {
				p.bar(x(s.from), 6, max(4, x(s.to)-x(s.from)), 8, "off")
			}
		})
	}
	for _, at := range t.Attempts[max(0, len(t.Attempts)-shownAttempts):] {
		end := at.EndedAt
		if end.IsZero() {
			end = a.To
		}
		b := attemptBadge(at)
		row(fmt.Sprintf("Attempt %d", at.Number), b.Word, func(p *picture) {
			p.bar(x(at.StartedAt), 4, max(4, x(end)-x(at.StartedAt)), 12, b.Class)
		})
	}
	stretches("Checks", spansIn(all, a.To, sia.Checking))
	stretches("Diagnosis", spansIn(all, a.To, sia.Diagnosing, sia.Reviewing))
	var said []time.Time
	for _, m := range all {
		if m.By != "" {
			said = append(said, m.At)
		}
	}
	if len(said) > 0 {
		row("People", text.Count(len(said), "time"), func(p *picture) {
			for _, at := range said {
				p.line(max(2, min(998, x(at))), 2, max(2, min(998, x(at))), 18, "person")
			}
		})
	}
	return a
}
