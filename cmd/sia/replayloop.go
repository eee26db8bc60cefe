package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localrun"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// loopName is the name of the variant that plays the whole loop with the present policies.
const loopName = "loop"

// Validate returns an error for flags of single attempts together with flags of the whole loop.
func (c *replayRunCmd) Validate() error {
	if !c.Loop && c.Change == "" {
		return nil
	}
	if len(c.Coder) > 0 || c.Technique != "" || len(c.Lesson) > 0 {
		return errors.New("--coder, --technique and --lesson are for single attempts: in the loop policies choose who " +
			"works and how")
	}
	if _, _, err := policyChange(c.Change); c.Change != "" && err != nil {
		return err
	}
	return nil
}

// policyChange reads POLICY.FIELD=VALUE.
func policyChange(s string) (policy string, m policies.Mutation, err error) {
	field, value, given := strings.Cut(s, "=")
	policy, path, below := strings.Cut(field, ".")
	if !given || !below {
		return "", m, fmt.Errorf("--change: %q is no change: want a policy, a field and its new value, such as "+
			"recover.parameters.base.retry=0.3", s)
	}
	return policy, policies.Mutation{Path: path, Value: value}, nil
}

// loops returns the whole loop with the present policies and, if requested, with changed ones.
func (c *replayRunCmd) loops(e *cli.Env, s *replay.Source, p *replay.Player) ([]playMode, error) {
	set, err := s.Policies(e.Ctx)
	if err != nil {
		return nil, err
	}
	server, err := c.config()
	if err != nil {
		return nil, err
	}
	settings := s.Settings
	settings.Agent.Timeout = sia.Duration(c.Timeout)
	options := localrun.Options{SetupHosts: c.SetupHosts, Credits: max(1, int(c.Credits)), Free: server.Free,
		Models: server.Models, Dir: userDir(), Logger: silentLogger()}
	loop := func(name, policy string, set *policies.Set) playMode {
		work := func(ctx context.Context, t replay.Stage) (replay.Result, error) {
			env := *e
			env.Ctx, env.Out, env.Err = ctx, io.Discard, io.Discard // only a line for each task is printed
			return localrun.Replay(&env, options, t, settings, set)
		}
		play := func(ctx context.Context, t replay.Task, seed int) (replay.Result, error) {
			r, err := p.PlayLoop(ctx, t, name, seed, work)
			r.Policies, r.Models = policyIDs(set), modelNames(server.Models)
			return r, err
		}
		return playMode{name: name, policy: policy, play: play}
	}
	if c.Change == "" {
		return []playMode{loop(loopName, "", set)}, nil
	}
	name, change, err := policyChange(c.Change)
	if err != nil {
		return nil, err
	}
	was, found := set.Find(name)
	if !found {
		return nil, fmt.Errorf("--change: there is no policy %q; `sia policies list` shows those that ship", name)
	}
	now, err := policies.Mutate(was, change)
	if err != nil {
		return nil, fmt.Errorf("--change: %w", err)
	}
	return []playMode{loop(loopName, was.ID(), set),
		loop(loopName+" + "+c.Change, now.ID(), set.Instead(was.ID(), policies.Repository, now))}, nil
}

// policyIDs returns the ids of policies, sorted.
func policyIDs(set *policies.Set) (out []string) {
	for _, p := range set.All() {
		out = append(out, p.ID())
	}
	slices.Sort(out)
	return out
}

// modelNames returns the names of the models that a loop may use, sorted.
func modelNames(c app.ModelsConfig) (out []string) {
	for _, m := range c.Named() {
		out = append(out, m.Model)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judged returns the verdict of the gate for changed policies on the tasks that were played with both.
func judged(modes []playMode, runs []replay.Result) (string, error) {
	gate, err := evolve.NewGate(1)
	if err != nil {
		return "", err
	}
	won, lost := replay.Duels(runs, modes[0].policy, modes[1].policy)
	for range won {
		gate.Add(true, false)
	}
	for range lost {
		gate.Add(false, true)
	}
	return fmt.Sprintf("The gate says %s: %s.", gate.Verdict(), gate.Why()), nil
}
