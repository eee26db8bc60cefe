package agent

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

//go:embed prompts/divide.md
var dividePrompt string

// Part is the part of an attempt that a run does, if several runs make up the attempt.
type Part struct {
	plan.Part
	Number int // 1-based
	Kind   sia.PartKind
	All    []plan.Part    // parts of the attempt, in order
	Before []int          // numbers of the parts that are in the work tree already
	Left   *sia.CheckRun  // failed check of an earlier run of the part; nil: no earlier run, or unknown
	Why    string         // how an earlier run of the part ended; empty: none
	Open   []sia.Conflict // files with conflict markers from merging other parts
	// result of the repository's tests before the attempt changes anything; nil: unknown
	Baseline *sia.CheckRun
}

// Division holds the instructions of a run that divides a task into parts.
type Division struct {
	Structure plan.Structure
	Most      int    // maximum number of parts
	Prompt    string // from the policy in force; empty: none
}

// divisionHints are the instructions for each structure of a plan.
var divisionHints = map[plan.Structure]string{
	plan.Linear: "The parts are done one after the other, each on top of the one before; a part begins when the command " +
		"of the one before succeeds.",
	plan.Parallel: "Parts are done at the same time, each in a copy of its own, and merged afterwards. Cut so that no " +
		"two of them change the same lines, and let one need another only where it can't be otherwise.",
	plan.Hierarchical: "First what everything rests on, then what rests on it: say with `needs` which parts a part " +
		"can't be begun without. Parts that don't need one another are done at the same time, each in a copy of its own, " +
		"and merged afterwards: no two of those should change the same lines.",
}

// check returns the check for a finished part.
func (p *Part) check() expectedCheck {
	return expectedCheck{command: p.Check, fails: p.Kind == sia.PartTest, baseline: p.Baseline}
}

// partSections returns the sections about the part of the task that this run does.
func partSections(p *Part) []promptSection {
	if p == nil || p.Kind == sia.PartRacer {
		return nil
	}
	var own strings.Builder
	fmt.Fprintf(&own, "Do this: %s\n", clipLine(Sanitize(p.Do), maxStep))
	fmt.Fprintf(&own, "Done when: %s\n", clipLine(Sanitize(p.DoneWhen), maxStep))
	if p.Check != "" {
		fmt.Fprintf(&own, "Checked with: %s\n", clipLine(sanitizeText(p.Check), maxStep))
	}
	if len(p.Paths) > 0 {
		fmt.Fprintf(&own, "Expected to change: %s\n", clipLine(Sanitize(strings.Join(p.Paths, ", ")), maxStep))
	}
	out := []promptSection{{heading: fmt.Sprintf("## Your part: %d of %d", p.Number, len(p.All)),
		intro: "The task is taken apart, and this run does one part of it. Do it and nothing of the others. When you call " +
			"`finish`, SIA checks in the sandbox whether it is done.",
		body: own.String(), priority: priorityRequired}}
	var others strings.Builder
	for i, o := range p.All {
		if i+1 == p.Number || p.Kind == sia.PartTest {
			continue
		}
		state := "is done by others"
		if slices.Contains(p.Before, i+1) {
			state = "is in the work tree"
		}
		fmt.Fprintf(&others, "%d. %s (%s)\n", i+1, clipLine(Sanitize(o.Do), maxStep), state)
	}
	if others.Len() > 0 {
		out = append(out, promptSection{heading: "## The other parts", body: others.String(), priority: priorityExamples})
	}
	if len(p.Open) > 0 {
		out = append(out, promptSection{heading: "## Conflicts to resolve", intro: "Parts that were done at the same time " +
			"changed the same places. They are merged in the work tree; a file holds both sides, between the lines <<<<<<<, " +
			"======= and >>>>>>>. Keep what each of them is for. No such line may be left.",
			source: "file names", body: conflictList(p.Open), priority: priorityRequired})
	}
	if p.Why != "" || p.Left != nil {
		s := promptSection{heading: "## It was tried before", intro: "What that came to is in the work tree.",
			priority: priorityQuotes}
		if p.Why != "" {
			s.intro += " It ended: " + clipLine(Sanitize(p.Why), maxStep)
		}
		if c := p.Left; c != nil && !c.Holds && c.Missing == "" {
			s.intro += fmt.Sprintf(" This did not hold: `%s`. It printed:", clipLine(sanitizeText(c.Command), maxStep))
			s.source, s.body = "output", middleOut(c.Excerpt, maxQuote)
		}
		out = append(out, s)
	}
	return out
}

// divisionSections returns the instructions for dividing a task.
func divisionSections(d *Division) []promptSection {
	if d == nil {
		return nil
	}
	out := []promptSection{{heading: "## How to take it apart", priority: priorityRequired,
		intro: fmt.Sprintf("Into 2 to %d parts, as few as serve. %s",
			min(d.Most, plan.MaxParts), divisionHints[d.Structure])}}
	if d.Prompt != "" {
		out = append(out, promptSection{body: middleOut(sanitizeText(d.Prompt), maxAnswer), priority: priorityRequired})
	}
	return out
}

// endTool returns the tool that ends a planning run: a division, or a proposal if d is nil.
func (d *Division) endTool() tool.Tool {
	if d == nil {
		return tool.ProposeTool()
	}
	return tool.DivideTool(min(d.Most, plan.MaxParts))
}
