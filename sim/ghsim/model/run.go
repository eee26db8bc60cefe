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
	From               *Repository // that has the workflow's file; nil: the one that it runs in
	FromRef            string      // the branch of it that the file was read from
	Event              runner.Event
	Branch, SHA        string
	Ref                string // what its jobs check out, such as refs/pull/3/merge
	Checkout           string // the commit that is; SHA, or the test merge of a pull request
	Group              string // of its concurrency; empty: it minds no other run
	Held               bool   // it waits: for somebody's approval, a runner, or another run of its group
	Cancel             func() // ends its jobs, while they are executed
	Suite              *Suite
	Actor              *User
	Status, Conclusion string
	Made, Updated      time.Time
	Started            time.Time
	Planned            []runner.Job // what it runs
	Waiting            []runner.Job // of those, what makes jobs later, when what it needs has ended
	Broken             []Broken     // of those, what made no job, in its present attempt
	Jobs               []*Job       // of every attempt
	Artifacts          []*Artifact  // of every attempt, oldest first
}

// Broken is a job of a workflow file that made no job: its matrix is empty, say. The run
// fails of it, and no check run tells why.
type Broken struct {
	Job runner.Job
	Why string
}

// Artifact is what a job of a run uploaded.
type Artifact struct {
	ID      int64
	Name    string
	Zip     []byte
	Made    time.Time
	Expired bool
}

// Source is the repository that has the workflow's file. in is the one that it runs in.
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
	Attempts []int // of the run that this job counts in
	Plan     runner.Job
	Check    *CheckRun
	Steps    []*runner.Step
	Log      []byte
	Outputs  map[string]string
	Made     time.Time
}
