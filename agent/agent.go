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

// Agent makes attempts at tasks. It is safe for concurrent use by attempts that
// have directories of their own.
type Agent interface {
	// Name is the agent and its model, such as "builtin/gpt-5".
	Name() string
	// Run makes one attempt. It returns when the agent is done, asks, was
	// stopped, or reached a limit: all of these are results. When ctx is
	// cancelled it returns within seconds, with End cancelled, what was done so
	// far, and the cancellation's cause as the reason; a deadline of ctx counts
	// as the time limit.
	//
	// An error means that the attempt could not go on: the model can't be
	// reached (a *sia.Error with words for people), the directory can't be
	// opened, or the transcript can't be saved. The result still says what was
	// done and spent.
	Run(ctx context.Context, in Input, rec Recorder) (Result, error)
}

// Input is what an attempt is given. Its JSON is what another machine needs to make the attempt.
type Input struct {
	Title   string // of the issue
	Body    string // of the issue
	AskedBy string // login of who started the task
	Author  string // login of who wrote the issue
	Access  string // what the author may do in the repository, as GitHub calls it
	Repo    string // owner/name
	Issue   int
	Attempt int // 1-based

	Brief        sia.Brief
	Previous     []PreviousAttempt  // earlier attempts, oldest first
	Instructions []Instruction      // AGENTS.md and the like, from the base branch; the first gives way last
	LeftOut      []string           // what is missing in all of this, and why: for the transcript
	Failures     []tool.FailedCheck // of the last attempt that was judged, at length
	Shown        []string           // files of the test that an earlier attempt wrote to show the fault
	Past         []locate.Commit    // what the newest commits of the base changed, newest first; nil: that is not known

	Dir    string `json:"-"` // work tree; the agent changes files in it and nowhere else
	OnBase bool   // Dir is the base branch's commit and nothing else: what setup makes of it is kept for others
	// images of services that its commands need beside those that its workflow files name
	Services []string
	Setup    []string // shell commands that prepare it, from the base branch's settings; they run in the sandbox
	Test     string   // shell command that tests it; empty: it is guessed
	Limits   Limits
	CanAsk   bool // a question to a person may be asked before the first change

	// files that hold both sides of a conflict between the branch and its base, which is
	// being merged into it; empty: there is none
	Merging    []sia.Conflict
	BaseBranch string // what is being merged

	Planning bool      // the attempt makes a plan for a person to approve, and changes nothing
	Proposed *sia.Plan // the plan that was proposed before, which people want changed; nil: none was

	// what of the attempt the run has to do; nil: all of it
	Part *Part
	// how the task is to be taken apart by a run with Planning; nil: it makes a plan for a person
	Divide *Division

	// Affected runs the tests that the changes in Dir can reach. The builtin agent calls it when the model says that it
	// is done, and once more when it was told of failures and says so again. An error says nothing about the changes.
	// Nil: nothing is run. It is nil where Part is not.
	Affected func(ctx context.Context) (TestsRun, error) `json:"-"`

	// Cover runs tests of Dir for the lines that they run. Nil: nothing is run. It is nil where Affected is.
	Cover locate.Cover `json:"-"`

	// Begins is called with each command of setup, and with that of [Commands.Run], before it starts; it may be nil.
	Begins func(command string) `json:"-"`

	Hazard stuck.Hazard // when to interrupt an attempt that seems to get nowhere; the zero Hazard never does
	Spare  bool         // the attempt goes on where Hazard says stop, and Result.Risk says so

	// Saved are the turns of this very attempt, in order, when it was interrupted: the process that
	// made it ended, or no model answered for a while. The attempt goes on from them, and what they
	// cost is spent once. Empty: the attempt begins.
	Saved   []Turn
	Rebuild bool // Dir is not as the saved turns left it: their changes are made again
}

func (in Input) begins(command string) {
	if in.Begins != nil {
		in.Begins(command)
	}
}

// TestsRun are the results of tests.
type TestsRun struct {
	Ran    int      // tests
	Failed []string // as of [sia.AffectedTests]
	Log    string   // the end of their output, without secrets; at most 6,000 bytes
}

// PreviousAttempt is an earlier attempt at the same task.
type PreviousAttempt struct {
	Number   int
	Summary  string // the agent's own words then
	Failures []sia.CheckFailure
	Ledger   *sia.AttemptLedger // what it left; nil: nothing
	Reason   string             // why it ended so; empty: its checks say it
	Idea     string             // SIA's, that it was to follow; empty: there was none
	Changed  []string           // paths, at most 50
	Kept     bool               // the change was pushed
	Edits    sia.Edits          // its edits that were made and that failed; zero where another coder made it
}

