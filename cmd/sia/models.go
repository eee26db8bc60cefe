package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
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
	"github.com/sia-bot/sia/sia/invalid"
)

// The keys of a configuration file that are no flags.
const (
	keyModels = "models"
	keyRoles  = "roles"
	keyCoders = "coders"
)

// modelEntry is one model in a configuration file.
type modelEntry struct {
	URL       string      `yaml:"url"`
	KeyEnv    string      `yaml:"key_env"`  // environment variable that holds the key
	KeyFile   string      `yaml:"key_file"` // file that holds it
	Model     string      `yaml:"model"`
	Protocol  string      `yaml:"protocol"`  // auto, chat, responses or messages
	Reasoning string      `yaml:"reasoning"` // such as high, in the endpoint's words
	Price     *priceEntry `yaml:"price"`
	Context   int         `yaml:"context"`    // tokens
	MaxOutput int         `yaml:"max_output"` // tokens
	Timeout   string      `yaml:"timeout"`    // of one answer
}

// priceEntry is what a model costs, in USD per million tokens.
type priceEntry struct {
	Input      float64 `yaml:"input"`
	Cached     float64 `yaml:"cached"`
	CacheWrite float64 `yaml:"cache_write"`
	Output     float64 `yaml:"output"`
}

// price is the entry's price; without one, none.
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

// rolesEntry says who is asked for what, in order.
type rolesEntry struct {
	Coder    []string `yaml:"coder"`
	SIA      []string `yaml:"sia"`
	Reviewer []string `yaml:"reviewer"`
}

// coderEntry is one that may make attempts, in a configuration file.
type coderEntry struct {
	Model   string   `yaml:"model"`   // of the models section
	Backups []string `yaml:"backups"` // that are asked in its place
	Command string   `yaml:"command"` // an agent that is a command; empty: as a repository's settings say

	Protocol  string      `yaml:"protocol"`  // in place of the model's
	Reasoning string      `yaml:"reasoning"` // likewise
	Price     *priceEntry `yaml:"price"`     // likewise
	Edit      string      `yaml:"edit"`      // replace, patch or whole; empty: as the model's family does
}

// modelName is what models and coders may be called.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// modelsFile reads the models and roles of one configuration file and gathers
// what is wrong with them.
type modelsFile struct {
	top      *ast.MappingNode
	entries  map[string]modelEntry
	models   map[string]app.ModelConfig
	problems []invalid.Problem
}

// readModels reads the models that a configuration file names; ok is false when
// it names none. An error tells every problem with its line.
func readModels(name string) (_ app.ModelsConfig, ok bool, _ error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return app.ModelsConfig{}, false, fmt.Errorf("configuration file: %w", err)
	}
	parsed, err := parser.ParseBytes(withoutBOM(b), 0)
	if err != nil {
		return app.ModelsConfig{}, false, &invalid.File{Name: name, Problems: []invalid.Problem{problemOf(err, "")}}
	}
	f := &modelsFile{models: map[string]app.ModelConfig{}}
	for _, d := range parsed.Docs {
		if m := yamlMapping(d.Body); m != nil && f.top == nil {
			f.top = m
		}
	}
	models, roles, coders := yamlChild(f.top, keyModels), yamlChild(f.top, keyRoles), yamlChild(f.top, keyCoders)
	if models == nil && roles == nil && coders == nil {
		return app.ModelsConfig{}, false, nil
	}
	c := f.read(models, roles, coders)
	if len(f.problems) > 0 {
		return app.ModelsConfig{}, false, &invalid.File{Name: name, Problems: f.problems}
	}
	return c, true, nil
}

