package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// implicitWeight is what people do with a finished pull request weighs against an
// attempt's outcome: less, for it has many reasons besides the lesson.
const implicitWeight = 0.5

// Feedback is what people's 👍 and 👎 and what became of the pull request say
// about a task's lessons: those that its attempts were told, and of known, which
// are the repository's, those that were learned from it. It is a function of the
// task, so saying it twice counts once. Who changes their mind has said both.
func Feedback(t sia.Task, known []Lesson) []Evidence {
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
		add(behind(t, r.Intervention, known), fmt.Sprintf("rating-%d-%d", r.Intervention, r.By.ID), r.Good, PersonWeight,
			fmt.Sprintf("%s by @%s on issue #%d", thumb, r.By.Login, t.Issue))
	}
	switch t.Aftermath {
	case sia.MergedUnchanged:
		add(behind(t, 0, known), "merged", true, implicitWeight, fmt.Sprintf("#%d was merged as it was", t.Issue))
	case sia.Abandoned:
		add(behind(t, 0, known), "abandoned", false, implicitWeight, fmt.Sprintf("the pull request for #%d was closed without merging", t.Issue))
	}
	return all
}

// behind are the lessons behind an intervention: what the attempt that it led to
// was told, and what was learned from the attempt before. Intervention 0 is the
// task as a whole.
func behind(t sia.Task, intervention int, known []Lesson) []ID {
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
