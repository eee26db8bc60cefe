package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// pullParts lists the parts of the change, each with what SIA verified of it; empty for the work of one run.
func pullParts(a sia.Attempt) string {
	switch {
	case len(a.Parts) == 0:
		return ""
	case a.Structure == plan.Race:
		return pullRace(a)
	}
	var b strings.Builder
	b.WriteString(sentenceCase(ShapeName(a)) + ". What SIA saw of each by itself, before the checks judged the whole:\n\n")
	for i, p := range a.Parts {
		fmt.Fprintf(&b, "%d. %s", i+1, Line(PartWords(p), 200))
		if p.DoneWhen != "" && p.Kind != sia.PartTest && p.Kind != sia.PartMend {
			b.WriteString(" — done when " + strings.TrimSuffix(Line(p.DoneWhen, 200), "."))
		}
		b.WriteString("  \n   " + Line(PartSeen(a, i+1), 0) + "\n")
	}
	if p := a.Parts[0]; p.Kind == sia.PartTest && p.State == sia.PartGivenUp && a.Shape != "" {
		b.WriteString("\n" + sentenceCase(Line(a.Shape, 500)) + "\n")
	}
	return b.String()
}

// PartSeen says whether SIA verified in the sandbox that a part of an attempt is done.
func PartSeen(a sia.Attempt, number int) string {
	p := a.Parts[number-1]
	c := p.Checked
	switch {
	case p.State == sia.PartGivenUp:
		return "❌ given up after " + tries(p)
	case p.State != sia.PartDone:
		return "⏳ not done"
	case c == nil || c.Command == "" && c.Missing == "":
		return "⚪ done by the agent's word; nothing was run in the sandbox to see it"
	case c.Missing != "":
		return "⚪ not seen in the sandbox: " + cut(oneLine(head(c.Missing)), 200)
	}
	command := ": `" + cut(oneLine(head(c.Command)), 200) + "`"
	switch {
	case !c.Holds:
		return "❌ SIA saw in the sandbox that it does not hold" + command
	case p.Kind == sia.PartTest:
		return "✅ SIA saw this test fail on the base, in the sandbox" + command
	case testShown(a, p):
		return "✅ SIA saw the test pass with this change, in the sandbox" + command
	}
	return "✅ SIA saw it hold in the sandbox" + command
}

// testShown reports whether a part passes a test that was seen to reproduce the fault.
func testShown(a sia.Attempt, p sia.Part) bool {
	return a.Structure == plan.Reproduce && a.Parts[0].Kind == sia.PartTest && a.Parts[0].State == sia.PartDone &&
		p.Kind == sia.PartOfPlan
}

// pullRace names who made the change, and the results of all racers.
func pullRace(a sia.Attempt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s did this, each the whole of it and without the others. The tests in the sandbox ranked the "+
		"results:\n\n", text.Count(len(a.Parts), "coder"))
	for _, p := range a.Parts {
		b.WriteString("- " + racerLine(a, p) + "\n")
	}
	b.WriteString("\nThe change here is " + Line(a.Coder, 40) + "'s; the others' are not part of it.\n")
	return b.String()
}
