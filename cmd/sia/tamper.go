package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/tamper"
	"github.com/sia-bot/sia/sia/text"
)

// tamperCmd examines commits of a local repository as SIA examines an attempt: what the change does to tests and
// checks.
type tamperCmd struct {
	Base       string   `arg:"" help:"Commit that the change begins at."`
	Head       string   `arg:"" help:"Commit that it leads to."`
	Repo       string   `help:"Folder of the Git repository." default:"." type:"path" placeholder:"DIR"`
	Each       bool     `help:"Look at every commit between the two by itself, merges left out."`
	Protected  []string `help:"Globs of paths that nobody changes unasked, beside those that are always protected." placeholder:"GLOB"`
	Tests      string   `help:"Run the tests that the change can reach, too; what is built stays in this folder." type:"path" placeholder:"DIR"`
	SetupHosts []string `help:"Hosts that tests' dependencies may be fetched from, beside the registries, such as registry.internal:8443." placeholder:"NAME"`
	Output     string   `help:"text or json (an object for each difference, a line each)." enum:"text,json" default:"text"`
}

// Help documents the exit code.
func (*tamperCmd) Help() string {
	return "Exits 0 when nothing asks a person: nothing was found, or only what the reviewer is asked first.\n\n" +
		"Exits 1 when something asks a person, or when the commits can't be read."
}

// Validate returns an error for a glob that would protect nothing.
func (c *tamperCmd) Validate() error {
	for _, g := range c.Protected {
		if wrong := config.WrongGlob(g); wrong != "" {
			return fmt.Errorf("--protected: %s", wrong)
		}
	}
	return nil
}

// tamperReport is what --output json prints of one difference. Fields are only added.
type tamperReport struct {
	Base     string          `json:"base"`
	Head     string          `json:"head"`
	Files    int             `json:"files"`   // files that differ
	Seconds  float64         `json:"seconds"` // duration of the search, without reading the commits
	Asks     string          `json:"asks"`    // person, reviewer or nobody
	Findings []tamperFinding `json:"findings"`

	Evidence *sia.TestEvidence `json:"evidence,omitempty"` // result of running the tests
	Ran      float64           `json:"ran,omitempty"`      // duration of the tests, in seconds
	Firm     []string          `json:"firm,omitempty"`     // evidence that needs a person
	Broken   []string          `json:"broken,omitempty"`   // evidence that the reviewer is asked about first
}

type tamperFinding struct {
	Asks tamper.Asked       `json:"asks"`
	Kind tamper.FindingKind `json:"kind"`
	Path string             `json:"path"`
	Line int                `json:"line,omitempty"`
	Text string             `json:"text,omitempty"`
	Why  string             `json:"why"`
	said string
}

// Run examines the difference, or each commit.
func (c *tamperCmd) Run(e *cli.Env) error {
	git := localgit.At(c.Repo)
	var whole [2]string
	for i, name := range []string{c.Base, c.Head} {
		var err error
		if whole[i], err = git.Commit(e.Ctx, name); err != nil {
			return err
		}
	}
	pairs := [][2]string{whole}
	if c.Each {
		var err error
		if pairs, err = git.Commits(e.Ctx, c.Base, c.Head); err != nil {
			return err
		}
	}
	looker, err := c.looker(e)
	if err != nil {
		return err
	}
	asked := false
	for _, p := range pairs {
		rep, err := c.report(e, git, looker, p)
		if err != nil {
			return err
		}
		if !c.Each {
			rep.Base, rep.Head = c.Base, c.Head
		}
		asked = asked || rep.Asks == string(tamper.Person)
		if err := c.show(e, rep); err != nil {
			return err
		}
	}
	if asked {
		return cli.ErrShown
	}
	return nil
}

// looker returns a runner of tests; nil without --tests.
func (c *tamperCmd) looker(e *cli.Env) (*evidence.Looker, error) {
	if c.Tests == "" {
		return nil, nil //nolint:nilnil // nil: no tests requested
	}
	box, err := cli.OpenTestSandbox(e.Ctx, e.Logger, e.ReportCompiling)
	if err != nil {
		return nil, err
	}
	return evidence.NewLooker(box, c.Tests, c.SetupHosts, time.Now), nil
}