// Instruction is a file of the base branch that tells agents how to work there.
type Instruction struct {
	Path string
	Text string
}

// Limits bound an attempt.
type Limits struct {
	Turns   int           // model calls; 0: 60
	Time    time.Duration // 0: 30 minutes
	Credits sia.Credits   // what the attempt may cost; 0 allows only a model that is free
	// SoftDeadline is when the agent is told once to bring the work to an end;
	// 0: after four fifths of Time. It is told too when a tenth of the turns or
	// a fifth of the credits is left.
	SoftDeadline time.Duration
}

// Result is how an attempt ended.
type Result struct {
	End     sia.AttemptEnd
	Reason  string // for people; empty when the agent finished
	Turns   int    // model calls that were answered
	Cost    sia.Credits
	Usage   llm.Usage
	Edits   sia.Edits
	Agent   string        // the agent and the models that answered, such as "builtin/gpt-5+o4"; empty: none did
	Summary string        // the agent's own words; decides nothing
	LeftOut string        // what of its change is not kept and why, in sentences for people; empty: nothing
	Ask     *sia.Ask      // when End is asked: a question, or the plan of an attempt that makes one
	Signals []sia.Signal  // when End is stuck
	Check   *sia.CheckRun // when End is finished: what SIA saw of a part's done-when; nil: it was no part
	// ids of the brief's lessons about tools that the attempt met with the first call of each
	LessonsShown, LessonsWithheld []string

	Affected *sia.AffectedTests // nil: Input.Affected was not called, or failed
	Ledger   []sia.LedgerEntry  // the agent's own, for [CheckLedger]

	Risk *sia.Risk // the greatest chance that it would get nowhere; nil: it was not watched
}

// Recorder saves the transcript as it happens.
type Recorder interface {
	// Turn is called for each turn, in order, from one goroutine. A model's turn comes twice with the
	// same number: as soon as the model has answered, and when its calls were carried out. What is
	// saved under a number replaces what was saved under it and above it. An error ends the attempt.
	// ctx is live for a while even when the attempt's is cancelled.
	Turn(ctx context.Context, t Turn) error
}

// TurnKind says what a turn of the transcript is.
type TurnKind string

// The kinds of turn.
const (
	TurnBrief TurnKind = "brief" // what the agent was told, in Text; a command that is started again is told more
	TurnModel TurnKind = "model" // a model's answer and its tool calls
	TurnEnd   TurnKind = "end"   // how the attempt ended, in Text
)

// Turn is one entry of the transcript. Known shapes of secrets are masked in it.
type Turn struct {
	Run    int         `json:"run,omitempty"` // of the attempt, where several go into it; 0: the only one
	Number int         `json:"number"`        // the brief is 0, model turns count from 1, the end comes after them
	At     time.Time   `json:"at"`
	Kind   TurnKind    `json:"kind"`
	Text   string      `json:"text,omitempty"`
	Calls  []Call      `json:"calls,omitempty"`
	Usage  llm.Usage   `json:"usage,omitzero"`
	Cost   sia.Credits `json:"cost,omitempty"`
	Finish string      `json:"finish,omitempty"`         // why the model stopped, when it was cut or withheld
	Told   []string    `json:"told,omitempty"`           // what the loop said to the model afterwards
	Model  string      `json:"model,omitempty" mask:"-"` // the one that answered
	Opaque *llm.Opaque `json:"opaque,omitempty"`         // of its answer, for the model alone: never shown
	Note   string      `json:"note,omitempty"`           // what else the loop did, such as a warning
	// of the attempt's time, until then; 0: that is not known
	Used time.Duration `json:"used_ns,omitempty"`
}

// Masked is the turn with its texts masked. A call says so when its arguments changed.
// The turn itself is not changed.
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
	Result    string   `json:"result"` // empty: the process ended before it was carried out
	IsError   bool     `json:"is_error,omitempty"`
	Masked    bool     `json:"masked,omitempty"`  // a secret in Arguments is masked: they are not what the model wrote
	Changed   []string `json:"changed,omitempty"` // paths that it created, changed or deleted
	// how long it took; 0: that is not known
	Took time.Duration `json:"took_ns,omitempty"`

	// lessons about the tool, where this was its first call: what the model read of them after the result, and the
	// ids of those that it read and of those that were withheld
	Lessons         string   `json:"lessons,omitempty"`
	LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`

	// what SIA had seen of the change when the call that says that it is done was carried out, as of [Result]
	Check    *sia.CheckRun      `json:"check,omitempty"`
	Affected *sia.AffectedTests `json:"affected,omitempty"`
}
