package sia

import "slices"

// LessonRef is a lesson of an earlier task as an attempt gets it. What is
// known of the lesson beyond that is package sia/lesson's.
type LessonRef struct {
	ID   string `json:"id" mask:"-"`
	Text string `json:"text"`           // at most a few sentences
	Test string `json:"test,omitempty"` // which case a test should cover, in a sentence; empty for what no test showed
}

// ToolLesson is a lesson about one of the agent's tools. An attempt meets it with the tool's first call: it is
// given then, or it is withheld, and an attempt that never calls the tool says nothing about it.
type ToolLesson struct {
	Tool     string `json:"tool"`
	ID       string `json:"id" mask:"-"`
	Text     string `json:"text,omitempty"`     // at most a few sentences; empty of one that is withheld
	Withheld bool   `json:"withheld,omitempty"` // it is left out, to measure its effect
}

// maxTestHints bounds the cases that a brief names for tests: few enough that
// none of them is the task.
const maxTestHints = 3

// Teach is what a person tells SIA to remember or to forget: /sia learn, /sia forget and
// /sia wrong. It changes what the repository knows and no task. The zero Teach is nothing.
type Teach struct {
	Learn  string // the lesson, in the person's words
	Forget string // a lesson's id, or words like it
	Wrong  string // what was wrong with the last attempt at the task, in the person's words
}

func lessonTexts(refs []LessonRef) []string {
	var texts []string
	for _, r := range refs {
		texts = append(texts, r.Text)
	}
	return texts
}

// testHints are the cases that tests should cover, each once, those of the most
// fitting lessons.
func testHints(refs []LessonRef) []string {
	var hints []string
	for _, r := range refs {
		if r.Test != "" && len(hints) < maxTestHints && !slices.Contains(hints, r.Test) {
			hints = append(hints, r.Test)
		}
	}
	return hints
}

func lessonIDs(refs []LessonRef) []string {
	var ids []string
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return ids
}

// recordLessons notes the lessons that a run met with the tools that it called. Each stands once, however many runs of
// the attempt met it.
func (a *Attempt) recordLessons(shown, withheld []string) {
	add := func(list *[]string, ids []string) {
		for _, id := range ids {
			if !slices.Contains(*list, id) {
				*list = append(slices.Clip(*list), id) // the task before shares it
			}
		}
	}
	add(&a.LessonsShown, shown)
	add(&a.LessonsWithheld, withheld)
}
