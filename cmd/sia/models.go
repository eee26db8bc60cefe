package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// Keys of a configuration file that are not flags.
const (
	keyModels = "models"
	keyRoles  = "roles"
	keyCoders = "coders"
)

// modelEntry is a model in a configuration file.
type modelEntry struct {
	URL       string        `yaml:"url"`
	KeyEnv    string        `yaml:"key_env"`  // environment variable that holds the key
	KeyFile   string        `yaml:"key_file"` // file that holds the key
	Model     string        `yaml:"model"`
	Protocol  string        `yaml:"protocol"`  // auto, chat, responses or messages
	Reasoning string        `yaml:"reasoning"` // such as high, as the endpoint calls it
	Price     priceEntry    `yaml:"price"`
	Context   int           `yaml:"context" range:"0,1e9"`        // tokens
	MaxOutput int           `yaml:"max_output" range:"0,1e9"`     // tokens
	Timeout   time.Duration `yaml:"timeout" range:"0.001,604800"` // of one answer
}

// priceEntry is the price of a model, in USD per million tokens.
type priceEntry struct {
	Input      float64 `yaml:"input" range:"0,1e9"`
	Cached     float64 `yaml:"cached" range:"0,1e9"`
	CacheWrite float64 `yaml:"cache_write" range:"0,1e9"`
	Output     float64 `yaml:"output" range:"0,1e9"`
}

// price returns the price of the entry.
func (p priceEntry) price() llm.Price {
	return llm.Price{Input: p.Input, CachedInput: cmp.Or(p.Cached, p.Input), CacheWrite: p.CacheWrite, Output: p.Output}
}

// rolesEntry lists the models of each role, in order of preference.
type rolesEntry struct {
	Coder    []string `yaml:"coder"`
	SIA      []string `yaml:"sia"`
	Reviewer []string `yaml:"reviewer"`
}

// coderEntry is a coder in a configuration file.
type coderEntry struct {
	Model   string   `yaml:"model"`   // of the models section
	Backups []string `yaml:"backups"` // models that replace it when it fails
	Command string   `yaml:"command"` // command of the agent; empty: as a repository's settings say

	Protocol  string     `yaml:"protocol"`  // overrides the model's
	Reasoning string     `yaml:"reasoning"` // likewise
	Price     priceEntry `yaml:"price"`     // likewise
	Edit      string     `yaml:"edit"`      // replace, patch or whole; empty: default of the model's family
}

// modelName matches the names of models and coders.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

// modelsFile reads the models and roles of one configuration file and collects the problems in it.
type modelsFile struct {
	*yamlfile.File
	entries map[string]modelEntry
	models  map[string]app.ModelConfig
}

// readModels reads the models that a configuration file names; ok is false if it names none. The error contains every
// problem with its line.
func readModels(name string) (c app.ModelsConfig, ok bool, _ error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return c, false, fmt.Errorf("configuration file: %w", err)
	}
	f := &modelsFile{File: yamlfile.Parse(b, yamlfile.Form{Key: "setting", Most: maxConfig, Lenient: true}),
		models: map[string]app.ModelConfig{}}
	var order rolesEntry
	var coders map[string]coderEntry
	f.Into(map[string]any{keyModels: &f.entries, keyRoles: &order, keyCoders: &coders}, nil)
	if len(f.Problems) == 0 {
		if !f.has(keyModels) && !f.has(keyRoles) && !f.has(keyCoders) {
			return c, false, nil
		}
		c = f.read(order, coders)
	}
	if len(f.Problems) > 0 {
		slices.SortStableFunc(f.Problems, func(a, b invalid.Problem) int { return a.Line - b.Line })
		return app.ModelsConfig{}, false, &invalid.File{Name: name, Problems: f.Problems}
	}
	return c, true, nil
}

// has reports whether the file has a key.
func (f *modelsFile) has(path string) bool {
	_, ok := f.Line(path)
	return ok
}

func (f *modelsFile) read(order rolesEntry, coders map[string]coderEntry) (c app.ModelsConfig) {
	if !f.has(keyModels) {
		for _, section := range []string{keyRoles, keyCoders} {
			if f.has(section) {
				f.Note(section, "", "it names models, but there is no models section that describes them")
			}
		}
		return c
	}
	for _, name := range f.names() {
		f.model(name, f.entries[name])
	}
	c.Coders = f.coders(coders)
	const coder, reviewer, diagnoses = keyRoles + ".coder", keyRoles + ".reviewer", keyRoles + ".sia"
	switch {
	case len(order.Coder) > 0:
	case len(c.Coders) > 0:
		order.Coder = []string{c.Coders[0].Model.Name}
	case len(f.entries) == 1:
		order.Coder = f.names()
	default:
		f.Note(coder, "", "say which of the models works on attempts, such as coder: [%s]", strings.Join(f.names(), ", "))
	}
	c.Coder = f.chain(coder, order.Coder)
	c.SIA = f.chain(diagnoses, order.SIA)
	c.Reviewer = f.chain(reviewer, order.Reviewer)
	return c
}

