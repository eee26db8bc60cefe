package tool

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia"
)

// The names of the tools in [DefaultTools] and [SandboxTools], and of [ProposeTool].
const (
	NameList    = "list"
	NameRead    = "read"
	NameOutline = "outline"
	NameSearch  = "search"
	NameLocate  = "locate"
	NameFailure = "failure"
	NameEdit    = "edit"
	NamePatch   = "patch"
	NameWrite   = "write"
	NameDelete  = "delete"
	NameRun     = "run"
	NameTest    = "test"
	NamePlan    = "plan"
	NameAsk     = "ask"
	NameFinish  = "finish"
	NamePropose = "propose"
)

// Bounds of what a call returns and takes.
const (
	MaxResult   = 16 << 10 // bytes of Result.Text
	MaxArgs     = 2 << 20  // bytes of arguments
	MaxFile     = 1 << 20  // bytes of a file that may be edited or written
	MaxSummary  = 4000     // bytes of finish's summary
	MaxQuestion = 1000     // bytes of ask's question and of its reason
)

// Tool is something that the agent can do. Tools have no state and are safe for
// concurrent use. Calls within one Env are made one at a time.
type Tool struct {
	Name        string
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON Schema of the arguments, of type object
	// Call does it. An error is meant for the model: it says what was wrong and
	// what to do instead, and names no path outside the work tree.
	Call func(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

//go:embed *.md
var descriptions embed.FS

// newTool is a tool that does f with its arguments; those that are left out are as in defaults. The file of its name
// describes it.
func newTool[A any](name string, defaults A, f func(context.Context, Env, A) (Result, error), schema string) Tool {
	about, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(err)
	}
	return Tool{Name: name, Description: string(about), Schema: json.RawMessage(schema),
		Call: func(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
			a := defaults
			if err := decodeArgs(args, &a); err != nil {
				return Result{}, err
			}
			return f(ctx, env, a)
		}}
}

// Env is what a call may touch.
type Env struct {
	Root    *os.Root      // the work tree
	Changed bool          // a call of this attempt has changed a file
	CanAsk  bool          // questions to a person are allowed
	Runner  CommandRunner // runs commands in the work tree, contained; nil: nothing can be run
	Test    string        // the repository's own test command; empty: it is guessed

	Failures []FailedCheck   // of the last attempt that was judged
	Past     []locate.Commit // what the newest commits changed, newest first; nil: that is not known
	Cover    locate.Cover    // runs tests of the work tree; nil: nothing is run
}

// CommandRunner runs commands of strangers in the work tree, in a sandbox.
type CommandRunner interface {
	// Run runs a shell command line at the work tree's root for at most a time. out,
	// which may be nil, gets what it prints as it comes.
	Run(ctx context.Context, command string, within time.Duration, out io.Writer) (sandbox.Result, error)
}

// Result is what a call did.
type Result struct {
	Text    string           // for the model, at most MaxResult bytes
	Changed []string         // slash-separated paths that the call created, changed or deleted
	Ask     *sia.Ask         // of ask: the attempt ends with this question
	Finish  *FinishStatement // of finish: the attempt ends

	Proposal *sia.Plan // of propose: the attempt ends with this plan
}

// FinishStatement is the agent's statement that it is done.
type FinishStatement struct {
	Summary string
	Check   string            // command that runs the test that was written; empty: none was asked for
	Ledger  []sia.LedgerEntry // unchecked
}

// DefaultTools returns the tools that need nothing but the work tree, in the order in
// which they are offered.
func DefaultTools() []Tool {
	return []Tool{ListTool(), ReadTool(), OutlineTool(), SearchTool(), LocateTool(), FailureTool(), EditTool(),
		PatchTool(), WriteTool(), DeleteTool(), PlanTool(), AskTool(), FinishTool()}
}

// SandboxTools returns the tools that need a Runner too.
func SandboxTools() []Tool { return []Tool{RunTool(), TestTool()} }

// pathError is the error of an operation on a path of the work tree. It does not say
// where the work tree lies on this machine: of a path error only the cause is kept.
func pathError(op, path string, err error) error {
	var pe *os.PathError
	var le *os.LinkError
	if errors.As(err, &pe) {
		err = pe.Err
	} else if errors.As(err, &le) {
		err = le.Err
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s %s: there is no such file or directory; use list or search to find it", op, quotePath(path))
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s %s: permission denied", op, quotePath(path))
	case strings.Contains(err.Error(), "escapes"):
		return fmt.Errorf("%s %s: the path leads out of the repository", op, quotePath(path))
	}
	return fmt.Errorf("%s %s: %w", op, quotePath(path), err)
}
