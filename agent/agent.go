package agent

import (
	"context"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
)

// Agent makes attempts at tasks. It is safe for concurrent use by attempts in different directories.
type Agent interface {
	// Name returns the names of the agent and its model, such as "builtin/gpt-5".
	Name() string
	// Run makes one attempt. It returns when the agent has finished, asks a question, was stopped or reached a limit; all
	// of these are results. When ctx is canceled, Run returns within seconds. The result then holds the work so far, with
	// End cancelled and the cancellation's cause as the reason. A deadline of ctx counts as the time limit.
	//
	// An error means that the attempt could not continue: the model is unreachable (a *sia.Error with a message for
	// users), the directory can't be opened, or the transcript can't be saved. The result still holds the work and the
	// cost so far.
	Run(ctx context.Context, in Input, rec Recorder) (Result, error)
}

// Input is the input of an attempt. Its JSON is sent to the machine that makes the attempt.
type Input struct {
	Task    sia.TaskID // for the log; may be empty
	Title   string     // title of the issue
	Body    string     // body of the issue
	AskedBy string     // login of the user who started the task
	Author  string     // login of the author of the issue
	Access  string     // the author's permission in the repository, in GitHub's terms
	Repo    string     // owner/name
	Issue   int
	Attempt int // 1-based

	Brief        sia.Brief
	Previous     []PreviousAttempt  // earlier attempts, oldest first
	Instructions []Instruction      // AGENTS.md and similar files of the base branch, the most important first
	LeftOut      []string           // content that is missing from this input, with the reason; added to the transcript
	Failures     []tool.FailedCheck // failures of the last attempt that was judged, in full
	Shown        []string           // test files that an earlier attempt wrote to reproduce the fault
	Past         []locate.Commit    // changes of the newest commits of the base, newest first; nil: unknown

	Key    string `json:"-"` // identifies the repository for what is kept for other attempts; "": Repo
	Dir    string `json:"-"` // work tree; the agent changes files only in it
	OnBase bool   // Dir is the unchanged commit of the base branch, so the result of setup is kept for other attempts
	// images of services that its commands need, in addition to those in its workflow files
	Services []string
	Setup    []string // shell commands that prepare it, from the base branch's settings; they run in the sandbox
	Test     string   // shell command that runs its tests; empty: guessed
	Limits   Limits
	CanAsk   bool // the agent may ask a question before its first change

	// files with conflict markers from merging the base into the branch; empty: no conflicts
	Merging    []sia.Conflict
	BaseBranch string // name of the branch that is merged

	Planning bool      // the attempt makes a plan for approval and changes nothing
	Proposed *sia.Plan // earlier plan that a user asked to revise; nil: none

	// part of the attempt that this run does; nil: the whole attempt
	Part *Part
	// instructions for a run with Planning that divides the task; nil: it makes a plan for approval
	Divide *Division

	// Affected runs the tests that the changes in Dir can reach. The builtin agent calls it when the model finishes, and
	// once more when the model finishes again after it received failures. An error means that the result is unknown. Nil:
	// no tests are run. It is nil when Part is not.
	Affected func(ctx context.Context) (TestsRun, error) `json:"-"`

	// PushRefusal returns why the changes in Dir can't be pushed, such as a secret in them; "": nothing prevents it.
	// Both agents call it the first time that they finish, so that the agent can take the cause back. An error means that
	// the answer is unknown. It may be nil.
	PushRefusal func(ctx context.Context) (why string, err error) `json:"-"`

	// Cover runs tests of Dir and returns the lines that they execute. Nil: unavailable. It is nil when Affected is.
	Cover locate.Cover `json:"-"`

	// Prepared is called after the setup commands, before the agent changes anything, so that the files that they leave
	// are not taken for its change. It may be nil.
	Prepared func(ctx context.Context) error `json:"-"`

	// Begins is called before each setup command and before the command of [Commands.Run]. It may be nil.
	Begins func(command string) `json:"-"`

	Edits []ModelEdits // of earlier attempts at any task, once for each agent and format

	Hazard stuck.Hazard // when to interrupt an attempt that makes no progress; the zero Hazard never interrupts
	Spare  bool         // the attempt continues where Hazard would interrupt it, and Result.Risk records that

	// Saved holds the turns of this attempt, in order, if it was interrupted: its process ended, or no model answered for
	// a while. The attempt continues after them, and their cost is not charged again. Empty: a new attempt.
	Saved   []Turn
	Rebuild bool // Dir lacks the changes of the saved turns, so they are applied again
}

func (in Input) notifyBegin(command string) {
	if in.Begins != nil {
		in.Begins(command)
	}
}

// TestsRun are the results of tests.
type TestsRun struct {
	Ran    int      // number of tests
	Failed []string // as in [sia.AffectedTests]
	Log    string   // end of their output, secrets masked; at most 6,000 bytes
}

// PreviousAttempt is an earlier attempt at the same task.
type PreviousAttempt struct {
	Number   int
	Outcome  sia.AttemptOutcome
	Summary  string             // the agent's own summary
	Failures []sia.CheckFailure // none if it passed
	Ledger   *sia.AttemptLedger // nil: it left none
	Reason   string             // why it ended; empty: its checks are the reason
	Idea     string             // SIA's idea that it was to follow; empty: none
	Changed  []string           // paths, at most 50
	Kept     bool               // its change was pushed
	InTree   bool               // its change is in the commit that the present attempt starts from
	Edits    sia.Edits          // numbers of its successful and failed edits; zero if another coder made it
}

