package gate

import (
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
	WorkflowRun int64  // of the workflow run of GitHub Actions that it is a job of; 0: of none
	// of the workflow run, in which the job ran, from 1; 0: nobody asked; [NoAttempt]: GitHub did not say
	Attempt     int
	Status      string // completed, or one of queued, in_progress, waiting, requested, pending
	Conclusion  string // set when Status is completed
	URL         string
	StartedAt   time.Time
	CompletedAt time.Time
	Read        bool   // its log was read, so that Class says what it says
	Class       string // the failure class of a red run; empty: none, or not read
	Said        string // of a job that was never started: why, in GitHub's words
}

// NoAttempt is the [Run.Attempt] of a run of which GitHub does not say it.
const NoAttempt = -1

// Status is one legacy commit status as GitHub reports it
// (https://docs.github.com/rest/commits/statuses). A status can't be run again.
type Status struct {
	Context   string
	AppID     int64  // of the app that made it; 0: a person, or not known
	State     string // success, pending, failure or error
	URL       string
	UpdatedAt time.Time
}

// Workflow is one run of a workflow of GitHub Actions on the commit
// (https://docs.github.com/rest/actions/workflow-runs).
type Workflow struct {
	ID         int64
	SuiteID    int64
	Path       string // of the file, such as .github/workflows/ci.yml
	Name       string // for people
	Event      string // that triggered it, such as push
	Attempt    int    // the newest; 0: it is not known
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
}

// String is the requirement for people.
func (r Required) String() string {
	if r.Workflow != "" {
		return "the workflow " + r.Workflow
	}
	return r.Name
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

// idle is a workflow run of which no job is under way.
type idle struct {
	Workflow
	jobs bool      // it had some, which have finished
	last time.Time // the newest event of it and its jobs
}

// idle are the workflow runs of which no check run tells all: those without jobs,
// and those that go on although every job that there is has finished.
func (c commit) idle() []idle {
	var out []idle
	for _, w := range c.workflows {
		i := idle{Workflow: w, last: w.StartedAt}
		unfinished := false
		for _, r := range c.runs {
			if r.WorkflowRun == w.ID || w.SuiteID != 0 && r.SuiteID == w.SuiteID {
				i.jobs = true
				unfinished = unfinished || r.Status != "completed"
				i.last = latest(i.last, r.StartedAt, r.CompletedAt)
			}
		}
		if !i.jobs || !unfinished && w.Status != "completed" {
			out = append(out, i)
		}
	}
	return out
}

// ambiguous are the workflow runs with several check runs of one name, of which
// it is not known in which attempt they ran.
func (c commit) ambiguous() []int64 {
	byCriterion := grouped(c.runs)
	var ids []int64
	for _, r := range c.runs { // in the order of the runs
		k := r.criterion()
		if rs := byCriterion[k]; !r.Own && r.WorkflowRun != 0 && len(rs) > 1 && r.Attempt == 0 {
			ids = appendNew(ids, r.WorkflowRun)
		}
	}
	return ids
}

func appendNew(ids []int64, id int64) []int64 {
	for _, have := range ids {
		if have == id {
			return ids
		}
	}
	return append(ids, id)
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
