package ghsim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
)

// workflowFile is the part of a workflow's syntax that is understood.
// https://docs.github.com/en/actions/writing-workflows/workflow-syntax-for-github-actions
type workflowFile struct {
	Name     string             `yaml:"name"`
	On       any                `yaml:"on"`
	Env      map[string]any     `yaml:"env"`
	Defaults runDefaults        `yaml:"defaults"`
	Jobs     map[string]jobFile `yaml:"jobs"`
	order    []string           // of Jobs, as written
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

// jobPlan is one job to be run: a job of the file, or one combination of its
// matrix.
type jobPlan struct {
	workflow *workflowFile
	file     jobFile
	key      string // in the file
	name     string // of the check run
	needs    []string
	matrix   map[string]string
}

// parseWorkflow reads a workflow file.
func parseWorkflow(text []byte) (*workflowFile, error) {
	var w workflowFile
	if err := yaml.Unmarshal(text, &w); err != nil {
		return nil, err
	}
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
	case w.On == nil:
		return nil, fmt.Errorf("no event triggers defined in `on`")
	case len(w.Jobs) == 0:
		return nil, fmt.Errorf("no jobs defined in `jobs`")
	}
	for key, j := range w.Jobs {
		for _, n := range stringList(j.Needs) {
			if _, known := w.Jobs[n]; !known {
				return nil, fmt.Errorf("job %q depends on unknown job %q", key, n)
			}
		}
		if j.Uses == "" && len(j.Steps) == 0 {
			return nil, fmt.Errorf("job %q has no steps", key)
		}
	}
	return &w, nil
}

// triggered reports whether an event on a branch starts the workflow; for
// pull_request it is the base branch. Path filters are not looked at.
func (w *workflowFile) triggered(event, branch string) bool {
	switch on := w.On.(type) {
	case string:
		return on == event
	case []any:
		return slices.Contains(stringList(on), event)
	case map[string]any:
		filter, present := on[event]
		if !present {
			return false
		}
		f, _ := filter.(map[string]any)
		if only := stringList(f["branches"]); len(only) > 0 && !globList(only, branch) {
			return false
		}
		if event == "push" && f["branches"] == nil && f["tags"] != nil {
			return false
		}
		return !globList(stringList(f["branches-ignore"]), branch)
	}
	return false
}

// globList reports whether the last pattern that matches, "!" ones included,
// includes name.
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

// plans are the workflow's jobs, each after those that it needs; a cycle is an
// error.
func (w *workflowFile) plans() ([]jobPlan, error) {
	var plans []jobPlan
	done := map[string]bool{}
	for len(done) < len(w.Jobs) {
		n := len(done)
		for _, key := range w.order {
			j := w.Jobs[key]
			needs := stringList(j.Needs)
			if done[key] || slices.ContainsFunc(needs, func(k string) bool { return !done[k] }) {
				continue
			}
			done[key] = true
			for _, m := range combinations(j.Strategy.Matrix) {
				plans = append(plans, jobPlan{workflow: w, file: j, key: key, name: jobName(key, j, m), needs: needs, matrix: m})
			}
		}
		if len(done) == n {
			return nil, fmt.Errorf("the jobs' needs form a cycle")
		}
	}
	return plans, nil
}

func jobName(key string, j jobFile, matrix map[string]string) string {
	if strings.Contains(j.Name, "${{") {
		return expand(j.Name, func(e string) string { return matrix[strings.TrimPrefix(e, "matrix.")] })
	}
	name := j.Name
	if name == "" {
		name = key
	}
	if len(matrix) > 0 {
		var vs []string
		for _, k := range sortedKeys(matrix) {
			vs = append(vs, matrix[k])
		}
		name += " (" + strings.Join(vs, ", ") + ")"
	}
	return name
}

// maxCombinations is GitHub's limit of jobs that a matrix makes.
const maxCombinations = 256

// combinations are a matrix's combinations, at least one; include and exclude
// are not looked at.
func combinations(matrix any) []map[string]string {
	out := []map[string]string{nil}
	m, _ := matrix.(map[string]any)
	for _, k := range sortedKeys(m) {
		values := stringList(m[k])
		if k == "include" || k == "exclude" || len(values) == 0 {
			continue
		}
		var next []map[string]string
		for _, have := range out {
			for _, v := range values {
				c := map[string]string{k: v}
				for hk, hv := range have {
					c[hk] = hv
				}
				next = append(next, c)
			}
		}
		out = next[:min(len(next), maxCombinations)]
	}
	return out
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
