package gate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// paperwork holds the words that name a check of a pull request's form, or of papers about
// it, rather than of what its code does.
var paperwork = regexp.MustCompile(`(?i)^(cla|dco|licen[sc](e|es|ing)|titles?|semantic|wip|label(s|ed|er|ing|ler)?|` +
	`sign(ed)?[ -]?offs?|reviews?|reviewers?|approv(al|als|ed|e)|size|changelogs?|milestones?)$`)

// onlyReads is an app, or a check of one, that reads changes, or what others found, and runs nothing: a model that
// reviews, a search for secrets, for flaws or for bad packages, a count of coverage, a queue of merges. Netlify says
// with a check each what changed of a site's pages and rules.
var onlyReads = regexp.MustCompile(`(?i)^(coderabbit(ai)?$|cursor( bugbot)?$|greptile(-apps)?$|sourcery(-ai)?$|` +
	`qodo\b|gitguardian\b|socket[ -]security\b|copilot-pull-request-reviewer$|github-(advanced-security|code-scanning)$|` +
	`codeql$|mergify\b|security/snyk\b|snyk\b|sonar(qube)?(cloud)?\b|codecov\b|coverage/coveralls\b|coveralls\b|` +
	`codacy\b|code-?climate\b|deepsource\b|codefactor\b|renovate\b|dependabot\b|tide$|` +
	`(header rules|redirect rules|pages changed|mixed content)\b)`)

// ofRuns are words in the name of an app, or of a check, that builds or tests. Those that deploy a preview are among
// them: they build the head, and fail where it does not build.
var ofRuns = regexp.MustCompile(`(?i)^(ci|tests?|testing|builds?|compiles?|unit|integration|e2e|specs?|pytest|jest|` +
	`circleci|buildkite|jenkins|travis|pipelines?|appveyor|cirrus|gitlab|bitrise|drone|semaphore(ci)?|teamcity|prow|` +
	`zuul|woodpecker|codebuild|codemagic|vercel|netlify)$`)

// builtNothing is what a service says in a status where it has built nothing.
var builtNothing = regexp.MustCompile(`(?i)\b(skipped|ignored build|cancell?ed|not affected)\b`)

var (
	word  = regexp.MustCompile(`[\p{L}\p{N}]+`)
	humps = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
)

// isPaperwork reports whether a check's name says that it judges no code.
func isPaperwork(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		if paperwork.MatchString(w) || i > 0 && paperwork.MatchString(words[i-1]+" "+w) {
			return true
		}
	}
	return false
}

// wordsOf are the words of a check's name, without the values of a matrix.
func wordsOf(name string) []string {
	name, _, _ = strings.Cut(name, " (")
	return word.FindAllString(humps.ReplaceAllString(name, "$1 $2"), -1)
}

// baseEvents start workflows that run the code of the base branch, or of the default one,
// unless they check out something else by name
// (https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
var baseEvents = []string{"pull_request_target", "issue_comment", "issues", "workflow_run", "schedule",
	"repository_dispatch"}

// ranCode reports whether a check ran the repository's code at the head, as far as can be told.
func (j *judgement) ranCode(c check) bool {
	switch {
	case c.outcome == skipped || c.outcome == running || c.outcome == blocked || c.app == workflowApp:
		return false
	case c.app == statusApp || c.run.WorkflowRun == 0:
		return !reads(c) && (saysItRuns(c) || j.isNamed(c) || slices.Contains(j.Vouched, c.label))
	case c.workflow == nil:
		return !isPaperwork(c.name)
	case c.workflow.isDynamic():
		return false
	}
	return !j.FilesKnown || j.runsCode(c) // the files are asked for before it counts
}

// runsCode reports whether a job runs the repository's code at the head, as its workflow file says. A name
// that is one of paperwork decides where the file can't be read, and where the job runs no command with the code.
func (j *judgement) runsCode(c check) bool {
	f, known := j.fileOf(c)
	if !known { // it may have come with the test merge
		f = File{Unread: true}
	}
	does, named := f.job(c.name), isPaperwork(c.name)
	if slices.Contains(baseEvents, c.workflow.Event) {
		return does.Head && (does.Runs || !named)
	}
	if named {
		return does.Runs
	}
	return f.Unread || does.Code
}

