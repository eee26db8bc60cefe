package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

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
	URL       string      `yaml:"url"`
	KeyEnv    string      `yaml:"key_env"`  // environment variable that holds the key
	KeyFile   string      `yaml:"key_file"` // file that holds the key
	Model     string      `yaml:"model"`
	Protocol  string      `yaml:"protocol"`  // auto, chat, responses or messages
	Reasoning string      `yaml:"reasoning"` // such as high, as the endpoint calls it
	Price     *priceEntry `yaml:"price"`
	Context   int         `yaml:"context"`    // tokens
	MaxOutput int         `yaml:"max_output"` // tokens
	Timeout   string      `yaml:"timeout"`    // of one answer
}

// priceEntry is the price of a model, in USD per million tokens.
type priceEntry struct {
	Input      float64 `yaml:"input"`
	Cached     float64 `yaml:"cached"`
	CacheWrite float64 `yaml:"cache_write"`
	Output     float64 `yaml:"output"`
}

// price returns the price of the entry; the zero price without an entry.
func (p *priceEntry) price() llm.Price {
	if p == nil {
		return llm.Price{}
	}
	return llm.Price{Input: p.Input, CachedInput: cmp.Or(p.Cached, p.Input), CacheWrite: p.CacheWrite, Output: p.Output}
}

// negative reports whether a price is below 0.
func (p *priceEntry) negative() bool {
	return p != nil && (p.Input < 0 || p.Cached < 0 || p.CacheWrite < 0 || p.Output < 0)
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

	Protocol  string      `yaml:"protocol"`  // overrides the model's
	Reasoning string      `yaml:"reasoning"` // likewise
	Price     *priceEntry `yaml:"price"`     // likewise
	Edit      string      `yaml:"edit"`      // replace, patch or whole; empty: default of the model's family
}

// modelName matches the names of models and coders.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// modelsFile reads the models and roles of one configuration file and collects the problems in it.
type modelsFile struct {
	top      ast.Node
	entries  map[string]modelEntry
	models   map[string]app.ModelConfig
	problems []invalid.Problem
}

// readModels reads the models that a configuration file names; ok is false if it names none. The error contains every
// problem with its line.
func readModels(name string) (c app.ModelsConfig, ok bool, _ error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return c, false, fmt.Errorf("configuration file: %w", err)
	}
	parsed, err := parser.ParseBytes(withoutBOM(b), 0)
	if err != nil {
		return c, false, &invalid.File{Name: name, Problems: []invalid.Problem{problemOf(err, "")}}
	}
	f := &modelsFile{models: map[string]app.ModelConfig{}}
	for _, d := range parsed.Docs {
		if f.top == nil {
			f.top = d.Body
		}
	}
	if f.at(keyModels) == nil && f.at(keyRoles) == nil && f.at(keyCoders) == nil {
		return c, false, nil
	}
	c = f.read()
	if len(f.problems) > 0 {
		slices.SortStableFunc(f.problems, func(a, b invalid.Problem) int { return a.Line - b.Line })
		return app.ModelsConfig{}, false, &invalid.File{Name: name, Problems: f.problems}
	}
	return c, true, nil
}

func (f *modelsFile) read() (c app.ModelsConfig) {
	var order rolesEntry
	var coders map[string]coderEntry
	f.section(keyModels, &f.entries)
	f.section(keyRoles, &order)
	f.section(keyCoders, &coders)
	if len(f.problems) > 0 {
		return c
	}
	if f.at(keyModels) == nil {
		for _, section := range []string{keyRoles, keyCoders} {
			if f.at(section) != nil {
				f.problem([]string{section}, "it names models, but there is no models section that describes them")
			}
		}
		return c
	}
	for _, name := range f.names() {
		f.model(name, f.entries[name])
	}
	c.Coders = f.coders(coders)
	switch {
	case len(order.Coder) > 0:
	case len(c.Coders) > 0:
		order.Coder = []string{c.Coders[0].Model.Name}
	case len(f.entries) == 1:
		order.Coder = f.names()
	default:
		f.problem([]string{keyRoles, "coder"}, "say which of the models works on attempts, such as coder: [%s]",
			strings.Join(f.names(), ", "))
	}
	c.Coder = f.chain([]string{keyRoles, "coder"}, order.Coder)
	c.SIA = f.chain([]string{keyRoles, "sia"}, order.SIA)
	c.Reviewer = f.chain([]string{keyRoles, "reviewer"}, order.Reviewer)
	return c
}

// section decodes the value of a top-level key, if the file has it.
func (f *modelsFile) section(key string, into any) {
	if at := f.at(key); at != nil {
		if err := yaml.NodeToValue(at.Value, into, yaml.DisallowUnknownField()); err != nil {
			f.problems = append(f.problems, problemOf(err, key))
		}
	}
}

// coders returns the coders in the order of the file.
func (f *modelsFile) coders(entries map[string]coderEntry) (all []app.CoderConfig) {
	section := f.at(keyCoders)
	if section == nil {
		return nil
	}
	if len(entries) == 0 {
		f.problem([]string{keyCoders}, "it names nobody: each coder has a name and a model, such as fast: {model: %s}",
			strings.Join(f.names(), " or "))
	}
	for _, entry := range yamlfile.Entries(section.Value) {
		name := entry.Key.GetToken().Value
		at := func(key ...string) []string { return append([]string{keyCoders, name}, key...) }
		e := entries[name]
		if !modelName.MatchString(name) {
			f.problem(at(), "a coder's name has 1 to 40 letters, digits, dots, dashes and underscores")
			continue
		}
		m := f.chain(at("model"), append([]string{e.Model}, e.Backups...))
		if e.Protocol != "" {
			m.Protocol = f.protocol(at("protocol"), e.Protocol)
		}
		m.Reasoning = cmp.Or(e.Reasoning, m.Reasoning)
		if e.Price.negative() {
			f.problem(at("price"), "prices are USD per million tokens, and not negative")
		} else if e.Price != nil {
			m.Price = e.Price.price()
		}
		edit, err := agent.ParseEditFormat(e.Edit)
		if err != nil {
			f.problem(at("edit"), "%v", err)
		}
		all = append(all, app.CoderConfig{Name: name, Command: e.Command, Model: m, Edit: edit})
	}
	return all
}

