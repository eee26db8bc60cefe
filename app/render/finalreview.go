package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/view"
)

// ReviewText is the text of a pull request review.
type ReviewText struct {
	Body  string
	Lines []view.LineComment
	Whole string // the body instead if no line can be commented on
}

// The words of a review that are visible before anything is unfolded: maxReview for its body and its lines together, if
// the lines leave enough for the body's first sentences.
const (
	maxReview = 80
	noteQuote = 6 // of the issue, in the body
	noteWhy   = 8 // of the reviewer, in the body
	lineQuote = 6 // the same, on a line
	lineWhy   = 10
)

// note is one remark of a final review.
type note struct {
	label, quote, why string // quote: words of the issue; label is ours
	at                sia.Place
}

// FinalReview is a fresh reviewer's review of a change that is about to be marked ready: remarks on lines are on those
// lines, the rest in the body.
func FinalReview(t sia.Task, r sia.FinalReview, l Links) ReviewText {
	all := notes(r)
	var (
		out  ReviewText
		rest []note
		seen int // words on lines
	)
	for _, n := range all {
		if !n.at.Diff {
			rest = append(rest, n)
			continue
		}
		line := "**" + n.label + ":** " + n.said(lineQuote, lineWhy)
		seen += words(line)
		if fold := n.fold(); fold != "" {
			line += "\n\n" + fold
		}
		out.Lines = append(out.Lines, view.LineComment{Path: n.at.Path, Line: n.at.Line, Old: n.at.Old, Body: line})
	}
	out.Body, out.Whole = reviewBody(t, r, l, rest, maxReview-seen), reviewBody(t, r, l, all, maxReview)
	return out
}

// notes are a review's remarks except fulfilled demands, demands first.
func notes(r sia.FinalReview) (all []note) {
	for _, d := range r.Demands {
		switch d.State {
		case sia.DemandUnmet, sia.DemandUnclear:
			all = append(all, note{demandLabel(d.State), d.Quote, d.Why, d.At})
		}
	}
	for _, m := range r.Remarks {
		all = append(all, note{remarkLabel(m.About), "", m.Why, m.At})
	}
	return all
}

func demandLabel(state sia.DemandState) string {
	switch state {
	case sia.DemandUnmet:
		return "❌ Not done"
	case sia.DemandUnclear:
		return "❔ Can't tell"
	}
	return "✅ Done"
}

func remarkLabel(about sia.RemarkKind) string {
	switch about {
	case sia.RemarkScope:
		return "✂️ Not asked for"
	case sia.RemarkSecurity:
		return "🔒 Security"
	case sia.RemarkTests:
		return "🧪 Tests"
	case sia.RemarkAPI:
		return "🔌 Interface"
	}
	return "💬 Remark"
}

// said is the note's text with at most so many words of the issue and of the reviewer.
func (n note) said(quote, why int) string {
	if n.quote == "" {
		return few(n.why, why)
	}
	return "“" + few(n.quote, quote) + "” — " + few(n.why, why)
}

// fold is the full note if its line has no space for it; else empty.
func (n note) fold() string {
	var p page
	if !fits(n.quote, lineQuote) || !fits(n.why, lineWhy) {
		p.fold("In full", n.said(50, 40))
	}
	return p.text()
}

// reviewBody is the body of a review: the remarks that are not on lines in at most room words, and everything in a
// fold.
func reviewBody(t sia.Task, r sia.FinalReview, l Links, shown []note, room int) string {
	var p page
	lead := "**" + few(sentenceCase(r.String()), 12) + ".** Advice only, by a model that had not seen the work."
	if r.Cut {
		lead += " The change was too long to read whole."
	}
	p.add(lead)
	room -= words(lead)
	var b strings.Builder
	for i, n := range shown {
		said := noteLine(n)
		if room -= words(said); room < 4 && i < len(shown)-1 || room < 0 { // "and 10 more below"
			fmt.Fprintf(&b, "- and %d more below\n", len(shown)-i)
			break
		}
		b.WriteString(said)
	}
	p.add(b.String())
	p.fold("Everything that was read and said", everything(t, r, l))
	return p.String()
}

