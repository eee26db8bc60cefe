package sia

import "slices"

// Rating is what a person with write access thinks of one of SIA's comments, by
// 👍 or 👎. It decides nothing about the task; it counts for or against the
// lessons that stood behind the comment.
type Rating struct {
	By           Actor `json:"by"`
	Intervention int   `json:"intervention"` // the number of the one with the comment; 0: the status comment
	Good         bool  `json:"good"`
}

// Aftermath is what people did with a pull request that had passed.
type Aftermath string

// What people did with it; empty while it is open.
const (
	MergedUnchanged Aftermath = "merged"
	MergedEdited    Aftermath = "edited" // merged after a person had changed it
	Abandoned       Aftermath = "abandoned"
)

// Rated: a person put 👍 or 👎 on one of SIA's comments.
type Rated struct {
	Intervention int  `json:"intervention"` // as in Rating
	Good         bool `json:"good"`
}

// Kind names the fact.
func (Rated) Kind() Kind { return KRated }

// rated keeps a person's last word on a comment, and has it remembered.
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
