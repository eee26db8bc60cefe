package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Timeouts of an attempt.
const (
	packTimeout = time.Minute     // to commit and pack the work tree
	askTimeout  = 5 * time.Minute // for the server to judge it
)

// errStopped is the cause with which the context of an attempt is canceled when a user stops it.
var errStopped = errors.New("it was stopped")

// attempt is a running attempt.
type attempt struct {
	*worker
	offer *runner.Offer
	log   *slog.Logger
	turns int // number of reported turns
	// why a turn could not be reported for a time, although the server may take it from another runner
	unreported error

	models modelTransport // for requests to the models
}

// modelTransport is the transport to the models, which the server passes on: without the server no model can be asked.
type modelTransport struct {
	next http.RoundTripper
	away atomic.Bool // the last request did not reach the server
}

// RoundTrip implements http.RoundTripper.
func (t *modelTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		t.away.Store(r.Context().Err() == nil)
		return nil, fmt.Errorf("SIA's server can't be reached: %w", err)
	}
	// a proxy before the server answers by itself
	t.away.Store(resp.StatusCode >= http.StatusBadGateway && resp.StatusCode <= http.StatusGatewayTimeout &&
		resp.Header.Get(runner.Header) == "")
	return resp, nil
}

// run runs the attempt and reports its result.
func (a *attempt) run(ctx context.Context) error {
	work := a.offer.Work
	live, dead := context.WithCancelCause(ctx) // not canceled when a user stops the attempt
	defer dead(nil)
	ctx, cancel := context.WithCancelCause(live)
	defer cancel(nil)
	go a.heartbeat(live, cancel, dead)

	// The address is invalid on purpose: nothing is fetched from it or pushed to it.
	repo := a.git.Repo(gitops.Remote{Key: a.repository(), URL: "https://runner.invalid/base"})
	if err := a.fetch(live, repo, work.Start, false); err != nil {
		return errors.Join(context.Cause(live), err)
	}
	if work.Run != nil {
		return a.runTests(ctx, repo)
	}
	space, err := repo.Workspace(live, "", work.Start)
	if err != nil {
		return err
	}
	defer a.remove(ctx, space)
	by, err := a.agent(work)
	if err != nil {
		return err
	}
	in := work.Input
	in.Key, in.Dir, in.Prepared = a.repository(), space.Dir(), space.LeaveChanges
	in.Affected, in.Cover = a.testFuncs(repo, space)
	in.PushRefusal = func(ctx context.Context) (string, error) { return a.pushRefusal(ctx, space) }
	res, err := by.Run(ctx, in, a)
	cause := context.Cause(ctx)
	stopped := errors.Is(cause, errStopped)
	if cause != nil && !stopped {
		return cause // the runner stops, or no longer has the attempt
	}
	if a.unreported != nil && !stopped { // no other runner continues a stopped attempt
		return a.unreported
	}
	if errors.Is(err, runner.ErrGone) || errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if err != nil && a.models.away.Load() { // this says nothing about the model
		return fmt.Errorf("SIA's server %s can't be reached, and no model without it", a.client.Host())
	}
	return a.report(live, space, res, err)
}

// repository returns a key of the repository that no other of any server has.
func (a *attempt) repository() string { return a.client.Host() + " " + a.offer.Work.Repository }

// remove removes the work tree.
func (a *attempt) remove(ctx context.Context, space *gitops.Workspace) {
	if err := space.Remove(); err != nil {
		a.log.WarnContext(ctx, "work tree left behind", "error", err)
	}
}

// heartbeat sends heartbeats. When a user stopped the attempt it cancels the agent with stop, so that a result is
// reported. When the attempt is no longer this runner's it cancels everything with dead.
func (a *attempt) heartbeat(ctx context.Context, stop, dead context.CancelCauseFunc) {
	tick := time.NewTicker(a.Heartbeat)
	defer tick.Stop()
	for heard := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		end, err := a.client.Heartbeat(ctx, a.offer.Pass)
		switch {
		case err == nil:
			if heard = began; end {
				stop(errStopped)
			}
		case errors.Is(err, runner.ErrGone):
			stop(err)
			dead(err)
			return
		case time.Since(heard) > runner.Lease:
			err = fmt.Errorf("%w: the server was not reached for %s", runner.ErrGone, runner.Lease)
			stop(err)
			dead(err)
			return
		}
	}
}

