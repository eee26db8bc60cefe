package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"
)

// Parse reads a script from a txtar archive. Each section "<model>/<name>" is one rule in YAML; the model "any" matches
// every model. Sections "file/<path>" are texts: a value in a rule that is exactly "@<path>" is replaced by the text.
// Text before the first section is a comment. Unknown keys are errors with their line.
//
//	-- coder/add greeting --
//	user: (?i)greeting
//	not: Attempt 2
//	turns:
//	- say: I write the file.
//	  calls:
//	  - write: {path: hello.go, content: "@hello.go"}
//	- calls:
//	  - finish: {summary: Added a greeting.}
//	-- file/hello.go --
//	package hello
//
// A rule has system, user, last, not, from, repeat and turns; a turn has say,
// calls, json, finish, usage {input, cached, output}, delay ("2s") and fault
// {status, header, body, code, reset, stall, after, times}.
func Parse(text []byte) (Script, error) {
	archive := txtar.Parse(text)
	files := map[string]string{}
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, "file/"); ok {
			files[path] = string(f.Data)
		}
	}
	var s Script
	var errs []error
	for _, f := range archive.Files {
		model, name, ok := strings.Cut(f.Name, "/")
		if model == "file" {
			continue
		}
		if !ok || model == "" || name == "" {
			errs = append(errs, fmt.Errorf("script section %q: want <model>/<name>, any/<name> or file/<path>", f.Name))
			continue
		}
		r, err := parseRule(f.Data, files)
		if err != nil {
			errs = append(errs, fmt.Errorf("script section %q: %w", f.Name, err))
			continue
		}
		r.Name = name
		if model != "any" {
			r.Model = model
		}
		s.Rules = append(s.Rules, r)
	}
	if len(s.Rules) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("script: no rules; want a txtar archive with sections such as -- coder/name --"))
	}
	if len(errs) == 0 {
		_, err := s.compile()
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Script{}, err
	}
	return s, nil
}

// yamlRule is a section's YAML.
type yamlRule struct {
	System string     `yaml:"system"`
	User   string     `yaml:"user"`
	Last   string     `yaml:"last"`
	Not    string     `yaml:"not"`
	From   int        `yaml:"from"`
	Repeat bool       `yaml:"repeat"`
	Turns  []yamlTurn `yaml:"turns"`
}

type yamlTurn struct {
	Say    string           `yaml:"say"`
	Calls  []map[string]any `yaml:"calls"`
	JSON   any              `yaml:"json"`
	Finish string           `yaml:"finish"`
	Delay  string           `yaml:"delay"`
	Usage  *struct {
		Input  int `yaml:"input"`
		Cached int `yaml:"cached"`
		Output int `yaml:"output"`
	} `yaml:"usage"`
	Fault *struct {
		Status int               `yaml:"status"`
		Header map[string]string `yaml:"header"`
		Body   string            `yaml:"body"`
		Code   string            `yaml:"code"`
		Reset  bool              `yaml:"reset"`
		Stall  bool              `yaml:"stall"`
		After  int               `yaml:"after"`
		Times  int               `yaml:"times"`
	} `yaml:"fault"`
}

func parseRule(text []byte, files map[string]string) (Rule, error) {
	var y yamlRule
	dec := yaml.NewDecoder(bytes.NewReader(text), yaml.DisallowUnknownField())
	if err := dec.Decode(&y); err != nil && !errors.Is(err, io.EOF) {
		return Rule{}, err
	}
	r := Rule{System: y.System, User: y.User, Last: y.Last, Not: y.Not, From: y.From, Repeat: y.Repeat}
	for i, t := range y.Turns {
		a, err := t.answer(files)
		if err != nil {
			return Rule{}, fmt.Errorf("turn %d: %w", i+1, err)
		}
		r.Turns = append(r.Turns, a)
	}
	return r, nil
}

func (t yamlTurn) answer(files map[string]string) (Answer, error) {
	a := Answer{Finish: t.Finish}
	say, err := insert(t.Say, files)
	if err != nil {
		return a, err
	}
	a.Text = say.(string)
	if a.JSON, err = insert(t.JSON, files); err != nil {
		return a, err
	}
	for _, c := range t.Calls {
		if len(c) != 1 {
			return a, fmt.Errorf("a call is one tool and its arguments, not %v", slices.Sorted(maps.Keys(c)))
		}
		for name, args := range c {
			if args, err = insert(args, files); err != nil {
				return a, fmt.Errorf("call %s: %w", name, err)
			}
			if s, ok := args.(string); ok { // sent unchanged, so that a story can send invalid JSON
				args = json.RawMessage(s)
			}
			a.Calls = append(a.Calls, Call{Name: name, Args: args})
		}
	}
	if t.Delay != "" {
		if a.Delay, err = time.ParseDuration(t.Delay); err != nil {
			return a, fmt.Errorf("delay: %w", err)
		}
	}
	if t.Usage != nil {
		a.Usage = &Usage{Input: t.Usage.Input, Cached: t.Usage.Cached, Output: t.Usage.Output}
	}
	if f := t.Fault; f != nil {
		a.Fault = &Fault{Status: f.Status, Header: f.Header, Body: f.Body, Code: f.Code, Reset: f.Reset, Stall: f.Stall,
			After: f.After, Times: f.Times}
	}
	return a, nil
}

// insert replaces every string "@path" in v with that file's text.
func insert(v any, files map[string]string) (any, error) {
	var err error
	switch x := v.(type) {
	case string:
		path, ok := strings.CutPrefix(x, "@")
		if !ok {
			return x, nil
		}
		text, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("there is no section file/%s for %q", path, x)
		}
		return text, nil
	case map[string]any:
		for k := range x {
			if x[k], err = insert(x[k], files); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range x {
			if x[i], err = insert(x[i], files); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
