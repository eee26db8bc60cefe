package policies

// Type is a type of decision.
type Type string

// The types of decision.
const (
	TypeDecompose Type = "decompose" // how the work on a task is structured
	TypeAssign    Type = "assign"    // which coder makes the next attempt or a part of one
	TypeRecover   Type = "recover"   // what follows a failed attempt or part of one
	TypeTechnique Type = "technique" // which technique the next attempt uses
	TypeRerun     Type = "rerun"     // whether failed checks are re-run before the attempt is judged
	TypeInterrupt Type = "interrupt" // whether a stuck attempt is stopped
	TypeEscalate  Type = "escalate"  // whether a person is asked before the next approach
)

// Types lists every type of decision in the order in which they occur in a task.
func Types() []Type {
	return []Type{TypeDecompose, TypeAssign, TypeInterrupt, TypeRerun, TypeRecover, TypeTechnique, TypeEscalate}
}

// Context is the state on which a decision is based. Shares and scores are 0–1.
type Context struct {
	Owner      string `json:"owner"`
	Repository string `json:"repository"`         // owner/name
	Language   string `json:"language,omitempty"` // language of most files of the base, in lower case

	Task   Features `json:"task"`             // features of the issue
	Labels []string `json:"labels,omitempty"` // labels of the issue

	Steps     int    `json:"steps,omitempty"`     // number of steps in the next attempt's instructions
	Technique string `json:"technique,omitempty"` // technique of the next attempt; empty: none
	Checkable bool   `json:"checkable,omitempty"` // parts can be checked here before pushing
	Part      string `json:"part,omitempty"`      // kind of part, see [Parts]; empty: the whole attempt
	Tries     int    `json:"tries,omitempty"`     // number of failed runs of that part
	Racers    int    `json:"racers,omitempty"`    // number of unchecked changes for the same attempt

	Failures   int    `json:"failures,omitempty"`   // number of failed attempts since the run began or a person answered
	InARow     int    `json:"in_a_row,omitempty"`   // the last of them with the same instructions
	Class      string `json:"class,omitempty"`      // class of the last failure, from package failure
	Pattern    string `json:"pattern,omitempty"`    // pattern of the last diagnosis
	Rerunnable bool   `json:"rerunnable,omitempty"` // the failed checks can be re-run on the same commit
	Waits      int    `json:"waits,omitempty"`      // number of such re-runs after a wait
	Patience   int    `json:"patience,omitempty"`   // number of plain retries left by the repository's settings
	Coders     int    `json:"coders,omitempty"`     // number of available coders
	Failed     int    `json:"failed,omitempty"`     // number of them that failed in this task, or at this part

	Alone  Tally `json:"alone"`  // tasks of this kind here; passed: without a person's answer
	Helped Tally `json:"helped"` // those of them in which a person answered
}

// Parts lists the kinds of parts of an attempt.
func Parts() []string { return []string{"part", "reproduce", "merge", "mend"} }

// Classes lists the classes of failures: those of logs, and those of attempts without checks.
func Classes() []string {
	return []string{"compile_error", "syntax_error", "type_error", "test_failure", "lint_format", "runtime_error", "crash",
		"out_of_memory", "timeout", "dependency", "config_error", "permission_or_credentials", "git_checkout",
		"external_dependency", "rate_limit", "network", "infrastructure", "cancelled", "not_started", "unknown",
		"nothing_changed", "stuck"}
}

// Patterns lists the patterns of failure in diagnoses.
func Patterns() []string {
	return []string{"interdependent-components", "external-dependency-blocker", "wrong-tool", "unclear-instructions",
		"context-overload", "missing-example", "over-constrained", "wrong-order", "wrong-abstraction-level", "repeated-error",
		"accumulated-cruft", "unclear-specification", "missing-credentials", "environment", "flaky-check", "unknown"}
}

// Tally counts tried and passed tasks.
type Tally struct {
	Tried  int `json:"tried"`
	Passed int `json:"passed"`
}

// share returns the posterior mean of the share that passes, with a prior that counts like weight tasks
// (Beta-binomial).
func (t Tally) share(prior, weight float64) float64 {
	return (weight*prior + float64(t.Passed)) / (weight + float64(t.Tried))
}
