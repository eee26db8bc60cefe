package sia

import "slices"

// Rating is the 👍 or 👎 of a person with write access on one of SIA's comments. It
// has no effect on the task; it counts for or against the lessons on which the
// comment was based.
type Rating struct {
	By           Actor `json:"by"`
	Intervention int   `json:"intervention"` // number of the intervention with the comment; 0: the status comment
	Good         bool  `json:"good"`
}

// Aftermath is the result of a pull request that had passed.
type Aftermath string

// The values of Aftermath; it is empty while the pull request is open.
const (
	MergedUnchanged Aftermath = "merged"
	MergedEdited    Aftermath = "edited" // merged after a person had changed it
	Abandoned       Aftermath = "abandoned"
)

// Rated: a person added 👍 or 👎 to one of SIA's comments.
type Rated struct {
	Intervention int  `json:"intervention"` // as in Rating
	Good         bool `json:"good"`
}

// Kind returns the kind of the fact.
func (Rated) Kind() Kind { return KRated }

// rated records a person's last rating of a comment, and commits memory.
func (s *step) rated() {
	f := s.e.Fact.(Rated)
	if f.Intervention < 0 || f.Intervention > len(s.t.Interventions) {
		s.ignore("there is no intervention %d", f.Intervention)
		return
	}
	r := Rating{By: s.e.By, Intervention: f.Intervention, Good: f.Good}
	i := slices.IndexFunc(s.t.Ratings,
		func(o Rating) bool { return o.By.ID == r.By.ID && o.Intervention == r.Intervention })
	switch {
	case i < 0:
		s.t.Ratings = append(s.t.Ratings, r)
	case s.t.Ratings[i].Good == r.Good:
		s.ignore("%s said so already", s.who())
		return
	default:
		s.t.Ratings[i] = r
	}
	s.emit(DoMemory, s.number(), s.v())
	word := "helpful"
	if !r.Good {
		word = "not helpful"
	}
	if r.Intervention == 0 {
		s.because("%s finds the work on this task %s", s.who(), word)
		return
	}
	s.because("%s finds intervention %d %s", s.who(), r.Intervention, word)
}
