package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// whyTechnique explains the choice of a technique: the reason, and every candidate with its evidence.
func whyTechnique(d sia.Diagnosis) string {
	if len(d.Candidates) == 0 {
		return ""
	}
	var p page
	p.add(sentenceCase(Line(d.Why, 2000)))
	p.add(candidates(d))
	if d.DecisionID != "" {
		p.add("<sub>Logged as " + Code(d.DecisionID, 100) + " before it took effect. An expectation is a share of " +
			"resolutions with its 80 % interval; outcomes move it.</sub>")
	}
	return p.String()
}

// candidates is the table of the available techniques. A missing estimate is a dash, and a column without values is
// left out.
func candidates(d sia.Diagnosis) string {
	others, rated := false, false
	for _, c := range d.Candidates {
		_, ok := d.Ratings[c.Technique]
		others, rated = others || c.Org.Tried+c.Elsewhere.Tried > 0, rated || ok
	}
	row := func(name, expected, here, elsewhere, rating, why string) string {
		cells := []string{name, expected, here}
		if others {
			cells = append(cells, elsewhere)
		}
		if rated {
			cells = append(cells, rating)
		}
		return "| " + strings.Join(append(cells, why), " | ") + " |\n"
	}
	var b strings.Builder
	b.WriteString(row("technique", "expected to resolve", "resolved here", "elsewhere", "rated by the model",
		"why it is considered"))
	b.WriteString(row("---", "---", "---", "---", "---", "---"))
	for _, c := range d.Candidates {
		name := TechniqueName(c.Technique)
		if c.Chosen {
			name = "**" + name + "** (chosen)"
		}
		expected, rating := "–", "–"
		if c.Expected > 0 {
			expected = fmt.Sprintf("%.0f %% (%.0f–%.0f %%)", 100*c.Expected, 100*c.Low, 100*c.High)
		}
		if chance, ok := d.Ratings[c.Technique]; ok {
			rating = fmt.Sprintf("%.0f %%", 100*chance)
		}
		b.WriteString(row(cell(name), expected, evidence(c.Resolved, c.Tried), otherEvidence(c), rating,
			cell(Line(c.Reason, 500))))
	}
	return b.String()
}

func evidence(resolved, tried int) string {
	if tried == 0 {
		return "not tried yet"
	}
	return fmt.Sprintf("%d of %d", resolved, tried)
}

// otherEvidence is the evidence from other repositories, the organisation's first.
func otherEvidence(c sia.Candidate) string {
	var parts []string
	if c.Org.Tried > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d in the organisation", c.Org.Resolved, c.Org.Tried))
	}
	if c.Elsewhere.Tried > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d in other organisations", c.Elsewhere.Resolved, c.Elsewhere.Tried))
	}
	if len(parts) == 0 {
		return "not tried yet"
	}
	return strings.Join(parts, ", ")
}

// choices are the lines of /sia explain for the decision log.
func choices(ds []sia.Decision) []string {
	var lines []string
	for _, d := range ds {
		what := Line(string(d.Type), 40) + ": " + Line(d.Choice, 100)
		if d.Type == sia.DecideTechnique {
			what = TechniqueName(sia.TechniqueID(d.Choice))
		}
		if words := ChoiceWords(d); words != "" {
			what = Line(string(d.Type), 40) + ": " + Line(words, 100)
		}
		line := fmt.Sprintf("- After attempt %d: **%s**", d.Attempt, what)
		if d.Reason != "" {
			line += " — " + Line(sentenceCase(d.Reason), 900)
		}
		if d.Outcome != "" {
			line += fmt.Sprintf(" *(%s)*", Line(d.Outcome, 40))
		}
		lines = append(lines, line)
	}
	return lines
}
