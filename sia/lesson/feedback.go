package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// implicitWeight is the weight of what people do with a finished pull request. It is less than an
// attempt's outcome, which weighs 1, because people have many reasons besides the lesson.
const implicitWeight = 0.5

// FeedbackEvidence is the evidence of people's 👍 and 👎 and of what became of the pull request. It
// is about the lessons that the task's attempts were told, and about those of known, the
// repository's lessons, that were learned from the task. The same task gives the same evidence, so
// it counts once. A person's change of mind counts as both.
func FeedbackEvidence(t sia.Task, known []Lesson) []Evidence {
	var all []Evidence
	add := func(about []ID, key string, good bool, weight float64, why string) {
		for _, id := range about {
			e := Evidence{Key: fmt.Sprintf("%s/%s/%s/%v", t.ID, id, key, good), Lesson: id, At: t.Since, Why: why}
			if good {
				e.Good = weight
			} else {
				e.Bad = weight
			}
			all = append(all, e)
		}
	}
	for _, r := range t.Ratings {
		thumb := map[bool]string{true: "👍", false: "👎"}[r.Good]
		key := fmt.Sprintf("rating-%d-%d", r.Intervention, r.By.ID)
		add(lessonsBehind(t, r.Intervention, known), key, r.Good, PersonWeight,
			fmt.Sprintf("%s by @%s on issue #%d", thumb, r.By.Login, t.Issue))
	}
	switch t.Aftermath {
	case sia.MergedUnchanged:
		add(lessonsBehind(t, 0, known), "merged", true, implicitWeight, fmt.Sprintf("#%d was merged as it was", t.Issue))
	case sia.Abandoned:
		add(lessonsBehind(t, 0, known), "abandoned", false, implicitWeight,
			fmt.Sprintf("the pull request for #%d was closed without merging", t.Issue))
	}
	return all
}

// lessonsBehind are the lessons that an intervention stands for: those that the attempt after it
// was told, and those that were learned from the attempt before it. Intervention 0 is the whole
// task.
func lessonsBehind(t sia.Task, intervention int, known []Lesson) []ID {
	var ids []ID
	add := func(id ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	after := 0
	if intervention > 0 && intervention <= len(t.Interventions) {
		after = t.Interventions[intervention-1].After
	}
	for _, a := range t.Attempts {
		if after == 0 || a.Number == after+1 {
			for _, id := range a.LessonsShown {
				add(ID(id))
			}
		}
	}
	for _, l := range known {
		if l.From.Task == t.ID && (after == 0 || l.From.Attempt == after) && l.Live() {
			add(l.ID)
		}
	}
	return ids
}
