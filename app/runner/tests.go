package runner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

const (
	testsWait   = 10 * time.Minute // for a runner to take a run of tests
	commandTime = 10 * time.Minute // for each command of a run
)

// Limits of what a runner reports about tests.
const (
	maxTestCount   = 10_000_000
	maxTestCommand = 4 << 10  // of the command that runs the repository's tests, in bytes
	maxTestExcerpt = 64 << 10 // of one output, in bytes; the rest is cut
)

// RunsTests reports whether a runner that was seen lately said that it can run tests.
func (d *Dispatcher) RunsTests(ctx context.Context) bool {
	can, err := d.Store.HasTestRunner(ctx)
	return can || err != nil // an offer shows it
}

// Look returns the test evidence about a head of a task; see evidence.Looker.Look.
func (d *Dispatcher) Look(ctx context.Context, t sia.Task, f sia.Effect, head string) (sia.TestEvidence, error) {
	o, notRun, err := d.runTests(ctx, t, f, head, TestRun{Evidence: true}, t.Settings.Checks.Evidence.D())
	if notRun != "" || err != nil {
		return sia.TestEvidence{Head: sia.SHA(head), Base: t.BaseSHA, NotRun: notRun}, err
	}
	return *o.Evidence, nil
}

// Affected runs, within a time limit, the tests that the changes of a commit can affect. An error means that the result
// is unknown.
func (d *Dispatcher) Affected(
	ctx context.Context, t sia.Task, f sia.Effect, commit string, within time.Duration,
) (agent.TestsRun, error) {
	o, notRun, err := d.runTests(ctx, t, f, commit, TestRun{Affected: true}, within)
	if notRun != "" {
		err = errors.New(notRun)
	}
	if err != nil {
		return agent.TestsRun{}, err
	}
	return *o.Affected, nil
}

// Check runs commands on a commit; see [agent.Commands.Check].
func (d *Dispatcher) Check(
	ctx context.Context, t sia.Task, f sia.Effect, commit string, commands []string, baseline *sia.CheckRun,
) ([]sia.CheckRun, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	o, notRun, err := d.runTests(ctx, t, f, commit, TestRun{Commands: commands, Baseline: baseline},
		time.Duration(len(commands))*commandTime)
	if notRun != "" {
		for _, c := range commands {
			o.Checks = append(o.Checks, sia.CheckRun{Command: c, Missing: notRun})
		}
	}
	return o.Checks, err
}

// remoteTests is a run of tests on a runner.
type remoteTests struct {
	*Dispatcher
	work    Work
	encoded []byte
	key     string
	owner   string

	running time.Time // when its current runner was first seen; zero: it has none
	waiting time.Time // when it began to wait: first, or for another runner after one was lost
	lost    int       // number of lost runners
}

// runTests runs tests on a runner. notRun is the reason, for people, if they were not run.
func (d *Dispatcher) runTests(
	ctx context.Context, t sia.Task, f sia.Effect, start string, run TestRun, within time.Duration,
) (o Outcome, notRun string, err error) {
	if !d.RunsTests(ctx) {
		return o, "no runner that was seen within the last hour can run tests, which needs a sandbox and a current " +
			"version of SIA", nil
	}
	set := t.Settings.Agent
	r := &remoteTests{Dispatcher: d, owner: rand.Text(), waiting: d.Now(), work: Work{
		Key: f.Key, Repository: d.Key(t), Start: start, Hosts: d.Hosts, Run: &run,
		Tests: &Tests{Base: string(t.BaseSHA), Services: set.Services, Within: t.Settings.Checks.Evidence.D()},
		Input: agent.Input{Task: t.ID, Repo: t.Repo.String(), Issue: t.Issue, Setup: set.Setup, Services: set.Services,
			Test: set.Test, OnBase: start == string(t.BaseSHA), Limits: agent.Limits{Time: within}}}}
	if r.encoded, err = json.Marshal(r.work); err != nil {
		return o, "", fmt.Errorf("encode the tests of %s for a runner: %w", f.Key, err)
	}
	r.key = f.Key + " " + Hash(string(r.encoded))[:12] // an effect has several runs; the same one may have a result
	if err := d.Store.OfferAttempt(ctx, store.RunnerAttempt{Key: r.key, TestsOf: f.Key, Task: t.ID, Owner: r.owner,
		Start: start, Work: r.encoded}); err != nil {
		return o, "", err
	}
	d.changes.notify()
	d.Logger.InfoContext(ctx, "tests wait for a runner", "task", t.ID, "effect", f.Key)
	return r.follow(ctx)
}

