package gate

import (
	"slices"
	"strings"
)

// GitHub's bounds of reusable workflows that call others.
// https://docs.github.com/en/actions/reference/workflows-and-actions/reusable-workflows#limitations-of-reusable-workflows
const (
	maxCalls = 10   // in a row
	maxJobs  = 1000 // of a file, with those of what it calls
)

// between is what GitHub puts between the name of a job that calls a reusable workflow and that of a job of it.
const between = " / "

// Calls are the paths of the repository's own reusable workflows that jobs of a file are. Those of other repositories
// are not read: each would cost a request, and what they hold is theirs.
func (f File) Calls() (paths []string) {
	for _, j := range f.Jobs {
		if j.Calls != "" && j.Calls != elsewhere {
			paths = append(paths, j.Calls)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// elsewhere is in the place of the path of a reusable workflow that is another repository's.
const elsewhere = "elsewhere"

// Follow puts the jobs of the repository's own reusable workflows beside those that call them, as GitHub names them.
// Who needs a job that calls needs what it calls, and that needs what the caller does. A caller has no check run but
// where it was skipped: then there are none of the jobs that it calls, not even where they are required.
// https://docs.github.com/en/actions/how-tos/reuse-automations/reuse-workflows
// https://github.com/OpenCTI-Platform/opencti/pull/16178
func Follow(files []File) []File {
	out := slices.Clone(files)
	for i := range out {
		left := maxJobs
		out[i].Jobs = followed(files, out[i].Jobs, 0, &left)
	}
	return out
}

// followed are jobs with those that they call; left is how many may be called.
func followed(files []File, jobs []Job, depth int, left *int) (out []Job) {
	for _, caller := range jobs {
		called, known := fileAt(files, caller.Calls)
		if !known || called.Gone || called.Unread || depth == maxCalls || *left < len(called.Jobs) {
			out = append(out, caller)
			continue
		}
		*left -= len(called.Jobs)
		own := caller.Needs
		caller.Calls, caller.Needs, caller.Code = "", slices.Clone(own), false
		for _, j := range followed(files, called.Jobs, depth+1, left) {
			j.Name = caller.Name + between + j.Name
			needs := slices.Clone(own)
			for _, n := range j.Needs {
				needs = append(needs, caller.Name+between+n)
			}
			j.Needs = needs
			j.Head = j.Head || caller.Head
			j.Part = j.Part || j.Inputs // nobody can read what it is called with
			caller.Needs = append(caller.Needs, j.Name)
			caller.Code, caller.Runs = caller.Code || j.Code, caller.Runs || j.Runs
			out = append(out, j)
		}
		out = append(out, caller)
	}
	return out
}

// fits reports whether a check run's name may be a job's, with values for its expressions and of its matrix. Of what a
// job calls that is not followed, every job may be.
func (j Job) fits(run string) bool {
	names, runs := strings.Split(j.Name, between), strings.Split(run, between)
	if len(runs) < len(names) || len(runs) > len(names) && j.Calls == "" {
		return false
	}
	for i, n := range names {
		if !like(n, runs[i]) {
			return false
		}
	}
	return true
}

// like reports whether a part of a check run's name may be that of a job's.
func like(job, run string) bool {
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
