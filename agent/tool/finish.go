package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// FinishTool ends the attempt.
func FinishTool() Tool {
	return finishing(false, `{"type":"object","properties":{
"summary":{"type":"string",
"description":"what was changed and why, what was not done, and what a reviewer should look at; then a line `+
		`for each changed file: its path in back quotes, a colon, and why it was changed"},
"ledger":{"type":"array","maxItems":8,"description":"for whoever goes on if the checks are red",
"items":{"type":"object",
"properties":{"kind":{"type":"string","enum":["hypothesis","works","dead_end"]},
"says":{"type":"string","description":"one sentence"},
"for":`+traceSchema+`,"against":`+traceSchema+`},"required":["kind","says"]}}},
"required":["summary","ledger"]}`)
}

// FinishTestTool ends an attempt that had to write a test. It requires the command that runs the test.
func FinishTestTool() Tool {
	return finishing(true, `{"type":"object","properties":{
"summary":{"type":"string","description":"what the test shows, and why it fails"},
"check":{"type":"string",
"description":"shell command that runs this test alone: it fails now, and ends with 0 once the fault is mended"}},
"required":["summary","check"]}`)
}

func finishing(test bool, schema string) Tool {
	return newTool(NameFinish, finishArgs{},
		func(_ context.Context, _ Env, a finishArgs) (Result, error) { return a.finish(test) }, schema)
}

type finishArgs struct {
	Summary string          `json:"summary"`
	Check   string          `json:"check"`
	Ledger  json.RawMessage `json:"ledger"`
}

// traceSchema is the schema of traces for or against a ledger entry.
const traceSchema = `{"type":"array","items":{"type":"object","properties":{"ran":{"type":"string"},` +
	`"saw":{"type":"string"},"changed":{"type":"string"}}}}`

// finish ends the attempt. A long summary is cut, and an invalid ledger is dropped.
func (a finishArgs) finish(test bool) (Result, error) {
	if strings.TrimSpace(a.Summary) == "" {
		return Result{}, errors.New("summary is empty; say in a few sentences what was changed and why")
	}
	a.Check = strings.TrimSpace(a.Check)
	switch {
	case !test && a.Check != "":
		return Result{}, errors.New("finish takes a summary and a ledger, and nothing else")
	case test && (a.Check == "" || len(a.Check) > maxProposal):
		return Result{}, fmt.Errorf("check has to be a command of 1 to %d bytes that runs the test alone", maxProposal)
	}
	statement := &FinishStatement{Summary: cutResult(a.Summary, MaxSummary), Check: a.Check}
	out := Result{Text: "the attempt ends here\n", Finish: statement}
	if len(a.Ledger) == 0 || string(a.Ledger) == "null" {
		statement.NoLedger = !test
	} else { // an invalid one does not prevent the end
		var err error
		if statement.Ledger, err = sia.ReadLedger(a.Ledger); err != nil {
			out.Text += cutResult(err.Error(), maxProposal) + "\n"
		}
	}
	return out, nil
}
