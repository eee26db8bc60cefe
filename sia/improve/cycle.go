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
	Nothing  Outcome = "nothing" // there was nothing to improve
	Failed   Outcome = "failed"  // there was no change to judge
)

// Way is how a change was made.
type Way string

// The ways.
const (
	Whole Way = "whole" // the model wrote all of the file
	Edits Way = "edits" // it replaced pieces that occur exactly once
)

// Cycle is one cycle. Its texts are masked.
type Cycle struct {
	Number     int        `json:"cycle"` // from 1
	File       string     `json:"file"`
	Goal       string     `json:"goal"` // the improvement, in the model's words
	Why        string     `json:"why"`  // what shows that it is one
	Summary    string     `json:"summary"`
	Way        Way        `json:"way,omitempty"` // empty: no change was made
	FileBytes  int        `json:"file_bytes"`
	ShownBytes int        `json:"shown_bytes"` // of them, to the model; fewer than FileBytes: it was truncated
	Diff       string     `json:"-"`           // unified
	Evaluation Evaluation `json:"-"`
	Outcome    Outcome    `json:"outcome"`
	Reason     string     `json:"reason"`
	Usage      llm.Usage  `json:"usage"`
}

// Truncated reports whether the model could not be shown all of the file.
func (c Cycle) Truncated() bool { return c.ShownBytes < c.FileBytes }

// Evaluation is what was found of a change. What was not looked at is nil or empty: nothing
// follows once something failed.
type Evaluation struct {
	Parse    Parse     `json:"parse"`
	SelfTest *TestRun  `json:"self_test"` // null: there is none, or the change did not get so far
	Critique *Critique `json:"critique"`
	Replay   *Replayed `json:"replay"`
}

// String is the findings in one line.
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

// ParseVerdict says whether a file parses.
type ParseVerdict string

// The verdicts.
const (
	Parses     ParseVerdict = "parses"
	Broken     ParseVerdict = "broken"
	NotChecked ParseVerdict = "not checked"
)

// Parse is whether a file parses for its language.
type Parse struct {
	Verdict  ParseVerdict `json:"verdict"`
	Language string       `json:"language,omitempty"`
	Why      string       `json:"why,omitempty"` // what is wrong, or why it was not checked
}

// String is such as "parses as Go", or "not checked: there is no parser for .zig".
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
	Ending  string `json:"ending"` // such as "exit status 1"
	Output  string `json:"output"` // its beginning and end
}

// Critique is the independent judgement of a change.
type Critique struct {
	Score   float64  `json:"score"` // 0 to 1
	Reasons []string `json:"reasons"`
}

// ReplayVerdict is what replayed tasks say of a change.
type ReplayVerdict string

// The verdicts, as policies/evolve has them.
const (
	ReplayPass   ReplayVerdict = "pass"
	ReplayReject ReplayVerdict = "reject"
	NotReplayed  ReplayVerdict = "not-replayed" // there are no tasks, or too few to say
)

// Replayed is the result of replayed tasks.
type Replayed struct {
	Verdict   ReplayVerdict `json:"verdict"`
	Tasks     int           `json:"tasks"`    // played both before and after
	Proposal  int           `json:"proposal"` // its number among those that replayed tasks judged, from 1; 0: they did not
	E         float64       `json:"e"`
	Threshold float64       `json:"threshold"`
	Why       string        `json:"why"`
}
