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

// Part is what of an attempt a run has to do, where several go into it.
type Part struct {
	plan.Part
	Number int // 1-based
	Kind   sia.PartKind
	All    []plan.Part    // of the attempt, in order
	Before []int          // numbers of those that are in the work tree already
	Left   *sia.CheckRun  // what did not hold when the part was tried before; nil: it was not, or that is not known
	Why    string         // how the part ended when it was tried before; empty: it was not
	Open   []sia.Conflict // files that hold both sides of a conflict between other parts
	// the result of the repository's tests before the attempt changes anything; nil: not known
	Baseline *sia.CheckRun
}

// Division is what a run is told that takes a task apart.
type Division struct {
	Structure plan.Structure
	Most      int    // parts
	Prompt    string // of the policy in force; empty: nothing more
}

// divisionHints say what a structure wants of a plan.
var divisionHints = map[plan.Structure]string{
	plan.Linear: "The parts are done one after the other, each on top of the one before; a part begins when the command " +
		"of the one before succeeds.",
	plan.Parallel: "Parts are done at the same time, each in a copy of its own, and merged afterwards. Cut so that no " +
		"two of them change the same lines, and let one need another only where it can't be otherwise.",
	plan.Hierarchical: "First what everything rests on, then what rests on it: say with `needs` which parts a part " +
		"can't be begun without. Parts that don't need one another are done at the same time, each in a copy of its own, " +
		"and merged afterwards: no two of those should change the same lines.",
}

// wanted is what SIA looks for once the part is finished.
func (p *Part) wanted() wantedCheck {
	return wantedCheck{command: p.Check, fails: p.Kind == sia.PartTest, baseline: p.Baseline}
}

// partSections say what of the task this run has to do.
func partSections(p *Part) []promptSection {
	if p == nil || p.Kind == sia.PartRacer {
		return nil
	}
	var own strings.Builder
	fmt.Fprintf(&own, "Do this: %s\n", clipLine(Sanitize(p.Do), mostStep))
	fmt.Fprintf(&own, "Done when: %s\n", clipLine(Sanitize(p.DoneWhen), mostStep))
	if p.Check != "" {
		fmt.Fprintf(&own, "Checked with: %s\n", clipLine(sanitizeText(p.Check), mostStep))
	}
	if len(p.Paths) > 0 {
		fmt.Fprintf(&own, "Expected to change: %s\n", clipLine(Sanitize(strings.Join(p.Paths, ", ")), mostStep))
	}
	out := []promptSection{{heading: fmt.Sprintf("## Your part: %d of %d", p.Number, len(p.All)),
		intro: "The task is taken apart, and this run does one part of it. Do it and nothing of the others. When you call " +
			"`finish`, SIA checks in the sandbox whether it is done.",
		body: own.String(), give: giveNever}}
	var others strings.Builder
	for i, o := range p.All {
		if i+1 == p.Number || p.Kind == sia.PartTest {
			continue
		}
		state := "is done by others"
		if slices.Contains(p.Before, i+1) {
			state = "is in the work tree"
		}
		fmt.Fprintf(&others, "%d. %s (%s)\n", i+1, clipLine(Sanitize(o.Do), mostStep), state)
	}
	if others.Len() > 0 {
		out = append(out, promptSection{heading: "## The other parts", body: others.String(), give: giveExamples})
	}
	if len(p.Open) > 0 {
		out = append(out, promptSection{heading: "## Conflicts to resolve", intro: "Parts that were done at the same time " +
			"changed the same places. They are merged in the work tree; a file holds both sides, between the lines <<<<<<<, " +
			"======= and >>>>>>>. Keep what each of them is for. No such line may be left.",
			source: "file names", body: conflictList(p.Open), give: giveNever})
	}
	if p.Why != "" || p.Left != nil {
		s := promptSection{heading: "## It was tried before", intro: "What that came to is in the work tree.",
			give: giveQuotes}
		if p.Why != "" {
			s.intro += " It ended: " + clipLine(Sanitize(p.Why), mostStep)
		}
		if c := p.Left; c != nil && !c.Holds && c.Missing == "" {
			s.intro += fmt.Sprintf(" This did not hold: `%s`. It printed:", clipLine(sanitizeText(c.Command), mostStep))
			s.source, s.body = "output", middleOut(c.Excerpt, mostQuote)
		}
		out = append(out, s)
	}
	return out
}

// divisionSections say how a task is to be taken apart.
func divisionSections(d *Division) []promptSection {
	if d == nil {
		return nil
	}
	out := []promptSection{{heading: "## How to take it apart", give: giveNever,
		intro: fmt.Sprintf("Into 2 to %d parts, as few as serve. %s",
			min(d.Most, plan.MaxParts), divisionHints[d.Structure])}}
	if d.Prompt != "" {
		out = append(out, promptSection{body: middleOut(sanitizeText(d.Prompt), mostAnswer), give: giveNever})
	}
	return out
}

// endTool is how a run of a plan ends in place of a proposal to a person.
func (d *Division) endTool() tool.Tool {
	if d == nil {
		return tool.ProposeTool()
	}
	return tool.DivideTool(min(d.Most, plan.MaxParts))
}
