package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/visible"
)

// Limits of a command.
const (
	maxCommand  = 16 << 10 // bytes
	runSeconds  = 120
	testSeconds = 600
	maxSeconds  = 1800
	maxChanged  = 500 // shown changed paths
)

// RunTool runs a shell command.
func RunTool() Tool {
	return newTool(NameRun, runArgs{Seconds: runSeconds}, callRun, `{"type":"object","properties":{
"command":{"type":"string","description":"shell command line"},
"seconds":{"type":"integer","minimum":1,"maximum":1800,"description":"after which it is stopped; default 120"}},
"required":["command"]}`)
}

type runArgs struct {
	Command string `json:"command"`
	Seconds int    `json:"seconds"`
}

// callRun runs the command.
func callRun(ctx context.Context, env Env, a runArgs) (Result, error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return Result{}, errors.New("command is empty; it is a shell command line")
	case len(a.Command) > maxCommand:
		return Result{}, fmt.Errorf("command has %d bytes; at most %d are taken: write a script into a file and run that",
			len(a.Command), maxCommand)
	case strings.ContainsRune(a.Command, 0):
		return Result{}, errors.New("command holds a NUL byte")
	}
	r, changed, err := runCommand(ctx, env, a.Command, a.Seconds)
	if err != nil {
		return Result{}, err
	}
	text := commandEnding(r) + "\n"
	if out := cleanOutput(r.Output); out != "" {
		text += out
	} else {
		text += "[it printed nothing]\n"
	}
	return Result{Text: cutMiddle(text, MaxResult), Changed: changed}, nil
}

// runCommand runs a command and determines which files it changed.
func runCommand(ctx context.Context, env Env, command string, seconds int) (sandbox.Result, []string, error) {
	switch {
	case env.Runner == nil:
		return sandbox.Result{}, nil, errors.New("nothing can be run here: there is no sandbox; work with the files alone")
	case seconds < 1 || seconds > maxSeconds:
		return sandbox.Result{}, nil, fmt.Errorf("seconds must be 1 to %d", maxSeconds)
	}
	before, knew := stampFiles(ctx, env)
	r, err := env.Runner.Run(ctx, command, time.Duration(seconds)*time.Second, nil)
	switch {
	case ctx.Err() != nil:
		return r, nil, context.Cause(ctx)
	case err != nil:
		return r, nil, fmt.Errorf("the command could not be run: %w", err)
	}
	after, knows := stampFiles(ctx, env)
	return r, changedFiles(before, after, knew && knows), nil
}

// fileStamp is the metadata that changes with a file.
type fileStamp struct {
	mode fs.FileMode
	size int64
	at   time.Time
}

// stampFiles returns the stamps of all files that git does not ignore and that can be read. whole is false if the tree
// has too many.
func stampFiles(ctx context.Context, env Env) (all map[string]fileStamp, whole bool) {
	all = map[string]fileStamp{}
	err := walkTree(ctx, env.Root, ".", func(e treeEntry) (bool, error) {
		if e.mode.IsRegular() {
			if st, err := e.folder.Lstat(path.Base(e.path)); err == nil {
				all[e.path] = fileStamp{st.Mode(), st.Size(), st.ModTime()}
			}
		}
		return true, nil
	})
	return all, err == nil
}

// changedFiles returns the created, changed and deleted files, sorted. If not all files were stamped (whole is false),
// a file with a single stamp is not listed.
func changedFiles(before, after map[string]fileStamp, whole bool) (changed []string) {
	for p, s := range after {
		if was, known := before[p]; was != s && (known || whole) {
			changed = append(changed, p)
		}
	}
	for p := range before {
		if _, still := after[p]; !still && whole {
			changed = append(changed, p)
		}
	}
	slices.Sort(changed)
	return changed[:min(len(changed), maxChanged)]
}

// commandEnding returns how a command ended, with an explanation.
func commandEnding(r sandbox.Result) string {
	switch {
	case r.Ended == sandbox.ByTime:
		return r.Ending() + ". What it had printed until then:"
	case r.NotStarted():
		return r.Ending() + ": a program was not found, or may not be run. There is no network to install it from."
	}
	return r.Ending()
}

// terminalCodes matches the sequences that color text and move the cursor (ECMA-48 §5.4).
var terminalCodes = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\-_])")

// cleanOutput converts output for the model: it removes colors, keeps only the last state of progress lines, masks
// secrets and breaks chat templates' turn markers, since output is never edited back, and makes hidden characters
// visible.
func cleanOutput(out []byte) string {
	text := visible.BreakTurns(secret.Mask(terminalCodes.ReplaceAllString(strings.ToValidUTF8(string(out), "\uFFFD"), "")))
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		line, _ = showHidden(cutLine(line))
		b.WriteString(line + "\n")
	}
	if strings.TrimSpace(b.String()) == "" {
		return ""
	}
	return b.String()
}
