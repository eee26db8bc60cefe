package evolve

import (
	"slices"
	"time"
)

// The outcome of a task that takes part in an experiment; empty: it is open.
const (
	Resolved = "resolved"
	Failed   = "failed" // also when a person was asked
	Nothing  = "none"   // it was taken back before anything could be said
)

// Task is one that takes part in an experiment, and its outcome.
type Task struct {
	Candidate bool // decided by the candidate; else by the version before it
	After     bool // the candidate had been promoted by then
	At        time.Time
	Came      string
	Credits   float64
	Seconds   float64 // from its creation to its end
	Escalated bool    // a person was asked about the issue
	Tampered  bool    // a person was asked about changed tests or protected paths
}

// Counted are the tasks that count already, of all that take part in the order in which they were
// assigned: of those before the promotion, and of those since, the ones before the first that is
// still open. One without a result never counts. open is how many have not ended.
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

// Standing is how an experiment stands.
type Standing struct {
	Present   Arm       `json:"present"` // tasks of the policy in force
	Candidate Arm       `json:"candidate"`
	Open      int       `json:"open"`   // tasks that take part and have not ended
	E         float64   `json:"e"`      // evidence that the candidate is better, of 20
	Harm      float64   `json:"harm"`   // that it is worse, of 10
	Broken    float64   `json:"broken"` // that the lot is not fair, of 100
	Course    []float64 `json:"course"` // E after each outcome
	Verdict   Verdict   `json:"verdict"`
	Why       string    `json:"why"`
	Worse     bool      `json:"worse"`            // it asks people, or touches tests, too much more often to be promoted
	Usual     int       `json:"usual,omitempty"`  // after the promotion: tasks that say what is usual without the change
	Guards    []Guard   `json:"guards,omitempty"` // after the promotion, from [FewestUsual] such tasks on
}

// Stand says how an experiment stands by all tasks that take part, in the order in which they were
// assigned. promoted tells whether the candidate was, and watched since when it is watched again after
// an alarm that was not its own; zero: since the promotion.
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

// constraint is by how much larger a share of tasks may be that asked a person, or touched tests or
// protected paths, for a candidate still to be promoted. Both are constraints, and never goals.
const constraint = .05

// worse reports whether the candidate asked people, or touched tests, so much more often that it
// must not be promoted whatever it resolved.
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

// of are the tasks that the candidate decided about, or the others.
func of(ts []Task, candidate bool) []Task {
	return slices.DeleteFunc(slices.Clone(ts), func(t Task) bool { return t.Candidate != candidate })
}

// tally counts the tasks of which something holds.
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
