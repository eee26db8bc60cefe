package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
)

type alreadyCmd struct {
	Clone      string `arg:"" help:"Clone with its history, bare or not." type:"existingdir"`
	Tasks      string `arg:"" help:"Folder tasks in which sia replay mine --dir kept tasks of it. Those of Go with whole test files count." type:"existingdir"`
	Stdlib     string `help:"Folder with Go's standard library compiled, kept from run to run, such as ~/.cache/sia/stdlib." placeholder:"DIR"`
	cli.Format `embed:""`
}

// alreadyReport counts claims with evidence that holds, and their total.
type alreadyReport struct {
	Tasks   int      `json:"tasks"`
	Head    int      `json:"at_the_commit"`          // claims that name the failing tests, with the change present
	Parent  int      `json:"at_the_parent"`          // the same, without the change
	Besides int      `json:"besides_at_the_parent"`  // claims that name tests passing at both commits, without the change
	Others  int      `json:"tasks_with_such_tests"`  // tasks that have such tests
	Partly  int      `json:"at_half_of_the_change"`  // claims that name the failing tests, with half of the changed files
	Halves  int      `json:"tasks_of_several_files"` // tasks with several changed files
	Wrong   []string `json:"at_the_commit_not_held"` // reasons
}

// Run checks claims with the failing tests of each task, as the claims of coders are checked.
func (c *alreadyCmd) Run(e *cli.Env) error {
	dir, err := os.MkdirTemp("", "already-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	box, err := cli.OpenSandbox(e.Ctx,
		sandbox.Options{Stdlib: cmp.Or(c.Stdlib, filepath.Join(dir, "stdlib")), Logger: e.Logger})
	if err != nil {
		return fmt.Errorf("tests are run in the sandbox only: %w", err)
	}
	checker, err := agent.NewCommands(box, filepath.Join(dir, "cache"),
		[]string{"proxy.golang.org:443", "sum.golang.org:443"}, time.Now, e.Logger)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(c.Tasks, "*.json"))
	if err != nil {
		return err
	}
	var r alreadyReport
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var t replay.Task
		if err := json.Unmarshal(b, &t); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		if t.Language != "go" || len(t.LeftOut)+len(t.Without) > 0 {
			continue
		}
		at := filepath.Join(dir, t.ID)
		if err := errors.Join(c.task(e, checker, at, t, &r), os.RemoveAll(at)); err != nil {
			return fmt.Errorf("task %s: %w", t.ID, err)
		}
		e.Logger.Info("task checked", "task", t.ID, "so_far", r)
	}
	return c.Sayf(e, r, "%d tasks\nthe evidence holds at the commit: %d\nat its parent: %d\n"+
		"at its parent, of other tests: %d of %d\nwith half of its files: %d of %d\n%s\n", r.Tasks, r.Head, r.Parent,
		r.Besides, r.Others, r.Partly, r.Halves, strings.Join(r.Wrong, "\n"))
}

// task checks the claims of one task, each in a tree below the folder at, and counts them.
func (c *alreadyCmd) task(e *cli.Env, checker *agent.Commands, at string, t replay.Task, r *alreadyReport) error {
	failing, broken := []string{goTests(t.Failing)}, map[string]bool{}
	for _, test := range t.Failing {
		broken[goTest(test)] = true
	}
	others := slices.DeleteFunc(slices.Clone(t.Passing), func(test string) bool { return broken[goTest(test)] })
	parent := []tree{{t.Parent, nil}, {t.Commit, t.Tests}}
	half, err := c.half(e.Ctx, t)
	if err != nil {
		return err
	}
	head, why, err := c.holds(e.Ctx, checker, filepath.Join(at, "head"), failing, []tree{{t.Commit, nil}})
	if err != nil {
		return err
	}
	named := failing
	if len(others) > 0 {
		named = append(failing, goTests(others))
		r.Others++
	}
	before, _, err := c.holds(e.Ctx, checker, filepath.Join(at, "parent"), named, parent)
	if err != nil {
		return err
	}
	partly := []bool{false}
	if len(half) > 0 {
		r.Halves++
		trees := append(parent, tree{t.Commit, half})
		if partly, _, err = c.holds(e.Ctx, checker, filepath.Join(at, "partly"), failing, trees); err != nil {
			return err
		}
	}
	r.Tasks++
	for _, x := range []struct {
		n  *int
		is bool
	}{{&r.Head, head[0]}, {&r.Parent, before[0]}, {&r.Besides, len(before) > 1 && before[1]}, {&r.Partly, partly[0]}} {
		if x.is {
			*x.n++
		}
	}
	if !head[0] {
		r.Wrong = append(r.Wrong, t.ID+": "+why)
	}
	return nil
}

// half returns the first half of the code files that a task's commit changed and kept; none if there is only one.
func (c *alreadyCmd) half(ctx context.Context, t replay.Task) ([]string, error) {
	args := append([]string{"-C", c.Clone, "ls-tree", "--name-only", "-r", t.Commit, "--"}, t.Files...)
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("look for the files of %s: %w", t.ID, err)
	}
	files := slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool { return filepath.Ext(p) != ".go" })
	return files[:len(files)/2], nil
}

// tree selects a commit's files: those of the paths, or all.
type tree struct {
	commit string
	paths  []string
}

// buildOthers builds the packages of other modules that the tests of a module need, into the build cache.
const buildOthers = `go build $(go list -e -deps -test ` +
	`-f '{{if and .Module (not .ForTest)}}{{if not .Module.Main}}{{.ImportPath}}{{end}}{{end}}' ./...)`

// holds writes trees over each other and reports which commands have evidence there; why is from the first command.
func (c *alreadyCmd) holds(
	ctx context.Context, checker *agent.Commands, dir string, commands []string, trees []tree,
) (ok []bool, why string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	for _, t := range trees {
		archive := dir + ".tar"
		args := append([]string{"-C", c.Clone, "archive", "-o", archive, t.commit, "--"}, t.paths...)
		for _, run := range []*exec.Cmd{exec.CommandContext(ctx, "git", args...),
			exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir)} {
			if out, err := run.CombinedOutput(); err != nil {
				return nil, "", fmt.Errorf("%s: %w: %s", run, err, out)
			}
		}
	}
	got, err := checker.Check(ctx, agent.Input{Dir: dir, Repo: "replay", Issue: 1, OnBase: true,
		Setup: []string{"go mod download", buildOthers}}, commands, nil)
	if err != nil {
		return nil, "", err
	}
	for _, g := range got {
		ok = append(ok, g.Holds && g.Ran)
	}
	return ok, got[0].Missing + got[0].Excerpt, nil
}

// goTest returns the top-level test function of a test, with its package.
func goTest(test string) string {
	group, name, _ := strings.Cut(test, "::")
	name, _, _ = strings.Cut(name, "/")
	return group + "::" + name
}

// goTests returns the command that a coder would name for tests, package by package.
func goTests(tests []string) string {
	names := map[string][]string{}
	var groups []string
	for _, test := range tests {
		group, name, _ := strings.Cut(goTest(test), "::")
		if _, ok := names[group]; !ok {
			groups = append(groups, group)
		}
		if name = regexp.QuoteMeta(name); !slices.Contains(names[group], name) {
			names[group] = append(names[group], name)
		}
	}
	var commands []string
	for _, g := range groups {
		commands = append(commands, fmt.Sprintf("go test -count=1 -vet=off ./%s -run '^(%s)$'", g,
			strings.Join(names[g], "|")))
	}
	return strings.Join(commands, " && ")
}
