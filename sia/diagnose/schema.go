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

// loadSchema returns an embedded schema as a tree that the caller may change. It panics on error; tests load every
// schema.
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

// diagnosisSchema returns the schema of the model's answer: the embedded one with the known patterns and techniques,
// and a rating for each free technique. Strict schemas have no maps and require every property, so each technique is a
// property of the ratings.
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

// wireSchema returns a schema for the endpoint. In strict mode OpenAI requires every property to be required and no
// others, and does not support minLength (https://platform.openai.com/docs/guides/structured-outputs).
func wireSchema(name string, tree map[string]any) *llm.Schema {
	b, err := json.Marshal(strictSchema(tree))
	if err != nil { // impossible: the tree was JSON
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
			// Only our own parsing accepts all forms; the last form is the one to request.
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
		delete(properties["technique"].(map[string]any), "enum") // checked by the hard rules
		delete(properties, "ratings")                            // invalid ones are dropped
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

// readAnswer parses an answer that satisfies an embedded schema in its lenient form: fields that code can supply may be
// missing. An error tells the model what to fix.
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
		// The library prints "at '/place': words", on a line of its own for nested errors.
		words := u.Error()
		words = words[strings.LastIndexByte(words, '\n')+1:]
		if _, after, ok := strings.Cut(words, "': "); ok {
			words = after
		}
		faults = append(faults, where+": "+words)
	}
	slices.Sort(faults) // the library's order is that of a map
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