func (f *modelsFile) read(models, roles, coders *ast.MappingValueNode) app.ModelsConfig {
	if models == nil {
		f.problem(cmp.Or(roles, coders), cmp.Or(keyOf(roles), keyOf(coders)),
			"it names models, but there is no models section that describes them")
		return app.ModelsConfig{}
	}
	if err := yaml.NodeToValue(models.Value, &f.entries, yaml.DisallowUnknownField()); err != nil {
		f.problems = append(f.problems, problemOf(err, keyModels))
		return app.ModelsConfig{}
	}
	section := yamlMapping(models.Value)
	for name, e := range f.entries {
		f.model(yamlChild(section, name), name, e)
	}
	var order rolesEntry
	if roles != nil {
		if err := yaml.NodeToValue(roles.Value, &order, yaml.DisallowUnknownField()); err != nil {
			f.problems = append(f.problems, problemOf(err, keyRoles))
			return app.ModelsConfig{}
		}
	}
	work := f.coders(coders)
	if len(order.Coder) == 0 && len(work) > 0 {
		order.Coder = []string{work[0].Model.Name}
	}
	if len(order.Coder) == 0 && len(f.entries) == 1 {
		for name := range f.entries {
			order.Coder = []string{name}
		}
	}
	if len(order.Coder) == 0 {
		f.problem(cmp.Or(roles, models), keyRoles+".coder", "say which of the models works on attempts, such as coder: [%s]",
			strings.Join(f.names(), ", "))
	}
	at := yamlMapping(nil)
	if roles != nil {
		at = yamlMapping(roles.Value)
	}
	c := app.ModelsConfig{
		Coder: f.role(at, "coder", order.Coder), SIA: f.role(at, "sia", order.SIA),
		Reviewer: f.role(at, "reviewer", order.Reviewer), Coders: work,
	}
	slices.SortStableFunc(f.problems, func(a, b invalid.Problem) int { return a.Line - b.Line })
	return c
}

// coders are those that may make attempts, in the order of the file.
func (f *modelsFile) coders(section *ast.MappingValueNode) (all []app.CoderConfig) {
	if section == nil {
		return nil
	}
	entries := map[string]coderEntry{}
	if err := yaml.NodeToValue(section.Value, &entries, yaml.DisallowUnknownField()); err != nil {
		f.problems = append(f.problems, problemOf(err, keyCoders))
		return nil
	}
	if len(entries) == 0 {
		f.problem(section, keyCoders, "it names nobody: each coder has a name and a model, such as fast: {model: %s}",
			strings.Join(f.names(), " or "))
		return nil
	}
	for _, at := range yamlMapping(section.Value).Values {
		name := at.Key.GetToken().Value
		path := keyCoders + "." + name
		e := entries[name]
		if !modelName.MatchString(name) {
			f.problem(at, path, "a coder's name has 1 to 40 letters, digits, dots, dashes and underscores")
			continue
		}
		m := f.chain(at, path+".model", append([]string{e.Model}, e.Backups...))
		if e.Protocol != "" {
			m.Protocol = f.protocol(at, path, e.Protocol)
		}
		m.Reasoning = cmp.Or(e.Reasoning, m.Reasoning)
		if e.Price.negative() {
			f.problem(at, path+".price", "prices are USD per million tokens, and not negative")
		} else if e.Price != nil {
			m.Price = e.Price.price()
		}
		edit, err := agent.ParseEditFormat(e.Edit)
		if err != nil {
			f.problem(at, path+".edit", "%v", err)
		}
		all = append(all, app.CoderConfig{Name: name, Command: e.Command, Model: m, Edit: edit})
	}
	return all
}

// keyOf is the key of an entry; "" for none.
func keyOf(v *ast.MappingValueNode) string {
	if v == nil {
		return ""
	}
	return v.Key.GetToken().Value
}

