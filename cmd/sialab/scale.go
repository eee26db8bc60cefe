package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/scale"
)

type scaleCmd struct {
	Sia           string        `help:"The program sia." default:"bin/sia" type:"existingfile"`
	Deliveries    int           `help:"Deliveries of repositories with nothing to do." default:"100000"`
	Rate          int           `help:"Of these a second." default:"300"`
	Repositories  int           `help:"Repositories that these are of." default:"10000"`
	Installations int           `help:"Installations that all repositories are of." default:"50"`
	Tasks         int           `help:"Labelled issues in the same time; the first attempt at most of them fails." default:"100"`
	Servers       int           `help:"Servers on one PostgreSQL database." default:"2"`
	Runners       int           `help:"Runners that make the attempts; 0: servers make them." default:"2"`
	Attempts      int           `help:"Attempts at the same time, of each runner or server." default:"4"`
	Thinks        time.Duration `help:"How long the scripted model takes for an answer." default:"100ms"`
	Blows         bool          `help:"Kill each server, each runner, PostgreSQL and all servers, once each, and start them again." default:"true" negatable:""`
	cli.Format    `embed:""`
}

// Validate refuses, as wrong usage, what can't be played.
func (c *scaleCmd) Validate() error {
	for name, n := range map[string]int{"deliveries": c.Deliveries, "rate": c.Rate, "repositories": c.Repositories,
		"installations": c.Installations, "tasks": c.Tasks, "servers": c.Servers, "attempts": c.Attempts} {
		if n < 1 {
			return fmt.Errorf("--%s %d: at least one", name, n)
		}
	}
	if c.Runners < 0 {
		return fmt.Errorf("--runners %d: none or more", c.Runners)
	}
	return nil
}

// Run plays it and prints what was counted. It is an error where something was lost or done twice.
func (c *scaleCmd) Run(e *cli.Env) error {
	r, err := scale.Play(e.Ctx, scale.Config{Sia: c.Sia, Deliveries: c.Deliveries, Rate: c.Rate,
		Repositories: c.Repositories, Installations: c.Installations, Tasks: c.Tasks, Servers: c.Servers,
		Runners: c.Runners, Attempts: c.Attempts, Thinks: c.Thinks, Blows: c.Blows, Log: e.Logger})
	if err != nil {
		return err
	}
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	var most int64
	for _, m := range r.Memory {
		most = max(most, m)
	}
	played := fmt.Sprintf("%d servers, %d runners, PostgreSQL and the load on this machine", c.Servers, c.Runners)
	away := "the time in which something was away included"
	figures := []cli.Figure{
		cli.Measured("deliveries accepted", float64(r.Noise), "", "", played),
		cli.Measured("of these a second, until all ended", float64(r.Noise)/r.Took.Seconds(), "1/s", "", ""),
		cli.Measured("deliveries refused, and sent again", float64(r.Refused), "", "", strings.Join(r.Blows, ", ")),
		cli.Measured("deliveries lost", float64(r.Lost), "", "0", ""),
		cli.Measured("deliveries that no server could act on", float64(r.Failed), "", "0", r.Failure),
		cli.Measured("acknowledged, p50", cli.Quantile(r.Answered, .5), "ms", "", ""),
		cli.Measured("acknowledged, p99", cli.Quantile(r.Answered, .99), "ms", "", away),
		cli.Measured("age when acted on, p50", seconds(r.Ages.P50), "s", "", ""),
		cli.Measured("age when acted on, p99, all", seconds(r.Ages.P99), "s", "", ""),
		cli.Measured("age when acted on, p99, calm", seconds(r.Ages.Calm99), "s", "≤ 2",
			"nothing was away, nor a minute before"),
		cli.Measured("age when acted on, most", seconds(r.Ages.Max), "s", "", ""),
		cli.Measured("tasks passed", float64(r.Passed), "", fmt.Sprint(c.Tasks), "nothing done twice"),
		cli.Measured("label → passed, p50", seconds(scale.Quantile(r.Taken, .5)), "s", "", ""),
		cli.Measured("label → passed, p99", seconds(scale.Quantile(r.Taken, .99)), "s", "", ""),
		cli.Measured("most created on GitHub in a minute", float64(r.Minute), "", "≤ 80", "of one installation"),
		cli.Measured("most created on GitHub in an hour", float64(r.Hour), "", "≤ 500", "of one installation"),
		cli.Measured("GitHub's refusals for a limit", float64(r.Limited), "", "0", fmt.Sprintf("of %d requests", r.Calls)),
		cli.Measured("most memory of a server", float64(most)/(1<<20), "MiB", "", ""),
	}
	for _, what := range slices.SortedFunc(maps.Keys(r.Asked), func(a, b string) int { return r.Asked[b] - r.Asked[a] }) {
		e.Logger.DebugContext(e.Ctx, "asked of GitHub", "what", what, "times", r.Asked[what])
	}
	if err := e.Figures(c.Output, figures); err != nil {
		return err
	}
	if r.Lost+r.Failed+len(r.Wrong) > 0 {
		return errors.New("something was lost or done twice:\n" + strings.Join(r.Wrong, "\n"))
	}
	return nil
}
