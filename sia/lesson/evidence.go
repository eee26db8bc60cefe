package lesson

import "time"

// Evidence is what one attempt, reaction or merge says about one lesson. Weights
// are at least 0; an attempt's outcome weighs 1, a person's word [PersonWeight].
type Evidence struct {
	Key    string // says it once: the same key again changes nothing
	Lesson ID
	Good   float64
	Bad    float64
	At     time.Time
	Why    string // in a sentence, for people
}