// fetch fetches a commit into the mirror: the one that the attempt starts from, or the one that its tests are compared
// with.
func (a *attempt) fetch(ctx context.Context, repo *gitops.Repo, commit string, ofTests bool) error {
	if repo.HasCommit(commit) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, runner.FetchTimeout)
	defer cancel()
	return a.client.Base(ctx, a.patience, a.offer.Pass, ofTests, func(pack io.Reader) error {
		return repo.TakeCommit(ctx, commit, pack, runner.MaxBase)
	})
}

// testFuncs returns functions that run the tests that the work tree's changes can affect, and tests by name; nil: tests
// are not requested, or can't be run.
func (a *attempt) testFuncs(
	repo *gitops.Repo, space *gitops.Workspace,
) (affected func(context.Context) (agent.TestsRun, error), cover locate.Cover) {
	tests := a.offer.Work.Tests
	if tests == nil || !a.tests.Runs() {
		return nil, nil
	}
	at, wanted := time.Unix(0, 0).UTC(), a.wanted(repo, "")
	return func(ctx context.Context) (agent.TestsRun, error) {
			if err := a.fetch(ctx, repo, tests.Base, true); err != nil {
				return agent.TestsRun{}, err
			}
			return a.tests.OfTree(ctx, space, at, wanted)
		}, func(ctx context.Context, failing []locate.Test) ([]locate.Run, error) {
			return a.tests.CoverTree(ctx, space, at, wanted, failing)
		}
}

// wanted describes the change of a head since the base of tests.
func (a *attempt) wanted(repo *gitops.Repo, head string) evidence.Wanted {
	work := a.offer.Work
	return evidence.Wanted{Repository: a.repository(), Base: work.Tests.Base, Head: head,
		Services: work.Tests.Services, Hosts: work.Hosts, Within: work.Tests.Within, Open: repo.OpenCommits}
}

// commands returns the commands of the sandbox.
func (a *attempt) commands() (*agent.Commands, error) {
	return agent.NewCommands(a.Sandbox, filepath.Join(a.Dir, "sandbox"), a.offer.Work.Hosts, time.Now, a.log)
}

// agent returns the agent for the attempt, configured as on the server.
func (a *attempt) agent(work runner.Work) (agent.Agent, error) {
	if len(work.Coder.Models) == 0 {
		return nil, errors.New("the server names no model")
	}
	commands, err := a.commands()
	if err != nil {
		return nil, err
	}
	known := map[string]llm.Learned{}
	var configs []llm.Config
	for i, m := range work.Coder.Models {
		at := a.client.ModelURL(i)
		known[at+" "+m.Model] = m.Learned
		configs = append(configs, llm.Config{Name: m.Name, BaseURL: at, APIKey: a.offer.Pass, Model: m.Model,
			Protocol: m.Protocol, Reasoning: m.Reasoning, Price: m.Price, Window: m.Window, MaxOutput: m.MaxOutput,
			Timeout: m.Timeout, HTTPClient: &http.Client{Transport: &a.models}, Logger: a.log})
	}
	first := work.Coder.Models[0]
	others, err := agent.NewCommandAgents(agent.CommandAgentsConfig{
		Upstream: configs[0].BaseURL, Key: a.offer.Pass, Model: first.Model, Price: first.Price, Window: first.Window,
		Timeout: first.Timeout, Room: &gateway.Room{}, Commands: commands, Path: a.AgentPath, Env: a.AgentEnv,
		Environ: os.Environ(), Now: time.Now, Logger: a.log})
	if err != nil {
		return nil, err
	}
	if by, ok := others.Agent(work.Coder.Agent); ok {
		return by, nil
	}
	memory := llm.NewMemory(known, nil)
	var clients []*llm.Client
	for _, c := range configs {
		c.Memory = memory
		one, err := llm.New(c)
		if err != nil {
			return nil, err
		}
		clients = append(clients, one)
	}
	chain, err := llm.NewChain(clients...)
	if err != nil {
		return nil, err
	}
	return agent.NewBuiltin(agent.BuiltinConfig{Model: chain, Edit: work.Coder.Edit, Commands: commands,
		Now: time.Now, Logger: a.log})
}

