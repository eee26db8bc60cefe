package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
)

// ModelsConfig says which models are asked for what.
type ModelsConfig struct {
	Coder    ModelConfig
	SIA      ModelConfig // zero: the coder's
	Reviewer ModelConfig // zero: SIA's
	// who may make attempts; none: the coder's model alone
	Coders []CoderConfig
}

// CoderConfig is one that may make attempts: a model, and how it is put to work.
type CoderConfig struct {
	Name    string
	Model   ModelConfig
	Command string           // an agent that is a command, as agent.command names it; "": as the repository's settings say
	Edit    agent.EditFormat // how its model changes files; "": as its family does
}

// coders are those that may make attempts; at least one.
func (c ModelsConfig) coders() []CoderConfig {
	if len(c.Coders) == 0 {
		return []CoderConfig{{Name: cmp.Or(c.Coder.Name, "coder"), Model: c.Coder}}
	}
	return c.Coders
}

// ModelConfig is one model behind an endpoint, and those that are asked in its place.
type ModelConfig struct {
	Name      string // for people and logs; "" is the role's
	URL       string // base URL, such as https://api.openai.com/v1
	Key       string
	Model     string
	Protocol  llm.Protocol  // "": found out
	Reasoning string        // how much it reasons, in the endpoint's words; "": as it does by itself
	Price     llm.Price     // USD per million tokens
	Context   int           // tokens of its window, output included; 0: llm.DefaultWindow
	MaxOutput int           // tokens of an answer; 0: llm.DefaultMaxOutput
	Timeout   time.Duration // of one answer; 0: llm.DefaultTimeout
	Backups   []ModelConfig // asked in this order when it can't answer

	observe func(context.Context, llm.Call) // see [llm.Config]; set by New
	memory  *llm.Memory                     // likewise
}

// each is the configuration with f of every model.
func (c ModelsConfig) each(f func(ModelConfig) ModelConfig) ModelsConfig {
	all := func(m ModelConfig) ModelConfig {
		m = f(m)
		m.Backups = slices.Clone(m.Backups)
		for i := range m.Backups {
			m.Backups[i] = f(m.Backups[i])
		}
		return m
	}
	c.Coder, c.SIA, c.Reviewer = all(c.Coder), all(c.SIA), all(c.Reviewer)
	c.Coders = slices.Clone(c.Coders)
	for i := range c.Coders {
		c.Coders[i].Model = all(c.Coders[i].Model)
	}
	return c
}

// observed is the configuration with every model's calls told to f.
func (c ModelsConfig) observed(f func(context.Context, llm.Call)) ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig { m.observe = f; return m })
}

// Remembering is the configuration with what is learned of every model kept in memory.
func (c ModelsConfig) Remembering(memory *llm.Memory) ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig { m.memory = memory; return m })
}

// priced is the configuration with the list prices of models that have none, as far as
// they are known.
func (c ModelsConfig) priced() ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig {
		if m.Price == (llm.Price{}) {
			m.Price, _ = llm.KnownPrice(m.Model)
		}
		return m
	})
}

// firstAttempt is what an attempt is taken to use before any was seen. At the prices of Claude
// Sonnet 4.5 it costs 0.58 USD, close to what that model's 52 calls a task cost on average on
// SWE-bench Verified with mini-swe-agent (0.56). It is outlearned within a few attempts.
var firstAttempt = llm.Usage{Input: 700_000, CachedInput: 620_000, Output: 10_000}

// cost is what an attempt of the coder is expected to cost before any was seen, in credits.
func (c CoderConfig) cost() float64 {
	return c.Model.Price.Cost(firstAttempt) / 0.01
}

// choice are the names of those that may make attempts, where there is a choice.
func (c ModelsConfig) choice() (names []string) {
	if len(c.Coders) < 2 {
		return nil
	}
	for _, one := range c.Coders {
		names = append(names, one.Name)
	}
	return names
}

func (m ModelConfig) or(other ModelConfig) ModelConfig {
	if m.Model == "" && m.URL == "" {
		return other
	}
	if m.URL == "" {
		m.URL = other.URL
	}
	if m.Key == "" && m.URL == other.URL {
		m.Key = other.Key
	}
	if m.Model == "" {
		m.Model = other.Model
	}
	if m.Protocol == "" && m.URL == other.URL && m.Model == other.Model {
		m.Protocol = other.Protocol
	}
	return m
}

// Roles are the models by what they do: coder, sia and reviewer.
func (c ModelsConfig) Roles() map[string]ModelConfig {
	return map[string]ModelConfig{"coder": c.Coder, "sia": c.SIA, "reviewer": c.Reviewer}
}

// same reports whether two are one model, asked in one way.
func (m ModelConfig) same(o ModelConfig) bool {
	return o.URL == m.URL && o.Model == m.Model && o.Key == m.Key && o.Protocol == m.Protocol && o.Reasoning == m.Reasoning
}

// Named lists every model once, in the order of the roles and of being asked.
// Names are filled in; a model without an address is left out.
func (c ModelsConfig) Named() (list []ModelConfig) {
	add := func(name string, first ModelConfig) {
		for _, m := range append([]ModelConfig{first}, first.Backups...) {
			m.Name, m.Backups = cmp.Or(m.Name, name), nil
			if m.URL != "" && !slices.ContainsFunc(list, m.same) {
				list = append(list, m)
			}
		}
	}
	for _, role := range []string{"coder", "sia", "reviewer"} {
		add(role, c.Roles()[role])
	}
	for _, one := range c.Coders {
		add(one.Name, one.Model)
	}
	return list
}

// Client calls the model itself; its backups are left alone. retries is as in
// [llm.Config].
func (m ModelConfig) Client(l *slog.Logger, retries int) (*llm.Client, error) {
	return llm.New(llm.Config{
		Name: m.Name, BaseURL: m.URL, APIKey: m.Key, Model: m.Model, Price: m.Price, Window: m.Context,
		MaxOutput: m.MaxOutput, Protocol: m.Protocol, Reasoning: m.Reasoning, Timeout: m.Timeout, Memory: m.memory,
		Retries: retries, Logger: l, Observe: m.observe,
	})
}

// Chain calls the model and its backups.
func (m ModelConfig) Chain(role string, l *slog.Logger) (*llm.Chain, error) {
	var clients []*llm.Client
	for _, one := range append([]ModelConfig{m}, m.Backups...) {
		one.Name = cmp.Or(one.Name, role)
		client, err := one.Client(l, 0)
		if err != nil {
			return nil, fmt.Errorf("the models of the %s: %w", role, err)
		}
		clients = append(clients, client)
	}
	return llm.NewChain(clients...)
}