// model checks one model and resolves its key.
func (f *modelsFile) model(at *ast.MappingValueNode, name string, e modelEntry) {
	path := keyModels + "." + name
	in := func(key string) *ast.MappingValueNode {
		if at == nil {
			return nil
		}
		return cmp.Or(yamlChild(yamlMapping(at.Value), key), at)
	}
	m := app.ModelConfig{
		Name: name, URL: e.URL, Model: e.Model, Context: e.Context, MaxOutput: e.MaxOutput,
		Price: e.Price.price(), Reasoning: e.Reasoning, Protocol: f.protocol(in("protocol"), path, e.Protocol),
	}
	if e.Timeout != "" {
		d, err := time.ParseDuration(e.Timeout)
		if m.Timeout = d; err != nil || d <= 0 {
			f.problem(in("timeout"), path+".timeout", "it is how long one answer may take, such as 10m")
		}
	}
	u, err := url.Parse(e.URL)
	switch {
	case !modelName.MatchString(name):
		f.problem(at, path, "a model's name has 1 to 40 letters, digits, dots, dashes and underscores")
	case e.URL == "":
		f.problem(at, path+".url", "it is missing: the address of an OpenAI-compatible endpoint, such as "+
			"https://api.openai.com/v1")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		f.problem(in("url"), path+".url", "it is no http or https address")
	case e.Model == "":
		f.problem(at, path+".model", "it is missing: the model's name as the endpoint spells it")
	case e.Price.negative():
		f.problem(in("price"), path+".price", "prices are USD per million tokens, and not negative")
	case e.Context < 0 || e.MaxOutput < 0:
		f.problem(at, path, "context and max_output are numbers of tokens, and not negative")
	case e.KeyEnv != "" && e.KeyFile != "":
		f.problem(in("key_file"), path+".key_file", "give key_env or key_file, not both")
	case e.KeyEnv != "":
		if m.Key = os.Getenv(e.KeyEnv); m.Key == "" {
			f.problem(in("key_env"), path+".key_env", "the environment variable %s is not set", e.KeyEnv)
		}
	case e.KeyFile != "":
		b, err := os.ReadFile(e.KeyFile)
		if m.Key = strings.TrimSpace(string(b)); err != nil || m.Key == "" {
			f.problem(in("key_file"), path+".key_file", "the key can't be read: %v",
				cmp.Or(pathCause(err), errors.New("the file is empty")))
		}
	}
	f.models[name] = m
}

// protocol is the dialect of that name.
func (f *modelsFile) protocol(at *ast.MappingValueNode, path, name string) llm.Protocol {
	p, err := llm.ParseProtocol(name)
	if err != nil {
		f.problem(at, path+".protocol", "%v", err)
	}
	return p
}

// role is the model of a role, with its backups.
func (f *modelsFile) role(at *ast.MappingNode, role string, names []string) app.ModelConfig {
	return f.chain(yamlChild(at, role), keyRoles+"."+role, names)
}

// chain is the first of the named models, with the others as its backups.
func (f *modelsFile) chain(at *ast.MappingValueNode, path string, names []string) (first app.ModelConfig) {
	for i, name := range names {
		m, ok := f.models[name]
		switch {
		case !ok:
			f.problem(at, path, "there is no model %q; there are %s", name, strings.Join(f.names(), ", "))
		case slices.Contains(names[:i], name):
			f.problem(at, path, "the model %q is named twice", name)
		case i == 0:
			first = m
		default:
			first.Backups = append(first.Backups, m)
		}
	}
	return first
}

func (f *modelsFile) names() []string {
	list := make([]string, 0, len(f.entries))
	for name := range f.entries {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (f *modelsFile) problem(at *ast.MappingValueNode, path, format string, args ...any) {
	p := invalid.Problem{Path: path, Message: fmt.Sprintf(format, args...)}
	if at != nil {
		if t := at.Key.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	f.problems = append(f.problems, p)
}

// problemOf is what the YAML library says, with its place.
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

// yamlMapping is n when it is one, also of a single key.
func yamlMapping(n ast.Node) *ast.MappingNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: &ast.BaseNode{}, Values: []*ast.MappingValueNode{m}}
	}
	return nil
}

// yamlChild is the entry of a key; nil when there is none.
func yamlChild(m *ast.MappingNode, key string) *ast.MappingValueNode {
	if m == nil {
		return nil
	}
	for _, v := range m.Values {
		if t := v.Key.GetToken(); t != nil && t.Value == key {
			return v
		}
	}
	return nil
}

// pathCause is why a file can't be read, without its path, which the problem names.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
