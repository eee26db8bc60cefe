package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// workflowFile is the part of a workflow file that the oracle reads.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
type workflowFile struct {
	On   any                `yaml:"on"`
	Jobs map[string]jobFile `yaml:"jobs"`
}

type jobFile struct {
	Needs           any    `yaml:"needs"`
	Uses            string `yaml:"uses"`
	If              any    `yaml:"if"`
	ContinueOnError any    `yaml:"continue-on-error"`
	Steps           []struct {
		Uses string         `yaml:"uses"`
		Run  string         `yaml:"run"`
		With map[string]any `yaml:"with"`
		Env  map[string]any `yaml:"env"`
	} `yaml:"steps"`
}

// workflow reads a workflow file; a missing or invalid file has no jobs. The jobs of a reusable workflow of the
// repository are added next to the calling job: they have its dependencies, and it depends on them.
// https://docs.github.com/en/actions/how-tos/reuse-automations/reuse-workflows
func (v *verdict) workflow(r *model.Repository, sha, path string) workflowFile {
	var file workflowFile
	text, found := v.src.File(r, sha, path)
	if !found || yaml.Unmarshal([]byte(text), &file) != nil {
		return workflowFile{}
	}
	for key, caller := range file.Jobs {
		called, own := strings.CutPrefix(caller.Uses, "./")
		if !own || called == path {
			continue
		}
		needs := listed(caller.Needs)
		all := slices.Clone(needs)
		for name, job := range v.workflow(r, sha, called).Jobs {
			inner := slices.Clone(needs)
			for _, need := range listed(job.Needs) {
				inner = append(inner, key+" / "+fmt.Sprint(need))
			}
			job.Needs, job.Uses = inner, ""
			file.Jobs[key+" / "+name] = job
			all = append(all, key+" / "+name)
		}
		caller.Needs = all
		file.Jobs[key] = caller
	}
	return file
}

// listed are the values of a list, or a single value.
func listed(value any) []any {
	if list, is := value.([]any); is || value == nil {
		return list
	}
	return []any{value}
}

// combination matches the matrix combination of a calling job, in job keys.
var combination = regexp.MustCompile(` \([^/]*\) / `)

// key is a job's key in its workflow file.
func key(j *model.Job) string { return combination.ReplaceAllString(j.Plan.Key, " / ") }

// fileOf is the workflow file of a job's run.
func (v *verdict) fileOf(j *model.Job) workflowFile {
	at := j.Run.Checkout
	if at == "" {
		at = v.repo.Head(v.pull.Base)
	}
	source := j.Run.Source(v.repo)
	if source != v.repo {
		at = source.Head(source.DefaultBranch)
	}
	return v.workflow(source, at, j.Run.Path)
}

// needs are the keys of the jobs that a job needs, directly or not, except for those that may fail.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idneeds
func (f workflowFile) needs(key string) map[string]bool {
	all := map[string]bool{}
	for next := []string{key}; len(next) > 0; next = next[1:] {
		if f.Jobs[next[0]].Needs == nil {
			continue
		}
		for _, need := range texts(f.Jobs[next[0]].Needs) {
			if may := f.Jobs[need].ContinueOnError; !all[need] && (may == nil || may == false) {
				all[need] = true
				next = append(next, need)
			}
		}
	}
	return all
}

// checksOut reports whether a step of a job checks out the repository's code.
func (j jobFile) checksOut() bool {
	for _, step := range j.Steps {
		if strings.Contains(step.Uses, "checkout") {
			return true
		}
	}
	return false
}

// starts reports whether every push to a pull request's branch certainly starts a workflow. With a filter that may
// exclude it, it is not certain.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#on
func (f workflowFile) starts(p *model.Pull) bool {
	for name, branch := range map[string]string{"push": p.Head, "pull_request": p.Base, "pull_request_target": p.Base} {
		if filters, on := f.on(name); on && passes(filters, branch) {
			return true
		}
	}
	return false
}

// on are the filters of an event, and whether the event starts the workflow at all.
func (f workflowFile) on(event string) (filters map[string]any, on bool) {
	if events, is := f.On.(map[string]any); is {
		of, on := events[event]
		filters, _ = of.(map[string]any)
		return filters, on
	}
	return nil, slices.Contains(texts(f.On), event)
}

// passes reports whether an event's filters accept every change of a branch. Only a branch that is named exactly is
// certain: patterns are not evaluated.
func passes(filters map[string]any, branch string) bool {
	for filter, value := range filters {
		names := texts(value)
		switch filter {
		case "branches":
			if !slices.Contains(names, branch) || slices.ContainsFunc(names, negated) {
				return false
			}
		case "types": // the first head is opened, the others are synchronized
			if !slices.Contains(names, "opened") || !slices.Contains(names, "synchronize") {
				return false
			}
		case "tags", "tags-ignore":
			if filters["branches"] == nil { // only tags start it
				return false
			}
		default: // paths, paths-ignore, branches-ignore
			return false
		}
	}
	return true
}

func negated(pattern string) bool { return strings.HasPrefix(pattern, "!") }

// texts are the strings of a scalar or a list.
func texts(value any) []string {
	list, is := value.([]any)
	if !is {
		list = []any{value}
	}
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprint(x))
	}
	return out
}
