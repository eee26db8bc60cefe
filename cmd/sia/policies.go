package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia/text"
)

type policiesCmd struct {
	List     policiesListCmd     `cmd:"" help:"List the policies that may hold: those that ship, and with --repo the owner's and the repository's." example:"sia policies list --repo acme/shop"`
	Show     policiesShowCmd     `cmd:"" help:"Print a policy as it is written, also an old version." example:"sia policies show recover"`
	Check    policiesCheckCmd    `cmd:"" help:"Check a policy file: every problem with its line." example:"sia policies check .sia/policies/recover.yml"`
	Diff     policiesDiffCmd     `cmd:"" help:"Say in which fields two policies differ." example:"sia policies diff recover .sia/policies/recover.yml"`
	Explain  policiesExplainCmd  `cmd:"" help:"Every decision of a task, or everything that happened to a change of a policy." example:"sia policies explain acme/shop#12"`
	Simulate policiesSimulateCmd `cmd:"" help:"Put a policy file to the decisions in the log: what it would have decided otherwise." example:"sia policies simulate recover.yml"`
	Analyse  policiesAnalyseCmd  `cmd:"" help:"Show the results of each option, and where it does well or badly." example:"sia policies analyse"`
	Evolve   policiesEvolveCmd   `cmd:"" help:"Move every change on, and propose changes where there is room for one, as the server does once a day." example:"sia policies evolve"`
	Propose  policiesProposeCmd  `cmd:"" help:"Propose a change of a policy: one field, which is tried on half of the tasks." example:"sia policies propose --repo acme/shop --reason \"retries pay here\" recover parameters.threshold=0.5"`
	Promote  policiesPromoteCmd  `cmd:"" help:"Take a change up now, whatever its experiment shows." example:"sia policies promote recover-1-3fa9c2"`
	Rollback policiesRollbackCmd `cmd:"" help:"Take a change back, or stop trying it." example:"sia policies rollback recover-1-3fa9c2"`
	Freeze   policiesFreezeCmd   `cmd:"" help:"Have nobody change a policy for a while." example:"sia policies freeze --repo acme/shop --days 30 recover"`
}

// policySource selects policies: those that ship, and those of a server.
type policySource struct {
	openedDatabase `embed:""`
	Repo           string `help:"Also the policies of this repository and its owner, as the server last read them: owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
}

// set returns the policies that may apply. Without a repository it needs no database.
func (o policySource) set(e *cli.Env) (set *policies.Set, err error) {
	if o.Repo == "" {
		return policies.ShippedSet(), nil
	}
	err = o.with(e, func(s *store.Store) error {
		r, err := knownRepository(e, s, o.Repo)
		if err != nil {
			return err
		}
		set, err = settings.Kept(e.Ctx, s, r.Installation, r.Repo)
		return err
	})
	return set, err
}

// find returns a policy by its id or name: one that may apply, or an old version in the database.
func (o policySource) find(e *cli.Env, name string) (p policies.Policy, err error) {
	set, err := o.set(e)
	if err != nil {
		return p, err
	}
	p, found := set.Find(name)
	if found {
		return p, nil
	}
	none := fmt.Errorf("there is no policy %q; `sia policies list` shows those that may hold, with --repo owner/name "+
		"also a repository's", name)
	if !strings.Contains(name, "@") {
		return p, none
	}
	err = o.with(e, func(s *store.Store) error {
		source, err := s.PolicyVersion(e.Ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			return none
		}
		if err == nil {
			p, err = policies.Parse(name, []byte(source))
		}
		return err
	})
	return p, err
}

// fileOrFind returns the policy in a file of that name, or else the policy with that id or name.
func (o policySource) fileOrFind(e *cli.Env, name string) (policies.Policy, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return policyFile(name)
	}
	p, err := o.find(e, name)
	if err != nil {
		err = fmt.Errorf("%w; nor is there such a file", err)
	}
	return p, err
}

func policyFile(name string) (policies.Policy, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return policies.Policy{}, err
	}
	return policies.Parse(name, b)
}

// shownPolicy is a policy, as JSON.
type shownPolicy struct {
	Decision  policies.Type     `json:"decision"`
	ID        string            `json:"id"`
	Layer     string            `json:"layer"`
	Selector  policies.Selector `json:"selector"`
	Holds     string            `json:"holds"` // the selector in words
	Reasoning string            `json:"reasoning"`
	Source    string            `json:"source,omitempty"` // text of the file
}

func shownOf(p policies.Policy) shownPolicy {
	return shownPolicy{Decision: p.Decision, ID: p.ID(), Layer: p.Layer.String(), Selector: p.Selector,
		Holds: p.Selector.String(), Reasoning: p.Reasoning}
}

type policiesListCmd struct {
	policySource `embed:""`
}

// Run lists policies.
func (c *policiesListCmd) Run(e *cli.Env) error {
	set, err := c.set(e)
	if err != nil {
		return err
	}
	var all []shownPolicy
	for _, p := range set.All() {
		all = append(all, shownOf(p))
	}
	return cli.List(e, c.Format, all, "", []string{"DECISION", "POLICY", "LAYER", "HOLDS FOR", "WHY"},
		func(t cli.Table, p shownPolicy) {
			t.Rowf("%s\t%s\t%s\t%s\t%s", p.Decision, p.ID, p.Layer, p.Holds, text.Clip(text.FirstSentence(p.Reasoning), 100))
		})
}

type policiesShowCmd struct {
	policySource `embed:""`
	Policy       string `arg:"" help:"Its id, or its name."`
}

// Run prints one policy.
func (c *policiesShowCmd) Run(e *cli.Env) error {
	p, err := c.find(e, c.Policy)
	if err != nil {
		return err
	}
	shown := shownOf(p)
	shown.Source = p.Source
	return c.Print(e, shown, func() error { return e.Sayf("%s", p.Source) })
}

type policiesCheckCmd struct {
	File       string `arg:"" help:"The file." type:"path"`
	cli.Format `embed:""`
}

// Run checks a policy file.
func (c *policiesCheckCmd) Run(e *cli.Env) error {
	p, err := policyFile(c.File)
	if err != nil {
		return checkedFile{File: c.File}.report(e, c.Format, err, "")
	}
	return checkedFile{File: c.File, ID: p.ID()}.report(e, c.Format, nil, fmt.Sprintf(", %s for %s", p.ID(), p.Selector))
}

type policiesDiffCmd struct {
	policySource `embed:""`
	Old          string `arg:"" help:"A file, or a policy's id or name."`
	New          string `arg:"" help:"Another."`
}

// Run prints the fields in which two policies differ.
func (c *policiesDiffCmd) Run(e *cli.Env) error {
	old, err := c.fileOrFind(e, c.Old)
	if err != nil {
		return err
	}
	now, err := c.fileOrFind(e, c.New)
	if err != nil {
		return err
	}
	if old.Decision != now.Decision {
		return fmt.Errorf("%s decides %s and %s decides %s; compare two policies of one type", c.Old, old.Decision, c.New,
			now.Decision)
	}
	changes := policies.Diff(old, now)
	return c.Print(e, nonNil(changes), func() error {
		for _, change := range changes {
			e.Linef("%s", change)
		}
		return nil
	})
}
