package lesson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxPaths is the maximum number of files of a user's change that a lesson names.
const maxPaths = 3

// addFix adds a lesson from a user's push that fixed what SIA's attempts did not. It names the changed files when only
// the user changed them.
func (x *lessonExtractor) addFix() {
	t := x.Task
	f := t.Fix
	if f == nil || f.Head != t.Head || f.By == (sia.Actor{}) {
		return
	}
	p, last := x.lastFailure()
	l := Lesson{
		Kind: Discovery, Context: x.context(patternVocabulary[p].when, last), Words: x.found,
		Tags: x.tags(string(p), string(f.Resembles), last), Correction: patternVocabulary[p].before,
		Action: "a person changed it", Outcome: "every required check passed",
		From: Provenance{Attempt: last.Number, By: f.By},
	}
	var says []string
	if does := techniqueAdvice(f.Resembles, p); does != "" {
		says = append(says, does)
	}
	if len(f.Paths) > 0 && f.From != t.BaseSHA {
		var names []string
		for _, path := range f.Paths[:min(len(f.Paths), maxPaths)] {
			names = append(names, "`"+strings.ReplaceAll(path, "`", "")+"`")
		}
		says = append(says, fmt.Sprintf("A person mended it in %s; look there first.", strings.Join(names, ", ")))
	}
	if len(says) == 0 || l.Context == "" {
		return
	}
	l.Text = strings.Join(says, " ")
	x.add(x.source(last.Number, "fix"), .6, l, teachingOutcome{last.Number, t.Since,
		fmt.Sprintf("issue #%d taught it: the checks were green after a push by @%s", t.Issue, f.By.Login)})
}

// lastFailure returns the last failed attempt and its diagnosed pattern.
func (x *lessonExtractor) lastFailure() (sia.Pattern, sia.Attempt) {
	pattern := sia.UnknownPattern
	if n := len(x.Task.Interventions); n > 0 {
		pattern = x.Task.Interventions[n-1].Diagnosis.Pattern
	}
	for _, a := range slices.Backward(x.Task.Attempts) {
		if a.Outcome == sia.AttemptFail {
			return pattern, a
		}
	}
	return pattern, sia.Attempt{}
}

// minAnswer is the minimum number of words of an answer that is understandable without its question. The question was
// written by a model and is never part of a lesson.
const minAnswer = 3

// addAnswer adds a user's answer in their own words if the task passed after it. A ticked box does not count, because a
// model wrote its label. Answers about a plan, or about an existing solution of the issue, are not understandable alone
// and do not count either.
func (x *lessonExtractor) addAnswer() {
	t := x.Task
	last := t.LastTried()
	if len(t.Answers) == 0 || last == nil || last.Outcome != sia.AttemptPass || last.Technique != "" {
		return
	}
	a := t.Answers[len(t.Answers)-1]
	if a.By.Login == "" || a.Letter != "" || a.Kind.NeedsContext() || len(Words(a.Text, minAnswer)) < minAnswer {
		return
	}
	p, failed := x.lastFailure()
	when := patternVocabulary[p].when
	if when == "" {
		when = patternVocabulary[sia.UnclearSpecification].when
	}
	x.add(x.source(a.Escalation, "answer"), .7, Lesson{
		Kind: Discovery, Context: x.context(when, failed), Text: a.Text, Words: x.found,
		Tags:   x.tags(string(p), "", failed),
		Action: "a person answered SIA's question", Outcome: "the next attempt passed every required check",
		From: Provenance{Source: FromPerson, Attempt: failed.Number, By: a.By},
	}, x.outcomeOf(*last, " with the answer of @"+a.By.Login))
}

// Thresholds of lessons about a tool.
const (
	minCalls  = 5  // minimum number of calls of a tool in a task
	badShare  = .5 // a tool is bad when more than this share of its calls failed
	goodShare = .2 // a tool is good when at most this share of its calls failed
)

var toolName = lazyregexp.New(`^[a-z][a-z0-9_]{0,30}$`)

// toolSource returns the source of the single lesson about a tool in a repository. Each task is evidence about it.
func toolSource(name string) string { return "tool/" + name }

// addTools adds lessons about tools that fail more often than not.
func (x *lessonExtractor) addTools() {
	for _, u := range x.Tools {
		if !toolName.MatchString(u.Tool) || u.Calls < minCalls || float64(u.Failed) <= badShare*float64(u.Calls) {
			continue
		}
		says, instead := "", "use another tool"
		if gist := x.said.bestLine(u.Error); gist != "" {
			says = fmt.Sprintf(", with “%s”", gist)
		}
		if toolName.MatchString(u.Instead) {
			instead = fmt.Sprintf("use `%s`, which worked instead", u.Instead)
		}
		x.add(toolSource(u.Tool), .5, Lesson{
			Kind: Tool, Text: fmt.Sprintf("The tool `%s` often fails in this repository%s: read its error, and after a second "+
				"failure %s.", u.Tool, says, instead),
			Correction: "calling it again the same way", Tools: []string{u.Tool}, Words: x.found,
			Action: "called " + u.Tool, Outcome: "more than half of the calls failed",
		}, teachingOutcome{})
	}
}
