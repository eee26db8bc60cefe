package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// The charts here show only numbers: the same values are next to them as text. Every meaning of a colour is also a
// shape, a position or a word. They fill the available width.

// picture is an SVG under construction.
type picture struct{ strings.Builder }

// strip is a picture that is stretched to its container: 1,000 units wide, and height high.
func strip(class string, height float64) *picture {
	p := &picture{}
	fmt.Fprintf(p, `<svg class="%s" viewBox="0 0 1000 %.0f" preserveAspectRatio="none" aria-hidden="true">`, class, height)
	return p
}

func (p *picture) bar(x, y, width, height float64, class string) {
	fmt.Fprintf(p, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, max(0, width), height)
}

func (p *picture) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(p, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (p *picture) html() template.HTML {
	return template.HTML(p.String() + "</svg>") //nolint:gosec // numbers, and words of ours
}

// outcomeBar shows the passed tasks, followed by the stopped ones. Without any it is empty.
func outcomeBar(passed, stopped int) template.HTML {
	p := strip("bar", 10)
	p.bar(0, 0, 1000, 10, "track")
	all := float64(max(1, passed+stopped))
	good := 1000 * float64(passed) / all
	p.bar(0, 0, good, 10, "good")
	p.bar(good, 0, 1000*float64(stopped)/all, 10, "off")
	return p.html()
}

// meter shows the used part of a whole.
func meter(part, whole sia.Credits) template.HTML {
	p := strip("bar", 10)
	p.bar(0, 0, 1000, 10, "track")
	p.bar(0, 0, 1000*float64(min(part, whole))/float64(max(1, whole)), 10, "")
	return p.html()
}

// Bar shows a share on a scale to 100 %, with its confidence interval as a line.
func (s share) Bar() template.HTML { return s.bar(0) }

func (s share) bar(bound float64) template.HTML {
	p := strip("bar share", 16)
	p.bar(0, 5, 1000, 6, "track")
	p.bar(0, 5, 1000*s.Mean(), 6, "")
	if s.In > 0 {
		for _, x := range []float64{1000 * s.Low, 1000 * s.High} {
			x = min(998, max(2, x))
			p.line(x, 3, x, 13, "range")
		}
		p.line(1000*s.Low, 8, 1000*s.High, 8, "range")
	}
	if bound > 0 {
		p.line(1000*bound, 0, 1000*bound, 16, "limit")
	}
	return p.html()
}

// Bar shows a target's share, if it has one, with the bound as a mark.
func (t target) Bar() template.HTML {
	if t.Share == nil || !t.Known {
		return ""
	}
	return t.Share.bar(t.Bound)
}

// weekChart shows credits per solved task over weeks.
func weekChart(weeks []weekLine) template.HTML {
	var most sia.Credits
	for _, w := range weeks {
		most = max(most, w.PerSolved)
	}
	if most == 0 {
		return ""
	}
	const height = 100.0
	p := &picture{}
	fmt.Fprintf(p, `<svg class="chart" viewBox="0 0 320 %.0f" role="img" aria-label="Credits for each solved task in the `+
		`last %d weeks, at most %s; the table below has the numbers.">`, height+32, len(weeks), most)
	step := 320 / float64(len(weeks))
	p.line(0, height+15, 320, height+15, "even")
	for i, w := range weeks {
		x, h := step*float64(i), height*float64(w.PerSolved)/float64(most)
		if w.Passed > 0 {
			p.bar(x+3, height+15-h, step-6, h, "")
		}
		if w.PerSolved == most {
			fmt.Fprintf(p, `<text class="%s" x="%.1f" y="11">%s</text>`, map[bool]string{true: "end"}[i > 1],
				x+step-3, most)
		}
		if i%4 == 0 || i == len(weeks)-1 {
			end := i == len(weeks)-1
			fmt.Fprintf(p, `<text class="%s" x="%.1f" y="%.0f">%s</text>`, map[bool]string{true: "end"}[end],
				x+map[bool]float64{true: step, false: 2}[end], height+29, w.From.UTC().Format("2 Jan"))
		}
	}
	return p.html()
}
