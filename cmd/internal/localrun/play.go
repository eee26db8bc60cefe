package localrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// play works on the issue until it is resolved, or nothing more can be done.
func (r *run) play() (out Result, err error) {
	r.progress("%s: %s", r.Style.Bold("Issue"), r.job.opts.Title)
	r.progress("Repository %s at %.9s, model %s, %s", r.job.git.Dir, r.job.base, r.job.opts.Models.Coder.Model,
		r.job.budget())
	r.progress("Check: %s (%s)", r.job.check, r.job.why)
	if err := r.checkModelReachable(); err != nil {
		return out, err
	}
	if r.hasMemory {
		if err := r.loadMemory(); err != nil {
			return out, err
		}
	}
	r.forecast()
	if r.job.uncommitted {
		r.progress("What is not committed, untracked files included, is left alone and not checked. Commit what belongs " +
			"to the work first.")
	}
	if len(r.job.submodules) > 0 {
		r.progress("Submodules are not copied, so tests that need them fail: %s", strings.Join(r.job.submodules, ", "))
	}
	if without := r.job.deniedEnv(); len(without) > 0 {
		r.progress("The agent's command does not get these variables of agent.env, which --agent-env would name: %s",
			strings.Join(without, ", "))
	}
	r.baseCheck = r.checkBase()
	if r.Ctx.Err() != nil {
		return r.end(sia.Task{})
	}
	if r.baseCheck.err != nil {
		return out, r.baseCheck.err
	}
	if r.job.judge == nil {
		r.tellBase()
	}
	if r.baseCheck.passed && r.job.finishedBase != "" {
		return r.takeFinished()
	}
	body := r.job.opts.Body
	if !r.baseCheck.passed {
		body = strings.TrimSpace(fmt.Sprintf("%s\n\nBefore any change, `%s` fails:\n\n%s", body, r.job.settings.Agent.Test,
			excerptOf(r.baseCheck.log, promptLines)))
	}
	if r.issue, err = r.Sim.OpenIssue(r.repo, login, r.job.opts.Title, body); err != nil {
		return out, err
	}
	if err := r.Sim.Label(r.repo, r.issue, login, r.job.settings.Label); err != nil {
		return out, err
	}
	ctx, end := context.WithCancel(context.WithoutCancel(r.Ctx))
	broken, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.watchPushes(ctx); err != nil {
			broken <- err
		}
	}()
	task, err := r.followTask(broken)
	if err == nil && r.job.opts.Memory && task.State == sia.Passed { // lessons are committed after the task has passed
		within, cancel := context.WithTimeout(ctx, stopTimeout)
		if err := r.App.Engine().Idle(within); err != nil {
			r.progress("What was learned may be committed in part: %v", err)
		}
		cancel()
	}
	end()
	<-ended
	if err != nil {
		return out, err
	}
	return r.end(task)
}

// checkModelReachable returns an error if the model is unreachable or rejects the key. The server's loop would wait for
// hours, which makes no sense for a user at a terminal.
func (r *run) checkModelReachable() error {
	for _, p := range r.App.Problems(r.Ctx) {
		e := (*llm.Error)(nil)
		switch {
		case r.Ctx.Err() != nil || !errors.As(p.Err, &e):
		case e.Kind == llm.KindNetwork || e.Kind == llm.KindAuth:
			return fmt.Errorf("the model can't be asked, so nothing was begun: %w", p.Err)
		case e.Kind == llm.KindTimeout:
			r.progress("The model's endpoint is slow to answer, or silent; it is asked all the same.")
		}
	}
	return nil
}

// pace is the interval at which a run polls its task.
const pace = 500 * time.Millisecond

// nextPoll waits until a task is polled again. It returns false if the context ends first.
func nextPoll(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pace):
		return true
	}
}

// followTask prints the progress of the task until it ends, until it waits for a user who can't be asked, or until
// broken receives an error of the check.
func (r *run) followTask(broken <-chan error) (t sia.Task, err error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-r.Ctx.Done():
			return r.stop(t)
		case err := <-broken:
			return t, err
		case <-tick.C:
		}
		now, err := r.TaskOf(r.Ctx, r.issue)
		if err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if now.ID == "" {
			continue
		}
		t = now
		if err := r.tell(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if lost, err := r.checkRetries(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		} else if lost {
			return r.stop(t)
		}
		r.printReplies()
		r.reportSilence(t)
		switch {
		case t.State == sia.Passed || t.State == sia.Stopped:
			return t, nil
		case render.Waiting(t) == "" || t.State == sia.Escalated && !t.Escalation.Kind.OnIssue() && t.Escalation.Issue == 0:
		case !r.interactive:
			return t, nil
		default:
			if done, err := r.ask(t); done || err != nil {
				return t, err
			}
		}
	}
}

// stopTimeout is how long a stopped run may take to put its work on the branch.
const stopTimeout = 20 * time.Second

// stop makes SIA put the work on the branch, after Ctrl-C or when nobody reads the output any more.
func (r *run) stop(t sia.Task) (sia.Task, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), stopTimeout)
	defer cancel()
	r.progress("Stopping; what was done is kept.")
	if t.State == sia.PushedOut || t.State == sia.Checking {
		r.finishedHead = string(t.Head)
	}
	if _, err := r.Sim.Comment(r.repo, r.issue, login, "/sia stop"); err != nil {
		return t, err
	}
	for t.State != sia.Stopped && t.State != sia.Passed && nextPoll(ctx) {
		now, err := r.TaskOf(ctx, r.issue)
		if err != nil {
			return t, nil // keep what is on the branch
		}
		if now.ID != "" {
			t = now
		}
	}
	if err := r.App.Engine().Idle(ctx); err != nil && ctx.Err() == nil {
		return t, err
	}
	return t, nil // tests that still run add nothing to the branch
}
