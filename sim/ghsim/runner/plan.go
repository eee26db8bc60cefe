package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Event is a webhook event that may start a workflow: its name and payload.
type Event struct {
	Name    string // push, pull_request, …
	Payload map[string]any
	Changed []string // changed paths for path filters; nil: unknown, so that the filters accept everything
}

// action is the event's action; empty for a push.
func (e Event) action() string {
	action, _ := e.Payload["action"].(string)
	return action
}

// BaseBranch is the base branch of a pull request's event; it is empty for events of other kinds.
func (e Event) BaseBranch() string {
	pull, _ := e.Payload["pull_request"].(map[string]any)
	base, _ := pull["base"].(map[string]any)
	ref, _ := base["ref"].(string)
	return ref
}

// branch is the branch for a trigger's filter: the pushed one, or the base of a pull request or of a merge group.
func (e Event) branch() string {
	switch e.Name {
	case "push":
		ref, _ := e.Payload["ref"].(string)
		return strings.TrimPrefix(ref, "refs/heads/")
	case "merge_group":
		group, _ := e.Payload["merge_group"].(map[string]any)
		ref, _ := group["base_ref"].(string)
		return strings.TrimPrefix(ref, "refs/heads/")
	}
	return e.BaseBranch()
}

// Job is one job to run: a job of the file, or one combination of its matrix, or a job with a matrix that is evaluated
// when the job starts.
type Job struct {
	Key    string // in the file
	Name   string // of the check run
	Needs  []string
	file   *workflowFile
	spec   jobFile
	matrix map[string]any
	github map[string]any // the context github, from the event
	needs  map[string]Need
	whole  bool // its matrix has not been evaluated
	calls  *Workflow
}

// After is the job with the results of the jobs that it needs.
func (j Job) After(needs map[string]Need) Job {
	j.needs = needs
	return j
}

// Wanted evaluates the job's if.
func (j Job) Wanted() (bool, error) {
	s := scope{contexts: map[string]any{"github": j.github, "needs": contextOf(j.needs), "matrix": j.matrix}}
	for _, n := range j.needs {
		s.failed = s.failed || n.Result == "failure" || n.Result == "cancelled"
	}
	skipped := false
	for _, n := range j.needs {
		skipped = skipped || n.Result == "skipped"
	}
	if skipped && (j.spec.If == nil || !statusFunction.MatchString(fmt.Sprint(j.spec.If))) {
		return false, nil // as the result of its needs
	}
	return condition(j.spec.If, s)
}

// Plan is the jobs that an event starts, each after those that it needs. There are none when the workflow has no
// trigger for the event.
func (w *Workflow) Plan(e Event) ([]Job, error) {
	if !w.triggered(e) {
		return nil, nil
	}
	return w.jobs(e.github())
}

// Group is the workflow's concurrency group for an event, and whether a run of it cancels the previous one. Without a
// group its runs are independent.
func (w *Workflow) Group(e Event) (name string, cancels bool) {
	github := e.github()
	github["workflow"] = w.Name
	s := scope{contexts: map[string]any{"github": github}}
	switch c := w.file.Concurrency.(type) {
	case string:
		return expand(c, s), false
	case map[string]any:
		group, _ := c["group"].(string)
		return expand(group, s), truth(c["cancel-in-progress"], s)
	}
	return "", false
}

// jobs are all jobs of the file; a dependency cycle is an error.
func (w *Workflow) jobs(github map[string]any) ([]Job, error) {
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
			job := Job{Key: key, Name: key, Needs: needs, file: &w.file, spec: spec, github: github, whole: true,
				calls: w.called[key]}
			if job.Waits() {
				jobs = append(jobs, job)
				continue
			}
			expanded, err := job.Expand()
			if err != nil { // it is reported when the job would start
				expanded = []Job{job}
			}
			jobs = append(jobs, expanded...)
		}
		if len(done) == n {
			return nil, errors.New("the jobs' needs form a cycle")
		}
	}
	return jobs, nil
}

func jobName(key string, j jobFile, matrix, github map[string]any) string {
	if strings.Contains(j.Name, "${{") {
		return expand(j.Name, scope{contexts: map[string]any{"matrix": matrix, "github": github}})
	}
	if j.Name != "" {
		return j.Name // of every job of the matrix
	}
	if len(matrix) == 0 {
		return key
	}
	var vs []string
	for _, k := range slices.Sorted(maps.Keys(matrix)) {
		vs = append(vs, asText(matrix[k]))
	}
	return key + " (" + strings.Join(vs, ", ") + ")"
}
