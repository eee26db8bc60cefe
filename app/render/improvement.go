package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/text"
)

// ImprovementTitle is the title of the pull request that proposes the kept changes of cycles, and the first line of its
// commit.
func ImprovementTitle(cycles []improve.Cycle) string {
	goal := "better instructions"
	for _, c := range cycles {
		if c.Outcome == improve.Kept {
			goal = c.Goal
		}
	}
	return title("SIA improves itself: " + strings.TrimSuffix(oneLine(goal), "."))
}

// ImprovementBody is the text of that pull request, and of its commit: the changes, and all results. fresh are files
// that merging adds to the repository; they replace those that ship with SIA.
func ImprovementBody(cycles []improve.Cycle, fresh []string) string {
	var b page
	kept := 0
	for _, c := range cycles {
		if c.Outcome == improve.Kept {
			kept++
		}
	}
	b.add(fmt.Sprintf("SIA looked for improvements of its own prompts, techniques and policies. Of %s it kept %d: what "+
		"is here. A model wrote it, another call judged it without knowing how it came about, and nobody has read it yet.",
		text.Count(len(cycles), "cycle"), kept))
	for _, c := range cycles {
		if c.Outcome == improve.Kept {
			b.add(keptCycle(c))
		}
	}
	if rest := otherCycles(cycles); rest != "" {
		b.fold("What was tried and not kept", rest)
	}
	for _, name := range slices.Sorted(slices.Values(fresh)) {
		b.add(Code(name, 0) + " is new here: from then on it holds in the place of what ships with SIA.")
	}
	b.add("Merging it puts it into force for what begins afterwards. Edit it as you like, or close this to " +
		"stay as you are.")
	return b.String()
}

// keptCycle is a change with its evidence.
func keptCycle(c improve.Cycle) string {
	v := c.Evaluation
	lines := []string{"### " + Line(c.Goal, 300), "", "In " + Code(c.File, 0) + ". " + Line(c.Why, 600), "",
		"| evidence | |", "|---|---|", "| parser | " + cell(Line(v.Parse.String(), 300)) + " |"}
	if t := v.SelfTest; t != nil {
		lines = append(lines, "| self-test | "+cell(Code(t.Command, 200))+": "+cell(Line(t.Ending, 300))+" |")
	}
	if k := v.Critique; k != nil {
		lines = append(lines, fmt.Sprintf("| independent critique | %.2f of 1 |", k.Score))
	}
	if r := v.Replay; r != nil {
		said := strings.ReplaceAll(string(r.Verdict), "-", " ") + ": " + r.Why
		if r.Tasks > 0 {
			said = fmt.Sprintf("%s, of %s", said, text.Count(r.Tasks, "task"))
		}
		lines = append(lines, "| replayed tasks | "+cell(Line(said, 300))+" |")
	} else {
		lines = append(lines, "| replayed tasks | not replayed |")
	}
	if k := v.Critique; k != nil && len(k.Reasons) > 0 {
		lines = append(lines, "", "The critique:", "")
		for _, r := range k.Reasons {
			lines = append(lines, "- "+Line(r, 400))
		}
	}
	return strings.Join(lines, "\n")
}

// otherCycles lists the changes that were not kept.
func otherCycles(cycles []improve.Cycle) string {
	var lines []string
	for _, c := range cycles {
		if c.Outcome != improve.Kept && c.Goal != "" {
			lines = append(lines, "- "+Line(c.Goal, 300)+" — "+string(c.Outcome)+": "+Line(c.Reason, 300))
		}
	}
	return strings.Join(lines, "\n")
}
