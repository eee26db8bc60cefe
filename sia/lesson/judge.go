package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// Judged is what a task's attempts say about lessons: those that were told or
// withheld, those that the task taught, and those about tools and models. The
// same task gives the same evidence, under the same keys.
//
// A lesson counts once in a task, by the first judged attempt that it was told
// to: a hard task of five attempts is not five words against it. Checkpoints,
// errors and cancelled attempts say nothing.
func Judged(m Material) []Evidence {
	t := m.Task
	var all []Evidence
	counted := map[ID]bool{}
	x := extractor{Material: m}
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
		if a.Agent != "" {
			all = append(all, Evidence{
				Key: fmt.Sprintf("model/%s/%d", t.ID, a.Number), Lesson: NewID(t.Repo.ID, modelSource(a.Agent, x.kindOf(a))),
				Good: good, Bad: 1 - good, At: a.EndedAt, Why: fmt.Sprintf("attempt %d of issue #%d %s", a.Number, t.Issue, why),
			})
		}
	}
	return slices.Concat(all, x.toolEvidence(), x.taughtEvidence())
}

// taughtEvidence counts the outcome that taught a lesson for it: what worked once,
// or failed once, has that much behind it before anybody was told. What a task
// taught twice counts once.
func (x extractor) taughtEvidence() []Evidence {
	x.extract()
	var all []Evidence
	var counted []Lesson
	for _, e := range x.all {
		if e.taught == (taught{}) || slices.ContainsFunc(counted, func(l Lesson) bool { return same(l, e.Lesson) }) {
			continue
		}
		counted = append(counted, e.Lesson)
		all = append(all, Evidence{
			Key: fmt.Sprintf("taught/%s/%d/%s", x.Task.ID, e.taught.attempt, e.ID), Lesson: e.ID, Good: 1, At: e.taught.at, Why: e.taught.why,
		})
	}
	return all
}

// toolEvidence counts, once the task has ended, for what is known of a tool when
// most of its calls failed, and against it when few did.
func (x extractor) toolEvidence() []Evidence {
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
			Key: fmt.Sprintf("tool/%s/%s", x.Task.ID, u.Tool), Lesson: NewID(x.Task.Repo.ID, toolSource(u.Tool)), At: x.Task.Since,
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
