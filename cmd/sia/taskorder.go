package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// taskOrder is a command to one task, with a running server or without one.
type taskOrder struct {
	openedDatabase `embed:""`
	Task           string `arg:"" help:"Task id, or owner/name#issue." type:"task"`
}

// orderResult is the result of an order, as JSON. Fields are only added.
type orderResult struct {
	Task  sia.TaskID `json:"task"`
	Issue string     `json:"issue"` // owner/name#number
	From  sia.State  `json:"from"`
	State sia.State  `json:"state"`
	Why   string     `json:"why"` // the decision, in words
}

// applyFact applies a fact from the operator to the task with [sia.Step]. A running server obeys at once. It returns an
// error with the reason if the fact makes no sense in the task's state.
func (o taskOrder) applyFact(e *cli.Env, fact sia.Fact) error {
	return o.with(e, func(s *store.Store) error {
		t, err := findTask(e, s, o.Task)
		if err != nil {
			return err
		}
		res, err := order(e.Ctx, s, t, fact, s.Now())
		if err != nil {
			return err
		}
		issue := fmt.Sprintf("%s#%d", t.Repo, t.Issue)
		if res.Ignored != "" {
			return fmt.Errorf("%s is %s and stays so: %s", issue, t.State, res.Ignored)
		}
		return o.Sayf(e, orderResult{t.ID, issue, t.State, res.Task.State, res.Why},
			"%s was %s and is %s: %s\n", issue, t.State, res.Task.State, res.Why)
	})
}

// order applies a fact to a task in the name of the operator.
func order(ctx context.Context, s *store.Store, t sia.Task, fact sia.Fact, now time.Time) (sia.Result, error) {
	return s.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("operator/%s/%d/v%d", fact.Kind(), now.UnixMicro(), t.Version),
		At: now, By: sia.Actor{Operator: true}, Fact: fact})
}

// operatorReason returns the reason of an order in one line, for readers of the issue.
func operatorReason(did, why string) string {
	reason := "whoever runs the server " + did
	if why != "" {
		reason += ": " + text.Clip(text.OneLine(why), maxReason)
	}
	return reason
}

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

type taskStopCmd struct {
	taskOrder `embed:""`
	Reason    string `help:"Why, for the people who wait." placeholder:"TEXT"`
}

// Run ends a task.
func (c *taskStopCmd) Run(e *cli.Env) error {
	return c.applyFact(e, sia.Stop{Reason: operatorReason("stopped it", c.Reason)})
}

type taskPauseCmd struct {
	taskOrder `embed:""`
	Reason    string `help:"Why, for the people who wait." placeholder:"TEXT"`
}

// Run pauses a task.
func (c *taskPauseCmd) Run(e *cli.Env) error {
	return c.applyFact(e, sia.PauseAsked{Reason: operatorReason("paused it", c.Reason)})
}

type taskResumeCmd struct {
	taskOrder `embed:""`
	Credits   int `help:"Credits to add to the task's budget; 1 credit is 0.01 USD." placeholder:"N" min:"0" max:"1000000"`
}

// Run resumes a task.
func (c *taskResumeCmd) Run(e *cli.Env) error {
	return c.applyFact(e, sia.Resume{Credits: sia.Credits(c.Credits) * sia.Credit})
}

type taskRetryCmd struct {
	taskOrder `embed:""`
}

// Run retries a task.
func (c *taskRetryCmd) Run(e *cli.Env) error { return c.applyFact(e, sia.Retry{}) }