// coders returns the coders in the order of the file.
func (f *modelsFile) coders(entries map[string]coderEntry) (all []app.CoderConfig) {
	if f.has(keyCoders) && len(entries) == 0 {
		f.Note(keyCoders, "", "it names nobody: each coder has a name and a model, such as fast: {model: %s}",
			strings.Join(f.names(), " or "))
	}
	for _, name := range f.Keys(keyCoders) {
		at, e := keyCoders+"."+name, entries[name]
		if !modelName.MatchString(name) {
			f.Note(at, "", "a coder's name has 1 to 40 letters, digits, dots, dashes and underscores")
			continue
		}
		m := f.chain(at+".model", append([]string{e.Model}, e.Backups...))
		if e.Protocol != "" {
			m.Protocol = f.protocol(at+".protocol", e.Protocol)
		}
		m.Reasoning = cmp.Or(e.Reasoning, m.Reasoning)
		if f.has(at + ".price") {
			m.Price = e.Price.price()
		}
		edit, err := agent.ParseEditFormat(e.Edit)
		if err != nil {
			f.Note(at+".edit", "", "%v", err)
		}
		all = append(all, app.CoderConfig{Name: name, Command: e.Command, Model: m, Edit: edit})
	}
	return all
}

// model checks one model and resolves its key.
func (f *modelsFile) model(name string, e modelEntry) {
	at := keyModels + "." + name
	m := app.ModelConfig{
		Name: name, URL: e.URL, Model: e.Model, Context: e.Context, MaxOutput: e.MaxOutput, Timeout: e.Timeout,
		Price: e.Price.price(), Reasoning: e.Reasoning, Protocol: f.protocol(at+".protocol", e.Protocol),
	}
	switch {
	case !modelName.MatchString(name):
		f.Note(at, "", "a model's name has 1 to 40 letters, digits, dots, dashes and underscores")
	case e.URL == "":
		f.Note(at+".url", "", "it is missing: the address of an OpenAI-compatible endpoint, such as "+
			"https://api.openai.com/v1")
	case cli.CheckWebAddress(e.URL) != nil:
		f.Note(at+".url", "", "it is no http or https address")
	case e.Model == "":
		f.Note(at+".model", "", "it is missing: the model's name as the endpoint spells it")
	case e.KeyEnv != "" && e.KeyFile != "":
		f.Note(at+".key_file", "", "give key_env or key_file, not both")
	case e.KeyEnv != "":
		if m.Key = os.Getenv(e.KeyEnv); m.Key == "" {
			f.Note(at+".key_env", "", "the environment variable %s is not set", e.KeyEnv)
		}
	case e.KeyFile != "":
		b, err := os.ReadFile(e.KeyFile)
		if m.Key = strings.TrimSpace(string(b)); err != nil {
			f.Note(at+".key_file", "", "the key can't be read: %s", cli.ErrorText(err))
		} else if m.Key == "" {
			f.Note(at+".key_file", "", "the file %s is empty", e.KeyFile)
		}
	}
	f.models[name] = m
}

// protocol returns the dialect of that name.
func (f *modelsFile) protocol(path, name string) llm.Protocol {
	p, err := llm.ParseProtocol(name)
	if err != nil {
		f.Note(path, "", "%v", err)
	}
	return p
}

// chain returns the first of the named models, with the others as its backups.
func (f *modelsFile) chain(path string, names []string) (first app.ModelConfig) {
	for i, name := range names {
		m, ok := f.models[name]
		switch {
		case !ok:
			f.Note(path, "", "there is no model %q; there are %s", name, strings.Join(f.names(), ", "))
		case slices.Contains(names[:i], name):
			f.Note(path, "", "the model %q is named twice", name)
		case i == 0:
			first = m
		default:
			first.Backups = append(first.Backups, m)
		}
	}
	return first
}

func (f *modelsFile) names() []string { return slices.Sorted(maps.Keys(f.entries)) }
