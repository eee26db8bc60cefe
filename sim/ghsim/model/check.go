package model

import (
	"slices"
	"time"
)

// Suite is an app's check runs for a commit.
type Suite struct {
	ID                 int64
	App                *App
	Branch, SHA        string
	Before             string
	Status, Conclusion string
	Made, Updated      time.Time
}

// CheckRun is one check of a commit.
type CheckRun struct {
	ID                   int64
	Suite                *Suite
	Name, SHA            string
	Status, Conclusion   string
	ExternalID           string
	DetailsURL           string
	Started, Completed   time.Time
	Title, Summary, Text *string
	Annotations          []Annotation
	Actions              []map[string]any // buttons, in the app's format
	Job                  *Job             // set for check runs of the check runner
}

// Annotation marks lines of a file for a check run.
type Annotation struct {
	Path        string  `json:"path"`
	StartLine   int     `json:"start_line"`
	EndLine     int     `json:"end_line"`
	StartColumn *int    `json:"start_column"`
	EndColumn   *int    `json:"end_column"`
	Level       string  `json:"annotation_level"`
	Message     string  `json:"message"`
	Title       *string `json:"title"`
	RawDetails  *string `json:"raw_details"`
}

// Status is a commit status.
type Status struct {
	ID                                    int64
	SHA, Context, State, Description, URL string
	By                                    *User
	At                                    time.Time
}

// SuiteState is a suite's status and conclusion: the worst of its check runs'.
func SuiteState(ks []*CheckRun) (status, conclusion string) {
	if len(ks) == 0 {
		return "queued", ""
	}
	order := []string{"", "skipped", "neutral", "success", "stale", "cancelled", "timed_out", "action_required",
		"startup_failure", "failure"}
	for _, k := range ks {
		if k.Status != "completed" {
			return "in_progress", ""
		}
		if slices.Index(order, k.Conclusion) > slices.Index(order, conclusion) {
			conclusion = k.Conclusion
		}
	}
	return "completed", conclusion
}
