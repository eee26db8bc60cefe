package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/trace"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// newDispatcher creates the dispatcher, which runs attempts on runners.
func newDispatcher(g *deps, c Config, ending <-chan struct{}) (*runner.Dispatcher, error) {
	out := runner.Config{Store: g.store, Hosts: c.SetupHosts, Logger: g.log, Now: g.now, Ending: ending,
		Mirror: func(t sia.Task) *gitops.Repo { return g.git.Repo(g.github.Repo(t.Installation, t.Repo).Remote()) },
		Key:    func(t sia.Task) string { return g.github.Repo(t.Installation, t.Repo).Remote().Key },
	}
	for _, one := range c.Models.coders() {
		a := runner.Agent{Name: one.Name, Edit: one.Edit, Command: one.Command}
		for _, m := range append([]ModelConfig{one.Model}, one.Model.Backups...) {
			m.Name = cmp.Or(m.Name, one.Name)
			client, err := m.Client(g.log, 0)
			if err != nil {
				return nil, fmt.Errorf("the models of the coder %s: %w", one.Name, err)
			}
			a.Models = append(a.Models, runner.Upstream{URL: m.URL, Key: m.Key, Client: client,
				Observe: func(ctx context.Context, id sia.TaskID, call llm.Call) { m.observe(trace.InTask(ctx, id), call) },
				Model: runner.Model{Name: m.Name, Model: m.Model, Protocol: m.Protocol, Reasoning: m.Reasoning, Price: m.Price,
					Window: m.Context, MaxOutput: m.MaxOutput, Timeout: m.Timeout}})
		}
		out.Agents = append(out.Agents, a)
	}
	return runner.NewDispatcher(out), nil
}
