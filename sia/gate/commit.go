package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Run is one check run as GitHub reports it
// (https://docs.github.com/rest/checks/runs).
type Run struct {
	ID          int64
	Name        string
	App         string // slug of the app that made it
	AppID       int64  // id of that app
	Own         bool   // made by SIA itself: never judged
	SuiteID     int64  // of its check suite
	WorkflowRun int64  // of the workflow run of GitHub Actions that it is a job of; 0: it is no job
	// of the workflow run, in which the job ran, from 1; 0: nobody asked; [NoAttempt]: GitHub did not say
	Attempt     int
	Status      string // completed, or one of queued, in_progress, waiting, requested, pending
	Conclusion  string // set when Status is completed
	URL         string
	StartedAt   time.Time
	CompletedAt time.Time
	Read        bool     // its log was read, so that Class says what it says
	Class       string   // the failure class of a red run; empty: none, or not read
	Said        string   // of a job that was never started: why, in GitHub's words
	Failed      []string // names of the tests that failed, as its log has them
	Signature   string   // of a red run: equal for the same failure; empty: nothing was found, or not read
	Telling     string   // the line of its log that tells most of the failure
}

// NoAttempt is the [Run.Attempt] of a run of which GitHub does not say it.
const NoAttempt = -1

// Status is one legacy commit status as GitHub reports it
// (https://docs.github.com/rest/commits/statuses). A status can't be run again.
type Status struct {
	Context string
	AppID   int64  // of the app that made it; 0: a person, or not known
	State   string // success, pending, failure or error
	// what it says, for people
	Description string
	URL         string
	UpdatedAt   time.Time
}

// Workflow is one run of a workflow of GitHub Actions on the commit
// (https://docs.github.com/rest/actions/workflow-runs).
type Workflow struct {
	ID         int64
	SuiteID    int64
	Path       string // of the file, such as .github/workflows/ci.yml
	Repository string // owner/name of the repository that the file is in; empty: not known, or the commit's own
	Name       string // for people
	Event      string // that triggered it, such as push
	Attempt    int    // the newest; 0: it is not known, as GraphQL does not tell it
	Status     string // as of a Run, or action_required
	Conclusion string
	URL        string
	StartedAt  time.Time
}

// Required is one requirement of the branch's rules or protection: a check by its
// name, or a workflow by its file.
type Required struct {
	Name     string // of checks; empty where Workflow is set
	App      int64  // only checks of this app satisfy it; 0: any app's
	Workflow string // path of a workflow's file
	// owner/name of the repository that the workflow's file is in; empty: the commit's own; "#" and its number: another
	// one, which the app can't see
	Repository string
}

// String is the requirement for people.
func (r Required) String() string {
	switch {
	case r.Workflow != "" && r.Repository != "":
		return "the workflow " + r.Workflow + " of " + r.Repository
	case r.Workflow != "":
		return "the workflow " + r.Workflow
	}
	return r.Name
}

// file is the path of the workflow's file, and the repository that it is in; empty: not known,
// or the commit's own. Where that is another, REST may put it before the path, and the ref behind.
func (w Workflow) file() (repo, path string) {
	path, _, _ = strings.Cut(w.Path, "@")
	if w.Repository != "" {
		return w.Repository, path
	}
	if i := strings.Index(path, "/"+workflowFolder); i > 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// succeeded reports whether a run as a whole ended as a success.
func (w Workflow) succeeded() bool { return w.Status == "completed" && w.Conclusion == "success" }

// title is the workflow's name for people.
func (w Workflow) title() string { return cmp.Or(w.Name, w.Path) }

// workflowFolder holds the workflow files of a repository.
const workflowFolder = ".github/workflows/"

// alike reports whether two runs are of one workflow.
func (w Workflow) alike(o Workflow) bool {
	repo, path := w.file()
	oRepo, oPath := o.file()
	if path == "" && oPath == "" {
		return w.Name == o.Name
	}
	return path == oPath && (repo == "" || oRepo == "" || strings.EqualFold(repo, oRepo))
}

// replaced reports whether a later run of the same workflow ran in the place of one that was
// cancelled, as `concurrency` has it. A run that was passed over replaces nothing.
func (c commit) replaced(w Workflow) bool {
	return slices.ContainsFunc(c.workflows, func(o Workflow) bool {
		return o.alike(w) && o.Conclusion != "skipped" && o.after(w)
	})
}

// after reports whether a run began after another one.
func (w Workflow) after(o Workflow) bool {
	return w.ID != o.ID && cmp.Or(w.StartedAt.Compare(o.StartedAt), cmp.Compare(w.ID, o.ID)) > 0
}

// commit is what GitHub says about one commit.
type commit struct {
	runs      []Run
	statuses  []Status
	workflows []Workflow
}

// workflowOf is the workflow run that a check run is a job of, or nil where it is
// not known.
func (c commit) workflowOf(r Run) *Workflow {
	if r.WorkflowRun == 0 {
		return nil
	}
	for i, w := range c.workflows {
		if w.ID == r.WorkflowRun {
			return &c.workflows[i]
		}
	}
	return nil
}

// ambiguous are the workflow runs with several check runs of one name, of which
// it is not known in which attempt they ran.
func (c commit) ambiguous() []int64 {
	byCriterion := grouped(c.runs)
	var ids []int64
	for _, r := range c.runs { // in the order of the runs
		k := r.criterion()
		if rs := byCriterion[k]; !r.Own && r.WorkflowRun != 0 && len(rs) > 1 && r.Attempt == 0 &&
			!slices.Contains(ids, r.WorkflowRun) {
			ids = append(ids, r.WorkflowRun)
		}
	}
	return ids
}

// grouped sorts runs by criterion; SIA's own are left out.
func grouped(runs []Run) map[criterion][]Run {
	out := map[criterion][]Run{}
	for _, r := range runs {
		if !r.Own {
			out[r.criterion()] = append(out[r.criterion()], r)
		}
	}
	return out
}
