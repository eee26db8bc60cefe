package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Limits of a proposed plan.
const (
	maxProposed = 12  // steps
	maxProposal = 500 // bytes of a step's do or done_when
)

// ProposeTool submits a plan for approval and ends the attempt. Only attempts that make a plan have it, so
// [DefaultTools] does not include it.
func ProposeTool() Tool {
	return newTool(NamePropose, proposeArgs{}, callPropose, `{"type":"object","properties":{
"summary":{"type":"string",
"description":"what will be done and why like this, what will not be done, and what is uncertain"},
"steps":{"type":"array","minItems":1,"maxItems":12,"items":{"type":"object","properties":{
"do":{"type":"string","description":"one step, with the files that it touches"},
"done_when":{"type":"string",
"description":"how one can tell that it is done: a test, a command, something that can be seen"}},
"required":["do","done_when"]}}},
"required":["summary","steps"]}`)
}

type proposeArgs struct {
	Summary string      `json:"summary"`
	Steps   []plan.Part `json:"steps"`
}

// callPropose ends the attempt with the plan. A long summary is cut.
func callPropose(_ context.Context, _ Env, a proposeArgs) (Result, error) {
	if strings.TrimSpace(a.Summary) == "" {
		return Result{}, errors.New("summary is empty; say in a few sentences what will be done and why like this")
	}
	if len(a.Steps) == 0 || len(a.Steps) > maxProposed {
		return Result{}, fmt.Errorf("steps must be a list of 1 to %d, not %d", maxProposed, len(a.Steps))
	}
	for i, s := range a.Steps {
		for _, text := range []string{s.Do, s.DoneWhen} {
			if strings.TrimSpace(text) == "" || len(text) > maxProposal {
				return Result{}, fmt.Errorf("step %d: do and done_when must have 1 to %d bytes each", i+1, maxProposal)
			}
		}
	}
	return Result{Text: "the plan will be shown to a person; the attempt ends here\n",
		Proposal: &sia.Plan{Summary: cutResult(strings.TrimSpace(a.Summary), MaxSummary), Steps: a.Steps}}, nil
}
