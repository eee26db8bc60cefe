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

// Step is one step of the agent's plan. Status is pending, doing or done.
type Step struct {
	Do     string `json:"do"`
	Status string `json:"status"`
}

// Plan records what the agent intends and how far it is. It changes nothing.
type Plan struct{}

type planArgs struct {
	Steps []Step `json:"steps"`
}

// Name is "plan".
func (Plan) Name() string { return NamePlan }

// Description is plan.md.
func (Plan) Description() string { return planDescription }

// Schema describes the arguments.
func (Plan) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"steps":{"type":"array","minItems":1,"maxItems":30,"items":{"type":"object","properties":{
"do":{"type":"string"},"status":{"type":"string","enum":["pending","doing","done"]}},
"required":["do","status"],"additionalProperties":false}}},
"required":["steps"],"additionalProperties":false}`)
}

// Call records the plan.
func (Plan) Call(_ context.Context, _ Env, args json.RawMessage) (Result, error) {
	var a planArgs
	if err := decode(args, &a); err != nil {
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
			return Result{}, fmt.Errorf("step %d: status must be pending, doing or done, not %s", i+1, quote(s.Status))
		}
		if s.Status == "done" {
			done++
		}
	}
	return Result{Text: fmt.Sprintf("plan noted: %d of %d steps done\n", done, len(a.Steps)), Plan: a.Steps}, nil
}
