package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
	"github.com/sia-bot/sia/sia/text"
)

// PlayerConfig configures a [Player]. History, Folder, Box and at least one coder are required.
type PlayerConfig struct {
	History *gitops.History
	Folder  *Folder
	Box     *sandbox.Sandbox
	Hosts   []string // as in [MineSpec]
	Coders  []Coder  // the first is the default of variants

	Within time.Duration // as in [MineSpec]
	Limits agent.Limits  // of an attempt
	Setup  []string      // shell commands that prepare a work tree for the coder, as agent.setup of the settings
	Test   string        // the coder's test command, as agent.test of the settings
	Now    func() time.Time
	Logger *slog.Logger
}

// Coder makes attempts.
type Coder struct {
	Name  string
	Agent agent.Agent
	Tools []string // names of its tools, for techniques that remove some; may be empty
}

// Player makes whole attempts at tasks, offline: a coder works in a work tree at the task's parent, then the
// task's tests are added and run in the sandbox. Safe for concurrent use.
type Player struct {
	PlayerConfig
	runner     *testrun.Runner
	techniques *technique.Library
}

// NewPlayer checks the configuration and returns the player.
func NewPlayer(c PlayerConfig) (*Player, error) {
	if c.History == nil || c.Folder == nil || c.Box == nil || len(c.Coders) == 0 {
		return nil, errors.New("make player: history, folder, sandbox and a coder have to be given")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	library, errs := technique.LoadLibrary(nil)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("make player: %w", err)
	}
	return &Player{PlayerConfig: c, techniques: library,
		runner: newRunner(c.Box, c.History, c.Folder, c.Hosts, c.Within)}, nil
}

// Check returns an error if a variant can't be played.
func (p *Player) Check(v Variant) error {
	if _, err := p.coder(v); err != nil {
		return err
	}
	if _, ok := p.techniques.Get(sia.TechniqueID(v.Technique)); v.Technique != "" && !ok {
		var ids []string
		for _, t := range p.techniques.All() {
			ids = append(ids, string(t.ID))
		}
		return fmt.Errorf("there is no technique %q; there are %s", v.Technique, strings.Join(ids, ", "))
	}
	return nil
}

