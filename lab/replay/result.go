package replay

import "time"

// Variant is the configuration of an attempt at a task.
type Variant struct {
	Name      string   `json:"name"`                 // for people, such as "with lessons"
	Coder     string   `json:"coder,omitempty"`      // one of the configured coders; "": the first
	Technique string   `json:"technique,omitempty"`  // of the brief; "": the plain task
	Lessons   []string `json:"lessons,omitempty"`    // sections for the prompt
	TestHints []string `json:"test_hints,omitempty"` // cases that tests should cover, by those lessons
}

// Result is the result of one attempt at a task, or of the whole loop.
type Result struct {
	Task     string    `json:"task"` // id
	Variant  string    `json:"variant"`
	Seed     int       `json:"seed"` // number of the repetition
	Resolved bool      `json:"resolved"`
	Why      string    `json:"why"`     // for people
	Cost     float64   `json:"cost"`    // credits
	Seconds  float64   `json:"seconds"` // of the coder and the tests
	Files    []string  `json:"files"`   // changed by the coder
	At       time.Time `json:"at"`

	Attempts int      `json:"attempts,omitempty"` // of the whole loop; 0: one attempt, without the loop
	Policies []string `json:"policies,omitempty"` // ids of the policies that the loop used, sorted
	Models   []string `json:"models,omitempty"`   // that the loop may have called, sorted
}
