package sia

import "slices"

// Fix is what a person did where SIA could not: their push made the checks green.
type Fix struct {
	By Actor `json:"by"`
	// the commit that the person's work is compared with: the last attempt's, or the base
	From      SHA         `json:"from"`
	Head      SHA         `json:"head"` // the commit that passed
	Paths     []string    `json:"paths,omitempty"`
	Summary   string      `json:"summary"`             // what the person did differently, in a sentence or two
	Resembles TechniqueID `json:"resembles,omitempty"` // the technique in the library that it is an instance of
	// what was proposed, when nothing in the library resembles it
	Technique TechniqueID `json:"technique,omitempty"`
	PullURL   string      `json:"pull_url,omitempty" mask:"-"` // of the proposal
}

// FixStudied: what a person did differently is known, and proposed as a
// technique where it was new.
type FixStudied struct {
	Fix     Fix     `json:"fix"`
	Cost    Credits `json:"cost"`
	Warning string  `json:"warning,omitempty"`
}

// Kind names the fact.
func (FixStudied) Kind() Kind { return KFixStudied }

// studyFix reports whether there is something to learn from a person: the checks
// of their push are green, and SIA's own attempts were not.
func (s *step) studyFix() bool {
	failed := func(a Attempt) bool { return a.Outcome == AttemptFail }
	a := s.t.Attempt()
	return a != nil && s.t.HeadBy != (Actor{}) && a.Head != s.t.Head && slices.ContainsFunc(s.t.Attempts, failed)
}

// fixStudied notes what was learned from a person and commits it.
func (s *step) fixStudied() {
	f := s.e.Fact.(FixStudied)
	s.t.Credits.spend(f.Cost)
	s.t.Fix = &f.Fix
	s.warn(f.Warning)
	s.emit(DoMemory, s.number(), s.v())
	switch {
	case f.Fix.Technique != "":
		s.because("what @%s did differently is proposed as the technique %s", f.Fix.By.Login, f.Fix.Technique)
	case f.Fix.Resembles != "":
		s.because("what @%s did differently is the technique %s", f.Fix.By.Login, f.Fix.Resembles)
	default:
		s.because("what @%s did differently is noted", f.Fix.By.Login)
	}
}
