package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sia-bot/sia/sia"
)

// hash is what is never a secret in a task: commits, prompts, signatures.
var hash = regexp.MustCompile(`^[0-9a-f]{0,40}$`)

// Clean passes every text of a task through f, such as one that masks secrets.
func Clean(t sia.Task, f func(string) string) (sia.Task, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return t, fmt.Errorf("clean task %s: %w", t.ID, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber() // hashes of hunks don't fit a float
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return t, fmt.Errorf("clean task %s: %w", t.ID, err)
	}
	if b, err = json.Marshal(cleaned(tree, f)); err != nil {
		return t, fmt.Errorf("clean task %s: %w", t.ID, err)
	}
	var out sia.Task
	if err := json.Unmarshal(b, &out); err != nil {
		return t, fmt.Errorf("clean task %s: %w", t.ID, err)
	}
	return out, nil
}

func cleaned(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		if !hash.MatchString(v) {
			return f(v)
		}
	case []any:
		for i := range v {
			v[i] = cleaned(v[i], f)
		}
	case map[string]any:
		for k := range v {
			v[k] = cleaned(v[k], f)
		}
	}
	return v
}
