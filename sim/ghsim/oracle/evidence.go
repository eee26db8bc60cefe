package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// baseEvents start workflows on the base or the default branch: what their jobs check out,
// unless a step says otherwise, is not the head.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
var baseEvents = []string{"pull_request_target", "issue_comment", "issues"}

// paperwork are words of checks that look at everything but the code, and code are those of
// checks that run it.
var (
	word      = regexp.MustCompile(`[a-z0-9]+`)
	paperwork = []string{"cla", "easycla", "dco", "signoff", "license", "licence", "licenses", "licences", "title", "wip",
		"label", "labels", "labeler", "labeller"}
	code = []string{"test", "tests", "build", "compile", "unit", "integration", "e2e"}
	// ci are services that build or test, by their apps' names or how their statuses begin, or call what they do so.
	ci = []string{"ci", "circleci", "buildkite", "jenkins", "travis", "azure", "pipelines", "appveyor", "prow", "vercel",
		"netlify"}
)

// formal reports whether an app or a person reports about papers, the form of a pull request or its review.
func (v *verdict) formal(p report) bool {
	words := word.FindAllString(strings.ToLower(p.name), -1)
	return p.job() == nil && slices.ContainsFunc(words, func(w string) bool {
		return w == "tide" || w == "reviewable" || slices.Contains(paperwork, w)
	}) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(code, w) })
}

// ranCode reports whether a check that succeeded ran the repository's code, as far as can be
// told: a licence or a title that is right validates nothing, nor does what nobody says that it builds or tests.
func (v *verdict) ranCode(p report) bool {
	words := word.FindAllString(strings.ToLower(p.name), -1)
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if has(paperwork) && !has(code) {
		return false
	}
	j := p.job()
	if j == nil { // what any app or person reports may be about anything
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
	if j.Run.Event.Name == "dynamic" { // GitHub's own, as code scanning's default setup
		return false
	}
	return !slices.Contains(baseEvents, j.Run.Event.Name) || v.takesHead(j)
}

// sums are the ways in which a step reads how other jobs went.
var sums = regexp.MustCompile(`needs\.[\w*-]+\.result|toJSON\(needs\)`)

// sumsUp reports whether a job gets no code, and reads how the jobs that it needs went.
func (v *verdict) sumsUp(j *model.Job) bool {
	job := v.fileOf(j).Jobs[key(j)]
	for _, step := range job.Steps {
		if sums.MatchString(fmt.Sprint(step)) {
			return !job.checksOut()
		}
	}
	return false
}

// head are the ways in which a step names the pull request's head.
var head = regexp.MustCompile(`github\.head_ref|pull_request\.head\.|refs/pull/|pull/[^ ]*/(head|merge)|gh pr checkout`)

// takesHead reports whether a job that is started on the base checks out the head.
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
