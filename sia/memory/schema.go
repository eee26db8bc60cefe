package memory

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaJSON is the JSON Schema (draft 2020-12) of a task's JSON file.
//
//go:embed schema.json
var schemaJSON []byte

// compiledSchema is the embedded schema, ready to validate; a test shows that it compiles.
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

// validateFile checks a JSON file against the schema. line is where the first fault
// stands, 0 when that is unknown.
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
	// The library walks a map, so the faults are sorted: a file gives the same first fault each time.
	faults := leafErrors(invalid)
	slices.SortFunc(faults, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.Error(), b.Error()))
	})
	return lineOf(file, faults[0].InstanceLocation), faults[0]
}

// leafErrors are the faults themselves, without the errors that only say where to look.
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

// syntaxLine is the line of a syntax error.
func syntaxLine(file []byte, err error) int {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		// The schema library words its own errors; encoding/json says where.
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

// lineOf is the line where the value at a location begins. When the value is missing it is the line
// of the nearest enclosing one.
func lineOf(file []byte, location []string) int {
	dec := json.NewDecoder(bytes.NewReader(file))
	for _, want := range location {
		tok, err := dec.Token()
		open, ok := tok.(json.Delim)
		if err != nil || !ok || open != '{' && open != '[' {
			break
		}
		found := false
		for i := 0; dec.More() && !found; i++ {
			key := strconv.Itoa(i)
			if open == '{' {
				tok, err := dec.Token()
				if err != nil {
					return 0
				}
				key, _ = tok.(string)
			}
			if found = key == want; !found {
				var skip json.RawMessage
				if dec.Decode(&skip) != nil {
					return 0
				}
			}
		}
		if !found {
			break
		}
	}
	// The decoder stands behind the key or the bracket; the value follows.
	offset := dec.InputOffset()
	for offset < int64(len(file)) && bytes.IndexByte([]byte(" \t\r\n:,"), file[offset]) >= 0 {
		offset++
	}
	return lineAt(file, offset+1)
}