// Turn reports one turn and waits until the server has it in the transcript; see [agent.Recorder].
func (a *attempt) Turn(ctx context.Context, t agent.Turn) error {
	b, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode turn %d: %w", t.Number, err)
	}
	// The agent's timeout is ten seconds. A restart of the server takes longer, and the turn is paid for.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.patience)
	defer cancel()
	if err := a.client.Turn(ctx, a.offer.Pass, a.turns+1, b); err != nil {
		err = fmt.Errorf("report turn %d: %w", t.Number, err)
		if ctx.Err() != nil {
			a.unreported = err
		}
		return err
	}
	a.turns++
	return nil
}

// report sends the agent's result, and its change.
func (a *attempt) report(ctx context.Context, space *gitops.Workspace, res agent.Result, failed error) error {
	o := runner.Outcome{Result: res, Failure: failure(failed)}
	pack, err := a.pack(ctx, space, &o)
	if err != nil {
		return err
	}
	return a.send(ctx, o, pack)
}

// failure describes an error to the server; nil: there was none.
func failure(err error) *runner.Failure {
	if err == nil {
		return nil
	}
	f := &runner.Failure{Message: err.Error()}
	var known *sia.Error
	if errors.As(err, &known) {
		f.Known, f.Message, f.Permanent, f.RetryAfter = true, known.Message, known.Permanent, known.RetryAfter
		f.Outage = known.Outage
	}
	return f
}

// send sends an outcome, with the pack of the change.
func (a *attempt) send(ctx context.Context, o runner.Outcome, pack []byte) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	return a.client.Result(ctx, a.offer.Pass, runner.JoinResult(b, pack))
}

// pushRefusal asks the server why the work tree must not be pushed; see [agent.Input.PushRefusal].
func (a *attempt) pushRefusal(ctx context.Context, space *gitops.Workspace) (string, error) {
	o := runner.Outcome{Result: agent.Result{End: sia.EndFinished}}
	pack, err := a.pack(ctx, space, &o)
	switch {
	case err != nil:
		return "", err
	case o.TooLarge:
		return runner.ErrTooLarge.Error(), nil
	case o.Commit == "":
		return o.Result.Reason, nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode the change: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return a.client.PushRefusal(ctx, a.offer.Pass, runner.JoinResult(b, pack))
}

// pack commits the work tree and packs the new objects; nil: nothing changed.
func (a *attempt) pack(ctx context.Context, space *gitops.Workspace, o *runner.Outcome) ([]byte, error) {
	if a.offer.Work.Input.Planning {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, packTimeout)
	defer cancel()
	space.KeepWritten(o.Result.Written)
	by := gitops.Signature{Name: "SIA", Email: "sia@localhost", When: time.Unix(0, 0).UTC()}
	sha, err := space.Commit(ctx, gitops.CommitSpec{Message: "What the attempt changed", Author: by, Committer: by})
	o.Result.LeftOut, o.Result.Built = agent.LeftOutOf(o.Result.LeftOut, agent.LeftOut(space.LeftOut()))
	switch {
	case errors.Is(err, gitops.ErrEmpty):
		return nil, nil
	case errors.Is(err, gitops.ErrTree): // the attempt has failed, as on a server
		o.Result.End = sia.EndError
		o.Result.Reason = "the work tree can't be committed: " + err.Error()
		return nil, nil
	case err != nil:
		return nil, err
	}
	packs, err := space.Pack(ctx, sha, runner.MaxPack)
	if err != nil {
		return nil, err
	}
	if o.Commit = sha; packs == nil {
		o.Commit, o.TooLarge = "", true
	}
	return packs, nil
}
