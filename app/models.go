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

// ModelsConfig configures the model of each role.
type ModelsConfig struct {
	Coder    ModelConfig
	SIA      ModelConfig // zero: the coder's
	Reviewer ModelConfig // zero: SIA's
	// the coders; none: only the model Coder
	Coders []CoderConfig
}

// CoderConfig is a coder: a model and the agent that uses it.
type CoderConfig struct {
	Name    string
	Model   ModelConfig
	Command string           // command of an agent, as in agent.command; "": as the repository's settings say
	Edit    agent.EditFormat // edit format of its model; "": its family's default
}

// coders returns the coders; at least one.
func (c ModelsConfig) coders() []CoderConfig {
	if len(c.Coders) == 0 {
		return []CoderConfig{{Name: cmp.Or(c.Coder.Name, "coder"), Model: c.Coder}}
	}
	return c.Coders
}

// ModelConfig is one model behind an endpoint, with its backups.
type ModelConfig struct {
	Name      string // for users and logs; "": the role's
	URL       string // base URL, such as https://api.openai.com/v1
	Key       string
	Model     string
	Protocol  llm.Protocol  // "": detected
	Reasoning string        // reasoning effort, in the endpoint's terms; "": default
	Price     llm.Price     // USD per million tokens
	Context   int           // context window in tokens, including output; 0: llm.DefaultWindow
	MaxOutput int           // tokens of a response; 0: llm.DefaultMaxOutput
	Timeout   time.Duration // of one response; 0: llm.DefaultTimeout
	Backups   []ModelConfig // tried in this order if it fails

	observe func(context.Context, llm.Call) // see [llm.Config]; set by New
	memory  *llm.Memory                     // likewise
}

// each returns the configuration with f applied to every model.
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

// withObserver returns the configuration with f observing the calls of every model.
func (c ModelsConfig) withObserver(f func(context.Context, llm.Call)) ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig { m.observe = f; return m })
}

// WithMemory returns the configuration with a memory for every model.
func (c ModelsConfig) WithMemory(memory *llm.Memory) ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig { m.memory = memory; return m })
}

// withPrices returns the configuration with known list prices for models that have none.
func (c ModelsConfig) withPrices() ModelsConfig {
	return c.each(func(m ModelConfig) ModelConfig {
		if m.Price == (llm.Price{}) {
			m.Price, _ = llm.KnownPrice(m.Model)
		}
		return m
	})
}

// firstAttempt is the assumed usage of an attempt before any has been observed. At the prices of Claude Sonnet 4.5 it
// costs 0.58 USD, close to that model's average of 0.56 for 52 calls per task on SWE-bench Verified with
// mini-swe-agent. It is outweighed by observations within a few attempts.
var firstAttempt = llm.Usage{Input: 700_000, CachedInput: 620_000, Output: 10_000}

// cost returns the expected cost of the coder's attempt before any has been observed, in credits.
func (c CoderConfig) cost() float64 {
	return c.Model.Price.Cost(firstAttempt) / 0.01
}

// coderNames returns the names of the coders, if there are several.
func (c ModelsConfig) coderNames() (names []string) {
	if len(c.Coders) < 2 {
		return nil
	}
	for _, one := range c.Coders {
		names = append(names, one.Name)
	}
	return names
}

func (m ModelConfig) withFallback(other ModelConfig) ModelConfig {
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

// Roles returns the models by role: coder, sia and reviewer.
func (c ModelsConfig) Roles() map[string]ModelConfig {
	return map[string]ModelConfig{"coder": c.Coder, "sia": c.SIA, "reviewer": c.Reviewer}
}

// same reports whether two configurations send the same requests to the same model.
func (m ModelConfig) same(o ModelConfig) bool {
	return o.URL == m.URL && o.Model == m.Model && o.Key == m.Key && o.Protocol == m.Protocol && o.Reasoning == m.Reasoning
}

// Named lists every model once, in the order of roles and backups. Names are filled in; a model without an address is
// omitted.
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

// Client returns a client of the model without its backups. retries is as in [llm.Config].
func (m ModelConfig) Client(l *slog.Logger, retries int) (*llm.Client, error) {
	return llm.New(llm.Config{
		Name: m.Name, BaseURL: m.URL, APIKey: m.Key, Model: m.Model, Price: m.Price, Window: m.Context,
		MaxOutput: m.MaxOutput, Protocol: m.Protocol, Reasoning: m.Reasoning, Timeout: m.Timeout, Memory: m.memory,
		Retries: retries, Logger: l, Observe: m.observe,
	})
}

// Chain returns a client of the model and its backups.
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
