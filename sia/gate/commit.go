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
	App         string // slug of the app that created it
	AppID       int64  // id of that app
	Own         bool   // created by SIA itself: never judged
	SuiteID     int64  // id of its check suite
	WorkflowRun int64  // id of the workflow run of GitHub Actions, if it is a job; 0: not a job
	// attempt of the workflow run in which the job ran, 1-based; 0: not read; [NoAttempt]: GitHub does not report it
	Attempt     int
	Status      string // completed, or one of queued, in_progress, waiting, requested, pending
	Conclusion  string // set when Status is completed
	URL         string
	StartedAt   time.Time
	CompletedAt time.Time
	Read        bool     // its log was read, so that the fields below are set
	Class       string   // failure class of a red run; empty: none, or not read
	Said        string   // of a job that was never started: GitHub's reason
	Failed      []string // names of the failed tests, as in its log
	Signature   string   // of a red run: equal for the same failure; empty: none found, or not read
	Telling     string   // the most informative line of its log about the failure
}

// NoAttempt is the [Run.Attempt] of a run for which GitHub does not report it.
const NoAttempt = -1

// Status is one legacy commit status as GitHub reports it
// (https://docs.github.com/rest/commits/statuses). A status can't be run again.
type Status struct {
	Context string
	AppID   int64  // id of the app that created it; 0: a person, or not known
	State   string // success, pending, failure or error
	// short text for people
	Description string
	URL         string
	UpdatedAt   time.Time
}

// Workflow is one run of a workflow of GitHub Actions on the commit
// (https://docs.github.com/rest/actions/workflow-runs).
type Workflow struct {
	ID         int64
	SuiteID    int64
	Path       string // path of the file, such as .github/workflows/ci.yml
	Repository string // owner/name of the repository with the file, or [AnotherRepository]; empty: the commit's own
	Name       string // for people
	Event      string // event that triggered it, such as push
	Attempt    int    // number of the newest attempt; 0: not known, because GraphQL does not report it
	Status     string // as in Run, or action_required
	Conclusion string
	URL        string
	StartedAt  time.Time
	UpdatedAt  time.Time // the last change of the run, such as its end
}

// Required is one requirement of the branch's rules or protection: a check by its
// name, or a workflow by its file.
type Required struct {
	Name     string // name of checks; empty if Workflow is set
	App      int64  // id of the app with the checks that satisfy it; 0: any app
	Workflow string // path of a workflow's file
	// owner/name of the repository with the workflow's file; empty: the commit's own; "#" and its id: another one that
	// the app can't see
	Repository string
}

// String returns the requirement as text for people.
func (r Required) String() string {
	switch {
	case r.Workflow != "" && r.Repository != "":
		return "the workflow " + r.Workflow + " of " + r.Repository
	case r.Workflow != "":
		return "the workflow " + r.Workflow
	}
	return r.Name
}

// AnotherRepository is the repository of a workflow that a rule requires from another repository, where GitHub does not
// tell which one.
const AnotherRepository = "#"

// isIn reports whether the workflow's file may be in a repository: owner/name; empty: the commit's own.
func (w Workflow) isIn(repo string) bool {
	unnamed := w.Repository == AnotherRepository || strings.HasPrefix(repo, AnotherRepository)
	return strings.EqualFold(w.Repository, repo) || unnamed && w.Repository != "" && repo != ""
}

// succeeded reports whether the run as a whole was successful.
func (w Workflow) succeeded() bool { return w.Status == "completed" && w.Conclusion == "success" }

// title returns the workflow's name for people.
func (w Workflow) title() string { return cmp.Or(w.Name, w.Path) }

// workflowFolder is the folder with the workflow files of a repository.
const workflowFolder = ".github/workflows/"

// alike reports whether two runs are of one workflow.
func (w Workflow) alike(o Workflow) bool {
	if w.Path == "" && o.Path == "" {
		return w.Name == o.Name
	}
	return w.Path == o.Path && w.isIn(o.Repository)
}

// replaced reports whether a later run of the same workflow replaced a cancelled one, as
// `concurrency` does. A skipped run replaces nothing.
func (c commit) replaced(w Workflow) bool {
	return slices.ContainsFunc(c.workflows, func(o Workflow) bool {
		return o.alike(w) && o.Conclusion != "skipped" && o.after(w)
	})
}

// succeededLater reports whether a later run of the same workflow, for the same event, succeeded.
func (c commit) succeededLater(w Workflow) bool {
	return slices.ContainsFunc(c.workflows, func(o Workflow) bool {
		return o.alike(w) && o.Event == w.Event && o.succeeded() && o.after(w)
	})
}

// after reports whether a run began after another one.
func (w Workflow) after(o Workflow) bool {
	return w.ID != o.ID && cmp.Or(w.StartedAt.Compare(o.StartedAt), cmp.Compare(w.ID, o.ID)) > 0
}

// commit contains GitHub's check data of one commit.
type commit struct {
	runs      []Run
	statuses  []Status
	workflows []Workflow
}

// workflowOf returns the workflow run of a job; nil if the check run is not a job or the
// workflow run is not known.
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

// ambiguous returns the ids of the workflow runs with several check runs of one name
// with unknown attempts.
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

// grouped groups runs by criterion, without SIA's own.
func grouped(runs []Run) map[criterion][]Run {
	out := map[criterion][]Run{}
	for _, r := range runs {
		if !r.Own {
			out[r.criterion()] = append(out[r.criterion()], r)
		}
	}
	return out
}

// byWorkflowRun groups runs by their workflow run.
func byWorkflowRun(runs []Run) map[int64][]Run {
	out := map[int64][]Run{}
	for _, r := range runs {
		out[r.WorkflowRun] = append(out[r.WorkflowRun], r)
	}
	return out
}
