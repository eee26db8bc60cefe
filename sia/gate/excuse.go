package gate

import "slices"

// excuse excuses red checks that are red on the base commit too, if no other failure than there is known. A failure
// that the issue asks to fix is never excused.
func (a *assessment) excuse() {
	for _, c := range a.checks {
		if c.outcome != red || c.app == workflowApp && a.facts.succeededOnBase(*c.workflow) {
			continue
		}
		alike := a.facts.counterparts(c.check)
		if len(alike) == 0 || slices.ContainsFunc(alike, func(b check) bool { return b.outcome != red }) {
			continue
		}
		switch more := failsInMore(c.run, alike); {
		case a.facts.namedByIssue(c.check):
			c.why += "; so it does on the base commit, and the issue asks to mend that"
		case more != "":
			c.why += "; so it does on the base commit, and not " + more
		default:
			c.outcome = excused
			c.why = "red on the base commit too"
		}
	}
}

// failsInMore describes the failures of a run that no run on the base commit has; empty if there are none, or if the
// logs don't show them.
func failsInMore(r Run, base []check) string {
	var tests, signatures []string
	for _, b := range base {
		tests = append(tests, b.run.Failed...)
		signatures = append(signatures, b.run.Signature)
	}
	if len(r.Failed) > 0 && len(tests) > 0 {
		var more []string
		for _, t := range r.Failed {
			if !slices.Contains(tests, t) {
				more = append(more, t)
			}
		}
		if len(more) == 0 {
			return ""
		}
		return "in " + names(more)
	}
	if r.Signature == "" || slices.Contains(signatures, "") || slices.Contains(signatures, r.Signature) {
		return ""
	}
	return "in the same way"
}
