package main

import (
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/text"
)

type resumeCmd struct {
	openedDatabase `embed:""`
	haltTarget     `embed:""`
}

// Run resumes the tasks of a halt, no matter who paused them.
func (c *resumeCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		scope, name, err := c.scope(e, s)
		if err != nil {
			return err
		}
		n, known, err := s.Lift(e.Ctx, scope, "", s.Now())
		if err != nil {
			return err
		}
		if !known {
			return notHaltedError(e, s, name)
		}
		return c.Sayf(e, halted{scope, n}, "%s is at work again: %s resumed.\n", name, text.Count(n, "task"))
	})
}
