package main

import (
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
	cli.Format `embed:""`
}

// alreadyReport counts claims whose evidence holds, each of so many.
type alreadyReport struct {
	Tasks   int      `json:"tasks"`
	Head    int      `json:"at_the_commit"`          // the failing tests are named, and the change is there
	Parent  int      `json:"at_the_parent"`          // the same, and it is not there
	Besides int      `json:"besides_at_the_parent"`  // tests that pass at both ends are named, and it is not there
	Others  int      `json:"tasks_with_such_tests"`  // in which there are such tests
	Partly  int      `json:"at_half_of_the_change"`  // the failing tests are named, and half of its files are there
	Halves  int      `json:"tasks_of_several_files"` // that can be halved
	Wrong   []string `json:"at_the_commit_not_held"` // why
}

// Run checks claims with the failing tests of each task, as a coder's are checked.
func (c *alreadyCmd) Run(e *cli.Env) error {
	o := sandbox.Options{Self: forwardCommand(), Logger: e.Logger}
	box, err := sandbox.New(o, sandbox.Probe(e.Ctx, o))
	if err != nil {
		return fmt.Errorf("tests are run in the sandbox only: %w", err)
	}
	dir, err := os.MkdirTemp("", "already-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	checker, err := agent.NewChecker(agent.CheckerConfig{Sandbox: box, Cache: filepath.Join(dir, "cache"),
		Hosts: []string{"proxy.golang.org:443", "sum.golang.org:443"}, Now: time.Now, Logger: e.Logger})
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
		holds := func(name string, tests []string, trees ...tree) (bool, string, error) {
			return c.holds(e.Ctx, checker, filepath.Join(at, name), goTests(tests), trees)
		}
		parent := []tree{{t.Parent, nil}, {t.Commit, t.Tests}}
		head, why, err := holds("head", t.Failing, tree{t.Commit, nil})
		before, _, err2 := holds("parent", t.Failing, parent...)
		besides, err3 := false, error(nil)
		if len(t.Passing) > 0 {
			besides, _, err3 = holds("besides", t.Passing, parent...)
			r.Others++
		}
		half, err4 := c.half(e.Ctx, t)
		partly := false
		if len(half) > 0 && err4 == nil {
			partly, _, err4 = holds("partly", t.Failing, append(parent, tree{t.Commit, half})...)
			r.Halves++
		}
		if err := errors.Join(err, err2, err3, err4, os.RemoveAll(at)); err != nil {
			return fmt.Errorf("task %s: %w", t.ID, err)
		}
		r.Tasks++
		for _, x := range []struct {
			n  *int
			is bool
		}{{&r.Head, head}, {&r.Parent, before}, {&r.Besides, besides}, {&r.Partly, partly}} {
			if x.is {
				*x.n++
			}
		}
		if !head {
			r.Wrong = append(r.Wrong, t.ID+": "+why)
		}
	}
	if c.Output == "json" {
		return e.JSON(r)
	}
	fmt.Fprintf(e.Out, "%d tasks\nthe evidence holds at the commit: %d\nat its parent: %d\n"+
		"at its parent, of other tests: %d of %d\nwith half of its files: %d of %d\n%s\n", r.Tasks, r.Head, r.Parent,
		r.Besides, r.Others, r.Partly, r.Halves, strings.Join(r.Wrong, "\n"))
	return nil
}

// half is the first half of the files of code that a task's commit changed and kept; none of one alone.
func (c *alreadyCmd) half(ctx context.Context, t replay.Task) ([]string, error) {
	args := append([]string{"-C", c.Clone, "ls-tree", "--name-only", "-r", t.Commit, "--"}, t.Files...)
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("look for the files of %s: %w", t.ID, err)
	}
	files := slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool { return filepath.Ext(p) != ".go" })
	return files[:len(files)/2], nil
}

// tree is a commit's files: those of the paths, or all.
type tree struct {
	commit string
	paths  []string
}

// holds lays trees over each other and reports whether a command's evidence holds there; why not.
func (c *alreadyCmd) holds(
	ctx context.Context, checker *agent.Checker, dir, command string, trees []tree,
) (ok bool, why string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, "", err
	}
	for _, t := range trees {
		archive := dir + ".tar"
		args := append([]string{"-C", c.Clone, "archive", "-o", archive, t.commit, "--"}, t.paths...)
		for _, run := range []*exec.Cmd{exec.CommandContext(ctx, "git", args...),
			exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir)} {
			if out, err := run.CombinedOutput(); err != nil {
				return false, "", fmt.Errorf("%s: %w: %s", run, err, out)
			}
		}
	}
	// What setup builds is kept for the next tree of the same modules: most of the standard library.
	got, err := checker.Check(ctx, agent.Input{Dir: dir, Repo: "replay", Issue: 1, OnBase: true,
		Setup: []string{"go mod download", "go build net/http testing"}}, []string{command}, nil)
	if err != nil {
		return false, "", err
	}
	return got[0].Holds && got[0].Ran, got[0].Missing + got[0].Excerpt, nil
}

// goTests is the command that a coder would name for tests, package by package.
func goTests(tests []string) string {
	names := map[string][]string{}
	var groups []string
	for _, test := range tests {
		group, name, _ := strings.Cut(test, "::")
		name, _, _ = strings.Cut(name, "/")
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
