package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// The weights of what people do with a finished pull request. They are less than an attempt's outcome,
// which weighs 1, because people have many reasons besides the lesson. That somebody changed the pull
// request before it was merged says half of what abandoning it does: its checks were green and it was
// good enough to go on with, and most such changes are a matter of taste or of something new.
const (
	implicitWeight = 0.5
	editedWeight   = 0.25
)

// FeedbackEvidence is the evidence of people's 👍 and 👎 and of how the pull request ended. It
// is about the lessons that the task's attempts got, and about those of known, the
// repository's lessons, that were learned from the task. The same task gives the same evidence, so
// it counts once. A person's change of mind counts as both.
func FeedbackEvidence(t sia.Task, known []Lesson) []Evidence {
	var all []Evidence
	add := func(about []ID, key string, good bool, weight float64, why string) {
		for _, id := range about {
			e := Evidence{Key: feedbackKey(t.ID, id, key, good), Lesson: id, At: t.Since, Why: why}
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
		key := ratingName(r.Intervention, r.By)
		add(lessonsBehind(t, r.Intervention, known), key, r.Good, PersonWeight,
			fmt.Sprintf("%s by @%s on issue #%d", thumb, r.By.Login, t.Issue))
	}
	switch t.Aftermath {
	case sia.MergedUnchanged:
		add(lessonsBehind(t, 0, known), "merged", true, implicitWeight, fmt.Sprintf("#%d was merged as it was", t.Issue))
	case sia.MergedEdited:
		add(lessonsBehind(t, 0, known), "edited", false, editedWeight,
			fmt.Sprintf("a person changed the pull request for #%d before it was merged", t.Issue))
	case sia.Abandoned:
		add(lessonsBehind(t, 0, known), "abandoned", false, implicitWeight,
			fmt.Sprintf("the pull request for #%d was closed without merging", t.Issue))
	}
	return all
}

// lessonsBehind are the lessons that an intervention stands for: those that the attempt after it
// got, and those that were learned from the attempt before it. Intervention 0 is the whole
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
