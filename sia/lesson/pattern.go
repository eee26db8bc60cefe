package lesson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

const (
	patternTasks  = 3              // number of tasks that make a pattern
	patternWindow = 24 * time.Hour // failures within this time are related
)

// taskOutcome is one failed attempt that SIA diagnosed, and its outcome.
type taskOutcome struct {
	task      sia.TaskID
	issue     int
	at        time.Time
	pattern   sia.Pattern
	technique sia.TechniqueID
	resolved  bool
	signature string // signature of the first failure
	check     string
	words     []string
	after     sia.TechniqueID // technique that had failed before in the task; "" for the first
}

// Patterns finds recurring outcomes in a repository's tasks and proposes a lesson for each: a failure of one pattern in
// three tasks; a technique that resolved a pattern in three tasks; a technique that resolved it in three tasks after
// the same other technique had failed; and the same failure in three tasks within a day, which no attempt caused. The
// same pattern yields the same lesson with the same id, and one piece of evidence for it that counts once.
func Patterns(tasks []sia.Task, now time.Time) (lessons []Lesson, evidence []Evidence) {
	groups := map[string][]taskOutcome{}
	put := func(o taskOutcome, kind string, parts ...any) {
		key := kind + "/" + fmt.Sprint(parts...)
		if !slices.ContainsFunc(groups[key], func(p taskOutcome) bool { return p.task == o.task }) {
			groups[key] = append(groups[key], o)
		}
	}
	repo := int64(0)
	for _, t := range tasks {
		repo = t.Repo.ID
		for _, o := range taskOutcomes(t) {
			if _, known := patternVocabulary[o.pattern]; known {
				put(o, "failure", o.pattern)
				if o.resolved && techniqueAdvice(o.technique, o.pattern) != "" {
					put(o, "success", o.pattern, "/", o.technique)
					if o.after != "" {
						put(o, "sequence", o.pattern, "/", o.after, "/", o.technique)
					}
				}
			}
			if o.signature != "" {
				put(o, "time", o.signature)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		kind, _, _ := strings.Cut(key, "/")
		if kind == "time" {
			g = longestRun(g, patternWindow)
		}
		if len(g) >= patternTasks {
			l := proposeLesson(repo, key, kind, g, now)
			lessons = append(lessons, l)
			evidence = append(evidence, Evidence{Key: "pattern/" + string(l.ID), Lesson: l.ID, Good: 1, At: l.LastSeen,
				Why: fmt.Sprintf("the same in %d issues or more, issue #%d among them", patternTasks, g[0].issue)})
		}
	}
	return lessons, evidence
}

// taskOutcomes returns the diagnosed failures of a task.
func taskOutcomes(t sia.Task) []taskOutcome {
	var all []taskOutcome
	var failed sia.TechniqueID
	said := newStrangerWords(t.Title, t.Body)
	for _, iv := range t.Interventions {
		o := taskOutcome{
			task: t.ID, issue: t.Issue, pattern: iv.Diagnosis.Pattern, technique: iv.Diagnosis.Technique,
			resolved: iv.Resolved != nil && *iv.Resolved, words: Words(t.Title+"\n"+t.Body, maxWords), after: failed,
		}
		for _, a := range t.Attempts {
			if a.Number == iv.After {
				o.at = a.EndedAt
				if len(a.Failures) > 0 {
					o.signature, o.check = a.Failures[0].Signature, said.checkName(a.Failures[0].Check)
				}
			}
		}
		if iv.Resolved != nil && !*iv.Resolved {
			failed = o.technique
		}
		all = append(all, o)
	}
	return all
}

// longestRun returns the longest run of outcomes within a time span of d.
func longestRun(g []taskOutcome, d time.Duration) []taskOutcome {
	g = slices.SortedFunc(slices.Values(g), func(a, b taskOutcome) int { return a.at.Compare(b.at) })
	var best []taskOutcome
	for i := range g {
		j := i
		for j < len(g) && g[j].at.Sub(g[i].at) <= d {
			j++
		}
		if j-i > len(best) {
			best = g[i:j]
		}
	}
	return best
}

// proposeLesson returns the lesson of a pattern.
func proposeLesson(repo int64, key, kind string, g []taskOutcome, now time.Time) Lesson {
	first := g[0]
	words := patternVocabulary[first.pattern]
	l := Lesson{
		ID: NewID(repo, "pattern/"+key), Repo: repo, State: Active, Context: words.when, Occurrences: len(g),
		CountedAt: now, CreatedAt: now, LastSeen: now, Tags: []string{"pattern", kind, string(first.pattern)},
		From: Provenance{Source: FromPattern, Task: first.task},
	}
	if last := slices.MaxFunc(g, func(a, b taskOutcome) int { return a.at.Compare(b.at) }); !last.at.IsZero() {
		l.LastSeen = last.at
	}
	switch kind {
	case "failure":
		l.Kind, l.Text = Mistake, "It happens again and again here. "+words.avoid
		l.Outcome = fmt.Sprintf("attempts at %d or more issues failed so", patternTasks)
	case "success":
		l.Kind, l.Correction = Success, words.before
		l.Text = "What has helped here before: " + techniqueAdvice(first.technique, first.pattern)
		l.Outcome = fmt.Sprintf("it resolved %d or more issues", patternTasks)
	case "sequence":
		l.Kind = Success
		l.Text = fmt.Sprintf("Go straight to this: %s The technique %s came first here and did not resolve it.",
			techniqueAdvice(first.technique, first.pattern), first.after)
		l.Outcome = fmt.Sprintf("so it went in %d or more issues", patternTasks)
	case "time":
		l.Kind, l.Context = Discovery, "check "+cmp.Or(first.check, "of this repository")+" fails"
		l.Text = "It failed in the same way at several issues within a day: look at the check and its environment before " +
			"you doubt the change."
		l.Outcome = fmt.Sprintf("%d or more issues within %s", patternTasks, patternWindow)
	}
	if kind == "success" || kind == "sequence" {
		l.Tags = append(l.Tags, string(first.technique))
	}
	for _, o := range g {
		l.absorb(Lesson{Words: o.words})
	}
	return l.Clean(func(s string) string { return s })
}
