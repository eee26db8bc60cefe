package lesson

import "time"

// Evidence is what one attempt, reaction or merge says about one lesson. Weights
// are at least 0; an outcome weighs 1, be it of an attempt that was told the lesson or the one
// that taught it; a person's word [PersonWeight].
type Evidence struct {
	Key    string    `json:"key"` // unique in a repository; says it once: the same key again changes nothing
	Lesson ID        `json:"lesson"`
	Good   float64   `json:"good,omitempty"`
	Bad    float64   `json:"bad,omitempty"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"` // in a sentence, for people
	Arm    Arm       `json:"arm,omitempty"`
}

// Arm says how an attempt stood to the lesson.
type Arm string

// The arms. What became of attempts from which a lesson was withheld counts
// neither for nor against it: it is what [Uplift] compares with.
const (
	NoArm    Arm = ""         // no attempt's outcome, such as a person's word
	Told     Arm = "told"     // it was told the lesson
	Withheld Arm = "withheld" // it would have been told, and by chance was not
)

// Count adds evidence about the lesson.
func (e Evidence) Count(l Lesson) Lesson {
	if e.Arm == Withheld {
		return l
	}
	return l.Count(e.Good, e.Bad, e.At)
}
