package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia"
)

type replayRunCmd struct {
	playFlags `embed:""`
	Coder     []string `help:"Which of the configured coders; several are compared. Default: the first." placeholder:"NAME"`
	Seeds     int      `help:"How often each task is done." default:"1" placeholder:"N" min:"1"`
	Technique string   `help:"Technique by which the brief is made, such as decomposition; default: the plain task." placeholder:"ID"`
	Lesson    []string `help:"Files with lessons for the coder." type:"existingfile" placeholder:"FILE"`
	Loop      bool     `help:"Work on each task as sia run does: attempts, the tests as the check, diagnosis, changed approaches, until they pass or nothing is left to try."`
	Change    string   `help:"Have the loop work on each task twice: by the policies as they are, and with one field changed." placeholder:"POLICY.FIELD=VALUE"`
	Tasks     []string `arg:"" optional:"" help:"Tasks, by id or how that begins; default: all." placeholder:"ID"`
}

// playFlags limit one attempt at a task.
type playFlags struct {
	replayFlags `embed:""`
	Credits     float64       `help:"What one attempt may cost, or the whole loop, in credits (0.01 USD)." default:"100" min:"0" max:"1000000"`
	Timeout     time.Duration `help:"How long one attempt may take." default:"30m" min:"1s"`
}

// playedReport is the JSON of sia replay run. Fields are only added.
type playedReport struct {
	Repo     string          `json:"repo"`
	Runs     []replay.Result `json:"runs"`
	Variants []variantReport `json:"variants"`
	Failed   []string        `json:"failed"`         // attempts that could not be made, and why
	Gate     string          `json:"gate,omitempty"` // verdict of the gate on a changed policy
}

// variantReport is the result of one variant.
type variantReport struct {
	Variant  string  `json:"variant"`
	Tried    int     `json:"tried"`
	Resolved int     `json:"resolved"`
	Credits  float64 `json:"credits"` // of all attempts
	Seconds  float64 `json:"seconds"` // of all attempts
}

// Run plays tasks. An attempt that fails to run is reported and not counted; the others continue.
func (c *replayRunCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *replay.Source) error {
		tasks, err := c.chosen(e, s)
		if err != nil {
			return err
		}
		p, err := c.player(e, s)
		if err != nil {
			return err
		}
		modes, err := c.modes(e, s, p)
		if err != nil {
			return err
		}
		out := playedReport{Repo: s.Name, Runs: []replay.Result{}, Failed: []string{}, Variants: []variantReport{}}
		for _, t := range tasks {
			for _, m := range modes {
				for seed := 1; seed <= c.Seeds; seed++ {
					if err := m.log(e, s, t, seed, &out); err != nil {
						return err
					}
				}
			}
		}
		for _, m := range modes {
			of := func(r replay.Result) bool { return r.Variant == m.name }
			out.Variants = append(out.Variants, summed(m.name, out.Runs, of))
		}
		if c.Change != "" {
			if out.Gate, err = judged(modes, out.Runs); err != nil {
				return err
			}
		}
		return c.Report(e, out, len(out.Failed) == 0, func() error { return out.show(e) })
	})
}

// playMode plays tasks in one variant.
type playMode struct {
	name   string
	policy string // id of the changed policy in this variant; empty: no policy was changed
	play   func(ctx context.Context, t replay.Task, seed int) (replay.Result, error)
}

// log plays a task and appends the result to the log.
func (m playMode) log(e *cli.Env, s *replay.Source, t replay.Task, seed int, out *playedReport) error {
	r, err := m.play(e.Ctx, t, seed)
	if e.Ctx.Err() != nil {
		return e.Ctx.Err()
	}
	if err != nil {
		out.Failed = append(out.Failed, fmt.Sprintf("%s, %s: %v", t.ID, m.name, err))
		e.Progressf("%s  %s  could not be tried: %v", t.ID, m.name, err)
		return nil
	}
	e.Progressf("%s  %s  %s", t.ID, m.name, runText(r))
	out.Runs = append(out.Runs, r)
	return s.Folder.AppendRun(r)
}

