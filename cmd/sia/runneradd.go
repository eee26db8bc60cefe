package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
)

// runnerName matches the name of a runner, which appears in logs and reasons.
var runnerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)

type runnerAddCmd struct {
	openedDatabase `embed:""`
	Name           string `arg:"" help:"What the runner is called, in letters, digits, dots and dashes."`
}

// Validate returns an error for an invalid name.
func (c runnerAddCmd) Validate() error {
	if !runnerName.MatchString(c.Name) {
		return fmt.Errorf("%q can't be a runner's name: use at most 50 letters, digits, dots, dashes and underscores", c.Name)
	}
	return nil
}

// Run adds the runner and prints its token unmasked. Only the token's hash is stored, in the database.
func (c *runnerAddCmd) Run(e *cli.Env) error {
	token := runner.NewToken()
	err := c.with(e, func(s *store.Store) error { return s.AddRunner(e.Ctx, c.Name, runner.Hash(token)) })
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return json.NewEncoder(e.Out).Encode(map[string]string{"name": c.Name, "token": token})
	}
	fmt.Fprintln(e.Err, "This is the only time that the token is shown. On the runner's machine:\n"+
		"  sia runner --server https://ADDRESS --token-file FILE\n"+
		"The server gives runners work if it is started with --attempts-on runners.")
	_, err = fmt.Fprintln(e.Out, token)
	return err
}

type runnerListCmd struct {
	openedDatabase `embed:""`
}

// listedRunner is a runner, as JSON.
type listedRunner struct {
	Name     string     `json:"name"`
	About    string     `json:"about,omitempty"`
	Seen     *time.Time `json:"seen,omitempty"`
	Away     bool       `json:"away"`     // it makes nothing, and was not seen for a minute
	Tests    bool       `json:"tests"`    // it can run tests, and was seen in the last hour
	Attempts []string   `json:"attempts"` // keys of their effects, and of runs of tests
}

// Run lists the runners.
func (c *runnerListCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		all, err := s.Runners(e.Ctx)
		if err != nil {
			return err
		}
		standings, err := s.RunnerStandings(e.Ctx)
		if err != nil {
			return err
		}
		var listed []listedRunner
		for _, r := range all {
			l := listedRunner{Name: r.Name, About: r.About, Away: r.Away(s.Now()), Tests: r.TakesTests(s.Now()),
				Attempts: nonNil(r.Attempts)}
			if !r.Seen.IsZero() {
				l.Seen = &r.Seen
			}
			listed = append(listed, l)
		}
		return cli.List(e, c.Format, listed, "There are no runners. `sia runner add NAME` adds one.",
			[]string{"RUNNER", "LAST SEEN", "TESTS", "MAKES", "IS"}, func(t cli.Table, l listedRunner) {
				seen := "never"
				if l.Seen != nil {
					seen = l.Seen.UTC().Format("2006-01-02 15:04:05 UTC")
					if l.Away {
						seen += ", away"
					}
				}
				made := attemptsOf(e.Ctx, s, standings, l.Attempts)
				tests := "no"
				if l.Tests {
					tests = "yes"
				}
				t.Rowf("%s\t%s\t%s\t%s\t%s", l.Name, seen, tests, cmp.Or(strings.Join(made, "; "), "–"), l.About)
			})
	})
}

// attemptsOf returns the names, for users, of the attempts and runs of tests with the given keys.
func attemptsOf(ctx context.Context, s *store.Store, all []store.RunnerStanding, keys []string) (made []string) {
	for _, a := range all {
		if !slices.Contains(keys, a.Key) {
			continue
		}
		name := string(a.Task)
		if t, err := s.Task(ctx, a.Task); err == nil {
			name = fmt.Sprintf("%s#%d", t.Repo, t.Issue)
		}
		made = append(made, fmt.Sprintf("%s, %s", name, a))
	}
	return made
}

type runnerRemoveCmd struct {
	openedDatabase `embed:""`
	Name           string `arg:"" help:"The runner, as sia runner list calls it."`
}

// Run removes the runner.
func (c *runnerRemoveCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		err := s.RemoveRunner(e.Ctx, c.Name)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("there is no runner %q; `sia runner list` shows them", c.Name)
		}
		if err != nil {
			return err
		}
		return c.Sayf(e, map[string]string{"removed": c.Name},
			"%s is removed. What it makes goes to another runner.\n", c.Name)
	})
}

// showRunners prints which attempts and tests of a task wait for a runner, and which runner has the others.
func showRunners(e *cli.Env, s *store.Store, t sia.Task) error {
	all, err := s.RunnerStandings(e.Ctx)
	if err != nil {
		return err
	}
	for _, a := range all {
		name, verb := a.Key, "waits"
		if a.Tests {
			name, verb = a.String(), "wait"
		}
		switch {
		case a.Task != t.ID:
		case a.Waits():
			e.Linef("\n  %s %s for a runner since %s", name, verb, a.Since.Local().Format(time.DateTime))
		case a.Tests:
			e.Linef("\n  %s are run by the runner %s", name, a.Runner)
		default:
			e.Linef("\n  %s is made by the runner %s", name, a.Runner)
		}
	}
	return nil
}
