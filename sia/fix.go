package sia

import "slices"

// Fix describes a person's push that made the checks green after SIA's attempts had failed.
type Fix struct {
	By Actor `json:"by"`
	// the commit with which the person's work is compared: the last attempt's, or the base
	From      SHA         `json:"from"`
	Head      SHA         `json:"head"` // the commit that passed
	Paths     []string    `json:"paths,omitempty"`
	Summary   string      `json:"summary"`             // what the person did differently, in one or two sentences
	Resembles TechniqueID `json:"resembles,omitempty"` // the technique of the library that the person used
	// the proposed technique, if the library has none like it
	Technique TechniqueID `json:"technique,omitempty"`
	PullURL   string      `json:"pull_url,omitempty" mask:"-"` // of the proposal
}

// FixStudied: SIA has found out what a person did differently, and has proposed it
// as a technique if it was new.
type FixStudied struct {
	Fix     Fix     `json:"fix"`
	Cost    Credits `json:"cost"`
	Warning string  `json:"warning,omitempty"`
}

// Kind returns the kind of the fact.
func (FixStudied) Kind() Kind { return KFixStudied }

// studyFix reports whether there is a fix to study: the checks of a person's push
// are green, and an attempt of SIA failed.
func (s *step) studyFix() bool {
	failed := func(a Attempt) bool { return a.Outcome == AttemptFail }
	a := s.t.Attempt()
	return a != nil && s.t.HeadBy != (Actor{}) && a.Head != s.t.Head && slices.ContainsFunc(s.t.Attempts, failed)
}

// fixStudied records the studied fix and commits it.
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
