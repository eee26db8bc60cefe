package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// OutcomeEvidence returns the evidence of a task's attempts about lessons that were given or withheld, lessons that the
// task taught, and lessons about tools. The same task yields the same evidence with the same keys.
//
// A lesson counts once per task, by the first judged attempt that got it, so that a hard task of five attempts does not
// count five times against it. Checkpoints, errors and canceled attempts do not count.
func OutcomeEvidence(m Material) []Evidence {
	t := m.Task
	var all []Evidence
	counted := map[ID]bool{}
	for _, a := range t.Attempts {
		good, why := 0.0, "failed"
		switch a.Outcome {
		case sia.AttemptPass:
			good, why = 1, "passed"
		case sia.AttemptFail:
		default:
			continue
		}
		count := func(arm Arm, how string, ids []string) {
			for _, id := range ids {
				if id := ID(id); id.Valid() && !counted[id] {
					counted[id] = true
					all = append(all, Evidence{
						Key: fmt.Sprintf("attempt/%s/%s", t.ID, id), Lesson: id, Good: good, Bad: 1 - good, At: a.EndedAt, Arm: arm,
						Why: fmt.Sprintf("attempt %d of issue #%d, %s it, %s", a.Number, t.Issue, how, why),
					})
				}
			}
		}
		count(Told, "told", a.LessonsShown)
		count(Withheld, "not told", a.LessonsWithheld)
	}
	x := lessonExtractor{Material: m}
	return slices.Concat(all, x.toolEvidence(), x.taughtEvidence())
}

// taughtEvidence returns the outcome that taught each lesson as evidence for it, so that a lesson has one outcome in
// its favour before any attempt gets it. A lesson that a task taught twice counts once.
func (x lessonExtractor) taughtEvidence() []Evidence {
	x.extract()
	var all []Evidence
	var counted []Lesson
	for _, e := range x.all {
		again := func(l Lesson) bool { return sameLesson(l, e.Lesson) }
		if e.taught == (teachingOutcome{}) || slices.ContainsFunc(counted, again) {
			continue
		}
		counted = append(counted, e.Lesson)
		all = append(all, Evidence{
			Key: fmt.Sprintf("taught/%s/%d/%s", x.Task.ID, e.taught.attempt, e.ID), Lesson: e.ID, Good: 1, At: e.taught.at,
			Why: e.taught.why,
		})
	}
	return all
}

// toolEvidence returns the evidence about the lessons that a tool often fails, once the task has ended: for the lesson
// when most of the tool's calls failed, against it when few did.
func (x lessonExtractor) toolEvidence() []Evidence {
	if !x.Task.State.Final() {
		return nil
	}
	var all []Evidence
	for _, u := range x.Tools {
		failed := float64(u.Failed) / float64(max(u.Calls, 1))
		if !toolName.MatchString(u.Tool) || u.Calls < minCalls || failed > goodShare && failed <= badShare {
			continue
		}
		e := Evidence{
			Key: fmt.Sprintf("tool/%s/%s", x.Task.ID, u.Tool), Lesson: NewID(x.Task.Repo.ID, toolSource(u.Tool)),
			At:  x.Task.Since,
			Why: fmt.Sprintf("%d of %d calls failed in issue #%d", u.Failed, u.Calls, x.Task.Issue),
		}
		if failed > badShare {
			e.Good = 1
		} else {
			e.Bad = 1
		}
		all = append(all, e)
	}
	return all
}
