package sia

import "slices"

// LessonRef is a lesson of an earlier task as an attempt is given it. Package
// sia/lesson has the full lesson.
type LessonRef struct {
	ID   string `json:"id" mask:"-"`
	Text string `json:"text"`           // at most a few sentences
	Test string `json:"test,omitempty"` // case that a test should cover, in a sentence; empty: no test showed the lesson
}

// ToolLesson is a lesson about one of the agent's tools. It is shown or withheld at the tool's first call; an
// attempt that never calls the tool is no evidence about it.
type ToolLesson struct {
	Tool     string `json:"tool"`
	ID       string `json:"id" mask:"-"`
	Text     string `json:"text,omitempty"`     // at most a few sentences; empty if withheld
	Withheld bool   `json:"withheld,omitempty"` // it is not shown, to measure its effect
}

// maxTestHints is the maximum number of test cases in a brief, low enough that
// the cases do not replace the task.
const maxTestHints = 3

// Teach is a person's request to learn or forget a lesson: /sia learn, /sia forget and
// /sia wrong. It changes the repository's lessons and no task. The zero Teach is no request.
type Teach struct {
	Learn  string // the lesson, in the person's words
	Forget string // a lesson's id, or similar words
	Wrong  string // what was wrong with the last attempt at the task, in the person's words
}

func lessonTexts(refs []LessonRef) []string {
	var texts []string
	for _, r := range refs {
		texts = append(texts, r.Text)
	}
	return texts
}

// testHints returns the distinct cases that tests should cover, from the lessons that
// match best.
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

// recordLessons records the lessons about tools that a run was shown or that were withheld from it, each once for all
// runs of the attempt.
func (a *Attempt) recordLessons(shown, withheld []string) {
	add := func(list *[]string, ids []string) {
		for _, id := range ids {
			if !slices.Contains(*list, id) {
				*list = append(slices.Clip(*list), id) // the previous version of the task shares the array
			}
		}
	}
	add(&a.LessonsShown, shown)
	add(&a.LessonsWithheld, withheld)
}
