package sia

import (
	"fmt"
	"slices"
)

// FinalReview is a fresh reviewer's review of a green head, before the pull request is marked
// ready for review. The reviewer reads the issue and the diff to the base, but not the task's
// history. It is not a verdict: only checks decide whether a head passes. Unmet demands start
// one follow-up attempt.
type FinalReview struct {
	SHA     SHA      `json:"sha"`                    // the head
	Done    bool     `json:"done,omitempty"`         // the review finished or failed: each head is reviewed once
	Demands []Demand `json:"demands,omitempty"`      // demands with a quote that was found in the issue
	Remarks []Remark `json:"remarks,omitempty"`      // remarks with a place that was found in the change
	Cut     bool     `json:"cut,omitempty"`          // the reviewer was not shown all of the change
	Why     string   `json:"why,omitempty"`          // why the review failed or was not posted, for people; else empty
	URL     string   `json:"url,omitempty" mask:"-"` // of the review on the pull request; empty: nothing was posted
}

// Demand is one requirement of the issue, with a quote.
type Demand struct {
	Quote string      `json:"quote"`       // text of the issue, on one line
	State DemandState `json:"state"`       // whether the change meets it
	Why   string      `json:"why"`         // the reviewer's reason
	At    Place       `json:"at,omitzero"` // where the change shows it; zero: no particular place
}

// DemandState is whether a change meets a demand.
type DemandState string

// The states of a demand.
const (
	DemandMet     DemandState = "met"
	DemandUnmet   DemandState = "unmet"
	DemandUnclear DemandState = "unclear" // the reviewer can't decide
)

// Remark is something about the change that people may want to look at.
type Remark struct {
	About RemarkKind `json:"about"`
	Why   string     `json:"why"` // the reviewer's reason
	At    Place      `json:"at"`
}

// RemarkKind is the subject of a remark.
type RemarkKind string

// The kinds of remark. All but the first are made only of changes that touch such files.
const (
	RemarkScope    RemarkKind = "scope"    // no demand of the issue needs it
	RemarkSecurity RemarkKind = "security" // secrets, permissions, untrusted input, commands of builds and checks
	RemarkTests    RemarkKind = "tests"
	RemarkAPI      RemarkKind = "api" // public interfaces, schemas, formats
)

// Place is a line of a change, or of a file at its head.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line"`           // 1-based, of the head; of the base if Old
	Old  bool   `json:"old,omitempty"`  // the line was deleted
	Diff bool   `json:"diff,omitempty"` // the line is in the diff, so that GitHub accepts a comment there
}

// Of reports whether r is the review of a head, running or finished.
func (r *FinalReview) Of(head SHA) bool { return r != nil && head != "" && r.SHA == head }

// Silent reports whether people need no message: all demands are met, and there is no
// remark.
func (r *FinalReview) Silent() bool {
	return r == nil || len(r.Remarks) == 0 &&
		!slices.ContainsFunc(r.Demands, func(d Demand) bool { return d.State != DemandMet })
}

// Tells reports whether the review of a head has something to show to people.
func (r *FinalReview) Tells(head SHA) bool {
	return r.Of(head) && r.Done && (r.Why != "" || !r.Silent())
}

// Count returns the number of demands in a state.
func (r FinalReview) Count(state DemandState) (n int) {
	for _, d := range r.Demands {
		if d.State == state {
			n++
		}
	}
	return n
}

// Unmet describes how many requirements are not done; empty: none is known to be open.
func (r *FinalReview) Unmet() string {
	n := r.Count(DemandUnmet)
	switch {
	case n == 0:
		return ""
	case len(r.Demands) == 1:
		return "the one requirement is not done"
	case n == 1:
		return fmt.Sprintf("1 of %d requirements is not done", len(r.Demands))
	}
	return fmt.Sprintf("%d of %d requirements are not done", n, len(r.Demands))
}

// String returns a short description of the result.
func (r FinalReview) String() string {
	if r.Why != "" {
		return "failed: " + r.Why
	}
	said := "no requirement of the issue is open"
	if !r.Silent() && len(r.Demands) > 0 {
		said = fmt.Sprintf("%d of %d requirements done", r.Count(DemandMet), len(r.Demands))
		if n := r.Count(DemandUnclear); n > 0 {
			said += fmt.Sprintf(", %d can't be judged", n)
		}
	}
	switch n := len(r.Remarks); n {
	case 0:
		return said
	case 1:
		return said + "; 1 remark"
	default:
		return fmt.Sprintf("%s; %d remarks", said, n)
	}
}
