package app

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
)

// probeTimeout is the time limit for the conversation with a model that has no timeout of its own.
const probeTimeout = 3 * time.Minute

// probeRetries is the number of retries: models occasionally fail to write a call.
const probeRetries = 1

// Probe holds a short conversation with the model, like an attempt would, within the model's timeout.
func (m ModelConfig) Probe(ctx context.Context, log *slog.Logger, memory *ModelMemory) llm.Probed {
	m.Timeout = cmp.Or(m.Timeout, probeTimeout)
	m.memory = memory.Memory
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	client, err := m.Client(log, probeRetries)
	if err != nil {
		return llm.Probed{Name: m.Name, Model: m.Model, Advice: err.Error()}
	}
	p := client.Probe(ctx, agent.ToolSpecs(m.Model))
	if context.Cause(ctx) == nil || ctx.Err() == context.DeadlineExceeded {
		memory.saveProbed(m.key(), p)
	}
	return p
}

// modelProbes provides the results of conversations with the server's models, for the pages.
type modelProbes struct {
	models []ModelConfig
	memory *ModelMemory
}

// Probed lists the known results, in the order of the configuration. Protocol and unsupported features are updated from
// later attempts.
func (p modelProbes) Probed() (list []llm.Probed) {
	known := p.memory.Probed()
	for _, m := range p.models {
		if one, ok := known[m.key()]; ok {
			one.Name = m.Name
			one.Protocol, one.Weaker = m.Found(p.memory)
			list = append(list, one)
		}
	}
	return list
}

// ModelMemory returns what was learned about the models, even if it is not stored.
func (a *App) ModelMemory() *ModelMemory { return a.probes.memory }

// Found returns the model's protocol and its unsupported features, as far as they are known.
func (m ModelConfig) Found(memory *ModelMemory) (dialect llm.Protocol, weaker []string) {
	m.memory = memory.Memory
	client, err := m.Client(nil, 0)
	if err != nil {
		return m.Protocol, nil
	}
	return client.Protocol(), client.Weaker()
}

// key returns the key of the model's client, extended by the configured protocol and reasoning.
func (m ModelConfig) key() string {
	client, err := m.Client(nil, 0)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(client.Key() + " " + strings.TrimSpace(string(m.Protocol)+" "+m.Reasoning))
}

// probeModels holds a conversation with each model that has no recent result.
func (a *App) probeModels(ctx context.Context) {
	for _, m := range a.probes.models {
		before, known := a.probes.memory.Probed()[m.key()]
		if known && before.Usable && a.now().Sub(before.At) < probeValidity {
			continue
		}
		p := m.Probe(ctx, a.log, a.probes.memory)
		if ctx.Err() != nil {
			return
		}
		level, args := slog.LevelInfo, []any{"model", p.Name, "protocol", p.Protocol, "usable", p.Usable, "tools", p.Tools,
			"reasoning_kept", p.ReasoningKept, "cached", p.Cached, "usd", p.Usage.USD}
		if told := p.Told(); told != "" {
			args = append(args, "advice", told)
		}
		if !p.Usable || len(p.Weaker) > 0 {
			level = slog.LevelWarn
		}
		a.log.Log(ctx, level, "a model was tried out", slices.Clip(args)...)
	}
}
