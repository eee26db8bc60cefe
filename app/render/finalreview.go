package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// ReviewText is the review of a pull request as it is written.
type ReviewText struct {
	Body  string
	Lines []ReviewLine
	Whole string // the body instead where nothing can stand on lines
}

// ReviewLine is what a review says on a line that the diff shows.
type ReviewLine struct {
	Path string
	Line int
	Old  bool // of the base's side
	Body string
}

// How much of a review people see before they unfold anything, in words and entries.
const (
	shownNotes = 3  // in the body
	noteQuote  = 8  // of the issue, in the body
	noteWhy    = 9  // of the reviewer, in the body
	lineQuote  = 12 // the same, on a line
	lineWhy    = 18
)

// note is one thing that a final review says.
type note struct {
	label, quote, why string // quote: words of the issue; label is ours
	at                sia.Place
}

// FinalReview is what a fresh reviewer says of a change that is about to be marked ready:
// what it has to say on a line stands there, the rest in the body.
func FinalReview(t sia.Task, r sia.FinalReview, l Links) ReviewText {
	all := notes(r)
	var (
		out  ReviewText
		rest []note
	)
	for _, n := range all {
		if !n.at.Diff {
			rest = append(rest, n)
			continue
		}
		out.Lines = append(out.Lines, ReviewLine{Path: n.at.Path, Line: n.at.Line, Old: n.at.Old, Body: lineBody(n)})
	}
	out.Body, out.Whole = reviewBody(t, r, l, rest), reviewBody(t, r, l, all)
	return out
}

// notes are what a review says but for what is as it should be, demands first.
func notes(r sia.FinalReview) (all []note) {
	for _, d := range r.Demands {
		switch d.State {
		case sia.DemandUnmet:
			all = append(all, note{"❌ Not done", d.Quote, d.Why, d.At})
		case sia.DemandUnclear:
			all = append(all, note{"❔ Can't tell", d.Quote, d.Why, d.At})
		}
	}
	for _, m := range r.Remarks {
		all = append(all, note{remarkLabel(m.About), "", m.Why, m.At})
	}
	return all
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

// lineBody is a note on its line.
func lineBody(n note) string {
	s := "**" + n.label + ":** "
	if n.quote != "" {
		s += "“" + few(n.quote, lineQuote) + "” — "
	}
	return s + few(n.why, lineWhy)
}

// reviewBody is the body of a review that says what is not on lines, and everything once it is
// unfolded.
func reviewBody(t sia.Task, r sia.FinalReview, l Links, shown []note) string {
	var p page
	p.add(fmt.Sprintf("Before this was marked ready, a model that had not seen the work read it against #%d. It informs; "+
		"only the checks decide.", t.Issue))
	p.add("**" + few(sentenceCase(r.String()), 15) + ".**")
	var b strings.Builder
	for i, n := range shown {
		if i == shownNotes {
			fmt.Fprintf(&b, "- and %d more below\n", len(shown)-i)
			break
		}
		b.WriteString("- " + n.label + ": ")
		if n.quote != "" {
			b.WriteString("“" + few(n.quote, noteQuote) + "” — ")
		}
		b.WriteString(few(n.why, noteWhy))
		if n.at.Path != "" {
			b.WriteString(" (" + Code(fewWords(fmt.Sprintf("%s:%d", n.at.Path, n.at.Line), 2), 80) + ")")
		}
		b.WriteString("\n")
	}
	p.add(b.String())
	if r.Cut {
		p.add("The change was too long to be read as a whole.")
	}
	p.fold("Everything that was read and said", everything(t, r, l))
	return p.String()
}

// everything lists all demands, with where each is seen, and all remarks.
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
		label := "✅ Done"
		switch d.State {
		case sia.DemandUnmet:
			label = "❌ Not done"
		case sia.DemandUnclear:
			label = "❔ Can't tell"
		}
		fmt.Fprintf(&b, "- %s: “%s”", label, Line(d.Quote, 400))
		if d.Why != "" {
			b.WriteString(" — " + Line(d.Why, 300))
		}
		b.WriteString(where(d.At) + "\n")
	}
	for _, m := range r.Remarks {
		fmt.Fprintf(&b, "- %s: %s%s\n", remarkLabel(m.About), Line(m.Why, 300), where(m.At))
	}
	if b.Len() > 0 {
		b.WriteString("\nSIA checked that the quotes are real, not whether the judgement is right.\n")
	}
	return b.String()
}

// unmet says which share of the requirements the final review of the present head found not to be done; empty: none.
func unmet(t sia.Task) string {
	if !t.Final.Of(t.Head) {
		return ""
	}
	return t.Final.Unmet()
}

// finalLine says in the status comment and the pull request's text that a review stands;
// empty where none does.
func finalLine(t sia.Task) string {
	r := t.Final
	if !r.Of(t.Head) || r.URL == "" {
		return ""
	}
	said := "read against the issue"
	if r.Why == "" { // else it holds what others say
		said = r.String()
	}
	return "**Final review** (advice only): " + link(said, r.URL) + "."
}
