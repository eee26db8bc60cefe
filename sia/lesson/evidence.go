package lesson

import "time"

// Evidence is evidence about one lesson from one attempt, reaction or merge. Weights are at least 0. The outcome of an
// attempt that got the lesson, or that taught it, weighs 1; a user's word weighs [PersonWeight].
type Evidence struct {
	Key    string    `json:"key"` // unique in a repository; evidence with a known key is ignored, except [Replayed]
	Lesson ID        `json:"lesson"`
	Good   float64   `json:"good,omitempty"`
	Bad    float64   `json:"bad,omitempty"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"` // the reason, for display
	Arm    Arm       `json:"arm,omitempty"`
}

// Valid reports whether evidence from outside can be evidence.
func (e Evidence) Valid() bool {
	return e.Key != "" && e.Good >= 0 && e.Good <= maxCount && e.Bad >= 0 && e.Bad <= maxCount
}

// Arm records whether an attempt got the lesson.
type Arm string

// The arms. Attempts without the lesson (Withheld) count neither for nor against it: they are the control group of
// [Uplift].
const (
	NoArm    Arm = ""         // not an attempt's outcome, such as a user's word
	Told     Arm = "told"     // the attempt got the lesson
	Withheld Arm = "withheld" // the lesson was chosen for the attempt and withheld at random
	// result of replaying tasks with and without the lesson ([Prove]); it replaces earlier results
	Replayed Arm = "replayed"
)

// Count adds evidence about the lesson.
func (e Evidence) Count(l Lesson) Lesson {
	if e.Arm == Withheld {
		return l
	}
	return l.Count(e.Good, e.Bad, e.At)
}

// Uncount returns the lesson without the evidence old. all is the lesson's evidence, oldest first: each piece since old
// ended a period in which counts could fade, and old's share faded with them. A lesson that is proven now is assumed to
// have been proven all the time.
func (l Lesson) Uncount(old Evidence, all []Evidence) Lesson {
	left, last := 1.0, old.At
	for _, e := range all {
		if e.Arm != Withheld && e.At.After(last) {
			left *= l.decayFactor(e.At.Sub(last))
			last = e.At
		}
	}
	if l.CountedAt.After(last) {
		left *= l.decayFactor(l.CountedAt.Sub(last))
	}
	l.Good, l.Bad = max(0, l.Good-left*old.Good), max(0, l.Bad-left*old.Bad)
	return l
}
