package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a plan.
const (
	maxSteps = 30
	maxStep  = 300 // bytes of one step
)

//go:embed plan.md
var planDescription string

// planStep is one step of the agent's plan. Status is pending, doing or done.
type planStep struct {
	Do     string `json:"do"`
	Status string `json:"status"`
}

// PlanTool records what the agent intends and how far it is. It changes nothing.
type PlanTool struct{}

type planArgs struct {
	Steps []planStep `json:"steps"`
}

// Name is "plan".
func (PlanTool) Name() string { return NamePlan }

// Description is plan.md.
func (PlanTool) Description() string { return planDescription }

// Schema describes the arguments.
func (PlanTool) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"steps":{"type":"array","minItems":1,"maxItems":30,"items":{"type":"object","properties":{
"do":{"type":"string"},"status":{"type":"string","enum":["pending","doing","done"]}},
"required":["do","status"]}}},
"required":["steps"]}`)
}

// Call records the plan.
func (PlanTool) Call(_ context.Context, _ Env, args json.RawMessage) (Result, error) {
	var a planArgs
	if err := decodeArgs(args, &a); err != nil {
		return Result{}, err
	}
	if len(a.Steps) == 0 || len(a.Steps) > maxSteps {
		return Result{}, fmt.Errorf("steps must be a list of 1 to %d", maxSteps)
	}
	done := 0
	for i, s := range a.Steps {
		if strings.TrimSpace(s.Do) == "" || len(s.Do) > maxStep {
			return Result{}, fmt.Errorf("step %d: do must have 1 to %d bytes", i+1, maxStep)
		}
		if !slices.Contains([]string{"pending", "doing", "done"}, s.Status) {
			return Result{}, fmt.Errorf("step %d: status must be pending, doing or done, not %s", i+1, quotePath(s.Status))
		}
		if s.Status == "done" {
			done++
		}
	}
	return Result{Text: fmt.Sprintf("plan noted: %d of %d steps done\n", done, len(a.Steps))}, nil
}
