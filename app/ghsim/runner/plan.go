package runner

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Event is what may start a workflow: a webhook event's name and payload.
type Event struct {
	Name    string // push, pull_request, …
	Payload map[string]any
}

// BaseBranch is the branch that a pull request wants to be merged into; it is
// empty for events of other kinds.
func (e Event) BaseBranch() string {
	pull, _ := e.Payload["pull_request"].(map[string]any)
	base, _ := pull["base"].(map[string]any)
	ref, _ := base["ref"].(string)
	return ref
}

// branch is the branch that a trigger's filter is about: the one that was pushed
// to, or a pull request's base.
func (e Event) branch() string {
	if e.Name == "push" {
		ref, _ := e.Payload["ref"].(string)
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	return e.BaseBranch()
}

// Job is one job to be run: a job of the file, or one combination of its
// matrix.
type Job struct {
	Key    string // in the file
	Name   string // of the check run
	Needs  []string
	file   *workflowFile
	spec   jobFile
	matrix map[string]string
}

// Wanted evaluates the job's if; failed tells that one that it needs did not
// succeed.
func (j Job) Wanted(failed bool) bool {
	return condition(j.spec.If, failed, func(string) string { return "" })
}

// Plan is the jobs that an event starts, each after those that it needs. There
// are none when the workflow has no trigger for the event.
func (w *Workflow) Plan(e Event) ([]Job, error) {
	if !w.triggered(e) {
		return nil, nil
	}
	return w.jobs()
}

// jobs are all jobs of the file; needs that form a cycle are an error.
func (w *Workflow) jobs() ([]Job, error) {
	var jobs []Job
	done := map[string]bool{}
	for len(done) < len(w.file.Jobs) {
		n := len(done)
		for _, key := range w.order {
			spec := w.file.Jobs[key]
			needs := stringList(spec.Needs)
			if done[key] || slices.ContainsFunc(needs, func(k string) bool { return !done[k] }) {
				continue
			}
			done[key] = true
			for _, m := range combinations(spec.Strategy.Matrix) {
				jobs = append(jobs, Job{Key: key, Name: jobName(key, spec, m), Needs: needs, file: &w.file, spec: spec,
					matrix: m})
			}
		}
		if len(done) == n {
			return nil, errors.New("the jobs' needs form a cycle")
		}
	}
	return jobs, nil
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
		for _, k := range slices.Sorted(maps.Keys(matrix)) {
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
	for _, k := range slices.Sorted(maps.Keys(m)) {
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
