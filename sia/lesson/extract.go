package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Material is the input for extracting lessons.
type Material struct {
	Task  sia.Task
	Said  []string  // comments on the issue and the pull request, by any author, and earlier texts of the issue
	Tools []ToolUse // use of the tools in the task's attempts
	Now   time.Time // time of learning
}

// ToolUse counts the calls of one tool of the coding agent.
type ToolUse struct {
	Tool    string
	Calls   int
	Failed  int    // of Calls
	Error   string // error message of the last failed call
	Instead string // the next other tool that changed files after the last failed call; "": none
}

// extractedLesson is a lesson extracted from a task.
type extractedLesson struct {
	Lesson
	sure   float64 // confidence that the lesson is useful, 0–1
	taught teachingOutcome
}

// teachingOutcome is the outcome that taught a lesson, and the first evidence for it. The zero value means that no
// outcome taught it: lessons about tools have evidence of their own.
type teachingOutcome struct {
	attempt int // number of the attempt with this outcome
	at      time.Time
	why     string // the reason, for display
}

// Extract returns the lessons that a task has taught so far, by rules, highest confidence first. The same task yields
// the same lessons with the same ids. Lessons with a confidence below [MinExtracted] are too general and left out.
func Extract(m Material) []Lesson {
	x := lessonExtractor{Material: m}
	x.extract()
	slices.SortStableFunc(x.all, func(a, b extractedLesson) int { return cmp.Compare(b.sure, a.sure) })
	var lessons []Lesson
	for _, e := range x.all {
		lessons = append(lessons, e.Lesson)
	}
	return lessons
}

type lessonExtractor struct {
	Material
	said  strangerWords
	found []string // words by which the lessons can be found
	all   []extractedLesson
}

// extract fills all, in the order of learning.
func (x *lessonExtractor) extract() {
	t := x.Task
	x.said = newStrangerWords(append([]string{t.Title, t.Body}, x.Said...)...)
	x.found = Words(t.Title+"\n"+t.Body, maxWords)
	for _, iv := range t.Interventions {
		if iv.Resolved != nil {
			x.addIntervention(iv, *iv.Resolved)
		}
	}
	if t.State == sia.Passed {
		x.addFix()
		x.addAnswer()
	}
	x.addTools()
	x.all = slices.DeleteFunc(x.all, func(e extractedLesson) bool { return e.sure < MinExtracted })
}

// add adds a lesson and the outcome that taught it. The source names the lesson's origin within the repository, so that
// the same lesson has the same id.
func (x *lessonExtractor) add(source string, sure float64, l Lesson, by teachingOutcome) {
	l.ID, l.Repo, l.State, l.Occurrences = NewID(x.Task.Repo.ID, source), x.Task.Repo.ID, Active, 1
	l.CountedAt, l.CreatedAt, l.LastSeen = x.Now, x.Now, x.Now
	l.From.Task, l.From.Issue = x.Task.ID, x.Task.Issue
	l.From.Source = cmp.Or(l.From.Source, FromOutcome)
	x.all = append(x.all, extractedLesson{l.Clean(func(s string) string { return s }), sure, by})
}

func (x *lessonExtractor) source(attempt int, what string) string {
	return fmt.Sprintf("%s/%d/%s", x.Task.ID, attempt, what)
}

// addIntervention adds a lesson from the outcome of a technique.
func (x *lessonExtractor) addIntervention(iv sia.Intervention, resolved bool) {
	d := iv.Diagnosis
	failed := x.attempt(iv.After)
	words, known := patternVocabulary[d.Pattern]
	does := techniqueAdvice(d.Technique, d.Pattern)
	l := Lesson{
		Context: x.context(words.when, failed), Words: x.found,
		Tags: x.tags(string(d.Pattern), string(d.Technique), failed), From: Provenance{Attempt: iv.After},
	}
	if does == "" {
		does = fmt.Sprintf("The technique `%s` of this repository is what helped.", d.Technique)
	}
	if !resolved {
		if !known {
			return // neither the problem nor a remedy is known
		}
		l.Kind, l.Text = Mistake, fmt.Sprintf("%s The technique %s alone did not resolve it.", words.avoid, d.Technique)
		l.Action, l.Outcome = "used the technique "+string(d.Technique), "the next attempt failed as well"
		x.add(x.source(iv.After, "failed"), .4, l, x.judgedAfter(iv.After))
		return
	}
	l.Kind, l.Text, l.Correction = Success, does, words.before
	l.Action, l.Outcome = "used the technique "+string(d.Technique), "the next attempt passed every required check"
	switch {
	case d.Technique == sia.ToolChange:
		l.Kind, l.Tools = Tool, d.Brief.WithoutTools
	case blockerPatterns[d.Pattern]:
		l.Kind = Workaround
	}
	sure := (1 + min(max(d.Confidence, 0), 1)) / 2
	if l.Context == "" {
		sure = .2 // when it applies is unknown
	}
	x.add(x.source(iv.After, "resolved"), sure, l, x.judgedAfter(iv.After))
}

