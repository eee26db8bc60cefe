// Package localrun works on one issue in a clone on this machine, for sia run, sia demo --repo and
// sia replay run --loop. It runs the server's own loop: [Run] copies a commit, starts the application on a simulated
// GitHub in this process, opens the issue there, and runs the test command on each commit that SIA pushes, as the only
// check. It prints progress and the result, which is a branch of the clone, and asks SIA's questions at the terminal.
// [Replay] does the same for a task of the repository's history, with that task's tests.
//
// Start reading at job.go, which determines the work from the clone and the [Options], and play.go, which does it.
package localrun

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// Options are the inputs of a run.
type Options struct {
	Title, Body string // of the issue

	// Repo is a folder in the clone, Base the branch or commit to begin at (empty: what is checked out), and Branch the
	// result's (empty: a name from the title).
	Repo, Base, Branch string

	// The test command, the commands that prepare a checkout and the hosts that they may use. Zero values mean those of
	// the repository's settings, or else of its files.
	Test              string
	Setup, SetupHosts []string
	TestWithin        time.Duration // how long the test command may take
	AgentPath         []string      // folders with coding agents
	AgentEnv          []string      // names of environment variables that the repository may request

	Credits, Approaches int  // limits; 0: those of the repository's settings
	Memory              bool // commit what was learned, too

	Models app.ModelsConfig
	Free   bool // models need no price

	Dir    string       // of SIA's data: results for forecasts, and what is known of models; "": nothing is kept
	Logger *slog.Logger // of the server
	JSON   bool         // the caller prints the result as JSON: progress goes to standard error
	Diff   bool         // print the diff after the result
}

// NotBegun returns the result of a run that could not begin.
func NotBegun() Result { return Result{Attempts: []Attempt{}, Credits: "0"} }

// Run works on an issue, and prints progress and the result. It may return both a result and an error.
func Run(e *cli.Env, o Options) (Result, error) {
	none := NotBegun()
	j, err := newJob(e.Ctx, o)
	if err != nil {
		return none, err
	}
	none.Base, none.Test = j.base, j.settings.Agent.Test
	r, err := start(e, j)
	if err != nil {
		return none, err
	}
	out, err := r.play()
	if err = errors.Join(err, r.Close()); out.Base == "" { // no result
		return none, err
	}
	if !o.JSON {
		r.show(out)
	}
	return out, err
}

// run works on one issue with its own server and its own simulated GitHub in this process. Its check is the test
// command, which runs in the sandbox on each pushed commit.
type run struct {
	*cli.Env
	*stage.Stage
	job       job
	repo      string        // owner/name in the simulated GitHub
	bare      localgit.Repo // its bare repository
	commands  *agent.Commands
	hasMemory bool // earlier runs left a memory
	issue     int
	began     time.Time
	kept      string // commit that the run last set the result's branch to; empty: none

	finishedHead string // head of an attempt that was being checked when the run was stopped

	// The check before any change.
	baseCheck checkResult // with a setup error: the test command passes without setup
	flaky     []string    // tests that failed where the test command then passed
	flakyLog  string      // log of that failure

	// What was found out about pushed commits, by head.
	failed sync.Map // heads on which the check failed; the value says if it passed later
	edits  sync.Map // findings about edits of tests and their commands
	broken sync.Map // sentences about the base's tests that the head breaks

	// The user at the terminal.
	in           *bufio.Reader // answers
	interactive  bool          // a user can be asked
	lastQuestion string        // last question that was answered
	answeredAt   time.Time     // when it was answered
	lastReply    int           // number of the last reply printed

	// What was printed of the task.
	outputMu          sync.Mutex // of quiet, and of lines
	quiet             quiet
	trouble           trouble
	lastProgress      string // last line about the state of an attempt
	diagnosed         int    // number of diagnoses printed
	attempt           int    // number of the last attempt printed
	turns             printedTurns
	toolCalls         int                    // tool calls of the model in all attempts, and turns of a command
	turnsWithoutCalls int                    // turns of the model without a tool call
	truncatedTurns    int                    // those of them with a truncated answer
	step              atomic.Pointer[string] // step of the running check; nil: none is running
	tests             atomic.Pointer[string] // tests that SIA runs; nil: other output came since
}

