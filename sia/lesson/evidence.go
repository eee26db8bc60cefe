package lesson

import "time"

// Evidence is what one attempt, reaction or merge says about one lesson. Weights are at least 0.
// The outcome of an attempt that was told the lesson, or that taught it, weighs 1; a person's word
// weighs [PersonWeight].
type Evidence struct {
	Key    string    `json:"key"` // unique in a repository; evidence of a known key changes nothing
	Lesson ID        `json:"lesson"`
	Good   float64   `json:"good,omitempty"`
	Bad    float64   `json:"bad,omitempty"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"` // in a sentence, for people
	Arm    Arm       `json:"arm,omitempty"`
}

// Arm says whether an attempt was told the lesson.
type Arm string

// The arms. Attempts that a lesson was withheld from count neither for nor against it: [Uplift]
// compares with them.
const (
	NoArm    Arm = ""         // no attempt's outcome, such as a person's word
	Told     Arm = "told"     // it was told the lesson
	Withheld Arm = "withheld" // it would have been told, and by chance was not
	Replayed Arm = "replayed" // no attempt's outcome: tasks were played again with it and without ([Prove])
)

// Count adds evidence about the lesson.
func (e Evidence) Count(l Lesson) Lesson {
	if e.Arm == Withheld {
		return l
	}
	return l.Count(e.Good, e.Bad, e.At)
}
