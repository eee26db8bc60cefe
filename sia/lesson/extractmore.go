package lesson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxPaths bounds the files of a person's change that a lesson names.
const maxPaths = 3

// fix adds what a person's push did and SIA's attempts did not. The changed files are named when
// the person alone changed them.
func (x *lessonExtractor) fix() {
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

// lastFailure is the last attempt that failed, and what it was taken for.
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

// minAnswer is how many words an answer needs to mean something without its question. The question
// was written by a model and is no part of a lesson.
const minAnswer = 3

// answer adds a person's answer in their own words, when the task passed after it. A ticked box
// does not count, because a model wrote the text beside it. Words about a plan, or about what
// resolved the issue already, mean nothing without it and don't count either.
func (x *lessonExtractor) answer() {
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

// Bounds of what counts as knowledge of a tool.
const (
	minCalls  = 5  // calls of a tool in a task that say anything about it
	badShare  = .5 // a tool is bad when a larger share of its calls failed
	goodShare = .2 // a tool is good when at most this share failed
)

var toolName = lazyregexp.New(`^[a-z][a-z0-9_]{0,30}$`)

// toolSource is the source of the one lesson about a tool in a repository. Each task is evidence
// about it.
func toolSource(name string) string { return "tool/" + name }

// tools adds the tools that fail more often than not.
func (x *lessonExtractor) tools() {
	for _, u := range x.Tools {
		if !toolName.MatchString(u.Tool) || u.Calls < minCalls || float64(u.Failed) <= badShare*float64(u.Calls) {
			continue
		}
		says, instead := "", "use another tool"
		if gist := x.said.tellingLine(u.Error); gist != "" {
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

// modelSource is the source of the one lesson about an agent at a kind of attempt in a repository.
// Each attempt is evidence about it.
func modelSource(agent, at string) string { return "model/" + agent + "/" + at }

// models adds how the agent and its model do at each kind of attempt.
func (x *lessonExtractor) models() {
	for _, a := range x.Task.Attempts {
		if a.Agent == "" || a.Outcome != sia.AttemptPass && a.Outcome != sia.AttemptFail || x.Task.Solved(a) {
			continue
		}
		at := x.kindOf(a)
		l := Lesson{Kind: Model, Text: fmt.Sprintf("How `%s` does at %s.", a.Agent, at), Tags: []string{a.Agent}}
		if id := NewID(x.Task.Repo.ID, modelSource(a.Agent, at)); !slices.ContainsFunc(x.all,
			func(e extractedLesson) bool { return e.ID == id }) {
			x.add(modelSource(a.Agent, at), 1, l, teachingOutcome{})
		}
	}
}

// kindOf says what kind of attempt one was.
func (x *lessonExtractor) kindOf(a sia.Attempt) string {
	for _, iv := range slices.Backward(x.Task.Interventions) {
		if iv.After < a.Number {
			if _, known := patternVocabulary[iv.Diagnosis.Pattern]; known {
				return "attempts after " + string(iv.Diagnosis.Pattern)
			}
			return "later attempts"
		}
	}
	return "first attempts"
}
