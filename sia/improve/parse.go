package improve

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// The languages with distinct dialects.
const (
	languageJSON = "JSON"
	languageYAML = "YAML"
)

// parserOf returns the built-in parser for a file name's extension; nil for none.
func parserOf(name string) (language string, parse func(string) error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return "Go", parseGo
	case ".json":
		return languageJSON, parseJSON
	case ".yml", ".yaml":
		return languageYAML, parseYAML
	case ".toml":
		return "TOML", func(s string) error { return toml.Unmarshal([]byte(s), new(map[string]any)) }
	case ".md", ".markdown":
		return "Markdown", func(string) error { return nil } // every text is valid
	case ".txt":
		return "text", func(string) error { return nil }
	}
	return "", nil
}

// parse parses a text in the language of its file name. known is false where that requires the language's own parser.
func parse(name, content string) (p Parse, known bool) {
	language, parse := parserOf(name)
	if parse == nil {
		return Parse{}, false
	}
	if err := parse(content); err != nil {
		return Parse{Verdict: Broken, Language: language, Why: err.Error()}, true
	}
	return Parse{Verdict: Parses, Language: language}, true
}

func parseGo(content string) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", content, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return fmt.Errorf("line %d: %s", list[0].Pos.Line, list[0].Msg)
	}
	return err
}

func parseJSON(content string) error {
	d := json.NewDecoder(strings.NewReader(content))
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("at byte %d: more follows the value", d.InputOffset())
	}
	return nil
}

// parseYAML parses every document of a stream.
func parseYAML(content string) error {
	d := yaml.NewDecoder(strings.NewReader(content))
	for {
		var v any
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New(yaml.FormatError(err, false, false))
		}
	}
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
