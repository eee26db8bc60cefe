package model

import (
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// Run is a run of a workflow for a commit.
type Run struct {
	ID, Number         int64
	Attempt            int
	WorkflowID         int64
	Name, Path         string
	From               *Repository // with the workflow's file; nil: the one in which it runs
	FromRef            string      // branch of the workflow's file
	Event              runner.Event
	Branch, SHA        string
	Ref                string // what its jobs check out, such as refs/pull/3/merge
	Checkout           string // the commit of Ref; SHA, or the test merge of a pull request
	Group              string // its concurrency group; empty: none
	Held               bool   // it waits for approval, a runner, or another run of its group
	Cancel             func() // ends its running jobs
	Suite              *Suite
	Actor              *User
	Status, Conclusion string
	Made, Updated      time.Time
	Started            time.Time
	Planned            []runner.Job // all of its jobs
	Waiting            []runner.Job // of those, jobs to be made after others have ended
	Broken             []Broken     // of those, jobs that could not be made, in its present attempt
	Jobs               []*Job       // of every attempt
	Artifacts          []*Artifact  // of every attempt, oldest first
}

// Dynamic is the event of workflows that GitHub generates.
const Dynamic = "dynamic"

// Broken is a job of a workflow file that could not be made, for example with an empty matrix. It fails the run, and no
// check run explains it.
type Broken struct {
	Job runner.Job
	Why string
}

// Artifact is an upload of a job of a run.
type Artifact struct {
	ID      int64
	Name    string
	Zip     []byte
	Made    time.Time
	Expired bool
}

// Source is the repository with the workflow's file. in is the one in which it runs.
func (r *Run) Source(in *Repository) *Repository {
	if r.From != nil {
		return r.From
	}
	return in
}

// Unmade reports whether the run has jobs that were not made, or never will be.
func (r *Run) Unmade() bool { return len(r.Waiting)+len(r.Broken) > 0 }

// Latest are the jobs of the last attempt.
func (r *Run) Latest() []*Job {
	var js []*Job
	for _, j := range r.Jobs {
		if slices.Contains(j.Attempts, r.Attempt) {
			js = append(js, j)
		}
	}
	return js
}

// Job is one job of a run.
type Job struct {
	ID       int64 // also its check run's id, as on GitHub
	Run      *Run
	Attempts []int // the run's attempts that include this job
	Plan     runner.Job
	Check    *CheckRun
	Steps    []*runner.Step
	Log      []byte
	Outputs  map[string]string
	Made     time.Time
}
