package improve

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
)

// Outcome is the outcome of a cycle.
type Outcome string

// The outcomes.
const (
	Kept     Outcome = "kept"
	Reverted Outcome = "reverted"
	Nothing  Outcome = "nothing" // nothing to improve
	Failed   Outcome = "failed"  // no change to evaluate
)

// Way is the method by which a change was made.
type Way string

// The methods.
const (
	Whole Way = "whole" // the model wrote the whole file
	Edits Way = "edits" // it replaced strings that occur exactly once
)

// Cycle is one cycle. Its texts are masked.
type Cycle struct {
	Number     int        `json:"cycle"` // from 1
	File       string     `json:"file"`
	Goal       string     `json:"goal"` // the improvement, in the model's words
	Why        string     `json:"why"`  // why it is an improvement
	Summary    string     `json:"summary"`
	Way        Way        `json:"way,omitempty"` // empty: no change was made
	FileBytes  int        `json:"file_bytes"`
	ShownBytes int        `json:"shown_bytes"` // bytes shown to the model; fewer than FileBytes: truncated
	Diff       string     `json:"-"`           // unified diff
	Evaluation Evaluation `json:"-"`
	Outcome    Outcome    `json:"outcome"`
	Reason     string     `json:"reason"`
	Usage      llm.Usage  `json:"usage"`
}

// Truncated reports whether the model saw only part of the file.
func (c Cycle) Truncated() bool { return c.ShownBytes < c.FileBytes }

// Evaluation is the result of evaluating a change. Steps that were not run are nil or empty: the first failure ends the
// evaluation.
type Evaluation struct {
	Parse    Parse     `json:"parse"`
	SelfTest *TestRun  `json:"self_test"` // null: no self-test, or an earlier step failed
	Critique *Critique `json:"critique"`
	Replay   *Replayed `json:"replay"`
}

// String returns the results on one line.
func (e Evaluation) String() string {
	all := []string{e.Parse.String()}
	if e.SelfTest != nil {
		all = append(all, "self-test "+e.SelfTest.Ending)
	}
	if e.Critique != nil {
		all = append(all, fmt.Sprintf("critique %.2f", e.Critique.Score))
	}
	if e.Replay != nil {
		all = append(all, "replay "+string(e.Replay.Verdict))
	}
	return strings.Join(all, ", ")
}

// ParseVerdict is the result of parsing a file.
type ParseVerdict string

// The verdicts.
const (
	Parses     ParseVerdict = "parses"
	Broken     ParseVerdict = "broken"
	NotChecked ParseVerdict = "not checked"
)

// Parse is the result of parsing a file in its language.
type Parse struct {
	Verdict  ParseVerdict `json:"verdict"`
	Language string       `json:"language,omitempty"`
	Why      string       `json:"why,omitempty"` // the error, or why it was not checked
}

// String returns, for example, "parses as Go" or "not checked: there is no parser for .zig".
func (p Parse) String() string {
	s := string(p.Verdict)
	if p.Language != "" && p.Verdict != NotChecked {
		s += " as " + p.Language
	}
	if p.Why != "" {
		s += ": " + p.Why
	}
	return s
}

// TestRun is one run of the self-test.
type TestRun struct {
	Command string `json:"command"`
	OK      bool   `json:"ok"`
	Ending  string `json:"ending"` // for example "exit status 1"
	Output  string `json:"output"` // its beginning and end
}

// Critique is the independent judgement of a change.
type Critique struct {
	Score   float64  `json:"score"` // 0 to 1
	Reasons []string `json:"reasons"`
}

// ReplayVerdict is the verdict of replayed tasks on a change.
type ReplayVerdict string

// The verdicts, the same as in policies/evolve.
const (
	ReplayPass   ReplayVerdict = "pass"
	ReplayReject ReplayVerdict = "reject"
	NotReplayed  ReplayVerdict = "not-replayed" // no tasks, or too few for a verdict
)

// Replayed is the result of replayed tasks.
type Replayed struct {
	Verdict   ReplayVerdict `json:"verdict"`
	Tasks     int           `json:"tasks"`    // number of tasks played with and without the change
	Proposal  int           `json:"proposal"` // number among the proposals judged by replay, from 1; 0: not judged
	E         float64       `json:"e"`
	Threshold float64       `json:"threshold"`
	Why       string        `json:"why"`
}
