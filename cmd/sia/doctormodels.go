package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
)

// probeWithin bounds the conversation with a model that has no timeout of its own.
const probeWithin = 3 * time.Minute

// doctorModelsCmd talks to every configured model as an attempt would.
type doctorModelsCmd struct {
	modelFlags `embed:""`
	Dir        string `help:"Folder of the server, which keeps what is learned of models." env:"SIA_DIR" placeholder:"DIR"`
	Output     string `help:"text or json." enum:"text,json" default:"text"`
}

// probedModel is what doctor says of one model.
type probedModel struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	llm.Probed
	Price string `json:"price"` // where it is from
}

// Run holds a short conversation with each model, one after another.
func (c *doctorModelsCmd) Run(e *commandEnv) error {
	models, err := c.models()
	if err != nil {
		return err
	}
	config := app.Config{Models: models}.WithDefaults()
	if config.Models.Coder.URL == "" || config.Models.Coder.Model == "" {
		return fmt.Errorf("no model is configured: set --model-url and --model, or name models in the file of --config")
	}
	memory := app.ModelMemory(c.Dir, e.logger)
	all := []probedModel{}
	usable := true
	for _, m := range config.Models.Remembering(memory).Named() {
		p := probeModel(e.ctx, m, e)
		usable = usable && p.Usable
		all = append(all, p)
	}
	if c.Output == "json" {
		err = printJSON(e, all)
	} else {
		printProbed(e, all)
	}
	if err == nil && !usable {
		return errShown
	}
	return err
}

// probeModel talks to one model within its timeout.
func probeModel(ctx context.Context, m app.ModelConfig, e *commandEnv) probedModel {
	p := probedModel{Name: m.Name, Model: m.Model, Price: priceSource(m)}
	m.Timeout = cmp.Or(m.Timeout, probeWithin)
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	client, err := m.Client(e.logger, -1)
	if err != nil {
		p.Advice = err.Error()
		return p
	}
	p.Probed = client.Probe(ctx)
	return p
}

// priceSource says what is known of a model's price.
func priceSource(m app.ModelConfig) string {
	known, ok := llm.KnownPrice(m.Model)
	switch {
	case m.Price == (llm.Price{}):
		return "unknown: set price in the file of --config, or --price-input and --price-output"
	case ok && known == m.Price:
		return "list price of " + llm.PricesDate
	}
	return "configured"
}

// printProbed shows what was found, a paragraph a model.
func printProbed(e *commandEnv, all []probedModel) {
	for _, p := range all {
		mark := e.style.green("✓")
		if !p.Usable {
			mark = e.style.red("✗")
		}
		fmt.Fprintf(e.out, "%s %s (%s), in the dialect %s\n", mark, p.Name, p.Model, p.Protocol)
		var can, cannot []string
		for _, one := range []struct {
			what string
			yes  bool
		}{{"tools", p.Tools}, {"parallel calls", p.Parallel}, {"strict schemas", p.Strict},
			{"reasoning given back", p.ReasoningKept}, {"caching", p.Cached}} {
			if one.yes {
				can = append(can, one.what)
			} else {
				cannot = append(cannot, one.what)
			}
		}
		fmt.Fprintf(e.out, "  works: %s; not seen: %s\n", cmp.Or(strings.Join(can, ", "), "nothing"),
			cmp.Or(strings.Join(cannot, ", "), "nothing"))
		fmt.Fprintf(e.out, "  the probe took %d tokens in, %d out, %.4f USD; price: %s\n", p.Usage.Input, p.Usage.Output,
			p.Usage.USD, p.Price)
		if p.Advice != "" {
			fmt.Fprintf(e.out, "  → %s\n", p.Advice)
		}
	}
}
