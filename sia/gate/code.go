package gate

import (
	"regexp"
	"slices"
	"strings"
)

// paperwork matches words in the names of checks that judge a pull request's form or legal
// documents, rather than its code.
var paperwork = regexp.MustCompile(`(?i)^(cla|dco|licen[sc](e|es|ing)|titles?|semantic|wip|label(s|ed|er|ing|ler)?|` +
	`sign(ed)?[ -]?offs?|reviews?|reviewers?|approv(al|als|ed|e)|size|changelogs?|milestones?)$`)

// onlyReads matches an app, or a check of one, that reads changes or other results and runs nothing: reviews by a
// model, scans for secrets, vulnerabilities or bad packages, coverage reports, merge queues. Netlify reports changes of
// a site's pages and rules in separate checks.
var onlyReads = regexp.MustCompile(`(?i)^(coderabbit(ai)?$|cursor( bugbot)?$|greptile(-apps)?$|sourcery(-ai)?$|` +
	`qodo\b|gitguardian\b|socket[ -]security\b|copilot-pull-request-reviewer$|github-(advanced-security|code-scanning)$|` +
	`codeql$|mergify\b|security/snyk\b|snyk\b|sonar(qube)?(cloud)?\b|codecov\b|coverage/coveralls\b|coveralls\b|` +
	`codacy\b|code-?climate\b|deepsource\b|codefactor\b|renovate\b|dependabot\b|tide$|` +
	`(header rules|redirect rules|pages changed|mixed content)\b)`)

// buildWord matches words in the name of an app or check that builds or tests. Those that deploy a preview are
// included: they build the head, and fail if it does not build.
var buildWord = regexp.MustCompile(`(?i)^(ci|tests?|testing|builds?|compiles?|unit|integration|e2e|specs?|pytest|` +
	`jest|circleci|buildkite|jenkins|travis|pipelines?|appveyor|cirrus|gitlab|bitrise|drone|semaphore(ci)?|teamcity|` +
	`prow|zuul|woodpecker|codebuild|codemagic|vercel|netlify)$`)

// builtNothing matches the description of a status of a service that has built nothing.
var builtNothing = regexp.MustCompile(`(?i)\b(skipped|ignored build|cancell?ed|not affected)\b`)

var (
	word  = regexp.MustCompile(`[\p{L}\p{N}]+`)
	humps = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
)

// isPaperwork reports whether a check's name shows that it judges no code.
func isPaperwork(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		if paperwork.MatchString(w) || i > 0 && paperwork.MatchString(words[i-1]+" "+w) {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a check's name, without the values of a matrix.
func wordsOf(name string) []string {
	name, _, _ = strings.Cut(name, " (")
	return word.FindAllString(humps.ReplaceAllString(name, "$1 $2"), -1)
}

// baseEvents are the events with workflows that run the code of the base branch or the default
// branch, unless they explicitly check out something else
// (https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
var baseEvents = []string{"pull_request_target", "issue_comment", "issues", "workflow_run", "schedule",
	"repository_dispatch"}

// runsCode reports whether a check probably runs the repository's code at the head.
func (f *facts) runsCode(c check) bool {
	switch {
	case c.app == workflowApp:
		return false
	case c.run.WorkflowRun == 0:
		return !reads(c) && (nameRuns(c) || f.isNamed(c) || slices.Contains(f.Vouched, c.label))
	case c.workflow == nil:
		return !isPaperwork(c.name)
	case c.workflow.isDynamic():
		return false
	}
	return !f.FilesKnown || c.jobRunsCode() // the files are requested before this matters
}

// jobRunsCode reports whether a job runs the repository's code at the head, by its workflow file. A name of paperwork
// decides if the file can't be read, which may exist only on the test merge, and if the job runs no command with the
// code.
func (c check) jobRunsCode() bool {
	does, named := c.file.job(c.name), isPaperwork(c.name)
	if slices.Contains(baseEvents, c.workflow.Event) {
		return does.Head && (does.Runs || !named)
	}
	if named {
		return does.Runs
	}
	return c.file.Unread || does.Code
}

// runsInQueue reports whether the file of a job limits it to merge queues.
func (c check) runsInQueue() bool {
	return slices.ContainsFunc(c.file.named(c.name), func(j Job) bool { return j.Queue })
}

// reads reports whether an app's check, or a status, is known not to run the code.
func reads(c check) bool {
	return isPaperwork(c.name) || onlyReads.MatchString(c.app) || onlyReads.MatchString(c.name) ||
		builtNothing.MatchString(c.said)
}

// nameRuns reports whether the name of an app's check, or of its app, shows that it builds or tests.
func nameRuns(c check) bool {
	return slices.ContainsFunc(append(wordsOf(c.app), wordsOf(c.name)...), buildWord.MatchString)
}

// isUnknown reports whether the purpose of an app's check, or of a status, is unknown: if it is green, a person can
// confirm it.
func (f *facts) isUnknown(c check) bool {
	return c.app != workflowApp && c.run.WorkflowRun == 0 && !reads(c) && !f.runsCode(c)
}

// isDynamic reports whether GitHub generated a workflow, such as those of code scanning's default setup and of
// Copilot's reviews: it is not a file of the repository, and runs no code of it.
// https://docs.github.com/en/code-security/concepts/code-scanning/codeql/about-code-scanning-with-codeql
func (w Workflow) isDynamic() bool {
	return w.Event == "dynamic" || strings.HasPrefix(w.Path, "dynamic/")
}
