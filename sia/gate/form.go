package gate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

var (
	// reviewGate matches an app, or a check, that waits until people have reviewed, and that is never green for a draft.
	reviewGate = regexp.MustCompile(`(?i)^(tide$|wip$|reviewable\b|code-review/reviewable$|pullapprove\b|policy-bot\b|` +
		`mergeable$|easycla$|copilot-pull-request-reviewer$)`)
	// forbids matches the text of a service that builds only for its members, or only after something is signed.
	forbids = regexp.MustCompile(`(?i)\b(authori[sz](ation|e)\b|not a (team )?member|not a collaborator|` +
		`(contributor )?licen[sc]e agreement|CLA\b|(not|sign) .{0,20}\bsigned\b)`)
	// ofChange matches words of paperwork that the change itself may lack, so that another attempt can add it.
	ofChange = regexp.MustCompile(`(?i)^(changelogs?|licen[sc](e|es|ing))$`)
)

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

// blockForm blocks checks of the form, and those that a service forbids to run, instead of counting them as red or
// waiting for them: a person has to act, or waives them. A running job of Actions, or a model's review, ends without a
// person.
func (j *judgement) blockForm() {
	for i := range j.checks {
		c := &j.checks[i]
		said := cmp.Or(c.said, c.run.Telling)
		of := j.isForm(*c)
		forbidden := c.run.WorkflowRun == 0 && c.app != workflowApp && forbids.MatchString(said)
		switch {
		case c.outcome == red && (of || forbidden):
			c.why += ", and asks a person"
		case c.outcome == running && c.run.WorkflowRun == 0 && of:
			c.why = "waits for a person"
		case c.outcome == blocked && of:
			said = ""
		default:
			continue
		}
		c.outcome, c.form = blocked, true
		if said != "" {
			c.why += ": “" + text.Clip(text.OneLine(said), maxSaid) + "”"
		}
		if j.requiredByRule(*c) {
			c.why += "; a rule requires it, and GitHub will not merge this before"
		}
		if j.waived(*c) {
			c.required, c.why = false, "a person said to go on without it"
		}
	}
}

// formAlone reports whether checks of the form are the only obstacles.
func (j *judgement) formAlone() bool {
	return !slices.ContainsFunc(j.checks, func(c check) bool { return c.required && c.outcome == blocked && !c.form }) &&
		slices.ContainsFunc(j.checks, func(c check) bool { return c.required && c.form }) && len(j.absent)+len(j.missed) == 0
}
