package sia

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// aggregated continues the attempt with the merged parts.
func (s *step) aggregated() {
	f := s.e.Fact.(Aggregated)
	a := s.t.Attempt()
	a.Aggregating = false
	if f.Lost {
		s.redoParts()
		s.workOn()
		return
	}
	lost := a.Lost()
	if len(f.Conflicts) > 0 && lost == 0 {
		s.addMergePart(f)
		return
	}
	if red := unmet(f.Checks); red != nil && lost == 0 && !a.mended() {
		a.Parts = append(a.Parts, Part{Kind: PartMend, State: PartWaiting, Checked: red, Part: plan.Part{
			Do:       "The parts are put together, and this does not hold: `" + red.Command + "`. Mend it.",
			DoneWhen: "`" + red.Command + "` ends with 0", Check: red.Command, Needs: a.Tops(),
		}})
		s.workOn()
		s.because("put together, the parts of attempt %d fail `%s`: that is mended before the checks see it", a.Number,
			red.Command)
		return
	}
	s.closeParts()
	a.Diff, a.Hunks = f.Diff, f.Hunks
	if lost > 0 {
		s.failLostPart(lost, f)
		return
	}
	switch {
	case f.Reason != "":
		a.Reason = f.Reason
		s.fail(nil)
	case f.Commit == "":
		a.Reason = s.noChangeReason()
		s.fail([]Signal{{OutputUnchanged, "the attempt's diff is empty"}})
	default:
		s.push(f.Commit)
		s.because("the %d parts of attempt %d changed %s together; that is pushed so that the checks can say whether it is "+
			"right", len(a.Parts), a.Number, text.Count(f.Diff.Files, "file"))
	}
}

// addMergePart adds a part that resolves the conflicts.
func (s *step) addMergePart(f Aggregated) {
	a := s.t.Attempt()
	var sides, paths []string
	for _, n := range f.Over {
		sides = append(sides, fmt.Sprintf("part %d (%s)", n, strings.TrimSuffix(a.Parts[n-1].Do, ".")))
	}
	for _, c := range f.Conflicts {
		paths = append(paths, c.Path)
	}
	a.Parts = append(a.Parts, Part{Kind: PartMerge, State: PartWaiting, Part: plan.Part{
		Do:       "Resolve the conflicts between " + strings.Join(sides, " and ") + ". Keep what each of them is for.",
		DoneWhen: "no file holds both sides any more", Paths: paths, Needs: f.Over,
	}})
	s.workOn()
	s.because("parts of attempt %d conflict in %s: resolving that is a part of its own", a.Number,
		text.Count(len(paths), "file"))
}

// failLostPart ends an attempt as failed because one of its parts was given up. The work of the
// other parts is kept on the branch, unjudged.
func (s *step) failLostPart(lost int, f Aggregated) {
	a := s.t.Attempt()
	p := a.Parts[lost-1]
	a.Reason = fmt.Sprintf("part %d of %d was not done: %s", lost, len(a.Parts), p.Do)
	if c := p.Checked; c != nil && c.Missing == "" && !c.Holds {
		a.Failures = []CheckFailure{{Check: fmt.Sprintf("part %d: %s", lost, c.Command), Excerpt: c.Excerpt, Class: c.Class,
			Tests: c.Tests, Signature: "part " + c.Command + " " + c.Class}}
	} else if p.Reason != "" {
		a.Reason += " (" + p.Reason + ")"
	}
	if f.Commit == "" || f.Reason != "" {
		s.fail([]Signal{{SameTask, a.Reason}})
		return
	}
	a.Outcome = AttemptFail
	s.push(f.Commit)
	s.because("%s; what the other parts did is kept on the branch", a.Reason)
}

// mended reports whether the attempt already has a part that fixes the merged result.
func (a *Attempt) mended() bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return p.Kind == PartMend })
}

// unmet returns the first check that ran and does not hold; nil if there is none.
func unmet(checks []CheckRun) *CheckRun {
	for _, c := range checks {
		if !c.Holds && c.Missing == "" {
			return &c
		}
	}
	return nil
}

// aggregatedLate keeps the merged parts of an attempt that had ended.
func (s *step) aggregatedLate() {
	f := s.e.Fact.(Aggregated)
	a := s.t.Attempt()
	a.Aggregating = false
	a.Diff, a.Hunks = f.Diff, f.Hunks
	if f.Commit != "" && f.Reason == "" && len(f.Conflicts) == 0 {
		s.push(f.Commit)
		s.because("what the parts of attempt %d had done is kept", a.Number)
		return
	}
	s.commitFinalMemory()
	s.because("what the parts of attempt %d had done together can't be kept", a.Number)
	s.beginIfIdle()
}
