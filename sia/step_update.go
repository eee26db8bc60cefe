package sia

import (
	"fmt"
	"slices"
	"strings"
)

// Merging is a merge of the base that the next attempt is to finish: both sides changed
// the same places.
type Merging struct {
	Onto      SHA        `json:"onto"` // the base's commit that conflicts with the branch
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is a file in which both sides changed the same.
type Conflict struct {
	Path string `json:"path"`
	What string `json:"what"` // for people, such as "both sides changed the same lines"
}

// maxUpdates is how often the base is merged into what one attempt did.
const maxUpdates = 3

// outdated has the base merged into the branch, where nothing can be concluded or merged
// before: the two conflict, or a rule wants the green branch up to date. It reports
// whether that comes first.
func (s *step) outdated(f Judged) bool {
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

// updated follows the base into the branch. Where they conflict the next attempt gets
// both sides, and that costs no approach: its prompt is the one before.
func (s *step) updated() {
	f := s.e.Fact.(Updated)
	switch {
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

// updatedLate notes that the base was merged into the branch after the task had moved on.
func (s *step) updatedLate() {
	f := s.e.Fact.(Updated)
	if f.SHA == "" || f.From != s.t.Head {
		s.ignore(late)
		return
	}
	s.takeUpdate(f)
	s.because("`%s` was merged into the branch after the task had moved on", s.t.BaseBranch)
}

// takeUpdate makes the merge what the branch is. What was accepted, kept or done on the
// head before is in it unchanged.
func (s *step) takeUpdate(f Updated) {
	s.warn(f.Warning)
	before := s.t.Head
	s.replaceHead(before, f.SHA)
	s.t.Head, s.t.Checks = f.SHA, nil
	s.standsOn(f.Onto)
}

// replaceHead has a head of the attempt's, and what people accepted of it, stand in another commit.
func (s *step) replaceHead(before, by SHA) {
	if a := s.t.Attempt(); a != nil && a.Head == before {
		a.Head = by
	}
	if slices.Contains(s.t.Accepted, before) {
		s.t.Accepted = append(s.t.Accepted, by)
	}
}

// standsOn notes which commit of the base the branch's head stands on by now. What is to
// be kept is kept as it stands there: an older commit would be measured against a base
// that it does not know.
func (s *step) standsOn(base SHA) {
	s.t.BaseSHA, s.t.Merging = base, nil
	if s.t.Kept != "" {
		s.t.Kept = s.t.Head
	}
}

// conflictPaths names the files, at most three.
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
