package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/located"
)

type benchCmd struct {
	Locate  locateCmd  `cmd:"" help:"Find the files that commits changed, given their tests, against each source alone."`
	Already alreadyCmd `cmd:"" help:"Check, on tasks of a history, evidence that something is so already: where it is, and where it is not."`
	Intake  intakeCmd  `cmd:"" help:"Send the same deliveries to a Probot app and to sia on each database, and measure the answers."`
	Sandbox sandboxCmd `cmd:"" help:"Measure what attempts in the sandbox take of this machine, whose models are scripted."`
	Scale   scaleCmd   `cmd:"" help:"Send many deliveries to several servers and runners, kill each of them and the database, and count what was lost, done twice or late."`
}

type locateCmd struct {
	Clones     []string `arg:"" help:"Clones with their history, bare or not." type:"existingdir"`
	Tasks      int      `help:"Tasks of each repository, newest first." default:"40"`
	Verified   string   `help:"Folder in which sia replay mine --dir kept tasks: only these, with the tests that fail and what they print." type:"existingdir"`
	Cover      string   `help:"Run those tests and others near them, and rank by what they cover too; what they ran is kept in this folder." placeholder:"DIR"`
	Stdlib     string   `help:"Folder with Go's standard library compiled, kept from run to run, such as ~/.cache/sia/stdlib." placeholder:"DIR"`
	Misses     bool     `help:"List the tasks of which no changed file is among the first five."`
	cli.Format `embed:""`
}

// locateReport is the JSON of sialab locate. It depends only on the clones and flags.
type locateReport struct {
	Groups []locateGroup  `json:"groups"`
	Held   []located.Held `json:"leave_one_out"`
	Misses []string       `json:"misses,omitempty"`
}

// locateGroup holds the scores on the tasks of one repository, one language, or all.
type locateGroup struct {
	Name   string          `json:"name"`
	Tasks  int             `json:"tasks"`
	Files  int             `json:"files"` // median number of candidates of a task
	Scores []located.Score `json:"scores"`
}

// Run mines tasks, ranks them and prints how often a changed file is among the first.
func (c *locateCmd) Run(e *cli.Env) error {
	var cover *located.Coverage
	if c.Cover != "" {
		dir, err := filepath.Abs(c.Cover)
		if err != nil {
			return fmt.Errorf("keep what tests ran in %s: %w", c.Cover, err)
		}
		c.Cover = dir
		box, err := cli.OpenSandbox(e.Ctx,
			sandbox.Options{Stdlib: cmp.Or(c.Stdlib, filepath.Join(c.Cover, "stdlib")), Logger: e.Logger})
		if err != nil {
			return fmt.Errorf("tests are run in the sandbox only: %w", err)
		}
		cover = &located.Coverage{Box: box, Dir: c.Cover, Within: 3 * time.Minute}
	}
	var cases []located.Case
	for _, dir := range c.Clones {
		more, err := c.cases(e, dir, cover)
		if err != nil {
			return err
		}
		cases = append(cases, more...)
	}
	if len(cases) == 0 {
		return errors.New("the clones have no commit that changed tests and code; name others")
	}
	report, err := c.report(e, cases)
	if err != nil {
		return err
	}
	return c.Print(e, report, func() error { return report.print(e.Out) })
}

func (c *locateCmd) cases(e *cli.Env, dir string, cover *located.Coverage) (out []located.Case, err error) {
	r, err := located.OpenRepository(e.Ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var tasks []located.Task
	if c.Verified != "" {
		tasks, err = r.Verified(e.Ctx, c.Verified)
	} else {
		tasks, err = r.Mine(e.Ctx, c.Tasks)
	}
	if err != nil {
		return nil, err
	}
	err = r.Gather(e.Ctx, tasks, cover, func(one located.Case) { out = append(out, one) })
	fmt.Fprintf(e.Err, "%s: %d tasks%s\n", r.Name, len(out), located.CoverWords(out))
	return out, err
}

func (c *locateCmd) report(e *cli.Env, cases []located.Case) (r locateReport, err error) {
	groups, names := map[string][]located.Case{}, []string{}
	add := func(name string, one located.Case) {
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], one)
	}
	for _, one := range cases {
		add("all", one)
	}
	for _, one := range cases {
		add("language "+one.Language, one)
	}
	for _, one := range cases {
		add("repository "+one.Repo, one)
	}
	for _, n := range names {
		g := locateGroup{Name: n, Tasks: len(groups[n])}
		var files []int
		for _, one := range groups[n] {
			files = append(files, one.Files)
		}
		slices.Sort(files)
		g.Files = files[len(files)/2]
		for _, ranker := range located.Rankers() {
			g.Scores = append(g.Scores, located.Measure(ranker, groups[n]))
		}
		r.Groups = append(r.Groups, g)
	}
	if r.Held, err = located.LeaveOneOut(e.Ctx, cases); err != nil {
		return r, err
	}
	if c.Misses {
		r.Misses = located.Misses(cases)
	}
	return r, nil
}

func (r locateReport) print(out io.Writer) error {
	for i, g := range r.Groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s: %d tasks, %d files to choose from in the median\n", g.Name, g.Tasks, g.Files)
		w := cli.NewTable(out, "RANKER", "HIT@1 %", "@3", "@5", "@10", "RECALL@5 %")
		scores := slices.Clone(g.Scores)
		for _, h := range r.Held {
			if g.Name == "all" {
				scores = append(scores, h.Score)
			}
		}
		if strings.HasPrefix(g.Name, "repository") {
			scores = scores[:2]
		}
		for _, s := range scores {
			w.Rowf("%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f", s.Ranker, 100*s.Hits[0], 100*s.Hits[1], 100*s.Hits[2], 100*s.Hits[3],
				100*s.Recall)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, h := range r.Held {
		fmt.Fprintf(out, "\n%s, chosen for\n", h.Ranker)
		for _, repo := range slices.Sorted(maps.Keys(h.Chosen)) {
			fmt.Fprintf(out, "%s: k %g", repo, h.Chosen[repo].K)
			for _, s := range locate.Sources() {
				if weight, ok := h.Chosen[repo].Of[s]; ok {
					fmt.Fprintf(out, ", %s %g", s, weight)
				}
			}
			fmt.Fprintln(out)
		}
	}
	for _, m := range r.Misses {
		fmt.Fprintln(out, m)
	}
	return nil
}
