package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// An attempt of several runs is shown as a list of its parts until it is judged, and then on one line. The exported
// functions return plain text for terminals and pages, with words of models in it: use [Line] to put it into Markdown.

// ShapeName describes the structure of an attempt's work in a few words; empty for a single run without a description.
func ShapeName(a sia.Attempt) string {
	n := partsOf(a, sia.PartOfPlan)
	switch a.Structure {
	case plan.Reproduce:
		return "first a test that shows the fault, then what makes it pass"
	case plan.Race:
		return text.Count(len(a.Parts), "coder") + " each do the whole task; the best change counts"
	case "", plan.Whole:
		if a.Shape == "" {
			return ""
		}
		return "in one piece"
	}
	switch {
	case len(a.Parts) == 0:
		return "not taken apart yet"
	case a.Structure == plan.Linear:
		return text.Count(n, "part") + ", one after the other"
	}
	s := text.Count(n, "part")
	if a.Structure == plan.Hierarchical {
		s += " that rest on each other"
	}
	return s + fmt.Sprintf(", at most %d at the same time", max(1, a.Parallel))
}

// partsOf counts an attempt's parts of a kind.
func partsOf(a sia.Attempt, kind sia.PartKind) (n int) {
	for _, p := range a.Parts {
		if p.Kind == kind {
			n++
		}
	}
	return n
}

// shapeLine describes the structure of an attempt's work, and the reason for it; empty where there is nothing to say.
func shapeLine(a sia.Attempt) string {
	s := sentenceCase(ShapeName(a))
	if s != "" && a.Shape != "" {
		s += " — " + Line(a.Shape, 300)
	}
	return s
}

// PartWords describes a part's purpose on one line.
func PartWords(p sia.Part) string {
	switch p.Kind {
	case sia.PartRacer:
		return oneLine(p.Coder)
	case sia.PartMerge:
		return "Resolve what conflicts between " + text.Numbered("part", p.Needs)
	case sia.PartMend:
		return "Mend what does not hold together: `" + oneLine(p.Check) + "`"
	}
	return firstSentence(p.Do)
}

// firstSentence is a text up to its first full stop, without it.
func firstSentence(s string) string {
	first, _, _ := strings.Cut(oneLine(head(s)), ". ")
	return strings.TrimSuffix(first, ".")
}

// head is the beginning of a text, longer than any shown line: an attempt may have many parts with long descriptions.
func head(s string) string { return strings.ToValidUTF8(s[:min(len(s), 4096)], "") }

// partIcon shows a part's state. An icon is always next to words that say the same.
func partIcon(s sia.PartState) string {
	switch s {
	case sia.PartDone:
		return "✅"
	case sia.PartRunning:
		return "🔄"
	case sia.PartFailed, sia.PartGivenUp:
		return "❌"
	}
	return "⏳"
}

// PartTrouble explains why a part's last run failed, in about so many words; empty where that is unknown.
func PartTrouble(p sia.Part, words int) string {
	brief := func(s string, words int) string { return cut(fewWords(head(s), words), 8*words) }
	c := p.Checked
	switch {
	case c == nil || c.Holds || c.Command == "" && c.Missing == "" || p.Kind == sia.PartTest && p.Reason != "":
		return brief(p.Reason, words)
	case c.Missing != "":
		return "it could not be checked: " + brief(c.Missing, words)
	case p.Kind == sia.PartTest:
		return "its test did not show the fault"
	}
	s := "`" + brief(c.Command, max(3, words/2)) + "` fails"
	if said := text.MostTelling(visible(head(c.Excerpt))); said != "" {
		s += ": " + brief(said, words)
	}
	return s
}

// partLine is one part: its purpose, its state, its coder if it is not the attempt's, and its failure.
func partLine(a sia.Attempt, number int) string {
	p := a.Parts[number-1]
	if p.Kind == sia.PartRacer {
		return racerLine(a, p)
	}
	s := fmt.Sprintf("%s **%d.** %s", partIcon(p.State), number, Line(PartWords(p), 140))
	if notes := partNotes(a, p); len(notes) > 0 {
		s += " — " + strings.Join(notes, "; ")
	}
	return s
}

