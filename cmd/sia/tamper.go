package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/tamper"
)

// tamperCmd looks at commits of a local repository the way SIA looks at an
// attempt: what does the difference do to the tests and checks?
type tamperCmd struct {
	Base      string   `arg:"" help:"Commit that the change begins at."`
	Head      string   `arg:"" help:"Commit that it leads to."`
	Repo      string   `help:"Folder of the Git repository." default:"." placeholder:"DIR"`
	Each      bool     `help:"Look at every commit between the two by itself, merges left out."`
	Protected []string `help:"Globs of paths that nobody changes unasked." placeholder:"GLOB"`
	Output    string   `help:"text or json (an object for each difference, a line each)." enum:"text,json" default:"text"`
}

// Help says what the exit code means.
func (*tamperCmd) Help() string {
	return "Exits 0 when nothing asks a person: nothing was found, or only what the reviewer is asked first.\n\n" +
		"Exits 1 when something asks a person, or when the commits can't be read."
}

// tamperReport is what --output json prints of one difference. Fields are only added.
type tamperReport struct {
	Base     string          `json:"base"`
	Head     string          `json:"head"`
	Files    int             `json:"files"`   // that differ
	Seconds  float64         `json:"seconds"` // that finding took, without reading the commits
	Asks     string          `json:"asks"`    // person, reviewer or nobody
	Findings []tamperFinding `json:"findings"`
}

type tamperFinding struct {
	Asks tamper.Asked       `json:"asks"`
	Kind tamper.FindingKind `json:"kind"`
	Path string             `json:"path"`
	Line int                `json:"line,omitempty"`
	Text string             `json:"text,omitempty"`
	Why  string             `json:"why"`
}

// Run looks at the difference, or at each commit's.
func (c *tamperCmd) Run(e *cli.Env) error {
	git := localGit{dir: c.Repo}
	pairs := [][2]string{{c.Base, c.Head}}
	if c.Each {
		var err error
		if pairs, err = git.commits(e.Ctx, c.Base, c.Head); err != nil {
			return err
		}
	}
	asked := false
	for _, p := range pairs {
		changes, err := git.changes(e.Ctx, p[0], p[1])
		if err != nil {
			return err
		}
		start := time.Now()
		found := tamper.Find(changes, c.Protected)
		rep := tamperReport{Base: p[0], Head: p[1], Files: len(changes), Seconds: time.Since(start).Seconds(),
			Asks: "nobody", Findings: []tamperFinding{}}
		for _, f := range found {
			if rep.Asks != string(tamper.Person) {
				rep.Asks = string(f.Asks())
			}
			rep.Findings = append(rep.Findings, tamperFinding{f.Asks(), f.Kind, f.Path, f.Line, f.Text, f.Why})
		}
		asked = asked || rep.Asks == string(tamper.Person)
		if err := c.show(e, rep, found); err != nil {
			return err
		}
	}
	if asked {
		return cli.ErrShown
	}
	return nil
}

func (c *tamperCmd) show(e *cli.Env, rep tamperReport, found []tamper.Finding) error {
	if c.Output == "json" {
		return json.NewEncoder(e.Out).Encode(rep)
	}
	if c.Each && len(found) > 0 {
		fmt.Fprintln(e.Out, e.Style.Bold(rep.Head))
	}
	for _, f := range found {
		if _, err := fmt.Fprintf(e.Out, "%-8s  %s\n", f.Asks(), f); err != nil {
			return err
		}
	}
	return nil
}
