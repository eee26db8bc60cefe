package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the webhook schemas, each compiled on first use.
type schemas struct {
	names    map[string]bool
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const schemaURL = "https://octokit.test/webhooks.json"

var loadSchemas = sync.OnceValues(func() (*schemas, error) {
	file, err := dataFile("webhooks-schemas/schema.json")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the webhook schemas: %w", err)
	}
	var top struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	addConclusions(doc)
	s := &schemas{names: map[string]bool{}, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	// Dates, addresses and URLs are checked; templates such as {/number} are not, because the library rejects GitHub's.
	s.compiler.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: func(any) error { return nil }})
	for n := range top.Definitions {
		s.names[n] = true
	}
	if err := s.compiler.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return s, nil
})

// addConclusions adds conclusions to lists that GitHub sends and its schemas omit. For example, a workflow's suite is
// skipped when all its jobs were skipped.
func addConclusions(v any) {
	switch v := v.(type) {
	case map[string]any:
		list, _ := v["enum"].([]any)
		if slices.Contains(list, any("action_required")) && slices.Contains(list, any("stale")) {
			for _, c := range []any{"skipped", "startup_failure"} {
				if !slices.Contains(list, c) {
					list = append(list, c)
				}
			}
			v["enum"] = list
		}
		for _, x := range v {
			addConclusions(x)
		}
	case []any:
		for _, x := range v {
			addConclusions(x)
		}
	}
}

func (s *schemas) schema(name string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.compiled[name]; c != nil {
		return c, nil
	}
	c, err := s.compiler.Compile(schemaURL + "#/definitions/" + name)
	if err == nil {
		s.compiled[name] = c
	}
	return c, err
}

// Webhook checks one webhook payload by its event and action.
func (v *Validator) Webhook(event string, payload []byte) {
	s, err := loadSchemas()
	if err != nil {
		v.violation("%v", err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		v.violation("webhook %s: %v", event, err)
		return
	}
	object, _ := value.(map[string]any)
	action, _ := object["action"].(string)
	name, what := event+"$"+action, event+"."+action
	if action == "" {
		name, what = event+"$event", event
	}
	v.count(what)
	if !s.names[name] {
		v.violation("webhook %s: GitHub has no such event and action", what)
		return
	}
	if pull, _ := object["pull_request"].(map[string]any); what == "pull_request.closed" && pull["state"] == "open" {
		return // as GitHub sends it sometimes: https://github.com/rocq-prover/bot/issues/255
	}
	schema, err := s.schema(name)
	if err != nil {
		v.violation("webhook %s: its schema: %v", what, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		v.violation("webhook %s: %v", what, err)
	}
}

// Webhooks checks each webhook that a handler receives.
func (v *Validator) Webhooks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		v.Webhook(r.Header.Get("X-GitHub-Event"), body)
		next.ServeHTTP(w, r)
	})
}