// noteLine is a note in the body.
func noteLine(n note) string {
	said := "- " + n.label + ": " + n.said(noteQuote, noteWhy)
	if n.at.Path != "" {
		said += " (" + Code(fewWords(fmt.Sprintf("%s:%d", n.at.Path, n.at.Line), 2), 80) + ")"
	}
	return said + "\n"
}

// everything lists all demands, with their places, and all remarks.
func everything(t sia.Task, r sia.FinalReview, l Links) string {
	var b strings.Builder
	where := func(at sia.Place) string {
		if at.Path == "" {
			return ""
		}
		sha := r.SHA
		if at.Old {
			sha = t.BaseSHA
		}
		return " (" + link(Code(fmt.Sprintf("%s:%d", at.Path, at.Line), 200), l.Line(t.Repo, sha, at.Path, at.Line)) + ")"
	}
	for _, d := range r.Demands {
		fmt.Fprintf(&b, "- %s: “%s”", demandLabel(d.State), Line(d.Quote, 400))
		if d.Why != "" {
			b.WriteString(" — " + Line(d.Why, 300))
		}
		b.WriteString(where(d.At) + "\n")
	}
	for _, m := range r.Remarks {
		fmt.Fprintf(&b, "- %s: %s%s\n", remarkLabel(m.About), Line(m.Why, 300), where(m.At))
	}
	if b.Len() > 0 {
		fmt.Fprintf(&b, "\nThe change was read against #%d. ", t.Issue)
		b.WriteString("SIA checked that the quotes are real, not whether the judgement is right.\n")
	}
	return b.String()
}

// doneWords counts the fulfilled requirements of the present head; empty without a review.
func doneWords(t sia.Task) string {
	r := t.Final
	if !r.Of(t.Head) || len(r.Demands) == 0 {
		return ""
	}
	said := fmt.Sprintf("%d of %s done", r.Count(sia.DemandMet), text.Count(len(r.Demands), "requirement"))
	if n := r.Count(sia.DemandUnmet); n > 0 {
		said += fmt.Sprintf(", %d not done", n)
	}
	if n := r.Count(sia.DemandUnclear); n > 0 {
		said += fmt.Sprintf(", %d can't be judged", n)
	}
	return said + ", says the reviewer"
}

// finalLine summarises a review, or its failure, for the status comment and the pull request's text; empty where there
// is nothing to say.
func finalLine(t sia.Task, words int) string {
	r := t.Final
	if !r.Tells(t.Head) && !(r.Of(t.Head) && r.URL != "") {
		return ""
	}
	said := "**Final review** (advice only): " + link(few(strings.TrimSuffix(r.String(), "."), words), r.URL)
	if !strings.HasSuffix(said, "…") {
		said += "."
	}
	return said
}

// requirements lists, for the pull request's text, the issue's demands that are fulfilled according to the reviewer of
// the head, and the coder's remarks about the others; empty without a review.
func requirements(t sia.Task) string {
	r := t.Final
	if !r.Of(t.Head) || len(r.Demands) == 0 {
		return ""
	}
	var b strings.Builder
	answered := false
	b.WriteString("**Requirements**, as a reviewer that had not seen the work read them:\n\n")
	for _, d := range r.Demands {
		fmt.Fprintf(&b, "- %s: “%s”", demandLabel(d.State), Line(d.Quote, 200))
		if said := t.Omission.Answer(d.Quote); said != "" && d.State != sia.DemandMet {
			b.WriteString(" — the coder: " + Line(said, 300))
			answered = true
		}
		b.WriteString("\n")
	}
	if o := t.Omission; !answered && o.StaysUnmet(t.Head) {
		b.WriteString("\n" + text.Sentence(sentenceCase(Line(o.Why, 300))) + "\n")
	}
	return b.String()
}

// followUpNow names the omission of the present follow-up; empty where there is none.
func followUpNow(t sia.Task) string {
	o := t.Omission
	switch {
	case o == nil:
	case o.Open:
		return fmt.Sprintf("The checks of %s are green, and %s, says the reviewer. One follow-up attempt is made; unless "+
			"its checks are green too, %[1]s stays.", Code(o.Review.SHA.Short(), 0), o.Review.Unmet())
	case o.Back != "" && o.Back == t.Head:
		return fmt.Sprintf("The follow-up's commit is being taken off the branch: %s, which is green, stays.",
			Code(o.Review.SHA.Short(), 0))
	}
	return ""
}
