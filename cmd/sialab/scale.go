package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/scale"
)

type scaleCmd struct {
	Sia           string        `help:"The program sia." default:"bin/sia" type:"existingfile"`
	Deliveries    int           `help:"Deliveries of repositories with nothing to do." default:"100000" min:"1"`
	Rate          int           `help:"Of these a second." default:"300" min:"1"`
	Repositories  int           `help:"Repositories that these are of." default:"10000" min:"1"`
	Installations int           `help:"Installations that all repositories are of." default:"50" min:"1"`
	Tasks         int           `help:"Labelled issues in the same time; the first attempt at most of them fails." default:"100" min:"1"`
	Loud          int           `help:"Labelled issues of one more installation, all at the beginning: what the others notice of it." min:"0"`
	Servers       int           `help:"Servers on one PostgreSQL database." default:"2" min:"1"`
	Runners       int           `help:"Runners that make the attempts; 0: servers make them." default:"2" min:"0"`
	Attempts      int           `help:"Attempts at the same time, of each runner or server." default:"4" min:"1"`
	ModelDelay    time.Duration `help:"How long the scripted model takes for an answer." default:"100ms"`
	Kill          bool          `help:"Kill each server, each runner, PostgreSQL and all servers, once each, and start them again." default:"true" negatable:""`
	Pooler        string        `help:"The program pgbouncer, which then stands before the database, pooling by transaction, and is killed, too." placeholder:"PGBOUNCER"`
	Clocks        time.Duration `help:"How far the clocks of servers and runners are ahead and behind, by turns: sia is built anew for that."`
	cli.Format    `embed:""`
}

// Run plays the load and prints the counts. It fails if something was lost or done twice.
func (c *scaleCmd) Run(e *cli.Env) error {
	r, err := scale.Play(e.Ctx, scale.Config{Program: c.Sia, Deliveries: c.Deliveries, Rate: c.Rate,
		Repositories: c.Repositories, Installations: c.Installations, Tasks: c.Tasks, Loud: c.Loud, Servers: c.Servers,
		Runners: c.Runners, Attempts: c.Attempts, ModelDelay: c.ModelDelay, Kill: c.Kill, Pooler: c.Pooler,
		Clocks: c.Clocks, Log: e.Logger})
	if err != nil {
		return err
	}
	most := func(a, b string) int { return r.Routes[b] - r.Routes[a] }
	for _, route := range slices.SortedFunc(maps.Keys(r.Routes), most) {
		e.Logger.DebugContext(e.Ctx, "asked of GitHub", "route", route, "times", r.Routes[route])
	}
	count := func(what string, n int, target, note string) cli.Figure {
		return cli.Measured(what, float64(n), "", target, note)
	}
	answer := func(q float64) float64 { return cli.Quantile(r.Answers, q) }
	age := func(q float64) float64 { return cli.Quantile(r.Ages, q) / 1000 }
	task := func(q float64) float64 { return cli.Quantile(r.TaskTimes, q) / 1000 }
	figures := []cli.Figure{
		count("deliveries accepted", r.Accepted, "", fmt.Sprintf("%d servers, %d runners, PostgreSQL and the load on this "+
			"machine", c.Servers, c.Runners)),
		cli.Measured("of these a second, until all ended", float64(r.Accepted)/r.Took.Seconds(), "1/s", "", ""),
		count("deliveries refused, and sent again", r.Refused, "", strings.Join(r.Killed, ", ")),
		count("processes that ended by themselves", len(r.Ended), "0", strings.Join(r.Ended, "; ")),
		count("deliveries lost", r.Lost, "0", ""),
		count("deliveries that no server could act on", r.Failed, "0", r.Failure),
		cli.Measured("acknowledged, p50", answer(.5), "ms", "", ""),
		cli.Measured("acknowledged, p99", answer(.99), "ms", "", "all"),
		cli.Measured("age when acted on, p50", age(.5), "s", "", ""),
		cli.Measured("age when acted on, p99", age(.99), "s", "", "all"),
		cli.Measured("age when acted on, p99, calm", cli.Quantile(r.CalmAges, .99)/1000, "s", "≤ 2",
			"nothing was away, nor a minute before"),
		cli.Measured("age when acted on, most", age(1), "s", "", ""),
		count("tasks passed", r.Passed, fmt.Sprint(c.Tasks+c.Loud), "nothing done twice"),
		cli.Measured("label → passed, p50", task(.5), "s", "", ""),
		cli.Measured("label → passed, p99", task(.99), "s", "", ""),
		count("most created on GitHub in a minute", r.PerMinute, "≤ 80", "of one installation"),
		count("most created on GitHub in an hour", r.PerHour, "≤ 500", "of one installation"),
		count("GitHub's answers 403 and 429", r.RateLimited, "0", fmt.Sprintf("of %d requests", r.Requests)),
		cli.Measured("most memory of a server", float64(r.Memory)/(1<<20), "MiB", "", ""),
	}
	if c.Loud > 0 {
		figures = append(figures, cli.Measured("label → passed, of the loud installation, p50",
			cli.Quantile(r.LoudTimes, .5)/1000, "s", "", ""))
	}
	if err := e.Figures(c.Output, figures); err != nil {
		return err
	}
	if r.Lost+r.Failed+len(r.Wrong) > 0 {
		return errors.New("something was lost or done twice:\n" + strings.Join(r.Wrong, "\n"))
	}
	return nil
}