// model checks one model and resolves its key.
func (f *modelsFile) model(name string, e modelEntry) {
	at := func(key ...string) []string { return append([]string{keyModels, name}, key...) }
	m := app.ModelConfig{
		Name: name, URL: e.URL, Model: e.Model, Context: e.Context, MaxOutput: e.MaxOutput,
		Price: e.Price.price(), Reasoning: e.Reasoning, Protocol: f.protocol(at("protocol"), e.Protocol),
	}
	if e.Timeout != "" {
		d, err := time.ParseDuration(e.Timeout)
		if m.Timeout = d; err != nil || d <= 0 {
			f.problem(at("timeout"), "it is how long one answer may take, such as 10m")
		}
	}
	switch {
	case !modelName.MatchString(name):
		f.problem(at(), "a model's name has 1 to 40 letters, digits, dots, dashes and underscores")
	case e.URL == "":
		f.problem(at("url"), "it is missing: the address of an OpenAI-compatible endpoint, such as "+
			"https://api.openai.com/v1")
	case cli.CheckWebAddress(e.URL) != nil:
		f.problem(at("url"), "it is no http or https address")
	case e.Model == "":
		f.problem(at("model"), "it is missing: the model's name as the endpoint spells it")
	case e.Price.negative():
		f.problem(at("price"), "prices are USD per million tokens, and not negative")
	case e.Context < 0 || e.MaxOutput < 0:
		f.problem(at(), "context and max_output are numbers of tokens, and not negative")
	case e.KeyEnv != "" && e.KeyFile != "":
		f.problem(at("key_file"), "give key_env or key_file, not both")
	case e.KeyEnv != "":
		if m.Key = os.Getenv(e.KeyEnv); m.Key == "" {
			f.problem(at("key_env"), "the environment variable %s is not set", e.KeyEnv)
		}
	case e.KeyFile != "":
		b, err := os.ReadFile(e.KeyFile)
		if m.Key = strings.TrimSpace(string(b)); err != nil {
			f.problem(at("key_file"), "the key can't be read: %s", cli.ErrorText(err))
		} else if m.Key == "" {
			f.problem(at("key_file"), "the file %s is empty", e.KeyFile)
		}
	}
	f.models[name] = m
}

// protocol returns the dialect of that name.
func (f *modelsFile) protocol(path []string, name string) llm.Protocol {
	p, err := llm.ParseProtocol(name)
	if err != nil {
		f.problem(path, "%v", err)
	}
	return p
}

// chain returns the first of the named models, with the others as its backups.
func (f *modelsFile) chain(path, names []string) (first app.ModelConfig) {
	for i, name := range names {
		m, ok := f.models[name]
		switch {
		case !ok:
			f.problem(path, "there is no model %q; there are %s", name, strings.Join(f.names(), ", "))
		case slices.Contains(names[:i], name):
			f.problem(path, "the model %q is named twice", name)
		case i == 0:
			first = m
		default:
			first.Backups = append(first.Backups, m)
		}
	}
	return first
}

func (f *modelsFile) names() []string { return slices.Sorted(maps.Keys(f.entries)) }

// at returns the entry at a path of nested keys; nil if there is none.
func (f *modelsFile) at(keys ...string) (entry *ast.MappingValueNode) {
	in := f.top
	for _, key := range keys {
		all := yamlfile.Entries(in)
		i := slices.IndexFunc(all, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == key })
		if i < 0 {
			return nil
		}
		entry, in = all[i], all[i].Value
	}
	return entry
}

// problem records a problem at a path, with the line of the longest part of the path that exists.
func (f *modelsFile) problem(path []string, format string, args ...any) {
	p := invalid.Problem{Path: strings.Join(path, "."), Message: fmt.Sprintf(format, args...)}
	for n := len(path); n > 0 && p.Line == 0; n-- {
		if at := f.at(path[:n]...); at != nil {
			p.Line, p.Column = at.Key.GetToken().Position.Line, at.Key.GetToken().Position.Column
		}
	}
	f.problems = append(f.problems, p)
}

// problemOf converts an error of the YAML library, with its position.
func problemOf(err error, path string) invalid.Problem {
	p := invalid.Problem{Path: path, Message: strings.SplitN(err.Error(), "\n", 2)[0]}
	var typed *yaml.TypeError
	if errors.As(err, &typed) && typed.Token != nil && typed.DstType != nil {
		t := typed.Token
		p.Line, p.Column = t.Position.Line, t.Position.Column
		key := "it is "
		if before := t.Prev; before != nil && before.Type == token.MappingValueType && before.Prev != nil {
			key = before.Prev.Value + " is "
		}
		takes := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number",
			reflect.String: "text", reflect.Slice: "a list"}
		p.Message = fmt.Sprintf("%s%q, and takes %s", key, t.Value,
			cmp.Or(takes[typed.DstType.Kind()], "a mapping of keys to values"))
		return p
	}
	var known yaml.Error
	if errors.As(err, &known) {
		p.Message = known.GetMessage()
		if t := known.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	return p
}
