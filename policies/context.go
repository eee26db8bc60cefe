package policies

// Type says what is decided.
type Type string

// The types of decision.
const (
	TypeDecompose Type = "decompose" // how the work on a task hangs together
	TypeAssign    Type = "assign"    // who makes the next attempt, or tries a part of one
	TypeRecover   Type = "recover"   // what follows an attempt, or a part of one, that failed
	TypeTechnique Type = "technique" // which technique the next attempt uses
	TypeRerun     Type = "rerun"     // whether failed checks run again before anybody is blamed
	TypeInterrupt Type = "interrupt" // whether an attempt that gets stuck is stopped
	TypeEscalate  Type = "escalate"  // whether a person is asked before another approach begins
)

// Types lists every type of decision, in the order in which they come up in a task.
func Types() []Type {
	return []Type{TypeDecompose, TypeAssign, TypeInterrupt, TypeRerun, TypeRecover, TypeTechnique, TypeEscalate}
}

// Context is the snapshot that a decision is made in. Shares and scores are 0–1.
type Context struct {
	Owner      string `json:"owner"`
	Repository string `json:"repository"`         // owner/name
	Language   string `json:"language,omitempty"` // that most files of the base are written in, lower case

	Task    Features `json:"task"`              // of the issue
	Labels  []string `json:"labels,omitempty"`  // of the issue
	Attempt int      `json:"attempt,omitempty"` // the last one's number; 0 before the first

	Steps     int    `json:"steps,omitempty"`     // that the instructions of the next attempt have
	Technique string `json:"technique,omitempty"` // that the next attempt uses; empty: none
	Checkable bool   `json:"checkable,omitempty"` // whether a part is done can be checked here before anything is pushed
	Part      string `json:"part,omitempty"`      // the kind of part that it is about, see [Parts]; empty: the attempt
	Tries     int    `json:"tries,omitempty"`     // runs of that part that failed
	Racers    int    `json:"racers,omitempty"`    // changes for the same attempt that the checks have not seen

	Failures   int     `json:"failures,omitempty"`   // attempts that failed since the run began or a person answered
	InARow     int     `json:"in_a_row,omitempty"`   // of them, the last ones on the same instructions
	Class      string  `json:"class,omitempty"`      // of the last failure, as package failure names it
	Pattern    string  `json:"pattern,omitempty"`    // of the last diagnosis
	Approaches int     `json:"approaches,omitempty"` // distinct instructions that may still be tried
	Rerunnable bool    `json:"rerunnable,omitempty"` // the checks that failed can be run again on the same commit
	Waits      int     `json:"waits,omitempty"`      // how often they were, after a while
	Patience   int     `json:"patience,omitempty"`   // failures that the repository's settings let pass as plain retries
	Coders     int     `json:"coders,omitempty"`     // that may work
	Failed     int     `json:"failed,omitempty"`     // of them, those that failed in this task, or at this part
	Spent      float64 `json:"spent,omitempty"`      // of the task's budget, 0–1

	Alone  Tally `json:"alone"`  // tasks of this kind here; passed are those that did so without a person's answer
	Helped Tally `json:"helped"` // of them, those in which a person answered
}

// Parts lists the kinds of parts of an attempt.
func Parts() []string { return []string{"part", "reproduce", "merge", "mend"} }

// Classes lists the classes of failures: those of logs, and those of attempts that no check saw.
func Classes() []string {
	return []string{"compile_error", "syntax_error", "type_error", "test_failure", "lint_format", "runtime_error", "crash",
		"out_of_memory", "timeout", "dependency", "config_error", "permission_or_credentials", "git_checkout",
		"external_dependency", "rate_limit", "network", "infrastructure", "cancelled", "not_started", "unknown",
		"nothing_changed", "stuck"}
}

// Patterns lists the patterns of failure that a diagnosis may name.
func Patterns() []string {
	return []string{"interdependent-components", "external-dependency-blocker", "wrong-tool", "unclear-instructions",
		"context-overload", "missing-example", "over-constrained", "wrong-order", "wrong-abstraction-level", "repeated-error",
		"accumulated-cruft", "unclear-specification", "missing-credentials", "environment", "flaky-check", "unknown"}
}

// Tally counts how many of the tried passed.
type Tally struct {
	Tried  int `json:"tried"`
	Passed int `json:"passed"`
}

// share is the posterior mean of the share that passes, of a prior that counts like
// weight tasks (Beta-binomial).
func (t Tally) share(prior, weight float64) float64 {
	return (weight*prior + float64(t.Passed)) / (weight + float64(t.Tried))
}
