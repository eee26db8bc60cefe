package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Limits of a plan.
const (
	maxSteps = 30
	maxStep  = 300 // bytes of one step
)

// planStep is one step of the agent's plan. Status is pending, doing or done.
type planStep struct {
	Do     string `json:"do"`
	Status string `json:"status"`
}

// PlanTool records the agent's plan and its progress. It changes no files.
func PlanTool() Tool {
	return newTool(NamePlan, planArgs{}, callPlan, `{"type":"object","properties":{
"steps":{"type":"array","minItems":1,"maxItems":30,"items":{"type":"object","properties":{
"do":{"type":"string"},"status":{"type":"string","enum":["pending","doing","done"]}},
"required":["do","status"]}}},
"required":["steps"]}`)
}

type planArgs struct {
	Steps []planStep `json:"steps"`
}

// callPlan records the plan.
func callPlan(_ context.Context, _ Env, a planArgs) (Result, error) {
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
