package lesson

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// A rating counts only for the lessons related to its comment; the end of the pull request counts for all lessons of
// the task.
func TestFeedback(t *testing.T) {
	task := sia.Task{
		ID: "9-1", Issue: 1,
		Attempts: []sia.Attempt{
			{Number: 1, LessonsShown: []string{"a"}},
			{Number: 2, Technique: sia.FreshStart, LessonsShown: []string{"b"}},
			{Number: 3, Technique: sia.ToolChange, LessonsShown: []string{"b", "c"}},
		},
		Interventions: []sia.Intervention{
			{Number: 1, After: 1, Diagnosis: sia.Diagnosis{Technique: sia.FreshStart}},
			{Number: 2, After: 2, Diagnosis: sia.Diagnosis{Technique: sia.ToolChange}},
		},
		Ratings: []sia.Rating{{By: sia.Actor{Login: "ada", ID: 7}, Intervention: 1},
			{By: sia.Actor{Login: "mia", ID: 8}, Intervention: 2, Good: true}},
	}
	known := []Lesson{
		{ID: "x", State: Active, From: Provenance{Task: "9-1", Attempt: 1}},
		{ID: "y", State: Active, From: Provenance{Task: "9-1", Attempt: 2}},
		{ID: "gone", State: Forgotten, From: Provenance{Task: "9-1", Attempt: 1}},
		{ID: "other", State: Active, From: Provenance{Task: "9-2", Attempt: 1}},
	}
	sum := func(es []Evidence) map[ID][2]float64 {
		keys, m := map[string]bool{}, map[ID][2]float64{}
		for _, e := range es {
			if keys[e.Key] {
				t.Errorf("%s is there twice", e.Key)
			}
			keys[e.Key] = true
			m[e.Lesson] = [2]float64{m[e.Lesson][0] + e.Good, m[e.Lesson][1] + e.Bad}
		}
		return m
	}
	want := map[ID][2]float64{"b": {2, 2}, "c": {2, 0}, "x": {0, 2}, "y": {2, 0}}
	if d := cmp.Diff(want, sum(FeedbackEvidence(task, known))); d != "" {
		t.Errorf("thumbs: -want +got\n%s", d)
	}
	for _, tt := range []struct {
		after sia.Aftermath
		want  map[ID][2]float64
	}{
		{sia.MergedUnchanged, map[ID][2]float64{"a": {.5, 0}, "b": {.5, 0}, "c": {.5, 0}, "x": {.5, 0}, "y": {.5, 0}}},
		{sia.MergedEdited,
			map[ID][2]float64{"a": {0, .25}, "b": {0, .25}, "c": {0, .25}, "x": {0, .25}, "y": {0, .25}}},
		{sia.Abandoned, map[ID][2]float64{"a": {0, .5}, "b": {0, .5}, "c": {0, .5}, "x": {0, .5}, "y": {0, .5}}},
	} {
		task.Ratings, task.Aftermath = nil, tt.after
		if d := cmp.Diff(tt.want, sum(FeedbackEvidence(task, known))); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.after, d)
		}
	}
}
