package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Pictures are made here, of numbers and of escaped words. Each has a title and a description, and
// stands beside a table that says the same; what a colour says, a shape or a word says too.

// picture is an SVG in the making. Lengths are in its own units, of which it is wide.
type picture struct{ strings.Builder }

func newPicture(id, title, description string, width, height float64) *picture {
	p := &picture{}
	class := "wide-chart"
	if width < 400 {
		class = "narrow-chart"
	}
	fmt.Fprintf(p, `<svg class="%s" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="%s-title %s-desc">`+
		`<title id="%s-title">%s</title>`+
		`<desc id="%s-desc">%s</desc>`, class, width, height, id, id, id, esc(title), id, esc(description))
	return p
}

// esc is a word of strangers as text of a picture.
func esc(s string) string { return template.HTMLEscapeString(s) }

func (p *picture) words(x, y float64, class, s string) {
	fmt.Fprintf(p, `<text class="%s" x="%.1f" y="%.1f">%s</text>`, class, x, y, esc(s))
}

func (p *picture) bar(x, y, width, height float64, class string) {
	fmt.Fprintf(p, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, max(1, width), height)
}

func (p *picture) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(p, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (p *picture) html() template.HTML {
	return template.HTML(p.String() + "</svg>") //nolint:gosec // numbers and escaped words
}

// outcomeChart shows how this week's tasks stand, one bar each.
func outcomeChart(w store.Week, waiting, running int) template.HTML {
	rows := []struct {
		name, class string
		n           int
	}{{"passed", "good", w.Passed}, {"stopped", "bad", w.Stopped}, {"wait for people", "wait", waiting},
		{"under way", "busy", running}}
	most := 1
	var said []string
	for _, r := range rows {
		most = max(most, r.n)
		said = append(said, fmt.Sprintf("%s: %d", r.name, r.n))
	}
	p := newPicture("outcomes", "Tasks by outcome", strings.Join(said, ", ")+".", 380, float64(28*len(rows)))
	for i, r := range rows {
		y := float64(28 * i)
		p.words(0, y+18, "name", r.name)
		p.bar(135, y+6, 200*float64(r.n)/float64(most), 16, r.class)
		p.words(143+200*float64(r.n)/float64(most), y+18, "number", fmt.Sprint(r.n))
	}
	return p.html()
}

// weekChart shows credits per solved task over weeks.
func weekChart(weeks []weekLine) template.HTML {
	var most sia.Credits = 1
	solved := 0
	for _, w := range weeks {
		most = max(most, w.PerSolved)
		solved += w.Passed
	}
	if solved == 0 {
		return ""
	}
	const height, foot = 130.0, 18.0
	step := 360 / float64(len(weeks))
	p := newPicture("credits", "Credits for each solved task, week by week",
		fmt.Sprintf("%d weeks, at most %s credits; the table says the numbers.", len(weeks), most), 360, height+foot)
	p.line(0, height, 360, height, "even")
	for i, w := range weeks {
		x, h := step*float64(i), (height-16)*float64(w.PerSolved)/float64(most)
		if w.Passed > 0 {
			p.bar(x+3, height-h, step-6, h, "busy")
		}
		if i%3 == 0 {
			p.words(x+2, height+13, "name", w.From.UTC().Format("2 Jan"))
		}
	}
	p.words(2, 11, "number", most.String()+" credits")
	return p.html()
}

// bars shows shares with their intervals: a bar to the share, a line over where it may truly lie.
func bars(id, title string, rows []tallyLine) template.HTML {
	if len(rows) == 0 {
		return ""
	}
	const left, wide, row, scale = 200.0, 640.0, 26.0, 330.0
	p := newPicture(id, title, "Bars to 100 %, each with its 95 % interval as a line; the table says the numbers.", wide,
		row*float64(len(rows))+20)
	for i, l := range rows {
		y := row * float64(i)
		p.words(0, y+17, "name", text.Clip(l.Shown, 22))
		p.bar(left, y+7, scale*l.Share.Mean(), 12, "busy")
		p.line(left+scale*l.Share.Low, y+13, left+scale*l.Share.High, y+13, "range")
		p.line(left+scale*l.Share.Low, y+8, left+scale*l.Share.Low, y+18, "range")
		p.line(left+scale*l.Share.High, y+8, left+scale*l.Share.High, y+18, "range")
		p.words(left+scale+10, y+17, "number", fmt.Sprintf("%d of %d", l.Share.Of, l.Share.In))
	}
	y := row * float64(len(rows))
	p.line(left, y, left+scale, y, "even")
	for _, tick := range []float64{0, .5, 1} {
		p.words(left+scale*tick-8, y+15, "name", percent(tick))
	}
	return p.html()
}
