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

// Limits of a call.
const (
	MaxResult   = 16 << 10 // bytes of Result.Text
	MaxArgs     = 2 << 20  // bytes of arguments
	MaxFile     = 1 << 20  // bytes of a file that may be edited or written
	MaxSummary  = 4000     // bytes of finish's summary
	MaxQuestion = 1000     // bytes of ask's question or reason
)

// Tool is an action of the agent. Tools are stateless and safe for concurrent use. Calls with the same Env are
// sequential.
type Tool struct {
	Name        string
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON Schema of the arguments, of type object
	// Call performs the action. Its error is for the model: it describes the problem and the fix, and contains no path
	// outside the work tree.
	Call func(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

//go:embed *.md
var descriptions embed.FS

// newTool returns a tool that calls f with the decoded arguments; omitted ones have the values in defaults. The tool's
// description is in the file of its name.
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

// Env is what a call may access.
type Env struct {
	Root    *os.Root      // the work tree
	Changed bool          // a call of this attempt has changed a file
	CanAsk  bool          // questions are allowed
	Runner  CommandRunner // runs commands in the work tree, in a sandbox; nil: unavailable
	Test    string        // repository's configured test command; empty: guessed

	Failures []FailedCheck   // of the last attempt that was judged
	Past     []locate.Commit // changes of the newest commits, newest first; nil: unknown
	Cover    locate.Cover    // runs tests of the work tree; nil: unavailable
}

// CommandRunner runs untrusted commands in the work tree, in a sandbox.
type CommandRunner interface {
	// Run runs a shell command line at the work tree's root, for at most within. It copies the output to out as it is
	// printed, unless out is nil.
	Run(ctx context.Context, command string, within time.Duration, out io.Writer) (sandbox.Result, error)
}

// Result is the result of a call.
type Result struct {
	Text    string           // for the model, at most MaxResult bytes
	Changed []string         // slash-separated paths that the call created, changed or deleted
	Ask     *sia.Ask         // of ask: the attempt ends with this question
	Finish  *FinishStatement // of finish: the attempt ends

	Proposal *sia.Plan // of propose: the attempt ends with this plan
}

// FinishStatement is the agent's statement that it has finished.
type FinishStatement struct {
	Summary string
	Check   string            // command that runs the new test; empty: none was requested
	Ledger  []sia.LedgerEntry // unchecked

	NoLedger bool // the call lacks the ledger that was requested
}

// DefaultTools returns the tools that need only the work tree, in the order in which they are offered.
func DefaultTools() []Tool {
	return []Tool{ListTool(), ReadTool(), OutlineTool(), SearchTool(), LocateTool(), FailureTool(), EditTool(),
		PatchTool(), WriteTool(), DeleteTool(), PlanTool(), AskTool(), FinishTool()}
}

// SandboxTools returns the tools that also need a Runner.
func SandboxTools() []Tool { return []Tool{RunTool(), TestTool()} }

// pathError returns the error of an operation on a path of the work tree. It hides the location of the work tree: of a
// path error it keeps only the cause.
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
