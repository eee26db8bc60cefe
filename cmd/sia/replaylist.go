package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia/text"
)

type replayListCmd struct {
	replayFlags `embed:""`
}

// listedTask is a task in the JSON of sia replay list. Fields are only added.
type listedTask struct {
	ID       string    `json:"id"`
	Language string    `json:"language"`
	Title    string    `json:"title"`
	Issue    int       `json:"issue,omitempty"`
	Failing  int       `json:"failing"` // tests
	Files    []string  `json:"files"`
	Mined    time.Time `json:"mined"`
	From     string    `json:"from"` // folder; or memory: only the memory branch has it
	Tried    int       `json:"tried"`
	Resolved int       `json:"resolved"`
}

// Run lists tasks, and how often they were resolved on this machine.
func (c *replayListCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *replay.Source) error {
		tasks, err := s.Tasks(e.Ctx)
		if err != nil {
			return err
		}
		runs, err := s.Folder.Runs()
		if err != nil {
			return err
		}
		var all []listedTask
		for _, t := range tasks {
			l := listedTask{ID: t.ID, Language: t.Language, Title: t.Title, Issue: t.Issue, Failing: len(t.Failing),
				Files: nonNil(t.Files), Mined: t.Mined, From: "folder"}
			if t.Remembered {
				l.From = "memory"
			}
			sum := summed("", runs, func(r replay.Result) bool { return r.Task == t.ID })
			l.Tried, l.Resolved = sum.Tried, sum.Resolved
			all = append(all, l)
		}
		return cli.List(e, c.Format, all, s.Name+" has no tasks yet; `sia replay mine` looks for some",
			[]string{"TASK", "LANGUAGE", "TESTS", "RESOLVED", "WHAT"}, func(w cli.Table, t listedTask) {
				w.Rowf("%s\t%s\t%d\t%s\t%s", t.ID, t.Language, t.Failing, resolvedOf(t.Resolved, t.Tried),
					text.Clip(text.OneLine(t.Title), 80))
			})
	})
}

func resolvedOf(resolved, tried int) string {
	if tried == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", resolved, tried)
}

type replayShowCmd struct {
	replayFlags `embed:""`
	Task        string `arg:"" help:"Its id, or how that or the commit begins."`
}

// Run shows one task.
func (c *replayShowCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *replay.Source) error {
		all, err := s.Tasks(e.Ctx)
		if err != nil {
			return err
		}
		t, err := findReplayTask(all, c.Task)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return e.JSON(t)
		}
		e.Linef("%s\n\ncommit   %s of %s\nparent   %s\nlanguage %s", text.OneLine(t.Title), t.Commit, t.Repo, t.Parent,
			t.Language)
		if t.Issue > 0 {
			e.Linef("issue    #%d", t.Issue)
		}
		for _, part := range []struct {
			what  string
			lines []string
		}{{"Changed", t.Files}, {"Tests laid over", t.Tests}, {"Left out of them", leftOutTests(t)},
			{"Tests that fail on the parent and pass with the commit", t.Failing}, {"Runs", runLines(s.Folder, t.ID)}} {
			if len(part.lines) > 0 {
				e.Linef("\n%s\n  %s", part.what, strings.Join(part.lines, "\n  "))
			}
		}
		if t.Text != "" {
			e.Linef("\n%s", t.Text)
		}
		return nil
	})
}

// leftOutTests returns a line for each test file with the parts that are not laid over.
func leftOutTests(t replay.Task) (lines []string) {
	for _, p := range slices.Sorted(maps.Keys(t.LeftOut)) {
		lines = append(lines, p+": "+strings.Join(t.LeftOut[p], ", "))
	}
	return lines
}

// runLines returns a line for each run of a task, or the error that prevents reading the runs.
func runLines(f *replay.Folder, id string) (lines []string) {
	runs, err := f.Runs()
	if err != nil {
		return []string{err.Error()}
	}
	for _, r := range runs {
		if r.Task == id {
			lines = append(lines, fmt.Sprintf("%s  %s  %s", r.At.Format(time.DateTime), r.Variant, runText(r)))
		}
	}
	return lines
}

func runText(r replay.Result) string {
	how := "not resolved"
	if r.Resolved {
		how = "resolved"
	}
	if r.Attempts > 0 {
		how += ", " + text.Count(r.Attempts, "attempt")
	}
	return fmt.Sprintf("%s, %.2f credits, %.0f s: %s", how, r.Cost, r.Seconds, text.Clip(text.OneLine(r.Why), 200))
}
