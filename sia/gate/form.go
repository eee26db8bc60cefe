package gate

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// reviewGate matches an app, or a check, that waits until people have reviewed, and that is never green for a draft.
	reviewGate = regexp.MustCompile(`(?i)^(tide$|wip$|reviewable\b|code-review/reviewable$|pullapprove\b|policy-bot\b|` +
		`mergeable$|easycla$|copilot-pull-request-reviewer$)`)
	// forbids matches the text of a service that builds only for its members, or only after something is signed.
	forbids = regexp.MustCompile(`(?i)\b(authori[sz]ation (is )?(required|needed|pending)|` +
		`(requires?|needs?|awaiting|pending|waiting for) authori[sz]ation|CLA authori[sz]ation|` +
		`(needs?|must|required) (to )?(be )?authori[sz]ed?\b|not authori[sz]ed|not a (team )?member|not a collaborator|` +
		`(contributor )?licen[sc]e agreement|CLA\b|(not|sign) .{0,20}\bsigned\b)`)
	// ofChange matches words of paperwork that the change itself may lack, so that another attempt can add it.
	ofChange = regexp.MustCompile(`(?i)^(changelogs?|licen[sc](e|es|ing))$`)
)

// isForbidden reports whether a service says that it may not run a check. What a failed test or a compiler prints is
// not the service's word.
func (c check) isForbidden() bool {
	if c.run.WorkflowRun != 0 || c.app == workflowApp || len(c.run.Failed) > 0 {
		return false
	}
	return forbids.MatchString(c.said) || c.said == "" && refusalClasses[c.run.Class] &&
		forbids.MatchString(c.run.Telling)
}

// refusalClasses are the failure classes that a service's refusal to run may have.
var refusalClasses = map[string]bool{"": true, "unknown": true, "permission_or_credentials": true}

// maxSaid is the maximum length of a quote of a status's description, in characters.
const maxSaid = 200

// isForm reports whether a check judges a pull request's form, or waits for a review, so that another attempt can't
// change its result. A job that runs the code is not such a check, even if its name suggests it.
func (f *facts) isForm(c check) bool {
	byName := reviewGate.MatchString(c.name) || isPaperwork(c.name) &&
		!slices.ContainsFunc(wordsOf(strings.ReplaceAll(c.name, "license/cla", "cla")), ofChange.MatchString)
	switch {
	case c.app == workflowApp:
		return false
	case c.run.WorkflowRun == 0:
		return byName || reviewGate.MatchString(c.app)
	case c.workflow == nil:
		return byName
	case c.workflow.isDynamic():
		return strings.Contains(c.workflow.Path, "/copilot-pull-request-reviewer")
	}
	return byName && (!f.FilesKnown || !c.jobRunsCode())
}
