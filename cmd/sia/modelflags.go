package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/invalid"
)

// modelFlags configure the models. The file may name further models, and their order for each role (models.go).
type modelFlags struct {
	ConfigFile configFile `name:"config" help:"YAML file with these settings; keys are the flags' names. It may name several models besides." env:"SIA_CONFIG" placeholder:"FILE"`

	ModelURL      string        `help:"OpenAI-compatible endpoint, such as https://api.openai.com/v1." env:"SIA_MODEL_URL" placeholder:"URL" type:"web"`
	ModelKey      string        `help:"Its key. Better in the environment than as a flag." env:"SIA_MODEL_KEY" placeholder:"KEY"`
	Model         string        `help:"Model that works on attempts." env:"SIA_MODEL" placeholder:"NAME" aliases:"llm-model"`
	SIAModel      string        `name:"sia-model" help:"Model that diagnoses. Default: --model." env:"SIA_SIA_MODEL" placeholder:"NAME"`
	ReviewerModel string        `help:"Model that reviews diagnoses and final changes. Default: --sia-model." env:"SIA_REVIEWER_MODEL" placeholder:"NAME"`
	ModelProtocol string        `help:"Dialect of the endpoint: auto, chat, responses or messages. Default: SIA finds out." env:"SIA_MODEL_PROTOCOL" enum:",auto,chat,responses,messages" default:"" placeholder:"NAME"`
	ModelReason   string        `name:"model-reasoning" help:"How much the models reason, such as high. Default: their own." env:"SIA_MODEL_REASONING" placeholder:"LEVEL"`
	ModelTimeout  time.Duration `help:"How long one answer of a model may take. Default: 10m." env:"SIA_MODEL_TIMEOUT" placeholder:"DURATION" min:"0s"`
	PriceInput    float64       `help:"USD per million input tokens." env:"SIA_PRICE_INPUT" placeholder:"USD" min:"0"`
	PriceCached   float64       `help:"USD per million cached input tokens. Default: as input." env:"SIA_PRICE_CACHED" placeholder:"USD" min:"0"`
	PriceWrite    float64       `name:"price-cache-write" help:"USD per million input tokens that are written to a cache. Default: as input." env:"SIA_PRICE_CACHE_WRITE" placeholder:"USD" min:"0"`
	PriceOutput   float64       `help:"USD per million output tokens." env:"SIA_PRICE_OUTPUT" placeholder:"USD" min:"0"`
}

// configFile is a flag that names a configuration file. Parsing it reads the file.
type configFile string

// BeforeResolve makes the file's values defaults of the flags.
func (configFile) BeforeResolve(k *kong.Kong, ctx *kong.Context, trace *kong.Path) error {
	file, _ := ctx.FlagValue(trace.Flag).(configFile)
	values, err := k.LoadConfig(string(file))
	if err != nil {
		return fmt.Errorf("--config or SIA_CONFIG: %w", err)
	}
	ctx.AddResolver(values)
	return nil
}

// price returns the price that the flags set.
func (f modelFlags) price() llm.Price {
	p := llm.Price{Input: f.PriceInput, CachedInput: f.PriceCached, CacheWrite: f.PriceWrite, Output: f.PriceOutput}
	if p.CachedInput == 0 {
		p.CachedInput = p.Input
	}
	return p
}

// models returns the models of the flags, or those that the file names.
func (f modelFlags) models() (app.ModelsConfig, error) {
	price := f.price()
	model := app.ModelConfig{URL: f.ModelURL, Key: f.ModelKey, Model: f.Model, Price: price,
		Protocol: llm.Protocol(f.ModelProtocol), Reasoning: f.ModelReason, Timeout: f.ModelTimeout}
	named := func(name string) app.ModelConfig {
		if name == "" {
			return app.ModelConfig{}
		}
		m := model
		m.Model = name
		return m
	}
	c := app.ModelsConfig{Coder: model, SIA: named(f.SIAModel), Reviewer: named(f.ReviewerModel)}
	if f.ConfigFile == "" {
		return c, nil
	}
	models, ok, err := readModels(string(f.ConfigFile))
	switch {
	case errors.As(err, new(*invalid.File)):
		return c, cli.Usage("%v", err)
	case err != nil:
		return c, err
	case !ok:
		return c, nil
	case f.Model+f.ModelURL+f.ModelKey+f.SIAModel+f.ReviewerModel+f.ModelProtocol+f.ModelReason != "",
		price != llm.Price{}, f.ModelTimeout != 0:
		return c, errors.New("the configuration file names models, so there is no place for --model, --model-*, " +
			"--sia-model, --reviewer-model and --price-*, or their variables: leave them out")
	}
	return models, nil
}