func (p *Player) coder(v Variant) (Coder, error) {
	if v.Coder == "" {
		return p.Coders[0], nil
	}
	var names []string
	for _, c := range p.Coders {
		if c.Name == v.Coder {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Coder{}, fmt.Errorf("there is no coder %q; the configuration has %s", v.Coder, strings.Join(names, ", "))
}

// Play makes one attempt. seed is the number of the repetition; it does not change the model's requests.
//
// The coder can't read the future: the work tree's repository has one commit, and
// the tests are added when it has finished. An error says nothing about the task: the model can't be
// reached, the sandbox does not work, ctx has ended. The result has the cost until then.
func (p *Player) Play(ctx context.Context, t Task, v Variant, seed int) (Result, error) {
	began := p.Now()
	out := Result{Task: t.ID, Variant: v.Name, Seed: seed, Files: []string{}}
	err := p.play(ctx, t, v, &out)
	out.At = p.Now().UTC().Truncate(time.Second)
	out.Seconds = p.Now().Sub(began).Seconds()
	if err != nil {
		return out, fmt.Errorf("play task %s: %w", t.ID, err)
	}
	return out, nil
}

func (p *Player) play(ctx context.Context, t Task, v Variant, out *Result) error {
	if err := p.Check(v); err != nil {
		return err
	}
	coder, err := p.coder(v)
	if err != nil {
		return err
	}
	e, err := endsOf(ctx, p.runner, t)
	if err != nil {
		return err
	}
	parent, err := p.History.Files(ctx, t.Parent)
	if err != nil {
		return err
	}
	dir, done, err := p.folder(ctx)
	if err != nil {
		return err
	}
	defer done()
	work := testrun.NewWorkTree(filepath.Join(dir, "tree"), p.History)
	if _, err := p.begin(ctx, t, work, parent); err != nil {
		return err
	}
	in, err := p.input(t, v, coder, parent, work.Dir)
	if err != nil {
		return err
	}
	res, err := coder.Agent.Run(ctx, in, nil)
	out.Cost = float64(res.Cost) / float64(sia.Credit)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if out.Files, err = work.Changed(ctx, parent); err != nil {
		return err
	}
	if res.End == sia.EndError {
		return fmt.Errorf("the coder could not go on: %s", res.Reason)
	}
	return p.judge(ctx, t, e, work, ending(res), out)
}

// folder creates a folder for one play. done removes it, and its build results.
func (p *Player) folder(ctx context.Context) (dir string, done func(), err error) {
	dir, err = os.MkdirTemp(p.Folder.cache(), "play-*")
	if err != nil {
		return "", nil, fmt.Errorf("make work tree: %w", err)
	}
	return dir, func() {
		var err error
		build := filepath.Join(p.Folder.cache(), "build")
		left, _ := filepath.Glob(filepath.Join(build, "*-"+filepath.Base(dir)+"-*")) // the pattern is valid
		for _, name := range append(left, dir) {
			err = errors.Join(err, sandbox.RemoveAll(name))
		}
		if err != nil {
			p.Logger.WarnContext(ctx, "work tree left behind", "dir", dir, "error", err)
		}
	}, nil
}

// begin writes a task's parent as a repository with this one commit, and returns the commit.
func (p *Player) begin(
	ctx context.Context, t Task, work *testrun.WorkTree, parent testrun.Files,
) (sha string, err error) {
	if err := work.Set(ctx, parent, nil, nil); err != nil {
		return "", err
	}
	return p.History.Snapshot(ctx, work.Dir, t.Parent)
}

// ending returns how an attempt ended, if not normally.
func ending(res agent.Result) string {
	if res.End == sia.EndFinished {
		return ""
	}
	if res.Reason == "" {
		return "the attempt ended: " + string(res.End)
	}
	return "the attempt ended: " + string(res.End) + " (" + shown(res.Reason, 300) + ")"
}

// judge adds the tests and runs them. note is how the attempt ended, if not normally.
func (p *Player) judge(ctx context.Context, t Task, e ends, work *testrun.WorkTree, note string, out *Result) error {
	why := func(s string) string { return strings.TrimPrefix(strings.Join([]string{note, s}, "; "), "; ") }
	if len(out.Files) == 0 {
		out.Why = why("nothing was changed")
		return nil
	}
	j, err := p.run(ctx, t, e, work)
	out.Resolved, out.Why = j.Resolved, why(j.Why)
	return err
}

// Judgement is the result of a task's tests on a state of the files.
type Judgement struct {
	Resolved bool
	Why      string // for people
	Log      string // the end of the output of building and running them; empty: they did not run
}

// run adds a task's tests to a work tree, and runs them.
func (p *Player) run(ctx context.Context, t Task, e ends, work *testrun.WorkTree) (j Judgement, err error) {
	if why := lay(e, work); why != "" {
		return Judgement{Why: why}, nil
	}
	rep, unprepared, err := p.runner.RunPrepared(ctx, e.lang, e.suite, testrun.Tree{At: work, Files: e.split.after})
	if err != nil {
		return j, err
	}
	if unprepared != "" {
		return j, fmt.Errorf("%s: %s", Unprepared, unprepared)
	}
	j.Resolved, j.Why = t.resolvedBy(rep)
	j.Log = strings.ReplaceAll(rep.Log, "\x16", "") // package testing's marker of its own lines
	return j, nil
}

// lay adds a task's tests to a work tree. why is what prevents that: the tree is the coder's.
func lay(e ends, work *testrun.WorkTree) (why string) {
	err := work.Overlay(e.split.over, e.split.made, e.split.without)
	if err == nil {
		err = work.Link(e.suite.Links)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// resolvedBy reports whether a task is resolved by the report of its tests, and why.
func (t Task) resolvedBy(rep testrun.Report) (bool, string) {
	not := func(tests []string) []string {
		return slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return rep.All(test, testrun.Passed) })
	}
	still, broken := not(t.Failing), not(t.Passing)
	switch {
	case rep.Ended != "":
		return false, "the tests were ended: " + rep.Ended
	case len(rep.Builds) > 0 && len(still)+len(broken) > 0:
		return false, "it does not build with the tests: " + firstLog(rep)
	case len(still) > 0:
		return false, fmt.Sprintf("%d of %d tests still fail: %s", len(still), len(t.Failing), firstFew(still))
	case len(broken) > 0:
		return false, fmt.Sprintf("%d tests that passed fail now: %s", len(broken), firstFew(broken))
	}
	return true, text.Count(len(t.Failing), "test") + " that failed before now passed"
}

func firstFew(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// instructionFiles tell agents how to work in a repository.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"}

// maxInstructions limits one of them, in bytes.
const maxInstructions = 64 << 10

// input returns the coder's input.
func (p *Player) input(t Task, v Variant, c Coder, parent testrun.Files, dir string) (agent.Input, error) {
	in := agent.Input{Title: t.Title, Body: t.Text, Repo: t.Repo, Issue: t.Issue, Attempt: 1, Dir: dir, OnBase: true,
		Setup: p.Setup, Test: p.Test, Limits: p.Limits}
	read := p.runner.Reader(parent, nil)
	for _, name := range instructionFiles {
		if b, err := read(name); err == nil && len(b) <= maxInstructions {
			in.Instructions = append(in.Instructions, agent.Instruction{Path: name, Text: string(b)})
		}
	}
	in.Brief = sia.Brief{Lessons: slices.Clone(v.Lessons), TestHints: slices.Clone(v.TestHints)}
	if v.Technique != "" {
		how, ok := p.techniques.Get(sia.TechniqueID(v.Technique))
		if !ok {
			return in, fmt.Errorf("there is no technique %q", v.Technique)
		}
		in.Brief = technique.Apply(in.Brief, how, technique.Input{Title: t.Title, Body: t.Text, Tools: c.Tools,
			Files: slices.Sorted(maps.Keys(parent)), Read: read})
	}
	return in, nil
}