// judgedAfter returns the outcome of the first attempt after number after that passed or failed.
func (x *lessonExtractor) judgedAfter(after int) teachingOutcome {
	for _, a := range x.Task.Attempts {
		if a.Number > after && (a.Outcome == sia.AttemptPass || a.Outcome == sia.AttemptFail) {
			return x.outcomeOf(a, "")
		}
	}
	return teachingOutcome{}
}

// outcomeOf returns the outcome of an attempt that passed or failed. with describes a user's contribution to it; "" for
// none.
func (x *lessonExtractor) outcomeOf(a sia.Attempt, with string) teachingOutcome {
	how := "passed"
	if a.Outcome == sia.AttemptFail {
		how = "failed"
	}
	return teachingOutcome{a.Number, a.EndedAt,
		fmt.Sprintf("issue #%d taught it: attempt %d %s%s", x.Task.Issue, a.Number, how, with)}
}

// context returns when a lesson applies: the pattern in SIA's words, the check that failed, and the best line of its
// log, without words of untrusted users.
func (x *lessonExtractor) context(when string, failed sia.Attempt) string {
	if len(failed.Failures) == 0 {
		return when
	}
	// a failed test is closest to the requirement
	f := failed.Failures[max(0, slices.IndexFunc(failed.Failures, inTest))]
	var parts []string
	if when != "" {
		parts = append(parts, when)
	}
	gist := x.said.bestLine(f.Excerpt)
	switch name := x.said.checkName(f.Check); {
	case name != "" && gist != "":
		parts = append(parts, fmt.Sprintf("check %s %s%s”", name, quotedLine, gist))
	case gist != "":
		parts = append(parts, fmt.Sprintf("a check %s%s”", quotedLine, gist))
	case name != "" && when != "":
		parts = append(parts, fmt.Sprintf("check %s failed", name))
	}
	return strings.Join(parts, "; ")
}

// quotedLine precedes the line of a log in a lesson's context.
const quotedLine = "failed with “"

// testFailure is package failure's class of a failed test. It is a tag of every lesson from a failed test, regardless
// of the diagnosed pattern.
const testFailure = "test_failure"

// inTest reports whether a check failed in a test.
func inTest(f sia.CheckFailure) bool { return f.Class == testFailure || len(f.Tests) > 0 }

// classForm matches the classes of package failure.
var classForm = lazyregexp.New(`^[a-z_]{1,40}$`)

func (x *lessonExtractor) tags(pattern, technique string, failed sia.Attempt) []string {
	tags := []string{pattern, technique}
	for _, f := range failed.Failures {
		if classForm.MatchString(f.Class) && f.Class != "unknown" && !slices.Contains(tags, f.Class) {
			tags = append(tags, f.Class)
		}
	}
	if slices.ContainsFunc(failed.Failures, inTest) && !slices.Contains(tags, testFailure) {
		tags = append(tags, testFailure)
	}
	return slices.DeleteFunc(tags, func(t string) bool { return t == "" || t == string(sia.UnknownPattern) })
}

func (x *lessonExtractor) attempt(n int) sia.Attempt {
	i := slices.IndexFunc(x.Task.Attempts, func(a sia.Attempt) bool { return a.Number == n })
	if i < 0 {
		return sia.Attempt{}
	}
	return x.Task.Attempts[i]
}