// follow waits until a runner has run the tests, or they count as not run.
func (r *remoteTests) follow(ctx context.Context) (o Outcome, notRun string, err error) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	live := context.WithoutCancel(ctx)
	for {
		changes := r.changes.changed()
		w, err := r.Store.WatchAttempt(live, r.key, r.owner)
		if errors.Is(err, store.ErrNotFound) {
			return o, "", store.ErrLeaseLost // another server has the effect
		}
		if err != nil {
			r.Logger.WarnContext(ctx, "can't see how a run of tests stands", "effect", r.work.Key, "error", err)
		} else if o, notRun, over, err := r.handle(live, w); over || err != nil {
			return o, notRun, err
		}
		select {
		case <-changes:
		case <-tick.C:
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, store.ErrCancelled) || errors.Is(cause, context.DeadlineExceeded) {
				return o, "", errors.Join(cause, r.close(live)) // its runner stops at the next heartbeat
			}
			return o, "", cause // the next run of the effect takes it over
		}
	}
}

// handle handles the current state of a run. over reports whether it has ended.
func (r *remoteTests) handle(
	ctx context.Context, w store.RunnerWatch,
) (o Outcome, notRun string, over bool, err error) {
	now := r.Now()
	if w.State != store.RunnerRunning {
		r.running = time.Time{}
	} else if r.running.IsZero() {
		r.running = now
	}
	gone := !r.running.IsZero() && (w.Lost || now.Sub(r.running) > r.work.Within())
	if gone && w.Claims > r.lost { // a claim that was given back is not counted: a full disk must not prolong the wait
		r.lost, r.waiting = w.Claims, now
	}
	switch {
	case w.State == store.RunnerDone:
		o, notRun, err = r.finish(ctx, w)
		return o, notRun, true, err
	case (gone || r.running.IsZero()) && now.Sub(r.waiting) >= testsWait:
		return o, fmt.Sprintf("no runner that can run tests was free for %d minutes", int(testsWait.Minutes())), true,
			r.close(ctx)
	case gone && w.Claims >= maxClaims:
		return o, fmt.Sprintf("%d runners took the tests and were lost: the last was %s; its log may say why", w.Claims,
			w.Runner), true, r.close(ctx)
	case gone:
		r.Logger.WarnContext(ctx, "a run of tests has lost its runner, or was given back", "effect", r.work.Key, "runner",
			w.Runner, "lost", w.Claims)
		r.running = time.Time{} // the next may take it before this is seen
		err = r.Store.ReofferAttempt(ctx, r.key, r.owner, r.encoded)
		r.changes.notify()
	}
	return o, "", false, err
}

// finish takes the result of a run.
func (r *remoteTests) finish(ctx context.Context, w store.RunnerWatch) (o Outcome, notRun string, err error) {
	result, _, err := r.Store.AttemptResult(ctx, r.key, r.owner)
	if err != nil {
		return o, "", err
	}
	o, err = decodeTests(result, r.work)
	switch {
	case err != nil:
		notRun = fmt.Sprintf("what the runner %s sent back was refused: %s", w.Runner, err)
	case o.Failure != nil:
		notRun = fmt.Sprintf("the runner %s could not run them: %s", w.Runner, o.Failure.Message)
	}
	if err := r.close(ctx); err != nil {
		r.Logger.WarnContext(ctx, "a run of tests is left behind until its effect has ended", "effect", r.work.Key,
			"error", err)
	}
	return o, secret.Mask(notRun), nil
}

