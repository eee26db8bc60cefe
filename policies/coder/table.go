package coder

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Table has prior knowledge about models. It is immutable.
type Table struct {
	models map[string]Known // normalised name → row
}

// Known is a row of a table.
type Known struct {
	Name     string   `yaml:"name"`     // as published
	Resolved float64  `yaml:"resolved"` // share of tasks that it resolved alone, in (0, 1)
	Cost     float64  `yaml:"cost"`     // average cost of an attempt in credits, above 0
	Calls    int      `yaml:"calls"`    // average number of model calls; 0: not published
	Also     []string `yaml:"also"`     // other names
}

// ParseTable parses a table.
func ParseTable(source []byte) (Table, error) {
	var file struct {
		Until  string  `yaml:"until"` // month until which the results were published
		Coders []Known `yaml:"coders"`
	}
	if err := yaml.UnmarshalWithOptions(source, &file, yaml.Strict()); err != nil {
		return Table{}, fmt.Errorf("parse table of coders: %w", err)
	}
	t := Table{models: map[string]Known{}}
	for _, k := range file.Coders {
		for _, name := range append([]string{k.Name}, k.Also...) {
			t.models[normal(name)] = k
		}
	}
	return t, nil
}

// Of returns the row of a model. Differences in the spelling of its name are ignored: case, vendor ("openai/gpt-5"),
// date ("gpt-5-2025-08-07") and remarks in parentheses.
func (t Table) Of(model string) (Known, bool) {
	k, ok := t.models[normal(model)]
	return k, ok
}

var (
	vendor  = lazyregexp.New(`^([a-z0-9._-]+/)+`)
	remarks = lazyregexp.New(`\([^()]*\)`)
	between = lazyregexp.New(`[^a-z0-9.]+`)
	date    = lazyregexp.New(`-20\d\d-?[01]\d(-?[0-3]\d)?$`)
)

// normal returns the normalised name of a model.
func normal(name string) string {
	name = vendor.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
	name = between.ReplaceAllString(remarks.ReplaceAllString(name, ""), "-")
	return date.ReplaceAllString(strings.Trim(name, "-"), "")
}