// Instruction is a file of the base branch with instructions for agents, such as AGENTS.md.
type Instruction struct {
	Path string
	Text string
}

// Limits bound an attempt.
type Limits struct {
	Turns   int           // model calls; 0: 60
	Time    time.Duration // 0: 30 minutes
	Credits sia.Credits   // maximum cost of the attempt; 0 allows only free models
	// SoftDeadline is when the agent is warned, once, to finish; 0: after four fifths of Time. The warning also comes
	// when a tenth of the turns or a fifth of the credits remains.
	SoftDeadline time.Duration
}

// StoppedWithoutRunner is the [Result.Reason] of an attempt that made turns and was stopped while no runner had it.
const StoppedWithoutRunner = "it was stopped while no runner had it: changes that no runner sent are not kept"

// Result is the result of an attempt.
type Result struct {
	End     sia.AttemptEnd
	Reason  string // for users; empty if the agent finished
	Turns   int    // model calls that were answered
	Cost    sia.Credits
	Usage   llm.Usage
	Edits   sia.Edits
	Agent   string        // the agent and the models that answered, such as "builtin/gpt-5+o4"; empty: none answered
	Summary string        // the agent's own summary; informational only
	LeftOut string        // changes that were not kept and why, in sentences for users; empty: none
	Built   string        // the same for what builds made
	Written []string      // paths of files that the agent wrote by tools for editing, not by commands; may repeat
	Ask     *sia.Ask      // if End is asked: a question, or the plan of an attempt with Planning
	Signals []sia.Signal  // if End is stuck
	Check   *sia.CheckRun // if End is finished: the result of a part's check; nil: the run had no part
	// IDs of the brief's lessons about tools, shown or withheld at the first call of each tool
	LessonsShown, LessonsWithheld []string

	Affected *sia.AffectedTests // nil: Input.Affected was not called, or failed
	Ledger   []sia.LedgerEntry  // the agent's own entries, for [CheckLedger]

	Risk *sia.Risk // highest predicted risk of getting stuck; nil: not predicted
}

// Recorder saves the transcript while the attempt runs.
type Recorder interface {
	// Turn is called for each turn, in order, from one goroutine. A model's turn is saved twice under the same number:
	// when the model has answered, and again when its calls have been carried out. A turn replaces all saved turns with
	// its number or a higher one. An error ends the attempt. ctx stays live for a while after the attempt is canceled.
	Turn(ctx context.Context, t Turn) error
}

// TurnKind is the kind of a turn of the transcript.
type TurnKind string

// The kinds of turn.
const (
	TurnBrief TurnKind = "brief" // the prompt of the agent, in Text; a restarted command has a second one
	TurnModel TurnKind = "model" // a model's answer and its tool calls
	TurnEnd   TurnKind = "end"   // the end of the attempt, in Text
)

// Turn is one entry of the transcript. Secrets of known formats are masked in it.
type Turn struct {
	Run    int         `json:"run,omitempty"` // run of the attempt, if it has several; 0: the only one
	Number int         `json:"number"`        // 0: the brief; model turns count from 1; the end comes after them
	At     time.Time   `json:"at"`
	Kind   TurnKind    `json:"kind"`
	Text   string      `json:"text,omitempty"`
	Calls  []Call      `json:"calls,omitempty"`
	Usage  llm.Usage   `json:"usage,omitzero"`
	Cost   sia.Credits `json:"cost,omitempty"`
	Finish string      `json:"finish,omitempty"`         // why the model stopped, if the answer was cut off or withheld
	Told   []string    `json:"told,omitempty"`           // messages that the loop sent to the model afterwards
	Model  string      `json:"model,omitempty" mask:"-"` // model that answered
	Opaque *llm.Opaque `json:"opaque,omitempty"`         // opaque parts of the answer, for the model only; never shown
	Note   string      `json:"note,omitempty"`           // other events of the loop, such as a warning
	// time used by the attempt so far; 0: unknown
	Used time.Duration `json:"used_ns,omitempty"`
}

// Masked returns a copy of the turn with masked texts. A call with changed arguments has Masked set.
func (t Turn) Masked(mask sia.Mask) Turn {
	was := t.Calls
	t = sia.Masked(t, mask)
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Masked = c.Masked || c.Arguments != was[i].Arguments
	}
	return t
}

// Call is one tool call and its result.
type Call struct {
	ID        string   `json:"id,omitempty" mask:"-"`
	Name      string   `json:"name"`
	Arguments string   `json:"arguments"`
	Result    string   `json:"result"` // empty: the process ended before the call was carried out
	IsError   bool     `json:"is_error,omitempty"`
	Masked    bool     `json:"masked,omitempty"`  // a secret in Arguments is masked, so they differ from the model's
	Changed   []string `json:"changed,omitempty"` // paths that it created, changed or deleted
	// duration; 0: unknown
	Took time.Duration `json:"took_ns,omitempty"`

	// lessons about the tool, set at its first call: the text that the model read after the result, and the IDs of the
	// lessons shown and withheld
	Lessons         string   `json:"lessons,omitempty"`
	LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`

	// verification results when a finish call was carried out, as in [Result]
	Check    *sia.CheckRun      `json:"check,omitempty"`
	Affected *sia.AffectedTests `json:"affected,omitempty"`
}
