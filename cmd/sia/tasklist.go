package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// anyState selects tasks in every state.
const anyState = "any"

type taskListCmd struct {
	openedDatabase `embed:""`
	Repo           string   `help:"Only tasks of this repository, as owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
	State          string   `help:"Only tasks in this state, such as paused." enum:"any,${states}" default:"any" placeholder:"STATE"`
	Since          pastTime `help:"Only tasks that changed since: a time such as 36h or 7d ago, or a date such as 2026-05-04." placeholder:"TIME"`
	Limit          int      `help:"At most so many." default:"50" min:"1"`
}

// Run lists tasks.
func (c *taskListCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		repo, err := repositoryID(e, s, c.Repo)
		if err != nil {
			return err
		}
		f := store.Filter{Limit: c.Limit, Since: c.Since.resolve(time.Now()), Repo: repo}
		if c.State != anyState {
			f.State = sia.State(c.State)
		}
		tasks, err := s.Tasks(e.Ctx, f)
		if err != nil {
			return err
		}
		halts, err := s.Halts(e.Ctx)
		if err != nil {
			return err
		}
		for _, h := range halts {
			if c.Output != "json" {
				e.Linef("%s %s", e.Style.Amber("paused:"), render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator))
			}
		}
		var all []shownTask
		for _, t := range tasks {
			all = append(all, shown(t))
		}
		return cli.List(e, c.Format, all, c.none(),
			[]string{"TASK", "ISSUE", "STATE", "ATTEMPTS", "CREDITS", "SINCE", "TITLE"}, func(w cli.Table, t shownTask) {
				w.Rowf("%s\t%s#%d\t%s\t%d\t%s/%s\t%s\t%s", t.ID, t.Repo, t.Issue, t.State, len(t.Attempts), t.Credits.Spent,
					t.Credits.Budget, t.Since.Local().Format(time.DateTime), text.Clip(text.OneLine(t.Title), 50))
			})
	})
}

// none returns the message for an empty list.
func (c *taskListCmd) none() string {
	if c.Repo == "" && c.State == anyState && c.Since == (pastTime{}) {
		return "no tasks: label an issue to start one"
	}
	return "no such tasks; `sia task list` without filters lists all"
}

// stateNames returns the states of a task as a list for kong.
func stateNames() string {
	names := make([]string, len(sia.States))
	for i, state := range sia.States {
		names[i] = string(state)
	}
	return strings.Join(names, ",")
}

// pastTime is a time as a user writes it: a duration ago, or a date or time.
type pastTime struct {
	ago time.Duration // zero: at counts
	at  time.Time     // both zero: no limit
}

// UnmarshalText reads 36h, 7d, 2026-05-04 (midnight here) or 2026-05-04T12:00:00Z.
func (p *pastTime) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			p.ago = time.Duration(n) * 24 * time.Hour
			return nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		p.ago = d
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil { //nolint:gosmopolitan // local to the user
			p.at = at
			return nil
		}
	}
	return fmt.Errorf("%q is no time: write 36h or 7d for so long ago, or a date such as 2026-05-04", s)
}

// resolve returns the time relative to now.
func (p pastTime) resolve(now time.Time) time.Time {
	if p.ago > 0 {
		return now.Add(-p.ago)
	}
	return p.at
}
