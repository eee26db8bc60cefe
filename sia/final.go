package sia

import (
	"fmt"
	"slices"
)

// FinalReview is what a fresh reviewer said of a head that is green, before it is marked
// ready for review. The reviewer read the issue and the difference from the base, and
// nothing of how it came about. It is no verdict: checks alone decide whether a head passes. What it finds not to be
// done starts one follow-up attempt.
type FinalReview struct {
	SHA     SHA      `json:"sha"`                    // the head
	Done    bool     `json:"done,omitempty"`         // it was read, or could not be: each head is read once
	Demands []Demand `json:"demands,omitempty"`      // of the issue; not those that could not be found in it
	Remarks []Remark `json:"remarks,omitempty"`      // not those that could not be found in the change
	Cut     bool     `json:"cut,omitempty"`          // the reviewer was not shown all of the change
	Why     string   `json:"why,omitempty"`          // why it was not read or not written, for people; empty: it was
	URL     string   `json:"url,omitempty" mask:"-"` // of the review on the pull request; empty: nothing was written
}

// Demand is one thing that the issue asks for, in its own words.
type Demand struct {
	Quote string      `json:"quote"`       // stands in the issue, on one line
	State DemandState `json:"state"`       // whether the change does it
	Why   string      `json:"why"`         // in the reviewer's words
	At    Place       `json:"at,omitzero"` // where it is seen; zero: nowhere in particular
}

// DemandState says whether a change does what the issue demands.
type DemandState string

// The states of a demand.
const (
	DemandMet     DemandState = "met"
	DemandUnmet   DemandState = "unmet"
	DemandUnclear DemandState = "unclear" // the reviewer can't tell
)

// Remark is something about the change that people may want to look at.
type Remark struct {
	About RemarkKind `json:"about"`
	Why   string     `json:"why"` // in the reviewer's words
	At    Place      `json:"at"`
}

// RemarkKind says what a remark is about.
type RemarkKind string

// The kinds of remark. All but the first are made only of changes that touch such files.
const (
	RemarkScope    RemarkKind = "scope"    // no demand of the issue needs it
	RemarkSecurity RemarkKind = "security" // secrets, permissions, what strangers send, what builds and checks run
	RemarkTests    RemarkKind = "tests"
	RemarkAPI      RemarkKind = "api" // what others call or read: public interfaces, schemas, formats
)

// Place is a line of a change, or of a file at its head.
type Place struct {
	Path string `json:"path"`
	Line int    `json:"line"`           // 1-based, of the head; of the base when Old
	Old  bool   `json:"old,omitempty"`  // the line was deleted
	Diff bool   `json:"diff,omitempty"` // it stands in the diff, where GitHub takes a comment
}

// Of reports whether a head is, or was, read.
func (r *FinalReview) Of(head SHA) bool { return r != nil && head != "" && r.SHA == head }

// Silent reports whether people need no message: whatever the issue
// demands is done, and nothing else is remarked on.
func (r *FinalReview) Silent() bool {
	return r == nil || len(r.Remarks) == 0 &&
		!slices.ContainsFunc(r.Demands, func(d Demand) bool { return d.State != DemandMet })
}

// Tells reports whether there is something to say about the review of a head.
func (r *FinalReview) Tells(head SHA) bool {
	return r.Of(head) && r.Done && (r.Why != "" || !r.Silent())
}

// Count is how many demands are in a state.
func (r FinalReview) Count(state DemandState) (n int) {
	for _, d := range r.Demands {
		if d.State == state {
			n++
		}
	}
	return n
}

// Unmet says in a few words how many requirements are not done; empty: none is known to be open.
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

// String is the result in a few words.
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
