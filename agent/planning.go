package agent

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
	"github.com/sia-bot/sia/sia/text"
)

// planTurns limits the turns of an attempt that makes a plan. Reading takes fewer turns than changing.
const planTurns = 40

// planClosing is the instruction when the end of an attempt that makes a plan is near.
const planClosing = "Call propose now, and say in the summary what you could not find out."

//go:embed prompts/plan.md
var planPrompt string

//go:embed prompts/plannudge.md
var planNudge string

//go:embed prompts/commandplan.md
var commandPlanPrompt string

// forPlanning returns the input of an attempt that makes a plan: without setup, since nothing is built, and without the
// hazard, since no changes are expected.
func (in Input) forPlanning() Input {
	in.Limits.Turns = min(cmp.Or(in.Limits.Turns, sia.DefaultSettings().Agent.MaxTurns), planTurns)
	in.Setup, in.Hazard, in.Spare = nil, stuck.Hazard{}, false
	return in
}

// planTools returns the tools of an attempt that makes a plan: those that read, the question, and the proposal.
func planTools(all []tool.Tool, canAsk, failed bool, by *Division) (offered []tool.Tool) {
	reading := []string{tool.NameList, tool.NameRead, tool.NameOutline, tool.NameSearch, tool.NameLocate}
	if failed {
		reading = append(reading, tool.NameFailure)
	}
	if canAsk {
		reading = append(reading, tool.NameAsk)
	}
	for _, t := range all {
		if slices.Contains(reading, t.Name) {
			offered = append(offered, t)
		}
	}
	return append(offered, by.endTool())
}

// planSections returns the sections with the approved plan and the rejected one.
func planSections(approved, proposed *sia.Plan) []promptSection {
	var out []promptSection
	if approved != nil {
		by := "a person"
		if approved.By.Login != "" {
			by = "@" + clipLine(approved.By.Login, 100)
		}
		out = append(out, promptSection{heading: "## The plan that " + by + " approved",
			intro: "It was made before the work began. Do what it says, in this order; where what people have decided says " +
				"otherwise, that counts. If something can't be done as planned, do what comes nearest, and say at the end " +
				"where you left the plan.",
			body: planText(*approved), priority: priorityRequired})
	}
	if proposed != nil {
		heading := fmt.Sprintf("## The plan of attempt %d, which was not approved", proposed.Attempt)
		out = append(out, promptSection{heading: heading, source: "earlier plan",
			intro: "What people said about it is among what they have decided.", body: planText(*proposed),
			priority: priorityQuotes})
	}
	return out
}

// planText returns a plan's summary and its steps.
func planText(p sia.Plan) string {
	text := middleOut(sanitizeText(p.Summary), maxAnswer)
	if len(p.Steps) > 0 {
		text += "\n\n" + numberedSteps(sia.Brief{Steps: p.Steps})
	}
	return text
}

// endWithPlan ends a command's attempt with its last text as the plan, or with the end of its output if its events are
// not parsed.
func (r *commandRun) endWithPlan(last, printed string) {
	if r.preset.read == nil {
		last = printed
	}
	r.res.Summary = text.Clip(strings.TrimSpace(last), tool.MaxSummary)
	if r.res.End = sia.EndFinished; r.res.Summary != "" {
		r.res.End, r.res.Ask = sia.EndAsked, &sia.Ask{Plan: &sia.Plan{Summary: r.res.Summary}}
	}
}
