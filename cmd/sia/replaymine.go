package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia/text"
)

type replayMineCmd struct {
	replayFlags `embed:""`
	Max         int           `help:"End when there are so many tasks; 0: no bound." default:"50" placeholder:"N" min:"0"`
	Candidates  int           `help:"Judge at most so many commits this time; 0: no bound." default:"200" placeholder:"N" min:"0"`
	Budget      time.Duration `help:"End after this; the next call goes on from there. 0: no bound." default:"30m" placeholder:"DURATION" min:"0s"`
	Again       bool          `help:"Look for nothing: verify the tasks that there are once more, and say how many still hold."`
	Commit      bool          `help:"Write the tasks to the repository's memory branch too, where the server and others find them; with owner/name only."`
}

// Help returns the text of `sia replay mine --help` below the first line.
func (*replayMineCmd) Help() string {
	return "Looks at commits that changed code and tests, newest first. Where the tests, laid over the commit's parent, " +
		"fail, and pass with the commit, twice each, the commit is a task. What was judged is kept, so that mining goes " +
		"on where it stopped or was killed. Tests run in the sandbox, without a network; what they depend on is fetched " +
		"before, from the registries of their language and from --setup-hosts."
}

// minedReport is the JSON of sia replay mine. Fields are only added.
type minedReport struct {
	Repo      string                 `json:"repo"`
	Folder    string                 `json:"folder"`         // where tasks and runs are kept
	Judged    int                    `json:"judged"`         // commits, this time
	Counts    map[replay.Verdict]int `json:"counts"`         // of all commits judged so far
	Passed    map[string]int         `json:"passed_over"`    // number of commits skipped this time, by reason
	Median    float64                `json:"median_seconds"` // time of a commit in this call; 0: none was judged
	Tasks     int                    `json:"tasks"`
	Missing   []string               `json:"missing"` // programs that commits need and this machine lacks
	Stopped   string                 `json:"stopped"` // why it ended before the end of the history; empty: it did not
	Again     *againReport           `json:"again,omitempty"`
	Committed string                 `json:"committed,omitempty"` // head of the memory branch
}

// againReport lists which tasks still hold.
type againReport struct {
	Held  int               `json:"held"`
	Gone  map[string]string `json:"gone"`  // id → what no longer holds
	Stuck map[string]string `json:"stuck"` // id → why it could not be run
}

// Run mines, or verifies again.
func (c *replayMineCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *replay.Source) error {
		if c.Commit && s.Server == nil {
			return fmt.Errorf("--commit writes to a repository on GitHub: name it as owner/name, not as a folder")
		}
		spec, err := c.spec(e, s)
		if err != nil {
			return err
		}
		out := minedReport{Repo: s.Name, Folder: s.Folder.Path(), Counts: map[replay.Verdict]int{},
			Passed: map[string]int{}, Missing: []string{}}
		if c.Again {
			if out.Again, err = c.again(e, s, spec); err != nil {
				return err
			}
			out.Tasks = out.Again.Held + len(out.Again.Gone) + len(out.Again.Stuck)
		} else {
			m, err := replay.Mine(e.Ctx, spec)
			if err != nil {
				return err
			}
			out.Judged, out.Counts, out.Median, out.Tasks, out.Stopped = m.Judged, m.Counts, m.Median, m.Tasks, m.Stopped
			out.Missing = append(out.Missing, m.Missing...)
			maps.Copy(out.Passed, m.Passed)
		}
		if c.Commit {
			tasks, _, err := s.Folder.Tasks()
			if err != nil {
				return err
			}
			if out.Committed, err = replay.Remember(e.Ctx, s.Server, tasks); err != nil {
				return err
			}
		}
		return c.Print(e, out, func() error { return out.show(e) })
	})
}

func (c *replayMineCmd) spec(e *cli.Env, s *replay.Source) (replay.MineSpec, error) {
	spec := replay.MineSpec{Folder: s.Folder, Repo: s.Name, Hosts: c.SetupHosts, Max: c.Max, Candidates: c.Candidates,
		Budget: c.Budget, Within: c.TestTimeout, Logger: e.Logger, Progress: func(p replay.Progress) {
			e.Progressf("%s  %-24s %5.1f s  %s", p.Commit[:12], p.Verdict, p.Seconds, text.Clip(p.Title, 80))
		}}
	var err error
	if spec.Box, err = cli.OpenTestSandbox(e.Ctx, e.Logger, e.ReportCompiling); err != nil {
		return spec, err
	}
	if s.Server != nil {
		spec.Issue = s.Server.Issue
	}
	spec.History, err = s.History(e.Ctx)
	return spec, err
}

func (c *replayMineCmd) again(e *cli.Env, s *replay.Source, spec replay.MineSpec) (*againReport, error) {
	tasks, err := s.Tasks(e.Ctx)
	if err != nil {
		return nil, err
	}
	checked, err := replay.Check(e.Ctx, spec, tasks, func(t replay.Task, why string) {
		e.Progressf("%s  %s", t.ID, text.Clip(cmp.Or(why, "holds"), 200))
	})
	return &againReport{Held: len(checked.Held), Gone: checked.Gone, Stuck: checked.Stuck}, err
}

func (r minedReport) show(e *cli.Env) error {
	if a := r.Again; a != nil {
		e.Linef("%s: %d of %d tasks still hold", r.Repo, a.Held, r.Tasks)
		for _, id := range slices.Sorted(maps.Keys(a.Gone)) {
			e.Linef("  %s: %s", id, a.Gone[id])
		}
		for _, id := range slices.Sorted(maps.Keys(a.Stuck)) {
			e.Linef("  %s could not be run: %s", id, a.Stuck[id])
		}
	} else {
		e.Linef("%s: %s, kept in %s", r.Repo, text.Count(r.Tasks, "task"), r.Folder)
		e.Linef("%d commits judged this time, %.1f s each in the median. Of all that were ever judged:", r.Judged,
			r.Median)
		for _, v := range keysByCount(r.Counts) {
			e.Linef("  %5d  %s", r.Counts[v], v)
		}
		if len(r.Passed) > 0 {
			e.Linef("Passed over this time, without a try, for their tests can't fail before and pass with them:")
		}
		for _, why := range keysByCount(r.Passed) {
			e.Linef("  %5d  %s", r.Passed[why], why)
		}
	}
	for _, program := range r.Missing {
		e.Linef("Commits were passed over for want of %s, which commands in the sandbox don't find here.", program)
	}
	if r.Stopped != "" {
		e.Linef("It ended before the history did: %s.", r.Stopped)
	}
	if r.Committed != "" {
		e.Linef("The tasks are on the memory branch, at %s.", r.Committed)
	}
	return nil
}

// keysByCount returns the keys of counts, the most frequent first.
func keysByCount[K cmp.Ordered](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
}
