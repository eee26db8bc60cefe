package gate

import (
	"slices"
	"strings"
)

// GitHub's limits for nested reusable workflows.
// https://docs.github.com/en/actions/reference/workflows-and-actions/reusable-workflows#limitations-of-reusable-workflows
const (
	maxCalls = 10   // nesting depth
	maxJobs  = 1000 // jobs of a file, including called jobs
)

// jobSeparator separates the name of a calling job from that of a called job in a check run's name.
const jobSeparator = " / "

// Calls returns the paths of the repository's own reusable workflows that a file's jobs call. Those of other
// repositories are not read: each would cost a request, and their content belongs to others.
func (f File) Calls() (paths []string) {
	for _, j := range f.Jobs {
		if j.Calls != "" && j.Calls != externalCall {
			paths = append(paths, j.Calls)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// externalCall replaces the path of another repository's reusable workflow.
const externalCall = "elsewhere"

// ExpandCalls adds to each file the jobs of the repository's own reusable workflows that its jobs call, named as GitHub
// names them. A job that needs a caller also needs the called jobs, and these need what the caller needs. A caller has
// a check run only if it was skipped: then the called jobs have none, even if they are required.
// https://docs.github.com/en/actions/how-tos/reuse-automations/reuse-workflows
// https://github.com/OpenCTI-Platform/opencti/pull/16178
func ExpandCalls(files []File) []File {
	out := slices.Clone(files)
	for i := range out {
		left := maxJobs
		out[i].Jobs = expandJobs(files, out[i].Jobs, 0, &left)
	}
	return out
}

// expandJobs returns jobs with those that they call; left is the remaining number of called jobs.
func expandJobs(files []File, jobs []Job, depth int, left *int) (out []Job) {
	for _, caller := range jobs {
		called, known := fileAt(files, caller.Calls)
		if !known || called.Gone || called.Unread || depth == maxCalls || *left < len(called.Jobs) {
			out = append(out, caller)
			continue
		}
		*left -= len(called.Jobs)
		own := caller.Needs
		caller.Calls, caller.Needs, caller.Code = "", slices.Clone(own), false
		for _, j := range expandJobs(files, called.Jobs, depth+1, left) {
			j.Name = caller.Name + jobSeparator + j.Name
			needs := slices.Clone(own)
			for _, n := range j.Needs {
				needs = append(needs, caller.Name+jobSeparator+n)
			}
			j.Needs = needs
			j.Head = j.Head || caller.Head
			j.Part = j.Part || j.Inputs // the inputs of the call are not evaluated
			caller.Needs = append(caller.Needs, j.Name)
			caller.Code, caller.Runs = caller.Code || j.Code, caller.Runs || j.Runs
			out = append(out, j)
		}
		out = append(out, caller)
	}
	return out
}

// matches reports whether a check run's name may be that of the job, with values for its expressions and its matrix.
// If the job calls a workflow that was not expanded, the names of all called jobs match.
func (j Job) matches(run string) bool {
	names, runs := strings.Split(j.Name, jobSeparator), strings.Split(run, jobSeparator)
	if len(runs) < len(names) || len(runs) > len(names) && j.Calls == "" {
		return false
	}
	for i, n := range names {
		if !matchesPart(n, runs[i]) {
			return false
		}
	}
	return true
}

// matchesPart reports whether a part of a check run's name may be a part of a job's name.
func matchesPart(job, run string) bool {
	if job == run || strings.HasPrefix(run, job+" (") {
		return true
	}
	before, rest, ok := strings.Cut(job, "${{")
	if !ok {
		return false
	}
	after := rest[strings.LastIndex(rest, "}}")+1:]
	after = strings.TrimPrefix(after, "}")
	return strings.HasPrefix(run, before) && strings.HasSuffix(run, after)
}
