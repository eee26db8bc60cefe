package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
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
func (c *replayRunCmd) loops(e *cli.Env, s *replaySource, p *replay.Player) ([]playMode, error) {
	set, err := s.policies(e)
	if err != nil {
		return nil, err
	}
	server, err := c.config()
	if err != nil {
		return nil, err
	}
	loop := func(name, policy string, set *policies.Set) playMode {
		l := taskLoop{env: *e, models: server.Models, free: server.Free, settings: s.settings, policies: set,
			flags: c.playFlags}
		l.env.Out, l.env.Err = io.Discard, io.Discard // only a line for each task is printed
		play := func(ctx context.Context, t replay.Task, seed int) (replay.Result, error) {
			r, err := p.PlayLoop(ctx, t, name, seed, l.play)
			r.Policies, r.Models = l.ids(), l.asked()
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

// policies returns the policies that apply in the repository: a server's, or the shipped ones with those of the commit
// that is checked out in a clone.
func (s *replaySource) policies(e *cli.Env) (*policies.Set, error) {
	if s.server != nil {
		return s.server.Policies(e.Ctx)
	}
	set := policies.ShippedSet()
	head, err := s.clone.Head()
	if err != nil || head == "" {
		return set, err
	}
	all, err := s.clone.Files(e.Ctx, head)
	if err != nil {
		return nil, err
	}
	for name, file := range all {
		if file.Link || !policies.IsFile(name) {
			continue
		}
		b, err := s.clone.Blob(file.ID, maxSettings)
		if err != nil {
			return nil, err
		}
		p, err := policies.Parse(name, b)
		if err != nil {
			return nil, err
		}
		set = set.With(policies.Repository, p)
	}
	return set, nil
}

// taskLoop runs the whole loop on replay tasks.
type taskLoop struct {
	env      cli.Env
	models   app.ModelsConfig
	free     bool
	settings sia.Settings // of the repository today
	policies *policies.Set
	flags    playFlags
}

// ids returns the ids of the policies, sorted.
func (l *taskLoop) ids() (out []string) {
	for _, p := range l.policies.All() {
		out = append(out, p.ID())
	}
	slices.Sort(out)
	return out
}

// asked returns the models that the loop may use, sorted.
func (l *taskLoop) asked() (out []string) {
	for _, m := range l.models.Named() {
		out = append(out, m.Model)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// play is a [replay.Loop].
func (l *taskLoop) play(ctx context.Context, s replay.Stage) (out replay.Result, err error) {
	env := l.env
	env.Ctx = ctx
	c := runCmd{SetupHosts: l.flags.SetupHosts, Free: l.free, Credits: max(1, int(l.flags.Credits))}.withDefaults()
	job := localJob{git: localGit{dir: s.Dir}, name: "task", base: s.Base, baseName: "main", branch: "sia/result",
		title: s.Title, body: s.Text, why: "a replay task", check: "the tests", judge: s.Check, settings: l.settings,
		policies: l.policies, models: l.models}
	if err := c.complete(ctx, &job); err != nil {
		return out, err
	}
	job.settings.Agent.Timeout = sia.Duration(l.flags.Timeout)
	r, err := c.start(&env, job)
	if err != nil {
		return out, err
	}
	ended, err := r.play()
	if err = errors.Join(err, r.Close(), ctx.Err()); err != nil {
		return out, err
	}
	if r.trouble.words != "" && !ended.Passed {
		return out, errors.New(r.trouble.words)
	}
	out = replay.Result{Resolved: ended.Passed, Why: cmp.Or(ended.Reason, "the tests pass"),
		Cost: 100 * ended.USD, Attempts: len(ended.Attempts), Files: []string{}}
	if ended.Head != "" {
		listed, err := job.git.run(ctx, "diff", "--name-only", "--no-renames", "-z", "--end-of-options", s.Base, ended.Head)
		if err != nil {
			return out, err
		}
		out.Files = strings.FieldsFunc(string(listed), func(c rune) bool { return c == 0 })
	}
	return out, nil
}

// duelsOf returns a function that counts the replayed tasks in a data folder for the gate of changed policies.
func duelsOf(dir string) func(repo, present, candidate string) (won, lost int, err error) {
	return func(repo, present, candidate string) (won, lost int, err error) {
		if _, err := os.Stat(filepath.Join(dir, "replay", url.PathEscape(repo))); errors.Is(err, fs.ErrNotExist) {
			return 0, 0, nil // no runs yet
		}
		f, err := replay.OpenFolder(dir, repo)
		if err != nil {
			return 0, 0, err
		}
		runs, err := f.Runs()
		if err != nil {
			return 0, 0, err
		}
		won, lost = replay.Duels(runs, present, candidate)
		return won, lost, nil
	}
}
