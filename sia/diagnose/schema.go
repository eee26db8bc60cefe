package diagnose

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// loadSchema reads an embedded schema as a tree that may be changed. Tests read each.
func loadSchema(name string) (tree map[string]any) {
	b, err := schemaFiles.ReadFile("schema/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil {
		panic("diagnose: schema " + name + ": " + err.Error())
	}
	return tree
}

// diagnosisSchema is the schema that the model's answer has to satisfy. It is the embedded one with
// the known patterns and techniques, and a rating for each free technique. In the strict form every
// property is required and maps don't exist, so each technique is a property of the ratings.
func diagnosisSchema(in Input) *llm.Schema {
	tree := loadSchema("diagnosis")
	properties := tree["properties"].(map[string]any)
	setEnum(properties["pattern"], patternNames())
	var ids []any
	for _, t := range in.Library.All() {
		ids = append(ids, string(t.ID))
	}
	setEnum(properties["technique"], append(ids, ""))
	chances := map[string]any{}
	for _, id := range rateable(in) {
		chances[string(id)] = map[string]any{"type": "number"}
	}
	properties["ratings"].(map[string]any)["properties"] = chances
	if len(chances) == 0 {
		delete(properties, "ratings")
	}
	return wireSchema("diagnosis", tree)
}

func patternNames() []any {
	var names []any
	for _, p := range sia.Patterns {
		names = append(names, string(p))
	}
	return names
}

func setEnum(property any, values []any) { property.(map[string]any)["enum"] = values }

// wireSchema makes a schema for the endpoint. In strict mode OpenAI wants every
// property required and no others, and knows no minLength
// (https://platform.openai.com/docs/guides/structured-outputs).
func wireSchema(name string, tree map[string]any) *llm.Schema {
	b, err := json.Marshal(strictSchema(tree))
	if err != nil { // a tree of JSON is JSON
		panic("diagnose: schema " + name + ": " + err.Error())
	}
	return &llm.Schema{Name: name, JSON: b, Strict: true}
}

func strictSchema(node any) any {
	switch n := node.(type) {
	case []any:
		out := make([]any, len(n))
		for i, v := range n {
			out[i] = strictSchema(v)
		}
		return out
	case map[string]any:
		if choices, ok := n["anyOf"].([]any); ok && len(choices) > 0 {
			// Only our own reading is lenient: the last form is the one asked for.
			return strictSchema(choices[len(choices)-1])
		}
		out := map[string]any{}
		for k, v := range n {
			out[k] = strictSchema(v)
		}
		delete(out, "minLength")
		if p, ok := n["properties"].(map[string]any); ok {
			out["required"] = slices.Sorted(maps.Keys(p))
			out["additionalProperties"] = false
		}
		return out
	}
	return node
}

// The embedded schemas in their lenient form, compiled at first use.
var (
	lenientDiagnosis = sync.OnceValue(func() *jsonschema.Schema {
		tree := loadSchema("diagnosis")
		properties := tree["properties"].(map[string]any)
		setEnum(properties["pattern"], patternNames())
		delete(properties["technique"].(map[string]any), "enum") // settled by the hard rules
		delete(properties, "ratings")                            // what can't be used of them is left out
		return compileSchema(tree)
	})
	lenientReview   = sync.OnceValue(func() *jsonschema.Schema { return compileSchema(loadSchema("review")) })
	lenientWeighing = sync.OnceValue(func() *jsonschema.Schema { return compileSchema(loadSchema("weigh")) })
	lenientFinal    = sync.OnceValue(func() *jsonschema.Schema { return compileSchema(loadSchema("final")) })
)

func compileSchema(tree map[string]any) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer.json", tree); err != nil {
		panic("diagnose: schema: " + err.Error())
	}
	return c.MustCompile("answer.json")
}

// readAnswer reads an answer that an embedded schema holds for in its lenient form: fields that code can supply may be
// missing. An error says, to the model, what to mend.
func readAnswer(lenient func() *jsonschema.Schema, raw []byte, into any) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	err = lenient().Validate(doc)
	if err == nil {
		if err = json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("not as asked: %w", err)
		}
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	var faults []string
	for _, u := range leafErrors(invalid) {
		where := strings.Join(u.InstanceLocation, ".")
		if where == "" {
			where = "the object"
		}
		// The library says "at '/place': words", on a line of its own when the
		// fault lies deep.
		words := u.Error()
		words = words[strings.LastIndexByte(words, '\n')+1:]
		if _, after, ok := strings.Cut(words, "': "); ok {
			words = after
		}
		faults = append(faults, where+": "+words)
	}
	slices.Sort(faults) // the library walks a map
	return errors.New(strings.Join(faults[:min(len(faults), 5)], "; "))
}

func leafErrors(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, leafErrors(c)...)
	}
	return all
}
