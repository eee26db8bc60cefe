package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Expected is a check that should report on the commit, and why SIA expects it.
type Expected struct {
	sia.Reported
	Why  string // for people, as a sentence without its full stop
	near bool   // it reported on a pull request, so that it should do the same on the one that is judged
}

// History contains the checks that reported on commits near the one that is judged.
type History struct {
	Known  bool             // it could be read
	Base   [][]sia.Reported // on the base branch's last commits, newest first
	Merged [][]sia.Reported // on the heads of the last pull requests merged into it, newest first
}

// actionsApp is the slug of GitHub Actions.
const actionsApp = "github-actions"

// Expect returns the checks that should report on a commit, sorted: those that reported on an earlier commit of the
// task, on most of the last merged pull requests, or on most of the base branch's last commits. files are the known
// workflow files on the commit, and changed is the list of paths that the pull request changes: a job is not expected
// if its file shows that it need not run.
func Expect(earlier []sia.Reported, h History, files []File, changed []string) []Expected {
	found := map[sia.Reported]Expected{}
	add := func(r sia.Reported, near bool, why string) {
		if _, known := found[r]; !known {
			found[r] = Expected{r, why, near}
		}
	}
	for _, r := range earlier {
		if runsAgain(r, files, changed, true) {
			add(r, true, "it reported on an earlier commit of this task")
		}
	}
	merged, pulls := tally(h.Merged)
	for r, n := range merged {
		if 2*n > pulls && runsAgain(r, files, changed, false) {
			add(r, true, fmt.Sprintf("it reported on %d of the last %s", n, text.Count(pulls, "merged pull request")))
		}
	}
	base, commits := tally(h.Base)
	for r, n := range base {
		// A check that no merged pull request had may be a deployment of the base branch. A job of Actions on
		// the base is expected on the task's branch if a push triggers it.
		known := pulls == 0 || merged[r] > 0
		if r.App == actionsApp {
			known = r.Workflow != "" && r.Event == "push" && runsAgain(r, files, changed, false)
		}
		if 2*n > commits && known {
			add(r, false, fmt.Sprintf("it reported on %d of the last %s of the base branch", n, text.Count(commits, "commit")))
		}
	}
	out := slices.Collect(maps.Values(found))
	// A job may have the name of its workflow, which reported without jobs elsewhere.
	slices.SortFunc(out, func(a, b Expected) int {
		return cmp.Or(compareReported(a.Reported, b.Reported), cmp.Compare(a.Why, b.Why))
	})
	return out
}

// tally returns the number of commits on which each check reported, and of those with any check.
func tally(commits [][]sia.Reported) (on map[sia.Reported]int, all int) {
	on = map[sia.Reported]int{}
	for _, rs := range commits {
		if len(rs) > 0 {
			all++
		}
		once := map[sia.Reported]bool{}
		for _, r := range rs {
			if !once[r] {
				once[r] = true
				on[r]++
			}
		}
	}
	return on, all
}

// runsAgain reports whether a check that ran on another commit should run on this one. A job of Actions should if any
// commit to the pull request triggers its workflow: a path filter sees all changes of a pull request, but only the new
// ones of a push. ownBranch means that the other commit is on the same branch, which passes the same filters.
func runsAgain(r sia.Reported, files []File, changed []string, ownBranch bool) bool {
	switch {
	case r.App != actionsApp:
		return true
	case r.Workflow == "" && r.Event == "": // it is not known
		return true
	case !slices.Contains([]string{"push", "pull_request", "pull_request_target"}, r.Event):
		return false // such as GitHub's own workflows, which it may not run for each pull request
	case r.Workflow == "":
		return true
	}
	f, known := fileAt(files, r.Workflow)
	if !known || f.Unread {
		return true
	}
	i := slices.IndexFunc(f.Triggers, func(t Trigger) bool { return t.Event == r.Event })
	if i < 0 {
		return false // the file was deleted or changed
	}
	t := f.Triggers[i]
	if t.Paths.isSet() && (r.Event == "push" || !t.Paths.matches(changed)) {
		return false
	}
	// For a pull request the filter applies to its base branch, which is the same.
	return !t.Narrow && (!t.Branches || ownBranch || r.Event != "push")
}

