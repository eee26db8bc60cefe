package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sia-bot/sia/app"
	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

type improveCmd struct {
	File improveFileCmd `cmd:"" default:"withargs" help:"Improve a file: sia improve path/to/file." example:"sia improve greeting.py"`
	Self improveSelfCmd `cmd:"" help:"Improve SIA's own prompts, techniques and policies." example:"sia improve self --repo ."`
}

// improveFlags say what is wanted and when it is good.
type improveFlags struct {
	Context           string   `help:"What is wanted, in your words." placeholder:"TEXT"`
	ContextFile       string   `help:"File with more of it." type:"path" placeholder:"FILE"`
	Logs              []string `help:"Logs that show what goes wrong, plain or gzip; may be given several times." type:"path" placeholder:"FILE"`
	Cycles            int      `help:"Cycles at most, 1 to 20." default:"1" min:"1" max:"20"`
	CritiqueThreshold float64  `help:"What the independent critique has to score it, 0 to 1." default:"0.6" min:"0" max:"1"`
	Output            string   `help:"text, or json (always exactly one object)." enum:"text,json" default:"text"`
	OutputJSON        bool     `name:"output-json" hidden:"" help:"The same as --output json, by its first name."`
}

// AfterApply has the old name of a flag count.
func (f *improveFlags) AfterApply() error {
	if f.OutputJSON {
		f.Output = "json"
	}
	return nil
}

// Bounds of what is told beside the file.
const (
	maxContext = 64 << 10 // bytes of --context-file that are read
	logLines   = 60       // of a log's excerpt
	logTail    = 8 << 10  // bytes of a log that tells of no failure
)

// order is what the flags ask for, without the files.
func (f improveFlags) order(e *cli.Env) (improve.Order, error) {
	o := improve.Order{Context: f.Context, Cycles: f.Cycles, Threshold: f.CritiqueThreshold}
	if f.ContextFile != "" {
		more, err := beginningOf(f.ContextFile)
		if err != nil {
			return o, fmt.Errorf("--context-file: %w", err)
		}
		o.Context += "\n\n" + more
	}
	for _, name := range f.Logs {
		rep, err := (&logCmd{Lines: logLines}).read(e, name)
		if err != nil {
			return o, fmt.Errorf("--logs %s: %w", name, err)
		}
		log := improve.Log{Name: name, Text: rep.Text}
		if log.Text == "" {
			if log.Text, err = endOf(name); err != nil {
				return o, fmt.Errorf("--logs %s: %w", name, err)
			}
		} else if rep.Class != failure.Unknown {
			log.Text = "class " + string(rep.Class) + "\n" + log.Text
		}
		o.Logs = append(o.Logs, log)
	}
	return o, nil
}

// beginningOf is the beginning of a file of words.
func beginningOf(name string) (string, error) {
	b, err := beginningOfFile(name, maxContext+1)
	return text.Fit(string(b), maxContext, text.Head), err
}

// endOf is the end of a file.
func endOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-logTail), logTail))
	return string(b), err
}

// improvers are the models that improve: one that writes, and one that criticises.
type improvers struct {
	author, critic improve.Model
	secrets        *secret.Masker
}

// improvers are those of the configuration: who diagnoses writes, who reviews criticises. Where a
// file names models, --model names one of them.
func (f modelFlags) improvers(e *cli.Env) (improvers, error) {
	wanted := ""
	if f.ConfigFile != "" {
		if _, ok, err := readModels(string(f.ConfigFile)); err == nil && ok {
			wanted, f.Model = f.Model, ""
		}
	}
	models, err := f.models()
	if err != nil {
		return improvers{}, err
	}
	c := app.Config{Models: models}.WithDefaults()
	out := improvers{secrets: &secret.Masker{}}
	author, found := c.Models.SIA, wanted == ""
	for _, m := range c.Models.Named() {
		out.secrets.Know("model-key", m.Key)
		if m.Name == wanted {
			author, found = m, true
		}
	}
	switch {
	case !found:
		return out, fmt.Errorf("--model %s: the configuration file gives no role to a model of that name", wanted)
	case author.URL == "" || author.Model == "":
		return out, errors.New("no model is configured: set --model-url and --model, or SIA_MODEL_URL and SIA_MODEL, to an " +
			"OpenAI-compatible endpoint, or name models in the file of --config")
	}
	if out.author, err = author.Chain("sia", e.Logger); err != nil {
		return out, err
	}
	out.critic, err = c.Models.Reviewer.Chain("reviewer", e.Logger)
	return out, err
}

// notInside refuses to start where this process is part of an iteration.
func notInside(places ...string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if why := improving.InsideIteration(os.Getenv, append(places, dir)...); why != "" {
		return fmt.Errorf("an iteration can't start another: %s", why)
	}
	return nil
}
