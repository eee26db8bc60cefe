package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
)

// doctorModelsCmd talks to every configured model as an attempt would.
type doctorModelsCmd struct {
	modelFlags `embed:""`
	Dir        string `help:"Folder of the server, which keeps what is learned of models." env:"SIA_DIR" placeholder:"DIR"`
	Output     string `help:"text or json." enum:"text,json" default:"text"`
}

// Run holds a short conversation with each model, one after another.
func (c *doctorModelsCmd) Run(e *commandEnv) error {
	models, err := c.models()
	if err != nil {
		return err
	}
	config := app.Config{Models: models}.WithDefaults()
	if config.Models.Coder.URL == "" || config.Models.Coder.Model == "" {
		return errors.New("no model is configured: set --model-url and --model, or name models in the file of --config")
	}
	memory := app.NewModelMemory(c.Dir, e.logger)
	all := []llm.Probed{}
	usable := true
	for _, m := range config.Models.Named() {
		p := m.Probe(e.ctx, e.logger, memory)
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

// printProbed shows what was found, a paragraph a model.
func printProbed(e *commandEnv, all []llm.Probed) {
	for _, p := range all {
		mark := e.style.green("✓")
		if !p.Usable {
			mark = e.style.red("✗")
		}
		fmt.Fprintf(e.out, "%s %s (%s), in the dialect %s\n", mark, p.Name, p.Model, p.Protocol)
		fmt.Fprintf(e.out, "  works: %s; not seen: %s\n", cmp.Or(strings.Join(p.Seen(), ", "), "nothing"),
			cmp.Or(strings.Join(p.Unseen(), ", "), "nothing"))
		fmt.Fprintf(e.out, "  the conversation took %d tokens in, %d out, %.4f USD; price: %s\n", p.Usage.Input,
			p.Usage.Output, p.Usage.USD, p.Price)
		if p.Advice != "" {
			fmt.Fprintf(e.out, "  → %s\n", p.Advice)
		}
	}
}
