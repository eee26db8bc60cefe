package replay

import "time"

// Variant is what an attempt at a task is made with.
type Variant struct {
	Name      string   `json:"name"`                 // for people, such as "with lessons"
	Coder     string   `json:"coder,omitempty"`      // which of the configured coders; "": the first
	Technique string   `json:"technique,omitempty"`  // by which the brief is made; "": the plain task
	Lessons   []string `json:"lessons,omitempty"`    // sections for the prompt
	TestHints []string `json:"test_hints,omitempty"` // which cases tests should cover, by those lessons
}

// Result is the result of one attempt at a task, or of the whole loop.
type Result struct {
	Task     string    `json:"task"` // id
	Variant  string    `json:"variant"`
	Seed     int       `json:"seed"` // which repetition this was
	Resolved bool      `json:"resolved"`
	Why      string    `json:"why"`     // for people
	Cost     float64   `json:"cost"`    // credits
	Seconds  float64   `json:"seconds"` // that the coder and the tests took
	Files    []string  `json:"files"`   // that the coder changed
	At       time.Time `json:"at"`

	Attempts int      `json:"attempts,omitempty"` // of the whole loop; 0: one attempt was played, without the loop
	Policies []string `json:"policies,omitempty"` // ids of those that the loop decided by, sorted
	Models   []string `json:"models,omitempty"`   // that the loop may have asked, sorted
}
