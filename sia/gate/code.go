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

// onlyReads is an app, or a check of one, that reads changes and runs nothing: a model that reviews, a search for
// secrets or for bad packages.
var onlyReads = regexp.MustCompile(`(?i)^(coderabbit(ai)?$|cursor( bugbot)?$|greptile(-apps)?$|sourcery(-ai)?$|` +
	`qodo\b|gitguardian\b|socket[ -]security\b|copilot-pull-request-reviewer$)`)

var (
	word  = regexp.MustCompile(`[\p{L}\p{N}]+`)
	humps = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
)

// isPaperwork reports whether a check's name says that it judges no code.
func isPaperwork(name string) bool {
	name, _, _ = strings.Cut(name, " (") // the values of a matrix
	words := word.FindAllString(humps.ReplaceAllString(name, "$1 $2"), -1)
	for i, w := range words {
		if paperwork.MatchString(w) || i > 0 && paperwork.MatchString(words[i-1]+" "+w) {
			return true
		}
	}
	return false
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
	case isPaperwork(c.name):
		return false
	case c.app == statusApp || c.run.WorkflowRun == 0 || c.workflow == nil:
		return !onlyReads.MatchString(c.app) && !onlyReads.MatchString(c.name)
	case !j.FilesKnown:
		return true // it is asked for before it counts
	}
	f := File{Unread: true}
	if repo, path := c.workflow.file(); j.isOwn(repo) {
		if at, known := fileAt(j.Files, path); known && !at.Gone { // else it came with the test merge
			f = at
		}
	}
	does := f.job(c.name)
	if slices.Contains(baseEvents, c.workflow.Event) {
		return does.Head
	}
	return f.Unread || does.Code
}

// wantedFiles are the workflow files of the commit's own repository that the judgement needs:
// of what ran, and of the jobs that did not report. Sorted.
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
	return paths[:min(len(paths), maxFiles)]
}

// maxFiles bounds how many workflow files are read.
const maxFiles = 50

// filesMatter reports whether the verdict, or what people are shown beside it, may turn on what workflow files say.
func (j *judgement) filesMatter() bool {
	missed := slices.ContainsFunc(j.missed, func(e Expected) bool { return e.App == actionsApp && e.Workflow != "" })
	switch j.result.Verdict {
	case sia.VerdictGreen:
		return true
	case sia.VerdictPending, sia.VerdictBlocked, sia.VerdictNone, sia.VerdictRed:
		return missed || j.needsMatter()
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
