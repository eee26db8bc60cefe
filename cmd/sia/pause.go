package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// haltTarget selects what is paused: everything, a repository or an installation.
type haltTarget struct {
	All          bool   `help:"Everything that this server works on." xor:"target"`
	Repo         string `help:"One repository." placeholder:"OWNER/NAME" xor:"target" type:"repository"`
	Installation int64  `help:"Everything of one installation, by GitHub's id." placeholder:"ID" xor:"target"`
}

// Validate returns an error if nothing is selected. Marked as required, all three flags would be in the usage line.
func (h haltTarget) Validate() error {
	if h == (haltTarget{}) {
		return errors.New("say what: --all, --repo or --installation")
	}
	return nil
}

// scope returns the selected scope, and its name for users.
func (h haltTarget) scope(e *cli.Env, s *store.Store) (scope sia.HaltScope, name string, err error) {
	switch {
	case h.All:
		return sia.ServerHalt, "everything", nil
	case h.Installation != 0:
		all, err := s.Installations(e.Ctx)
		if err != nil {
			return "", "", err
		}
		for _, in := range all {
			if in.ID == h.Installation {
				return sia.InstallationHalt(in.ID), "everything of " + in.Account, nil
			}
		}
		return "", "", fmt.Errorf("there is no installation %d; GitHub shows the id at the end of the installation's address",
			h.Installation)
	}
	r, err := knownRepository(e, s, h.Repo)
	return sia.RepositoryHalt(r.ID), "everything in " + r.String(), err
}

type pauseCmd struct {
	openedDatabase `embed:""`
	haltTarget     `embed:""`
	Reason         string `help:"Why, for the people who wait." placeholder:"TEXT"`
}

// halted is the result of pausing or resuming, as JSON.
type halted struct {
	Scope sia.HaltScope `json:"scope"`
	Tasks int           `json:"tasks"` // number of tasks that were paused or resumed
}

// Run pauses the selected scope. A running server obeys at once; a server that starts later finds it paused.
func (c *pauseCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		scope, name, err := c.scope(e, s)
		if err != nil {
			return err
		}
		reason := name + " is paused by whoever runs the server"
		if c.Reason != "" {
			reason += ": " + c.Reason
		} else if halts, err := s.Halts(e.Ctx); err != nil {
			return err
		} else if i := slices.IndexFunc(halts, func(h store.Halt) bool { return h.Scope == scope }); i >= 0 {
			reason = halts[i].Reason
		}
		n, err := s.Halt(e.Ctx, store.Halt{Scope: scope, Reason: reason, At: s.Now()})
		if err != nil {
			return err
		}
		return c.Sayf(e, halted{scope, n}, "%s is paused: %s stopped, and what was done is kept; new ones wait.\n"+
			"`sia resume` with the same flags goes on.\n", name, text.Count(n, "task"))
	})
}

// notHaltedError returns an error for a scope that is not paused, which lists the scopes that are.
func notHaltedError(e *cli.Env, s *store.Store, name string) error {
	halts, err := s.Halts(e.Ctx)
	if err != nil {
		return err
	}
	said := name + " is not paused as a whole"
	for _, h := range halts {
		said += "; " + string(h.Scope) + " is: " + h.Reason
	}
	return errors.New(said + "; `sia task list --state paused` shows what waits")
}