// close deletes the offer, which makes the runner's pass invalid.
func (r *remoteTests) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_, err := r.Store.CloseAttempt(ctx, r.key, r.owner)
	return err
}

// Clipped returns the outcome of a run of tests with texts of limited length; names and reasons are as long as those of
// tests that are run on a server.
func (o Outcome) Clipped() Outcome {
	if o.Failure != nil {
		f := *o.Failure
		f.Message = agent.ClipName(f.Message)
		o.Failure = &f
	}
	o.Evidence = sia.Masked(o.Evidence, agent.ClipName)
	if o.Affected != nil {
		o.Affected = &agent.TestsRun{Ran: o.Affected.Ran, Failed: sia.Masked(o.Affected.Failed, agent.ClipName),
			Log: text.Fit(o.Affected.Log, maxTestExcerpt, text.Tail)}
	}
	o.Checks = slices.Clone(o.Checks)
	for i := range o.Checks {
		c := &o.Checks[i]
		c.Missing, c.Tests = agent.ClipName(c.Missing), sia.Masked(c.Tests, agent.ClipName)
		c.Excerpt = text.Fit(c.Excerpt, maxTestExcerpt, text.Tail)
	}
	return o
}

// decodeTests decodes and validates the outcome of a run of tests, masks what has the shape of a secret, and clips it.
func decodeTests(b []byte, w Work) (o Outcome, err error) {
	if o, err = decodeOutcome(b); err != nil {
		return Outcome{}, err
	}
	valid := false
	switch run := w.Run; {
	case o.Failure != nil:
		return Outcome{Failure: sia.Masked(o.Failure, secret.Mask)}.Clipped(), nil
	case run.Evidence && o.Evidence != nil:
		valid = validEvidence(*o.Evidence, w)
	case run.Affected && o.Affected != nil:
		a := o.Affected
		valid = a.Ran >= 0 && a.Ran <= maxTestCount && len(a.Failed) <= sia.MaxEvidence
	case len(run.Commands) > 0:
		valid = validChecks(o.Checks, run.Commands)
	}
	if !valid {
		return Outcome{}, errors.New("it is no result of these tests, or larger than may be")
	}
	return Outcome{Evidence: sia.Masked(o.Evidence, secret.Mask), Affected: sia.Masked(o.Affected, secret.Mask),
		Checks: sia.Masked(o.Checks, secret.Mask)}.Clipped(), nil
}

// validEvidence reports whether evidence is of the asked commits and within its limits.
func validEvidence(e sia.TestEvidence, w Work) bool {
	return string(e.Head) == w.Start && string(e.Base) == w.Tests.Base && e.Tests >= 0 && e.Tests <= maxTestCount &&
		!slices.ContainsFunc([][]string{e.Left, e.Files, e.Early, e.Hushed, e.Red, e.Gone, e.Dropped, e.DroppedRed, e.Broken,
			e.Edited, e.Differs, e.Failing}, func(names []string) bool { return len(names) > sia.MaxEvidence })
}

// validChecks reports whether results are those of commands, in their order. The repository's tests, which are the last
// command, have no result of their own if another command is the same.
func validChecks(got []sia.CheckRun, commands []string) bool {
	last := len(commands) - 1
	if len(got) == 0 || len(got) > len(commands) || len(got) < last || len(got) == last && commands[last] != "" {
		return false
	}
	for i, c := range got {
		same := c.Command == commands[i] || commands[i] == "" && len(c.Command) <= maxTestCommand
		known := c.Class == "" || slices.Contains(failure.Classes, failure.Class(c.Class))
		if !same || !known || len(c.Tests) > failure.MaxTests {
			return false
		}
	}
	return true
}