// inQueue reports whether a job was skipped, as its file says that it runs in a merge queue alone.
func (j *judgement) inQueue(c check) bool {
	f, known := j.fileOf(c)
	return known && c.outcome == skipped && slices.ContainsFunc(f.named(c.name), func(w Job) bool { return w.Queue })
}

// reads reports whether an app's check, or a status, is known to run nothing of the code.
func reads(c check) bool {
	return isPaperwork(c.name) || onlyReads.MatchString(c.app) || onlyReads.MatchString(c.name) ||
		builtNothing.MatchString(c.said)
}

// saysItRuns reports whether the name of an app's check, or of its app, says that it builds or tests.
func saysItRuns(c check) bool {
	return slices.ContainsFunc(append(wordsOf(c.app), wordsOf(c.name)...), ofRuns.MatchString)
}

// isNamed reports whether rules or settings name a check: whoever did so decided that merging depends on it.
func (j *judgement) isNamed(c check) bool {
	return slices.Contains(j.Settings.Required, c.name) ||
		slices.ContainsFunc(j.Required, func(r Required) bool { return r.Workflow == "" && j.binds(r, c) })
}

// unsure reports whether nothing tells what a green check of an app, or a green status, does: a person may say so.
func (j *judgement) unsure(c check) bool {
	return c.outcome == green && c.app != workflowApp && c.run.WorkflowRun == 0 && !reads(c) && !j.ranCode(c)
}

// isDynamic reports whether GitHub made a workflow by itself, as those of code scanning's default setup and of
// Copilot's reviews: it is no file of the repository, and runs nothing of it.
// https://docs.github.com/en/code-security/concepts/code-scanning/codeql/about-code-scanning-with-codeql
func (w Workflow) isDynamic() bool {
	_, path := w.file()
	return w.Event == "dynamic" || strings.HasPrefix(path, "dynamic/")
}

// wantedFiles are the workflow files of the commit's own repository that the judgement needs:
// of what ran, and of the jobs that did not report; the folder is all of them, for what nothing bears. Sorted, but for
// that.
func (j *judgement) wantedFiles() []string {
	var paths []string
	for _, w := range j.Workflows {
		if repo, path := w.file(); j.isOwn(repo) {
			paths = append(paths, path)
		}
	}
	for _, e := range j.missed {
		if e.App == actionsApp {
			paths = append(paths, e.Workflow)
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !strings.HasPrefix(p, workflowFolder) })
	slices.Sort(paths)
	paths = slices.Compact(paths)
	paths = paths[:min(len(paths), maxFiles)]
	if j.lacksName() {
		paths = append(paths, workflowFolder)
	}
	return paths
}

// lacksName reports whether a person is to be asked about a required name that nothing bears.
func (j *judgement) lacksName() bool {
	return j.result.Verdict == sia.VerdictBlocked &&
		slices.ContainsFunc(j.absent, func(r Required) bool { return r.Workflow == "" })
}

// maxFiles bounds how many workflow files are read.
const maxFiles = 50

// filesMatter reports whether the verdict, or what people are shown beside it, may turn on what workflow files say.
func (j *judgement) filesMatter() bool {
	missed := slices.ContainsFunc(j.missed, func(e Expected) bool { return e.App == actionsApp && e.Workflow != "" }) ||
		slices.ContainsFunc(j.checks, func(c check) bool { return c.form && c.run.WorkflowRun != 0 })
	switch j.result.Verdict {
	case sia.VerdictGreen:
		return true
	case sia.VerdictPending, sia.VerdictBlocked, sia.VerdictNone, sia.VerdictRed:
		return missed || j.needsMatter() || j.lacksName()
	}
	return j.needsMatter()
}

// from says for people what made a check.
func (c check) from() string {
	switch {
	case c.workflow != nil && c.workflow.Event != "":
		return "workflow " + c.workflow.title() + " on " + c.workflow.Event
	case c.workflow != nil:
		return "workflow " + c.workflow.title()
	case c.app == statusApp:
		return "commit status"
	}
	return "app " + c.app
}
