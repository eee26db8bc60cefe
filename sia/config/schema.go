package config

import (
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// schemaID identifies the schema; editors find it by the file's first line.
const schemaID = "https://github.com/sia-bot/sia/config.schema.json"

// durationPattern matches the input of time.ParseDuration, without a sign.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`

// Schema returns the JSON Schema (draft 2020-12) of a settings file. It accepts every
// file that [Parse] accepts; only Parse checks ranges of durations and the syntax of
// patterns and branch names.
func Schema() []byte {
	top := objectSchema("Settings of SIA for a repository: " + Path + " on the base branch.")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["$id"] = schemaID
	properties := top["properties"].(map[string]any)
	for _, s := range sectionDocs() {
		section := objectSchema(s[1])
		section["type"] = []string{"object", "null"}
		properties[s[0]] = section
	}
	for _, f := range Fields() {
		section, name, ok := strings.Cut(f.Path, ".")
		if !ok {
			properties[f.Path] = f.schema()
			continue
		}
		properties[section].(map[string]any)["properties"].(map[string]any)[name] = f.schema()
	}
	b, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		return nil // impossible: maps, strings and numbers
	}
	return append(b, '\n')
}

func objectSchema(doc string) map[string]any {
	return map[string]any{"type": "object", "description": doc, "additionalProperties": false,
		"properties": map[string]any{}}
}

func (f Field) schema() map[string]any {
	m := map[string]any{"description": f.Doc}
	switch f.Form {
	case Bool:
		m["type"] = "boolean"
	case Int:
		m["type"], m["minimum"], m["maximum"] = "integer", f.Min, f.Max
	case Number:
		m["type"], m["minimum"], m["maximum"] = "number", f.Min, f.Max
	case Duration:
		m["type"], m["pattern"] = "string", durationPattern
	case Text:
		m["type"], m["minLength"], m["maxLength"] = "string", f.Min, f.Max
	case Word:
		m["enum"] = f.Words
	case Texts:
		m["type"], m["maxItems"] = []string{"array", "null"}, yamlfile.MaxItems
		m["items"] = map[string]any{"type": "string", "minLength": 1, "maxLength": f.Max}
	}
	switch v := f.Value(sia.DefaultSettings()).(type) {
	case sia.Duration:
		m["default"] = Format(v)
	case []string:
		m["default"] = append([]string{}, v...)
	default:
		m["default"] = v
	}
	return m
}