func compareReported(a, b sia.Reported) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.App, b.App), cmp.Compare(a.Workflow, b.Workflow),
		cmp.Compare(a.Event, b.Event))
}

// has reports whether a check reported on the commit; with orSkipped a skipped run counts.
func (c commit) has(r sia.Reported, orSkipped bool) bool {
	if r.App == "" {
		return slices.ContainsFunc(c.statuses, func(s Status) bool { return s.Context == r.Name })
	}
	if r.Whole {
		return slices.ContainsFunc(c.workflows, func(w Workflow) bool {
			return w.Path == r.Workflow && w.Event == r.Event
		})
	}
	return slices.ContainsFunc(c.runs, func(run Run) bool {
		return (orSkipped || run.Conclusion != "skipped") && c.reports(run, r)
	})
}

// reports reports whether a run may belong to a check.
func (c commit) reports(run Run, r sia.Reported) bool {
	return !run.Own && run.App == r.App && c.isOf(run, r) &&
		(run.Name == r.Name || (r.Workflow != "" || c.workflowOf(run) == nil) && hasResultOf(run, r.Name))
}

// isOf reports whether a run may belong to the workflow and event of a check. A run that
// replaced the one for that event counts.
func (c commit) isOf(run Run, r sia.Reported) bool {
	if r.Workflow == "" {
		return true
	}
	w := c.workflowOf(run)
	if w == nil {
		return run.WorkflowRun != 0 // it is not known
	}
	return w.Path == r.Workflow && (r.Event == "" || w.Event == r.Event ||
		slices.ContainsFunc(c.workflows, func(o Workflow) bool {
			return o.Path == r.Workflow && o.Event == r.Event && o.Conclusion == "cancelled" && c.replaced(o)
		}))
}

// hasResultOf reports whether a run of another name has the result of a check: GitHub adds
// the values of a matrix, and the jobs of a reusable workflow, to a job's name, and omits
// them if the job was skipped.
func hasResultOf(run Run, name string) bool {
	longer := func(long, short string) bool {
		return strings.HasPrefix(long, short+" (") || strings.HasPrefix(long, short+" / ")
	}
	return longer(run.Name, name) || run.Conclusion == "skipped" &&
		(longer(name, run.Name) || strings.Contains(run.Name, "${{") && matchesPart(run.Name, name))
}

// reported returns the checks that reported on the commit, without SIA's own and skipped ones. A workflow run without
// any listed job is listed itself, because it shows that the workflow runs on the branch's commits.
func (c commit) reported() []sia.Reported {
	var out []sia.Reported
	for _, s := range c.statuses {
		out = append(out, sia.Reported{Name: s.Context})
	}
	for _, r := range c.runs {
		if r.Own || r.Conclusion == "skipped" {
			continue
		}
		is := sia.Reported{Name: r.Name, App: r.App}
		if w := c.workflowOf(r); w != nil {
			is.Workflow, is.Event = w.Path, w.Event
		}
		out = append(out, is)
	}
	for _, w := range c.workflows {
		is := sia.Reported{Name: w.title(), App: actionsApp, Workflow: w.Path, Event: w.Event, Whole: true}
		listed := func(r sia.Reported) bool { return r.Workflow == w.Path && r.Event == w.Event }
		if w.Path != "" && !slices.ContainsFunc(out, listed) {
			out = append(out, is)
		}
	}
	slices.SortFunc(out, compareReported)
	out = slices.Compact(out)
	return out[:min(len(out), sia.MaxReported)]
}

// origin returns the source of a check, for people.
func origin(r sia.Reported) string {
	switch {
	case r.App == "":
		return "commit status"
	case r.Workflow == "":
		return "app " + r.App
	case r.Event == "":
		return "workflow " + r.Workflow
	}
	return "workflow " + r.Workflow + " on " + r.Event
}
