package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// loop measures the time that SIA adds between a red check and the next push, and the number of requests of an attempt.
func (c *benchMachineCmd) loop(e *cli.Env) (figures []cli.Figure, err error) {
	s, err := benchStage(e.Ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Fprintf(e.Err, "loop: %d tasks of two attempts…\n", c.Tasks)
	w := &stage.Watcher{Stage: s, Timeout: time.Minute}
	var overhead, comment []time.Duration
	var calls ghsim.Tally
	for i := range c.Tasks + 1 {
		before := s.Sim.Calls()
		o, m, err := measureLoop(e.Ctx, w, fmt.Sprintf("dev-%d", i))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue // warm-up
		}
		overhead, comment = append(overhead, o), append(comment, m)
		n := ghsim.Count(s.Sim.Calls()[len(before):])
		calls.All, calls.Free, calls.Creating = calls.All+n.All, calls.Free+n.Free, calls.Creating+n.Creating
	}
	attempts := float64(2 * c.Tasks)
	return []cli.Figure{
		cli.Measured("loop: red check → comment, p50", cli.Quantile(comment, .5), "ms",
			"", "diagnosis and review by the scripted model "+
				"included"),
		cli.Measured("loop: red check → comment → push, p50", cli.Quantile(overhead, .5), "ms",
			"≤ 1000", "warm, checks.settle 0 s"),
		cli.Measured("loop: red check → comment → push, p99", cli.Quantile(overhead, .99), "ms", "", ""),
		cli.Measured("GitHub calls per attempt", float64(calls.All)/attempts, "", "≤ 15",
			fmt.Sprintf("everything counted; %.1f of them were conditional and free", float64(calls.Free)/attempts)),
		cli.Measured("GitHub calls that create content, per attempt", float64(calls.Creating)/attempts, "", "≤ 5", ""),
	}, nil
}

// measureLoop plays one task of a new user. It returns the times from the red check to the second push and to the
// comment.
func measureLoop(ctx context.Context, w *stage.Watcher, login string) (push, comment time.Duration, err error) {
	issue, err := w.Ask(benchOwner+"/"+benchName, login, "Find the answer", "The answer to everything, please.")
	if err != nil {
		return 0, 0, err
	}
	branch := fmt.Sprintf("sia/issue-%d-", issue)
	if _, err := w.Await(ctx, "attempt 1 is pushed", stage.Pushed(branch)); err != nil {
		return 0, 0, err
	}
	red, err := w.Await(ctx, "the check fails", stage.Concluded("answer", "failure"))
	if err != nil {
		return 0, 0, err
	}
	said, err := w.Await(ctx, "SIA comments", stage.Commented("announce"))
	if err != nil {
		return 0, 0, err
	}
	again, err := w.Await(ctx, "attempt 2 is pushed", stage.Pushed(branch))
	if err != nil {
		return 0, 0, err
	}
	if _, err := w.Await(ctx, "the task passes", stage.Labelled(issue, render.LabelPassed)); err != nil {
		return 0, 0, err
	}
	return again.At.Sub(red.At), said.At.Sub(red.At), w.Sim.WaitIdle(ctx)
}
