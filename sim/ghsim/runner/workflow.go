package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
)

// Workflow is a parsed workflow file.
type Workflow struct {
	Name  string // empty when the file gives none
	file  workflowFile
	order []string // of the file's jobs, as written

	called map[string]*Workflow // the reusable workflows that jobs call, by job key
}

// workflowFile is the supported part of a workflow's syntax.
// https://docs.github.com/en/actions/writing-workflows/workflow-syntax-for-github-actions
type workflowFile struct {
	Name     string             `yaml:"name"`
	On       any                `yaml:"on"`
	Env      map[string]any     `yaml:"env"`
	Defaults runDefaults        `yaml:"defaults"`
	Jobs     map[string]jobFile `yaml:"jobs"`

	Concurrency any `yaml:"concurrency"`
}

type runDefaults struct {
	Run struct {
		Shell            string `yaml:"shell"`
		WorkingDirectory string `yaml:"working-directory"`
	} `yaml:"run"`
}

type jobFile struct {
	Name            string         `yaml:"name"`
	Needs           any            `yaml:"needs"`
	If              any            `yaml:"if"`
	Uses            string         `yaml:"uses"`
	Env             map[string]any `yaml:"env"`
	Outputs         map[string]any `yaml:"outputs"`
	Defaults        runDefaults    `yaml:"defaults"`
	TimeoutMinutes  float64        `yaml:"timeout-minutes"`
	ContinueOnError any            `yaml:"continue-on-error"`
	Steps           []stepFile     `yaml:"steps"`
	Strategy        struct {
		Matrix any `yaml:"matrix"`
	} `yaml:"strategy"`
}

type stepFile struct {
	ID               string         `yaml:"id"`
	Name             string         `yaml:"name"`
	If               any            `yaml:"if"`
	Run              string         `yaml:"run"`
	Uses             string         `yaml:"uses"`
	With             map[string]any `yaml:"with"`
	Env              map[string]any `yaml:"env"`
	Shell            string         `yaml:"shell"`
	WorkingDirectory string         `yaml:"working-directory"`
	ContinueOnError  any            `yaml:"continue-on-error"`
	TimeoutMinutes   float64        `yaml:"timeout-minutes"`
}

// Parse reads a workflow file.
func Parse(text []byte) (*Workflow, error) {
	var w Workflow
	if err := yaml.Unmarshal(text, &w.file); err != nil {
		return nil, err
	}
	w.Name = w.file.Name
	var order struct {
		Jobs yaml.MapSlice `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(text, &order); err != nil {
		return nil, err
	}
	for _, it := range order.Jobs {
		w.order = append(w.order, fmt.Sprint(it.Key))
	}
	switch {
	case w.file.On == nil:
		return nil, errors.New("no event triggers defined in `on`")
	case len(w.file.Jobs) == 0:
		return nil, errors.New("no jobs defined in `jobs`")
	}
	for key, j := range w.file.Jobs {
		for _, n := range stringList(j.Needs) {
			if _, known := w.file.Jobs[n]; !known {
				return nil, fmt.Errorf("job %q depends on unknown job %q", key, n)
			}
		}
		if j.Uses == "" && len(j.Steps) == 0 {
			return nil, fmt.Errorf("job %q has no steps", key)
		}
	}
	return &w, nil
}

// defaultTypes are the event types that start a workflow without types.
var defaultTypes = map[string][]string{"pull_request": {"opened", "synchronize", "reopened"},
	"dynamic": {"opened", "synchronize", "reopened"}}

// triggered reports whether an event starts the workflow.
func (w *Workflow) triggered(e Event) bool {
	var filter map[string]any
	switch on := w.file.On.(type) {
	case string:
		if on != e.Name {
			return false
		}
	case []any:
		if !slices.Contains(stringList(on), e.Name) {
			return false
		}
	case map[string]any:
		f, present := on[e.Name]
		if !present {
			return false
		}
		filter, _ = f.(map[string]any)
	default:
		return false
	}
	types := stringList(filter["types"])
	if filter["types"] == nil {
		types = defaultTypes[e.Name]
	}
	if len(types) > 0 && e.action() != "" && !slices.Contains(types, e.action()) {
		return false
	}
	return onBranch(filter, e) && onPaths(filter, e.Changed)
}

func onBranch(filter map[string]any, e Event) bool {
	if only := stringList(filter["branches"]); len(only) > 0 && !globList(only, e.branch()) {
		return false
	}
	if e.Name == "push" && filter["branches"] == nil && filter["tags"] != nil {
		return false
	}
	return !globList(stringList(filter["branches-ignore"]), e.branch())
}

// onPaths reports whether one of the paths is included, and one is not ignored.
func onPaths(filter map[string]any, changed []string) bool {
	if changed == nil {
		return true
	}
	only, not := stringList(filter["paths"]), stringList(filter["paths-ignore"])
	return slices.ContainsFunc(changed, func(p string) bool { return len(only) == 0 || globList(only, p) }) &&
		slices.ContainsFunc(changed, func(p string) bool { return !globList(not, p) }) ||
		len(only) == 0 && len(not) == 0
}

// globList reports whether the last pattern that matches, "!" ones included, includes name.
func globList(patterns []string, name string) bool {
	in := false
	for _, p := range patterns {
		not := strings.HasPrefix(p, "!")
		if ok, err := doublestar.Match(strings.TrimPrefix(p, "!"), name); err == nil && ok {
			in = !not
		}
	}
	return in
}

// stringList reads a scalar or a list of scalars.
func stringList(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, fmt.Sprint(x))
		}
		return out
	}
	return []string{fmt.Sprint(v)}
}