// login is the user who opens the issue and owns the repository.
const login = "local"

// start copies the commit, starts the servers, and prepares the check.
func start(e *cli.Env, j job) (_ *run, err error) {
	r := &run{Env: e, job: j, repo: login + "/" + j.name, began: time.Now(),
		in: bufio.NewReader(e.Stdin()), interactive: cli.Interactive(os.Stdin)}
	box, err := cli.OpenTestSandbox(e.Ctx, j.opts.Logger, func() {
		r.progress("%s", cli.CompilingStdlib)
		if r.step.Load() != nil { // for a check, not for an attempt
			r.step.Store(new(cli.CompilingStdlib))
		}
	})
	if err != nil {
		return nil, err
	}
	copied, err := os.MkdirTemp("", "sia-run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := j.copyCommit(e.Ctx, copied); err != nil {
		return nil, err
	}
	last, known, err := j.copyMemory(e.Ctx, copied)
	if r.hasMemory = known; err != nil {
		return nil, err
	}
	var ignored []byte
	if j.judge == nil { // a replay is the same on every machine
		if ignored, err = j.git.Ignored(e.Ctx); err != nil {
			return nil, err
		}
	}
	// Ctrl-C, and a write to a closed pipe, end the run. The run then stops the server, which has its own context.
	r.Stage, err = stage.Start(context.WithoutCancel(e.Ctx), stage.Config{Owner: login, Name: j.name,
		Spec:   ghsim.RepoSpec{From: copied, DefaultBranch: j.baseName, LastNumber: last},
		Models: j.opts.Models, Logger: j.opts.Logger, Forward: cli.ForwardCommand(), Stdlib: cli.StdlibDir(),
		NoWorkflows: true, Closed: true, Priced: !j.opts.Free, SetupHosts: j.opts.SetupHosts, AgentPath: j.opts.AgentPath,
		AgentEnv: j.opts.AgentEnv, ModelsDir: j.opts.Dir,
		Local: app.Local{Anonymous: true, Settings: func(s *sia.Settings) { *s = r.job.settings }, Policies: j.policies,
			Ignored: ignored, BeforeTests: r.runsTests, Findings: r.editFindings}})
	if err != nil {
		return nil, err
	}
	made, err := r.Sim.Repo(r.repo)
	r.bare = localgit.Own(made.Dir)
	if err == nil {
		_, err = r.Sim.CreateApp(appName)
	}
	if err == nil {
		r.commands, err = agent.NewCommands(box, filepath.Join(r.Config.Dir, "sandbox"), j.opts.SetupHosts, time.Now,
			j.opts.Logger)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// copyCommit creates a bare repository with the base commit as its only branch. It has no history, as a shallow clone:
// that of some repositories takes minutes to copy, and a partial clone may be unable to fetch its own.
func (j *job) copyCommit(ctx context.Context, to string) error {
	bare := localgit.Own(to)
	if _, err := bare.Run(ctx, "init", "--quiet", "--bare", "--template=", "--initial-branch="+j.baseName); err != nil {
		return err
	}
	commits, first := []string{j.base}, cmp.Or(j.finishedBase, j.base)
	if j.finishedBase != "" { // the change since then is read
		after, err := j.git.Run(ctx, "rev-list", "--end-of-options", j.finishedBase+".."+j.base)
		if err != nil {
			return err
		}
		commits = append(strings.Fields(string(after)), j.finishedBase)
	}
	var listed strings.Builder
	for _, commit := range commits {
		all, err := j.git.Objects(ctx, commit)
		if err != nil {
			return err
		}
		listed.WriteString(all)
	}
	if err := j.git.CopyObjects(ctx, listed.String(), bare); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "shallow"), []byte(first+"\n"), 0o644); err != nil {
		return err
	}
	_, err := bare.Run(ctx, "update-ref", "refs/heads/"+j.baseName, j.base)
	return err
}
