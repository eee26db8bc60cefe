package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia"
)

// The names of the tools in [Default] and [Running], and of [Propose].
const (
	NameList    = "list"
	NameRead    = "read"
	NameOutline = "outline"
	NameSearch  = "search"
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

// Tool is something the agent can do. Tools are stateless and safe for
// concurrent use; calls within one Env are made one at a time.
type Tool interface {
	Name() string
	Description() string     // Markdown, for the model
	Schema() json.RawMessage // JSON Schema of the arguments, of type object
	// Call does it. An error is meant for the model: it says what was wrong and
	// what to do instead, and names no path outside the work tree.
	Call(ctx context.Context, env Env, args json.RawMessage) (Result, error)
}

// Polling is a tool for which the same call with the same result again and again
// is no sign of being stuck, because it waits for something.
type Polling interface{ Polls() bool }

// Env is what a call may touch.
type Env struct {
	Root    *os.Root // the work tree
	Dir     string   // its absolute path, for tools that start programs; never shown to the model
	Changed bool     // a call of this attempt has changed a file
	CanAsk  bool     // questions to a person are allowed
	Runner  Runner   // runs commands in the work tree, contained; nil: nothing can be run
	Test    string   // the repository's own test command; empty: it is guessed

	Failures []FailedCheck // of the last attempt that was judged
}

// Runner runs commands of strangers in the work tree, in a sandbox.
type Runner interface {
	// Run runs a shell command line at the work tree's root for at most a time. out,
	// which may be nil, gets what it prints as it comes.
	Run(ctx context.Context, command string, within time.Duration, out io.Writer) (sandbox.Result, error)
}

// Result is what a call did.
type Result struct {
	Text    string   // for the model, at most MaxResult bytes
	Changed []string // slash-separated paths that the call created, changed or deleted
	Plan    []Step   // of plan
	Ask     *sia.Ask // of ask: the attempt ends with this question
	Finish  *Finish  // of finish: the attempt ends

	Proposal *sia.Plan // of propose: the attempt ends with this plan
}

// Finish is the agent's statement that it is done.
type Finish struct {
	Summary string
}

// Default returns the tools that need nothing but the work tree, in the order in
// which they are offered.
func Default() []Tool {
	return []Tool{List{}, Read{}, Outline{}, Search{}, Failure{}, Edit{}, Patch{}, Write{}, Delete{}, Plan{}, Ask{}, FinishTool{}}
}

// Running returns the tools that need an Env with a Runner besides.
func Running() []Tool { return []Tool{Run{}, Test{}} }

// clip cuts text to at most n bytes at a rune boundary and says that it did.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "\n[cut here: the result is too long]"
	end := max(0, n-len(mark))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// clean removes the work tree's place on this machine from an error: of a path
// error it keeps the cause alone, since the caller names the path.
func clean(op, path string, err error) error {
	var pe *os.PathError
	var le *os.LinkError
	if errors.As(err, &pe) {
		err = pe.Err
	} else if errors.As(err, &le) {
		err = le.Err
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s %s: there is no such file or directory; use list or search to find it", op, quote(path))
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s %s: permission denied", op, quote(path))
	case strings.Contains(err.Error(), "escapes"):
		return fmt.Errorf("%s %s: the path leads out of the repository", op, quote(path))
	}
	return fmt.Errorf("%s %s: %w", op, quote(path), err)
}
