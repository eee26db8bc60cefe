package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
)

// hosted are the types of tools that the provider runs itself. They reach the internet
// and cost more than tokens. Newer versions have a date behind the name.
var hosted = []string{"web_search", "web_fetch", "file_search", "code_interpreter", "code_execution", "computer_use",
	"image_generation", "mcp", "tool_search"}

// rewritten is the request without what reaches or costs more than an answer of at most
// so many tokens. It asks that a streamed answer tell its usage.
func (q request) rewritten(most int) ([]byte, error) {
	for _, name := range q.drop {
		delete(q.fields, name)
	}
	set := func(name string, v any) {
		b, _ := json.Marshal(v) // numbers, booleans and maps of them
		q.fields[name] = b
	}
	if q.path == responsesPath {
		set("store", false) // the default keeps what was said with the provider
	}
	if q.path == chatPath && q.stream {
		set("stream_options", map[string]bool{"include_usage": true})
	}
	if most > 0 && (q.want == 0 || q.want > most) {
		name := q.bound[0]
		for _, b := range q.bound {
			if _, there := q.fields[b]; there {
				name = b
			}
		}
		set(name, most)
	}
	if err := q.tools(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(q.fields)
	if err != nil {
		return nil, fmt.Errorf("the request can't be passed on: %w", err)
	}
	return b, nil
}

// tools takes out those that the provider runs.
func (q request) tools() error {
	raw, there := q.fields["tools"]
	if !there || string(raw) == "null" {
		return nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("the tools are not a list: %w", err)
	}
	kept := []json.RawMessage{}
	for _, t := range all {
		var tool struct{ Type string }
		if err := json.Unmarshal(t, &tool); err != nil {
			return fmt.Errorf("a tool is not an object: %w", err)
		}
		if !isHosted(tool.Type) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		delete(q.fields, "tools")
		delete(q.fields, "tool_choice")
		return nil
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("the tools can't be passed on: %w", err)
	}
	q.fields["tools"] = b
	return nil
}

func isHosted(kind string) bool {
	for _, h := range hosted {
		if strings.HasPrefix(kind, h) {
			return true
		}
	}
	return false
}
