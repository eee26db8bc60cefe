package lesson

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
)

// The weights of users' actions on a finished pull request. They are lower than that of an attempt's outcome, which is
// 1, because users may have reasons unrelated to the lesson. A change before merging weighs half as much as abandoning
// the pull request: its checks were green and it was good enough to continue with, and most such changes are a matter
// of taste or of new requirements.
const (
	implicitWeight = 0.5
	editedWeight   = 0.25
)

// FeedbackEvidence returns the evidence of users' 👍 and 👎 and of the pull request's end. It is about the lessons that
// the task's attempts got, and about those of known, the repository's lessons, that were learned from the task. The
// same task yields the same evidence, so it counts once. If a user changes a rating, both ratings count.
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
		add(relatedLessons(t, r.Intervention, known), key, r.Good, PersonWeight,
			fmt.Sprintf("%s by @%s on issue #%d", thumb, r.By.Login, t.Issue))
	}
	switch t.Aftermath {
	case sia.MergedUnchanged:
		add(relatedLessons(t, 0, known), "merged", true, implicitWeight, fmt.Sprintf("#%d was merged as it was", t.Issue))
	case sia.MergedEdited:
		add(relatedLessons(t, 0, known), "edited", false, editedWeight,
			fmt.Sprintf("a person changed the pull request for #%d before it was merged", t.Issue))
	case sia.Abandoned:
		add(relatedLessons(t, 0, known), "abandoned", false, implicitWeight,
			fmt.Sprintf("the pull request for #%d was closed without merging", t.Issue))
	}
	return all
}

// relatedLessons returns the lessons related to an intervention: those that the attempt after it got, and those learned
// from the attempt before it. Intervention 0 is the whole task.
func relatedLessons(t sia.Task, intervention int, known []Lesson) []ID {
	var ids []ID
	add := func(id ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	after := 0
	var rated *sia.Intervention
	if intervention > 0 && intervention <= len(t.Interventions) {
		rated = &t.Interventions[intervention-1]
		after = rated.After
	}
	for _, a := range t.Attempts {
		if rated == nil || t.InterventionOf(a) == rated {
			for _, id := range a.LessonsShown {
				add(ID(id))
			}
		}
	}
	for _, l := range known {
		if l.From.Task == t.ID && (rated == nil || l.From.Attempt == after) && l.Live() {
			add(l.ID)
		}
	}
	return ids
}
