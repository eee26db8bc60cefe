package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

//go:embed finish.md
var finishDescription string

// FinishTool ends the attempt.
type FinishTool struct {
	Test bool // the agent has to name the command that runs the test that it wrote
}

type finishArgs struct {
	Summary string `json:"summary"`
	Check   string `json:"check"`
}

// Name is "finish".
func (FinishTool) Name() string { return NameFinish }

// Description is finish.md.
func (FinishTool) Description() string { return finishDescription }

// Schema describes the arguments.
func (t FinishTool) Schema() json.RawMessage {
	if t.Test {
		return json.RawMessage(`{"type":"object","properties":{
"summary":{"type":"string","description":"what the test shows, and why it fails"},
"check":{"type":"string",
"description":"shell command that runs this test alone: it fails now, and ends with 0 once the fault is mended"}},
"required":["summary","check"]}`)
	}
	return json.RawMessage(`{"type":"object","properties":{
"summary":{"type":"string",
"description":"what was changed and why, what was not done, and what a reviewer should look at; then a line ` +
		`for each changed file: its path in back quotes, a colon, and why it was changed"}},
"required":["summary"]}`)
}

// Call ends the attempt. A long summary is cut.
func (t FinishTool) Call(_ context.Context, _ Env, args json.RawMessage) (Result, error) {
	var a finishArgs
	if err := decodeArgs(args, &a); err != nil {
		return Result{}, err
	}
	if strings.TrimSpace(a.Summary) == "" {
		return Result{}, errors.New("summary is empty; say in a few sentences what was changed and why")
	}
	a.Check = strings.TrimSpace(a.Check)
	switch {
	case !t.Test && a.Check != "":
		return Result{}, errors.New("finish takes a summary and nothing else")
	case t.Test && (a.Check == "" || len(a.Check) > maxProposal):
		return Result{}, fmt.Errorf("check has to be a command of 1 to %d bytes that runs the test alone", maxProposal)
	}
	return Result{Text: "the attempt ends here\n",
		Finish: &FinishStatement{Summary: cutResult(a.Summary, MaxSummary), Check: a.Check}}, nil
}