// report examines the difference between two commits.
func (c *tamperCmd) report(e *cli.Env, git localgit.Repo, looker *evidence.Looker, p [2]string) (tamperReport, error) {
	rep := tamperReport{Base: p[0], Head: p[1], Asks: "nobody", Findings: []tamperFinding{}}
	changes, err := git.Changes(e.Ctx, p[0], p[1])
	if err != nil {
		return rep, err
	}
	rep.Files = len(changes)
	start := time.Now()
	found := tamper.Find(changes, c.Protected, sia.AlwaysProtected()...)
	rep.Seconds = time.Since(start).Seconds()
	if looker != nil {
		if err := c.run(e, looker, &rep); err != nil {
			return rep, err
		}
	}
	for _, f := range found {
		if f.OfTests() && rep.Evidence.Ran(f.Path) {
			continue
		}
		if rep.Asks != string(tamper.Person) {
			rep.Asks = string(f.Asks())
		}
		rep.Findings = append(rep.Findings, tamperFinding{f.Asks(), f.Kind, f.Path, f.Line, f.Text, f.Why, f.String()})
	}
	if len(rep.Broken) > 0 && rep.Asks != string(tamper.Person) {
		rep.Asks = string(tamper.Reviewer)
	}
	if len(rep.Firm) > 0 {
		rep.Asks = string(tamper.Person)
	}
	return rep, nil
}

// run runs the tests that a difference can reach.
func (c *tamperCmd) run(e *cli.Env, looker *evidence.Looker, rep *tamperReport) error {
	w := evidence.Wanted{Repository: c.Repo, Base: rep.Base, Head: rep.Head,
		Begins: func(step string) { e.Progressf("%s", step) },
		Open:   func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(c.Repo) }}
	start := time.Now()
	ran, err := looker.Look(e.Ctx, w)
	if err != nil {
		return err
	}
	rep.Evidence, rep.Ran = &ran, time.Since(start).Seconds()
	rep.Firm, rep.Broken = ran.Asks()
	return nil
}

func (c *tamperCmd) show(e *cli.Env, rep tamperReport) error {
	if c.Output == "json" {
		return e.JSONLine(rep)
	}
	lines := [][2]string{}
	for _, f := range rep.Findings {
		lines = append(lines, [2]string{string(f.Asks), f.said})
	}
	for _, s := range rep.Firm {
		lines = append(lines, [2]string{string(tamper.Person), s})
	}
	for _, s := range rep.Broken {
		lines = append(lines, [2]string{string(tamper.Reviewer), s})
	}
	lines = append(lines, ranLines(rep.Evidence)...)
	if c.Each && len(lines) > 0 {
		e.Linef("%s", e.Style.Bold(rep.Head))
	}
	for _, l := range lines {
		if err := e.Sayf("%-8s  %s\n", l[0], l[1]); err != nil {
			return err
		}
	}
	return nil
}

// ranLines returns the lines about the tests that were run, other than those that ask somebody.
func ranLines(e *sia.TestEvidence) (lines [][2]string) {
	if e == nil {
		return nil
	}
	for _, test := range e.Dropped {
		lines = append(lines, [2]string{"dropped", test + " is gone or skipped, and passes as the base commit has it"})
	}
	for _, said := range e.Contradicts() {
		lines = append(lines, [2]string{"fails", said})
	}
	left := e.Left
	if e.NotRun != "" {
		lines = append(lines, [2]string{"not run", e.NotRun})
		left = left[min(1, len(left)):] // NotRun contains the first
	}
	for _, why := range left {
		lines = append(lines, [2]string{"left out", why})
	}
	if e.NotRun != "" {
		return lines
	}
	ran := fmt.Sprintf("%s of the base commit (%s)", text.Count(e.Tests, "test"), e.Language)
	return append(lines, [2]string{"ran", ran})
}
