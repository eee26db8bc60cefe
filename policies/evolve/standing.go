package evolve

import (
	"slices"
	"time"
)

// Values of Task.Came; empty: the task is open.
const (
	Resolved = "resolved"
	Failed   = "failed" // also when a person was asked
	Nothing  = "none"   // withdrawn before there was a result
)

// Task is a task in an experiment, with its outcome.
type Task struct {
	Candidate bool // decided by the candidate, else by the version before it
	After     bool // after the promotion of the candidate
	At        time.Time
	Came      string
	Credits   float64
	Seconds   float64 // from its creation to its end
	Escalated bool    // a person was asked about the issue
	Tampered  bool    // a person was asked about changed tests or protected paths
}

// Counted returns the tasks that count, given all tasks in the order of assignment: before and since the promotion,
// those before the first open one. Tasks without a result never count. open is the number of open tasks.
func Counted(all []Task) (before, since []Task, open int) {
	waits := map[bool]bool{}
	for _, t := range all {
		switch {
		case t.Came == "":
			waits[t.After] = true
			open++
		case t.Came == Nothing || waits[t.After]:
		case t.After:
			since = append(since, t)
		default:
			before = append(before, t)
		}
	}
	return before, since, open
}

// Standing is the state of an experiment.
type Standing struct {
	Present   Arm       `json:"present"` // tasks of the policy in force
	Candidate Arm       `json:"candidate"`
	Open      int       `json:"open"`   // number of open tasks
	E         float64   `json:"e"`      // evidence that the candidate is better, of 20
	Harm      float64   `json:"harm"`   // evidence that it is worse, of 10
	Broken    float64   `json:"broken"` // evidence that the assignment is unfair, of 100
	Course    []float64 `json:"course"` // E after each outcome
	Verdict   Verdict   `json:"verdict"`
	Why       string    `json:"why"`
	Worse     bool      `json:"worse"`            // it asks people or touches tests too much more often to be promoted
	Usual     int       `json:"usual,omitempty"`  // after the promotion: number of baseline tasks
	Guards    []Guard   `json:"guards,omitempty"` // after the promotion, with at least [FewestUsual] baseline tasks
}

// Stand returns the state of an experiment, given all its tasks in the order of assignment. promoted reports whether
// the candidate is promoted. watched is the time since when it has been watched again after an alarm with another
// cause; zero: since the promotion.
func Stand(all []Task, promoted bool, watched time.Time) (s Standing) {
	before, since, open := Counted(all)
	x := NewExperiment()
	s.Course = []float64{}
	for _, t := range before {
		x.Add(t.Candidate, t.Came == Resolved)
		s.Course = append(s.Course, x.E())
	}
	s.Present, s.Candidate = x.Arms()
	s.Open, s.E, s.Harm, s.Broken, s.Verdict, s.Why, s.Worse = open, x.E(), x.EHarm(), x.EBroken(), x.Verdict(),
		x.Why(), worse(before)
	if promoted {
		s.Guards, s.Usual = guards(before, since, watched)
	}
	return s
}

// constraint is the maximum increase of the share of tasks that asked a person, or touched tests or protected paths,
// for a candidate to be promoted. Both are constraints, never goals.
const constraint = .05

// worse reports whether the candidate asked people or touched tests so much more often that it must not be promoted.
func worse(before []Task) bool {
	for _, bad := range []func(Task) bool{
		func(t Task) bool { return t.Escalated }, func(t Task) bool { return t.Tampered },
	} {
		with, without := tally(of(before, true), bad), tally(of(before, false), bad)
		if with.Tried > 0 && without.Tried > 0 && with.share() > without.share()+constraint {
			return true
		}
	}
	return false
}

// of returns the tasks decided by the candidate, or the others.
func of(ts []Task, candidate bool) []Task {
	return slices.DeleteFunc(slices.Clone(ts), func(t Task) bool { return t.Candidate != candidate })
}

// tally counts the tasks for which holds returns true, as Resolved.
func tally(ts []Task, holds func(Task) bool) Arm {
	a := Arm{Tried: len(ts)}
	for _, t := range ts {
		if holds(t) {
			a.Resolved++
		}
	}
	return a
}

func (a Arm) share() float64 { return float64(a.Resolved) / float64(max(1, a.Tried)) }