// chosen returns the tasks that the arguments name, or all.
func (c *replayRunCmd) chosen(e *cli.Env, s *replay.Source) (out []replay.Task, err error) {
	all, err := s.Tasks(e.Ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range c.Tasks {
		t, err := findReplayTask(all, id)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if len(c.Tasks) == 0 {
		out = all
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no tasks yet; `sia replay mine` looks for some", s.Name)
	}
	return out, nil
}

// player returns a player with the flags and the repository's settings.
func (c playFlags) player(e *cli.Env, s *replay.Source) (*replay.Player, error) {
	server, err := c.config()
	if err != nil {
		return nil, err
	}
	if coder := server.WithDefaults().Models.Coder; coder.URL == "" || coder.Model == "" {
		return nil, cli.Usage("%s", noModel)
	}
	box, err := cli.OpenTestSandbox(e.Ctx, e.Logger, e.ReportCompiling)
	if err != nil {
		return nil, err
	}
	configured, err := app.Coders(server, app.Options{Logger: e.Logger, Now: time.Now}, box)
	if err != nil {
		return nil, err
	}
	var coders []replay.Coder
	for _, one := range configured {
		coders = append(coders, replay.Coder(one))
	}
	h, err := s.History(e.Ctx)
	if err != nil {
		return nil, err
	}
	set := s.Settings.Agent
	return replay.NewPlayer(replay.PlayerConfig{History: h, Folder: s.Folder, Box: box, Hosts: c.SetupHosts,
		Coders: coders, Within: c.TestTimeout,
		Limits: agent.Limits{Time: c.Timeout, Credits: sia.Credits(c.Credits * float64(sia.Credit))},
		Setup:  set.Setup, Test: set.Test, Logger: e.Logger})
}

// maxLesson is the maximum size of a file with a lesson, in bytes.
const maxLesson = 64 << 10

// modes returns the requested variants: the whole loop, or single attempts.
func (c *replayRunCmd) modes(e *cli.Env, s *replay.Source, p *replay.Player) (out []playMode, err error) {
	if c.Loop || c.Change != "" {
		return c.loops(e, s, p)
	}
	variants, err := c.variants(p)
	for _, v := range variants {
		play := func(ctx context.Context, t replay.Task, seed int) (replay.Result, error) {
			return p.Play(ctx, t, v, seed)
		}
		out = append(out, playMode{name: v.Name, play: play})
	}
	return out, err
}

// variants returns a variant of single attempts for each coder. Its name lists the technique and the lessons.
func (c *replayRunCmd) variants(p *replay.Player) (out []replay.Variant, err error) {
	v := replay.Variant{Technique: c.Technique}
	var with []string
	if c.Technique != "" {
		with = append(with, c.Technique)
	}
	for _, file := range c.Lesson {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read lesson: %w", err)
		}
		if len(b) > maxLesson {
			return nil, fmt.Errorf("read lesson: %s has more than %d KiB", file, maxLesson>>10)
		}
		v.Lessons = append(v.Lessons, strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD")))
		with = append(with, filepath.Base(file))
	}
	coders := c.Coder
	if len(coders) == 0 {
		coders = []string{p.Coders[0].Name}
	}
	for _, coder := range slices.Compact(slices.Sorted(slices.Values(coders))) {
		v.Coder = coder
		v.Name = strings.Join(append([]string{coder}, with...), " + ")
		if err := p.Check(v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// summed returns the totals, under a name, of the runs that meant selects.
func summed(name string, runs []replay.Result, meant func(replay.Result) bool) variantReport {
	out := variantReport{Variant: name}
	for _, r := range runs {
		if !meant(r) {
			continue
		}
		out.Tried++
		if r.Resolved {
			out.Resolved++
		}
		out.Credits += r.Cost
		out.Seconds += r.Seconds
	}
	return out
}

func (r playedReport) show(e *cli.Env) error {
	w := cli.NewTable(e.Out, "VARIANT", "RESOLVED", "CREDITS", "SECONDS")
	for _, v := range r.Variants {
		w.Rowf("%s\t%s\t%.2f\t%.0f", v.Variant, resolvedOf(v.Resolved, v.Tried), v.Credits, v.Seconds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Gate != "" {
		e.Linef("%s", r.Gate)
	}
	for _, f := range slices.Sorted(slices.Values(r.Failed)) {
		e.Linef("could not be tried: %s", f)
	}
	return nil
}
