package technique

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/sia"
)

// FilePath returns the path of a repository's technique with an id.
func FilePath(id sia.TechniqueID) string { return path.Join(Dir, string(id)+".md") }

// EncodeFile returns a technique as a file for [ParseFile]. It fails for a technique that ParseFile would reject.
func EncodeFile(t Technique) ([]byte, error) {
	patterns := yaml.MapSlice{}
	order := func(a, b sia.Pattern) int { return cmp.Or(cmp.Compare(t.Ranks[a], t.Ranks[b]), cmp.Compare(a, b)) }
	for _, p := range slices.SortedFunc(maps.Keys(t.Ranks), order) {
		patterns = append(patterns, yaml.MapItem{Key: string(p), Value: t.Ranks[p]})
	}
	front := yaml.MapSlice{
		{Key: "id", Value: string(t.ID)}, {Key: "name", Value: t.Name}, {Key: "when", Value: t.When},
		{Key: "patterns", Value: patterns}, {Key: "preconditions", Value: stringsOf(t.Preconditions)},
		{Key: "changes", Value: stringsOf(t.Changes)},
	}
	if t.Trial {
		front = append(front, yaml.MapItem{Key: "trial", Value: true})
	}
	head, err := yaml.Marshal(front)
	if err != nil {
		return nil, fmt.Errorf("write technique %s: %w", t.ID, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "---\n%s---\n%s\n", head, strings.TrimSpace(t.Prompt))
	if _, err := ParseFile(FilePath(t.ID), b.Bytes()); err != nil {
		return nil, fmt.Errorf("write technique %s: %w", t.ID, err)
	}
	return b.Bytes(), nil
}

func stringsOf[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
