package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
)

// doctorModelsCmd tests every configured model with the requests of an attempt.
type doctorModelsCmd struct {
	modelFlags `embed:""`
	Free       bool   `help:"The models cost nothing: no price is asked for." env:"SIA_FREE"`
	Dir        string `help:"Folder of the server, which keeps what is learned of models." default:"${dir}" env:"SIA_DIR" type:"path"`
	cli.Format `embed:""`
}

// Run holds a short conversation with each model, one after another.
func (c *doctorModelsCmd) Run(e *cli.Env) error {
	models, err := c.models()
	if err != nil {
		return err
	}
	config := app.Config{Models: models}.WithDefaults()
	if config.Models.Coder.URL == "" || config.Models.Coder.Model == "" {
		return errors.New("no model is configured: set --model-url and --model, or name models in the file of --config")
	}
	memory := app.NewModelMemory(c.Dir, e.Logger)
	all := []llm.Probed{}
	usable := true
	for _, m := range config.Models.Named() {
		p := m.Probe(e.Ctx, e.Logger, memory)
		usable = usable && p.Usable
		if c.Free && m.Price == (llm.Price{}) {
			p.Price, p.Priced = "none, says --free", true
		}
		all = append(all, p)
	}
	return c.Report(e, all, usable, func() error { return printProbed(e, all) })
}

// printProbed prints a paragraph for each model.
func printProbed(e *cli.Env, all []llm.Probed) error {
	for _, p := range all {
		mark := e.Style.Green("✓")
		if !p.Usable {
			mark = e.Style.Red("✗")
		}
		e.Linef("%s %s (%s), in the dialect %s", mark, p.Name, p.Model, p.Protocol)
		e.Linef("  works: %s; not seen: %s", cmp.Or(strings.Join(p.Seen(), ", "), "nothing"),
			cmp.Or(strings.Join(p.Unseen(), ", "), "nothing"))
		cost := "cost not known"
		if p.Priced {
			cost = fmt.Sprintf("%.4f USD", p.Usage.USD)
		}
		e.Linef("  the conversation took %d tokens in, %d out, %s; price: %s", p.Usage.Input, p.Usage.Output, cost, p.Price)
		if told := p.Told(); told != "" {
			e.Linef("  → %s", told)
		}
	}
	return nil
}
