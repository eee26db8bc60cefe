package memory

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaJSON is the JSON Schema (draft 2020-12) of a task's JSON file.
//
//go:embed schema.json
var schemaJSON []byte

// compiledSchema returns the compiled embedded schema; a test shows that it compiles.
var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		return nil, fmt.Errorf("memory schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("memory.json", doc); err != nil {
		return nil, fmt.Errorf("memory schema: %w", err)
	}
	return c.Compile("memory.json")
})

// validateFile validates a JSON file against the schema. line is the line of a syntax error; other errors name the
// value.
func validateFile(file []byte) (line int, err error) {
	schema, err := compiledSchema()
	if err != nil {
		return 0, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		return syntaxLine(file, err), err
	}
	err = schema.Validate(doc)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return 0, err
	}
	// The library's order is that of a map; sorting makes the first error deterministic.
	faults := leafErrors(invalid)
	slices.SortFunc(faults, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.Error(), b.Error()))
	})
	return 0, faults[0]
}

// leafErrors returns the innermost errors, without those that only give a location.
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

// syntaxLine returns the line of a syntax error.
func syntaxLine(file []byte, err error) int {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		// The schema library's own error has no offset; that of encoding/json does.
		var raw any
		if !errors.As(json.Unmarshal(file, &raw), &syntax) {
			return 0
		}
	}
	return lineAt(file, syntax.Offset)
}

func lineAt(file []byte, offset int64) int {
	return 1 + bytes.Count(file[:min(max(0, offset-1), int64(len(file)))], []byte("\n"))
}
