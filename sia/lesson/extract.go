package lesson

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Material is what lessons are extracted from.
type Material struct {
	Task  sia.Task
	Said  []string  // comments on the issue and the pull request, whoever wrote them
	Tools []ToolUse // how the tools fared in the task's attempts
	Now   time.Time // when the lessons are learned
}

// ToolUse counts the calls of one tool of the coding agent.
type ToolUse struct {
	Tool   string
	Calls  int
	Failed int // of Calls
}

// extraction is a lesson with how sure it is: 0–1.
type extraction struct {
	Lesson
	sure   float64
	taught taught
}

// taught is the outcome that taught a lesson, which is the first evidence for it.
// The zero value is for what was no outcome's: tools and models have evidence of
// their own.
type taught struct {
	attempt int // that ended so
	at      time.Time
	why     string // in a sentence, for people
}

// Extract is what a task taught so far, by rules: the surest lesson first. The
// same task gives the same lessons, with the same ids. What is less sure than
// [MinExtracted], because it would say nothing in particular, is left out.
func Extract(m Material) []Lesson {
	x := extractor{Material: m}
	x.extract()
	slices.SortStableFunc(x.all, func(a, b extraction) int { return cmp.Compare(b.sure, a.sure) })
	var lessons []Lesson
	for _, e := range x.all {
		lessons = append(lessons, e.Lesson)
	}
	return lessons
}

type extractor struct {
	Material
	said  said
	found []string // words by which the lessons are found again
	all   []extraction
}

// extract fills all, in the order in which it was learned.
func (x *extractor) extract() {
	t := x.Task
	x.said, x.found = newSaid(append([]string{t.Title, t.Body}, x.Said...)...), Words(t.Title+"\n"+t.Body, maxWords)
	for _, iv := range t.Interventions {
		if iv.Resolved != nil {
			x.intervention(iv, *iv.Resolved)
		}
	}
	if t.State == sia.Passed {
		x.fix()
		x.answer()
	}
	x.tools()
	x.models()
	x.all = slices.DeleteFunc(x.all, func(e extraction) bool { return e.sure < MinExtracted })
}

// add takes a lesson from a source within the task, or within the repository
// when it names no task, and the outcome that taught it.
func (x *extractor) add(source string, sure float64, l Lesson, by taught) {
	l.ID, l.Repo, l.State, l.Occurrences = NewID(x.Task.Repo.ID, source), x.Task.Repo.ID, Active, 1
	l.CountedAt, l.CreatedAt, l.LastSeen = x.Now, x.Now, x.Now
	l.From.Task, l.From.Issue = x.Task.ID, x.Task.Issue
	l.From.Source = cmp.Or(l.From.Source, FromOutcome)
	x.all = append(x.all, extraction{l.Clean(func(s string) string { return s }), sure, by})
}

func (x *extractor) source(attempt int, what string) string {
	return fmt.Sprintf("%s/%d/%s", x.Task.ID, attempt, what)
}

// intervention is what came of a technique.
func (x *extractor) intervention(iv sia.Intervention, resolved bool) {
	d := iv.Diagnosis
	failed := x.attempt(iv.After)
	words, known := patternVocabulary[d.Pattern]
	does := advice(d.Technique, d.Pattern)
	l := Lesson{
		Context: x.context(words.when, failed), Words: x.found,
		Tags: x.tags(string(d.Pattern), string(d.Technique), failed), From: Provenance{Attempt: iv.After},
	}
	if does == "" {
		does = fmt.Sprintf("The technique `%s` of this repository is what helped.", d.Technique)
	}
	if !resolved {
		if !known {
			return // what went wrong is not known, nor is what helps
		}
		l.Kind, l.Text = Mistake, fmt.Sprintf("%s The technique %s alone did not resolve it.", words.avoid, d.Technique)
		l.Action, l.Outcome = "used the technique "+string(d.Technique), "the next attempt failed as well"
		x.add(x.source(iv.After, "failed"), .4, l, x.judged(iv.After))
		return
	}
	l.Kind, l.Text, l.Correction = Success, does, words.before
	l.Action, l.Outcome = "used the technique "+string(d.Technique), "the next attempt passed every required check"
	switch {
	case d.Technique == sia.ToolChange:
		l.Kind, l.Tools = Tool, slices.Concat(d.Brief.Tools, d.Brief.WithoutTools)
	case blockers[d.Pattern]:
		l.Kind = Workaround
	}
	sure := (1 + min(max(d.Confidence, 0), 1)) / 2
	if l.Context == "" {
		sure = .2 // when to do it is not known
	}
	x.add(x.source(iv.After, "resolved"), sure, l, x.judged(iv.After))
}

// judged is what came of the next attempt after another that passed or failed.
func (x *extractor) judged(after int) taught {
	for _, a := range x.Task.Attempts {
		if a.Number > after && (a.Outcome == sia.AttemptPass || a.Outcome == sia.AttemptFail) {
			return x.by(a, "")
		}
	}
	return taught{}
}

// by is the outcome of an attempt, to which a person may have given something.
func (x *extractor) by(a sia.Attempt, with string) taught {
	how := "passed"
	if a.Outcome == sia.AttemptFail {
		how = "failed"
	}
	return taught{a.Number, a.EndedAt, fmt.Sprintf("issue #%d taught it: attempt %d %s%s", x.Task.Issue, a.Number, how, with)}
}

// context says when a lesson applies: the pattern in SIA's words, the check that
// failed, and the line of its log that tells, as far as nobody said it.
func (x *extractor) context(when string, failed sia.Attempt) string {
	if len(failed.Failures) == 0 {
		return when
	}
	f := failed.Failures[max(0, slices.IndexFunc(failed.Failures, inTest))] // what a test says is nearest to what is wanted
	var parts []string
	if when != "" {
		parts = append(parts, when)
	}
	gist := x.said.gist(f.Excerpt)
	switch name := x.said.checkName(f.Check); {
	case name != "" && gist != "":
		parts = append(parts, fmt.Sprintf("check %s %s%s”", name, quoted, gist))
	case gist != "":
		parts = append(parts, fmt.Sprintf("a check %s%s”", quoted, gist))
	case name != "" && when != "":
		parts = append(parts, fmt.Sprintf("check %s failed", name))
	}
	return strings.Join(parts, "; ")
}

// quoted is what stands before the line of a log in a lesson's context.
const quoted = "failed with “"

// testFailure is how package failure spells the class of what a test found. It is
// a lesson's tag when a test failed, whatever the failure was taken for.
const testFailure = "test_failure"

// inTest reports whether a check failed in a test.
func inTest(f sia.CheckFailure) bool { return f.Class == testFailure || len(f.Tests) > 0 }

// class is how package failure spells a class.
var class = regexp.MustCompile(`^[a-z_]{1,40}$`)

func (x *extractor) tags(pattern, technique string, failed sia.Attempt) []string {
	tags := []string{pattern, technique}
	for _, f := range failed.Failures {
		if class.MatchString(f.Class) && f.Class != "unknown" && !slices.Contains(tags, f.Class) {
			tags = append(tags, f.Class)
		}
	}
	if slices.ContainsFunc(failed.Failures, inTest) && !slices.Contains(tags, testFailure) {
		tags = append(tags, testFailure)
	}
	return slices.DeleteFunc(tags, func(t string) bool { return t == "" || t == string(sia.UnknownPattern) })
}

func (x *extractor) attempt(n int) sia.Attempt {
	i := slices.IndexFunc(x.Task.Attempts, func(a sia.Attempt) bool { return a.Number == n })
	if i < 0 {
		return sia.Attempt{}
	}
	return x.Task.Attempts[i]
}
