package lesson

import "time"

// Evidence is what one attempt, reaction or merge says about one lesson. Weights are at least 0.
// The outcome of an attempt that got the lesson, or that taught it, weighs 1; a person's word
// weighs [PersonWeight].
type Evidence struct {
	Key    string    `json:"key"` // unique in a repository; evidence of a known key changes nothing, but for [Replayed]
	Lesson ID        `json:"lesson"`
	Good   float64   `json:"good,omitempty"`
	Bad    float64   `json:"bad,omitempty"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"` // in a sentence, for people
	Arm    Arm       `json:"arm,omitempty"`
}

// Arm says whether an attempt got the lesson.
type Arm string

// The arms. Attempts that a lesson was withheld from count neither for nor against it: [Uplift]
// compares with them.
const (
	NoArm    Arm = ""         // no attempt's outcome, such as a person's word
	Told     Arm = "told"     // it got the lesson
	Withheld Arm = "withheld" // it would have got it, and by chance did not
	// no attempt's outcome: tasks were played again with it and without ([Prove]); the latest replaces those before
	Replayed Arm = "replayed"
)

// Count adds evidence about the lesson.
func (e Evidence) Count(l Lesson) Lesson {
	if e.Arm == Withheld {
		return l
	}
	return l.Count(e.Good, e.Bad, e.At)
}

// TakeBack is the lesson without what old once counted. all is the lesson's evidence, oldest first: each
// piece since old ended a time in which counts could fade, and what is left of old's faded with them. A
// lesson that proves itself now is taken to have done so all the while.
func (l Lesson) TakeBack(old Evidence, all []Evidence) Lesson {
	left, last := 1.0, old.At
	for _, e := range all {
		if e.Arm != Withheld && e.At.After(last) {
			left *= l.faded(e.At.Sub(last))
			last = e.At
		}
	}
	if l.CountedAt.After(last) {
		left *= l.faded(l.CountedAt.Sub(last))
	}
	l.Good, l.Bad = max(0, l.Good-left*old.Good), max(0, l.Bad-left*old.Bad)
	return l
}
