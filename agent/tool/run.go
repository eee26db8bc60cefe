package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/secret"
)

// Bounds of a command.
const (
	maxCommand  = 16 << 10 // bytes
	runSeconds  = 120
	testSeconds = 600
	mostSeconds = 1800
	maxChanged  = 500 // changed paths that are told
)

//go:embed run.md
var runDescription string

// Run runs a shell command.
type Run struct{}

type runArgs struct {
	Command string `json:"command"`
	Seconds int    `json:"seconds"`
}

// Name is "run".
func (Run) Name() string { return NameRun }

// Description is run.md.
func (Run) Description() string { return runDescription }

// Schema describes the arguments.
func (Run) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"command":{"type":"string","description":"shell command line"},
"seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"after which it is stopped; default 120"}},
"required":["command"],"additionalProperties":false}`)
}

// Call runs the command.
func (Run) Call(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	a := runArgs{Seconds: runSeconds}
	if err := decode(args, &a); err != nil {
		return Result{}, err
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return Result{}, errors.New("command is empty; it is a shell command line")
	case len(a.Command) > maxCommand:
		return Result{}, fmt.Errorf("command has %d bytes; at most %d are taken: write a script into a file and run that", len(a.Command), maxCommand)
	case strings.ContainsRune(a.Command, 0):
		return Result{}, errors.New("command holds a NUL byte")
	}
	r, changed, err := execute(ctx, env, a.Command, a.Seconds)
	if err != nil {
		return Result{}, err
	}
	text := ending(r) + "\n"
	if out := printed(r.Output); out != "" {
		text += out
	} else {
		text += "[it printed nothing]\n"
	}
	return Result{Text: middle(text, MaxResult), Changed: changed}, nil
}

// execute runs a command and finds out which files it changed.
func execute(ctx context.Context, env Env, command string, seconds int) (sandbox.Result, []string, error) {
	switch {
	case env.Runner == nil:
		return sandbox.Result{}, nil, errors.New("nothing can be run here: there is no sandbox; work with the files alone")
	case seconds < 1 || seconds > mostSeconds:
		return sandbox.Result{}, nil, fmt.Errorf("seconds must be 1 to %d", mostSeconds)
	}
	before := stamps(ctx, env)
	r, err := env.Runner.Run(ctx, command, time.Duration(seconds)*time.Second, nil)
	switch {
	case ctx.Err() != nil:
		return r, nil, context.Cause(ctx)
	case err != nil:
		return r, nil, fmt.Errorf("the command could not be run: %w", err)
	}
	return r, differ(before, stamps(ctx, env)), nil
}

// stamp is what changes when a file does.
type stamp struct {
	mode fs.FileMode
	size int64
	at   time.Time
}

// stamps notes every file that git does not ignore. What can't be looked at is
// left out.
func stamps(ctx context.Context, env Env) map[string]stamp {
	all := map[string]stamp{}
	_ = walk(ctx, env.Root, ".", func(e entry) (bool, error) {
		if e.mode.IsRegular() {
			if st, err := env.Root.Lstat(e.path); err == nil {
				all[e.path] = stamp{st.Mode(), st.Size(), st.ModTime()}
			}
		}
		return true, nil
	})
	return all
}

// differ lists what was created, changed or deleted, sorted.
func differ(before, after map[string]stamp) (changed []string) {
	for p, s := range after {
		if before[p] != s {
			changed = append(changed, p)
		}
	}
	for p := range before {
		if _, still := after[p]; !still {
			changed = append(changed, p)
		}
	}
	slices.Sort(changed)
	return changed[:min(len(changed), maxChanged)]
}

// ending says how a command ended. How long it took is left out, so that the same
// outcome reads the same.
func ending(r sandbox.Result) string {
	switch {
	case r.Ended == sandbox.ByTime:
		return "stopped: " + r.Why + ". What it had printed until then:"
	case r.Ended != "":
		return "stopped: " + r.Why
	case r.ExitCode == 126 || r.ExitCode == 127:
		return fmt.Sprintf("exit status %d: a program was not found, or may not be run. There is no network to install it from.", r.ExitCode)
	case r.ExitCode > 128:
		s, _, _ := strings.Cut(r.String(), " after ")
		return s
	}
	return fmt.Sprintf("exit status %d", r.ExitCode)
}

// terminal are the sequences that colour text and move the cursor (ECMA-48 §5.4).
var terminal = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\-_])")

// printed is output as a model should see it: without colours, of a progress line
// what stood there last, with secrets masked, since nobody edits it back, and
// with hidden characters made visible.
func printed(out []byte) string {
	text := secret.Mask(terminal.ReplaceAllString(strings.ToValidUTF8(string(out), "\uFFFD"), ""))
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + " […]"
		}
		line, _ = show(line)
		b.WriteString(line + "\n")
	}
	if strings.TrimSpace(b.String()) == "" {
		return ""
	}
	return b.String()
}

// middle cuts text to at most n bytes by leaving out lines from its middle: what
// happened is told at the beginning, and how it ended at the end.
func middle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "[lines left out]\n"
	half := (n - len(mark)) / 2
	head, tail := text[:half], text[len(text)-half:]
	if i := strings.LastIndexByte(head, '\n'); i > half/2 {
		head = head[:i+1]
	} else {
		head = strings.ToValidUTF8(head, "") + "\n"
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < half/2 {
		tail = tail[i+1:]
	}
	return clip(head+mark+strings.ToValidUTF8(tail, ""), n)
}
