package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// DivideTool divides the task into at most limit parts and ends the run. It replaces [ProposeTool] if no approval is
// needed.
func DivideTool(limit int) Tool {
	t := newTool("divide", divideArgs{},
		func(_ context.Context, _ Env, a divideArgs) (Result, error) { return a.divide(limit) },
		fmt.Sprintf(`{"type":"object","properties":{
"summary":{"type":"string","description":"how the task is taken apart, and why like this"},
"parts":{"type":"array","minItems":2,"maxItems":%d,"items":{"type":"object","properties":{
"do":{"type":"string","description":"what to do, with the files and functions that it touches"},
"done_when":{"type":"string","description":"how one can tell that it is done, in words"},
"check":{"type":"string","description":"shell command that ends with 0 exactly when it is done"},
"paths":{"type":"array","items":{"type":"string"},"description":"files that it will change"},
"needs":{"type":"array","items":{"type":"integer","minimum":1},`+
			`"description":"numbers of the earlier parts that it rests on"}},
"required":["do","done_when","check"]}}},
"required":["summary","parts"]}`, limit))
	t.Name = NamePropose
	return t
}

type divideArgs struct {
	Summary string      `json:"summary"`
	Parts   []plan.Part `json:"parts"`
}

// divide ends the run with the parts. A long summary is cut.
func (a divideArgs) divide(limit int) (Result, error) {
	if strings.TrimSpace(a.Summary) == "" {
		return Result{}, errors.New("summary is empty; say in a few sentences how the task is taken apart")
	}
	if wrong := plan.Problems(a.Parts, limit, true); len(wrong) > 0 {
		return Result{}, errors.New(strings.Join(wrong, "; "))
	}
	return Result{Text: "the parts are noted; the run ends here\n",
		Proposal: &sia.Plan{Summary: cutResult(strings.TrimSpace(a.Summary), MaxSummary), Steps: a.Parts}}, nil
}
