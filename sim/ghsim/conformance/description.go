package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
)

// description is GitHub's OpenAPI description, split so that one path at a time can be compiled with its references.
type description struct {
	paths      map[string]json.RawMessage
	components map[string]map[string]json.RawMessage
	templates  []template

	mu       sync.Mutex
	compiled map[string]*openapi3.T // by path
}

// template is one path of the description.
type template struct {
	path     string
	expr     *regexp.Regexp
	names    []string
	literals int // segments without parameters; more are more specific
	slashes  int // in each matching path; -1: any number
}

var loadDescription = sync.OnceValues(func() (*description, error) {
	file, err := dataFile("openapi/generated/api.github.com.json")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading GitHub's OpenAPI description: %w", err)
	}
	d := &description{compiled: map[string]*openapi3.T{}}
	var top struct {
		Paths      map[string]json.RawMessage            `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	d.paths, d.components = top.Paths, top.Components
	for p := range d.paths {
		d.templates = append(d.templates, newTemplate(p))
	}
	slices.SortFunc(d.templates, func(a, b template) int {
		if a.literals != b.literals {
			return b.literals - a.literals
		}
		return strings.Compare(a.path, b.path)
	})
	return d, nil
})

// dataFile finds a file of the npm packages under the module's root.
func dataFile(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
	file := filepath.Join(dir, "node_modules", "@octokit", filepath.FromSlash(name))
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("test data %s is missing: run make deps", file)
	}
	return file, nil
}

var quotedParameter = regexp.MustCompile(`\\\{(\w+)\\\}`)

// wide are parameters that may contain slashes.
var wide = []string{"ref", "branch", "basehead"}

func newTemplate(path string) template {
	t := template{path: path, slashes: strings.Count(path, "/")}
	expr := quotedParameter.ReplaceAllStringFunc(regexp.QuoteMeta(path), func(s string) string {
		name := strings.Trim(s, `\{}`)
		t.names = append(t.names, name)
		switch {
		case name == "path":
			t.slashes = -1
			return "(.*)" // the root of a repository is an empty path
		case slices.Contains(wide, name):
			t.slashes = -1
			return "(.+)"
		}
		return "([^/]+)"
	})
	t.expr = regexp.MustCompile("^" + expr + "$")
	for seg := range strings.SplitSeq(path, "/") {
		if !strings.Contains(seg, "{") {
			t.literals++
		}
	}
	return t
}

// find is the operation of a method and path, with its path parameters; nil when GitHub has none.
func (d *description) find(method, path string) (*routers.Route, map[string]string, error) {
	slashes := strings.Count(path, "/")
	for _, t := range d.templates {
		if t.slashes >= 0 && t.slashes != slashes { // there are a thousand
			continue
		}
		m := t.expr.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		doc, err := d.compile(t.path)
		if err != nil {
			return nil, nil, err
		}
		item := doc.Paths.Value(t.path)
		op := item.GetOperation(method)
		if op == nil {
			continue
		}
		params := map[string]string{}
		for i, n := range t.names {
			params[n] = m[i+1]
			if m[i+1] == "" {
				params[n] = "." // an empty path is the root
			}
		}
		return &routers.Route{Spec: doc, Path: t.path, PathItem: item, Method: method, Operation: op}, params, nil
	}
	return nil, nil, nil
}

// compile loads one path with the components to which it refers.
func (d *description) compile(path string) (*openapi3.T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.compiled[path]; doc != nil {
		return doc, nil
	}
	item, err := withoutExamples(d.paths[path])
	if err != nil {
		return nil, fmt.Errorf("OpenAPI path %s: %w", path, err)
	}
	parts := map[string]map[string]json.RawMessage{}
	if err := d.collect(item, parts); err != nil {
		return nil, fmt.Errorf("OpenAPI path %s: %w", path, err)
	}
	text, err := json.Marshal(map[string]any{
		"openapi": "3.0.3", "info": map[string]string{"title": "GitHub", "version": "1"},
		"paths": map[string]json.RawMessage{path: item}, "components": parts,
	})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI path %s: %w", path, err)
	}
	d.compiled[path] = doc
	return doc, nil
}

var reference = regexp.MustCompile(`"\$ref":\s*"#/components/([\w-]+)/([^"]+)"`)

// collect adds the references of a piece to parts, recursively.
func (d *description) collect(piece json.RawMessage, parts map[string]map[string]json.RawMessage) error {
	for _, m := range reference.FindAllSubmatch(piece, -1) {
		kind, name := string(m[1]), string(m[2])
		if parts[kind] == nil {
			parts[kind] = map[string]json.RawMessage{}
		}
		if parts[kind][name] != nil {
			continue
		}
		part := d.components[kind][name]
		if part == nil {
			return fmt.Errorf("component %s/%s is missing", kind, name)
		}
		part, err := withoutExamples(part)
		if err != nil {
			return err
		}
		parts[kind][name] = part
		if err := d.collect(part, parts); err != nil {
			return err
		}
	}
	return nil
}

// withoutExamples drops the examples of media types and schemas, most of the
// description's weight.
func withoutExamples(piece json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(piece))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	strip(v)
	return json.Marshal(v)
}

func isEnterprise(v any) bool {
	o, _ := v.(map[string]any)
	return o["title"] == "Enterprise"
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, is := v["schema"]; is {
			delete(v, "examples")
			delete(v, "example")
		}
		if _, is := v["type"].(string); is {
			delete(v, "example")
		}
		// An account is a user or an enterprise; one operation declares both at once.
		if all, is := v["allOf"].([]any); is && slices.ContainsFunc(all, isEnterprise) {
			delete(v, "allOf")
			v["anyOf"] = all
		}
		for _, x := range v {
			strip(x)
		}
	case []any:
		for _, x := range v {
			strip(x)
		}
	}
}
