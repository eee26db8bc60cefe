package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
)

//go:embed finish.md
var finishDescription string

// FinishTool ends the attempt.
type FinishTool struct{}

type finishArgs struct {
	Summary string `json:"summary"`
}

// Name is "finish".
func (FinishTool) Name() string { return NameFinish }

// Description is finish.md.
func (FinishTool) Description() string { return finishDescription }

// Schema describes the arguments.
func (FinishTool) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"summary":{"type":"string",
"description":"what was changed and why, what was not done, and what a reviewer should look at"}},
"required":["summary"],"additionalProperties":false}`)
}

// Call ends the attempt. A long summary is cut.
func (FinishTool) Call(_ context.Context, _ Env, args json.RawMessage) (Result, error) {
	var a finishArgs
	if err := decodeArgs(args, &a); err != nil {
		return Result{}, err
	}
	if strings.TrimSpace(a.Summary) == "" {
		return Result{}, errors.New("summary is empty; say in a few sentences what was changed and why")
	}
	return Result{Text: "the attempt ends here\n",
		Finish: &FinishStatement{Summary: cutResult(a.Summary, MaxSummary)}}, nil
}
