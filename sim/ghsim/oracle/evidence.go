package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// baseEvents start workflows on the base or the default branch: their jobs check out another commit than the head,
// unless a step names it.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var baseEvents = []string{"pull_request_target", "issue_comment", "issues"}

// paperwork are words in names of checks that don't test the code, and code are those of checks that run it.
var (
	word      = regexp.MustCompile(`[a-z0-9]+`)
	paperwork = []string{"cla", "easycla", "dco", "signoff", "license", "licence", "licenses", "licences", "title", "wip",
		"label", "labels", "labeler", "labeller"}
	code = []string{"test", "tests", "build", "compile", "unit", "integration", "e2e"}
	// ci are services that build or test, by app name, prefix of a status, or description.
	ci = []string{"ci", "circleci", "buildkite", "jenkins", "travis", "azure", "pipelines", "appveyor", "prow", "vercel",
		"netlify"}
)

// formal reports whether an app or a person reports about licences, the form of a pull request or its review.
func (v *verdict) formal(p report) bool {
	words := word.FindAllString(strings.ToLower(p.name), -1)
	return p.job() == nil && slices.ContainsFunc(words, func(w string) bool {
		return w == "tide" || w == "reviewable" || slices.Contains(paperwork, w)
	}) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(code, w) })
}

// ranCode reports whether a check that succeeded probably ran the repository's code: a check of a licence or a title
// validates nothing, nor does one without any sign of a build or a test.
func (v *verdict) ranCode(p report) bool {
	words := word.FindAllString(strings.ToLower(p.name), -1)
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if has(paperwork) && !has(code) {
		return false
	}
	j := p.job()
	if j == nil { // other reports may be about anything
		app := ""
		if p.check != nil {
			app = p.check.Suite.App.Slug
		}
		words = append(words, word.FindAllString(app, -1)...)
		return has(code) || has(ci) || slices.Contains(v.q.Vouched, p.name) ||
			slices.ContainsFunc(v.names, func(want model.RequiredCheck) bool { return v.matches(p, want) })
	}
	if v.sumsUp(j) {
		return false
	}
	if j.Run.Event.Name == model.Dynamic { // GitHub's own, such as code scanning's default setup
		return false
	}
	return !slices.Contains(baseEvents, j.Run.Event.Name) || v.takesHead(j)
}

// sums matches the ways in which a step reads other jobs' results.
var sums = regexp.MustCompile(`needs\.[\w*-]+\.result|toJSON\(needs\)`)

// sumsUp reports whether a job gets no code, and reads the results of the jobs that it needs.
func (v *verdict) sumsUp(j *model.Job) bool {
	job := v.fileOf(j).Jobs[key(j)]
	for _, step := range job.Steps {
		if sums.MatchString(fmt.Sprint(step)) {
			return !job.checksOut()
		}
	}
	return false
}

// head matches the ways in which a step names the pull request's head.
var head = regexp.MustCompile(`github\.head_ref|pull_request\.head\.|refs/pull/|pull/[^ ]*/(head|merge)|gh pr checkout`)

// takesHead reports whether a job started on the base checks out the head.
// https://docs.github.com/en/actions/reference/security/secure-use
func (v *verdict) takesHead(j *model.Job) bool {
	for _, step := range v.fileOf(j).Jobs[key(j)].Steps {
		said := []string{step.Run}
		for _, value := range step.With {
			said = append(said, texts(value)...)
		}
		for _, value := range step.Env {
			said = append(said, texts(value)...)
		}
		if slices.ContainsFunc(said, head.MatchString) {
			return true
		}
	}
	return false
}