func partNotes(a sia.Attempt, p sia.Part) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if p.Coder != "" && p.Coder != a.Coder {
		who := "by " + Line(p.Coder, 40)
		if p.Assigned != "" {
			who += ", because " + Line(p.Assigned, 200)
		}
		notes = append(notes, who)
	}
	trouble := func(before string) {
		if said := PartTrouble(p, 20); said != "" {
			before += ": " + Line(said, 0)
		}
		notes = append(notes, before)
	}
	switch p.State {
	case sia.PartDone:
		if p.Tries > 0 {
			add("tried %s", times(p.Tries+1))
		}
		if c := p.Checked; c != nil && c.Missing != "" {
			add("not checked in the sandbox: %s", Line(c.Missing, 150))
		}
	case sia.PartRunning:
		if p.Tries > 0 {
			trouble(fmt.Sprintf("try %d; the one before failed", p.Tries+1))
		}
	case sia.PartFailed:
		trouble("failed")
		add("what follows is being decided")
	case sia.PartGivenUp:
		trouble("given up after " + tries(p))
	default:
		switch {
		case p.Tries > 0:
			trouble("is tried again, because it failed")
		case len(p.Needs) > 0:
			add("after %s", text.Numbered("part", p.Needs))
		}
	}
	return notes
}

// tries counts the tries of a part that is not done.
func tries(p sia.Part) string { return text.Count(max(1, p.Tries), "try", "tries") }

// partList is the text below an attempt: its parts until it is judged, then one line.
func partList(a sia.Attempt) string {
	var b strings.Builder
	shape := shapeLine(a)
	if a.Outcome != "" && len(a.Parts) > 0 {
		shape = sentenceCase(partsInBrief(a))
	}
	if shape != "" {
		b.WriteString("  - " + shape + "\n")
	}
	if a.Outcome != "" {
		return b.String()
	}
	for i := range a.Parts {
		b.WriteString("  - " + partLine(a, i+1) + "\n")
	}
	return b.String()
}

// partsInBrief summarises the parts of a judged attempt on one line.
func partsInBrief(a sia.Attempt) string {
	if a.Structure == plan.Race {
		return raceInBrief(a)
	}
	said := []string{partsDone(a)}
	if n := triedAgain(a); n > 0 {
		said[0] += fmt.Sprintf(", %d of them tried more than once", n)
	}
	if partsOf(a, sia.PartMerge) > 0 {
		said = append(said, "conflicts between them resolved")
	}
	if partsOf(a, sia.PartMend) > 0 {
		said = append(said, "mended once they were together")
	}
	for i, p := range a.Parts {
		if p.State == sia.PartGivenUp {
			s := fmt.Sprintf("part %d given up after %s", i+1, tries(p))
			if why := PartTrouble(p, 20); why != "" {
				s += ", because " + Line(why, 0)
			}
			said = append(said, s)
		}
	}
	return strings.Join(said, "; ")
}

// triedAgain counts the parts of an attempt that are done after more than one try.
func triedAgain(a sia.Attempt) (n int) {
	for _, p := range a.Parts {
		if p.State == sia.PartDone && p.Tries > 0 {
			n++
		}
	}
	return n
}

// partsDone counts the parts of an attempt, and those done if not all are.
func partsDone(a sia.Attempt) string {
	of := func(kinds ...sia.PartKind) (all, done int) {
		for _, p := range a.Parts {
			if slices.Contains(kinds, p.Kind) {
				if all++; p.State == sia.PartDone {
					done++
				}
			}
		}
		return all, done
	}
	if _, shown := of(sia.PartTest); a.Structure == plan.Reproduce && shown > 0 {
		return "a test showed the fault first"
	} else if a.Structure == plan.Reproduce {
		return "no test showed the fault"
	}
	all, done := of(sia.PartOfPlan)
	s := text.Count(all, "part")
	if done < all {
		s = fmt.Sprintf("%d of %s done", done, s)
	}
	if a.Structure == plan.Linear {
		s += ", one after the other"
	}
	return s
}
