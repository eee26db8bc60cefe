package sia

import (
	"fmt"
	"slices"
	"strings"
)

// Merging is a merge of the base with conflicts, which the next attempt resolves.
type Merging struct {
	Onto      SHA        `json:"onto"` // the base's commit that conflicts with the branch
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is a file with a merge conflict.
type Conflict struct {
	Path string `json:"path"`
	What string `json:"what"` // for people, such as "both sides changed the same lines"
}

// Contained is a commit of the base branch that a head contains, although GitHub said that the head conflicts with it
// or is behind it: GitHub may not have computed that anew.
type Contained struct {
	Head SHA `json:"head"`
	Base SHA `json:"base"`
}

// Contains reports whether the present head is known to contain the base branch at a commit; empty: not known, the
// last that was seen.
func (t *Task) Contains(base SHA) bool {
	return t.Contained != nil && t.Contained.Head == t.Head && (base == "" || base == t.Contained.Base)
}

// maxUpdates is the maximum number of merges of the base into one attempt's work.
const maxUpdates = 3

// updateFirst merges the base into the branch if the two conflict, or if a rule requires the
// green branch to be up to date. It reports whether the verdict has to wait for that.
func (s *step) updateFirst(f Judged) bool {
	behind := f.Behind && f.Verdict == VerdictGreen
	switch {
	case !f.Conflicts && !behind:
		return false
	case s.pending(DoUpdate):
		s.because("`%s` is being merged into the branch", s.t.BaseBranch)
		return true
	case s.t.Updates < maxUpdates:
		s.t.Updates++
		s.emitEffect(DoUpdate, s.number(), s.v(), Effect{SHA: s.t.Head})
		why := "has moved, and a rule wants the branch up to date"
		if f.Conflicts {
			why = "has moved in the way of the branch"
		}
		s.because("`%s` %s: it is merged into the branch", s.t.BaseBranch, why)
		return true
	case f.Conflicts:
		s.hold(PausedByTrouble, fmt.Sprintf("`%s` is in the way of the branch, and %d merges of it have not helped",
			s.t.BaseBranch, maxUpdates))
		s.t.Updates = 0
		return true
	}
	s.warn(fmt.Sprintf("`%s` has moved again after %d merges of it; bring the branch up to date before you merge it.",
		s.t.BaseBranch, maxUpdates))
	return false
}

// updated continues after the merge of the base. If there are conflicts the next attempt gets
// both sides, which costs no approach, because its prompt is unchanged.
func (s *step) updated() {
	f := s.e.Fact.(Updated)
	switch {
	case f.Contained && f.From == s.t.Head:
		s.t.Updates = max(0, s.t.Updates-1)
		s.t.Contained = &Contained{Head: f.From, Base: f.Onto}
		s.warn(fmt.Sprintf("GitHub says that the branch conflicts with `%s` or is behind it, and it contains `%[1]s` at "+
			"%s already. To have GitHub look again, close the pull request and open it again, or push to its branch.",
			s.t.BaseBranch, f.Onto.Short()))
		s.lookOnceMore()
		s.because("the branch contains `%s` at %s already: what GitHub says is out of date", s.t.BaseBranch, f.Onto.Short())
	case f.Refused != "":
		s.t.Updates = maxUpdates
		s.warn(fmt.Sprintf("`%s` could not be merged into the branch: %s", s.t.BaseBranch, f.Refused))
		s.lookOnceMore()
		s.because("`%s` could not be merged into the branch: %s", s.t.BaseBranch, f.Refused)
	case f.SHA != "":
		s.takeUpdate(f)
		s.watch()
		s.because("`%s` is merged into the branch at %s; the checks of %s decide", s.t.BaseBranch, f.Onto.Short(),
			f.SHA.Short())
	case f.From != s.t.Head || len(f.Conflicts) == 0:
		s.lookOnceMore()
		s.because("the branch has moved; SIA looks at its checks again")
	case s.judgesFollowUp():
		s.takeBack(AttemptError, fmt.Sprintf("`%s` moved in its way", s.t.BaseBranch))
	default:
		s.t.Merging = &Merging{Onto: f.Onto, Conflicts: f.Conflicts}
		if a := s.t.Attempt(); a != nil && a.Outcome == "" {
			a.Outcome = AttemptError
			a.Reason = fmt.Sprintf("`%s` moved in its way before the checks had decided", s.t.BaseBranch)
		}
		s.proceed(fmt.Sprintf("`%s` conflicts with the branch in %s; the next attempt gets both sides", s.t.BaseBranch,
			conflictPaths(f.Conflicts)))
	}
}

// updatedLate records a merge of the base after the task had moved on.
func (s *step) updatedLate() {
	f := s.e.Fact.(Updated)
	if f.SHA == "" || f.From != s.t.Head {
		s.ignore(late)
		return
	}
	s.takeUpdate(f)
	s.because("`%s` was merged into the branch after the task had moved on", s.t.BaseBranch)
}

// takeUpdate makes the merge commit the head. It contains the previous head unchanged, so
// acceptances and outcomes carry over.
func (s *step) takeUpdate(f Updated) {
	s.warn(f.Warning)
	before := s.t.Head
	s.replaceHead(before, f.SHA)
	s.t.Head, s.t.Checks = f.SHA, nil
	s.setBase(f.Onto)
}

// replaceHead replaces a head of the attempt by another commit, and carries its acceptance over.
func (s *step) replaceHead(before, by SHA) {
	if a := s.t.Attempt(); a != nil && a.Head == before {
		a.Head = by
	}
	if slices.Contains(s.t.Accepted, before) {
		s.t.Accepted = append(s.t.Accepted, by)
	}
}

// setBase records the base commit that the branch's head now contains. Kept moves to the
// head: an older commit would be compared with a base that it does not contain.
func (s *step) setBase(base SHA) {
	s.t.BaseSHA, s.t.Merging = base, nil
	if s.t.Kept != "" {
		s.t.Kept = s.t.Head
	}
}

// conflictPaths returns the names of the files, at most three, for people.
func conflictPaths(all []Conflict) string {
	var names []string
	for _, c := range all[:min(len(all), 3)] {
		names = append(names, "`"+c.Path+"`")
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}
