package app_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestToolLessons gives an attempt lessons about tools, some of which it calls: those count, by their arm, and lessons
// about the others do not.
func TestToolLessons(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	o := organisation{shop(t, "pass"), t}
	repo := o.id(apptest.Repo)
	words := map[string]string{"aaaaaaaaaaaa": "Read whole files.", "bbbbbbbbbbbb": "Believe what they say.",
		"cccccccccccc": "Write little at once.", "dddddddddddd": "Mind the last line.", "eeeeeeeeeeee": "Edit with care."}
	for id, tool := range map[lesson.ID]string{"aaaaaaaaaaaa": "read", "bbbbbbbbbbbb": "read", "cccccccccccc": "write",
		"dddddddddddd": "write", "eeeeeeeeeeee": "edit"} {
		o.must(o.App.Store.PutLessons(ctx, repo, lesson.Lesson{ID: id, Repo: repo, Kind: lesson.Tool, State: lesson.Active,
			Text: words[string(id)], Tools: []string{tool}, Good: 1, CountedAt: o.Clock.Now(), CreatedAt: o.Clock.Now(),
			LastSeen: o.Clock.Now(), From: lesson.Provenance{Source: lesson.FromOutcome, Task: "1-1"}}))
	}
	task := o.resolve(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.")
	a := task.Attempts[0]
	met := slices.Sorted(slices.Values(slices.Concat(a.LessonsShown, a.LessonsWithheld)))
	if d := cmp.Diff([]string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"}, met); d != "" ||
		a.Outcome != sia.AttemptPass || len(a.LessonsShown) == 0 {
		t.Fatalf("%s, told %v; met (-want +got):\n%s", a.Outcome, a.LessonsShown, d)
	}
	said := asked(t, o.Stage, 0, "Greet the customers")
	for id, text := range words {
		if strings.Contains(said, text) != slices.Contains(a.LessonsShown, id) {
			t.Errorf("lesson %s (%s) was told otherwise than the attempt says: %v", id, text, a.LessonsShown)
		}
		evidence, err := o.App.Store.LessonEvidence(ctx, repo, lesson.ID(id))
		o.must(err)
		var arms []lesson.Arm
		for _, e := range evidence {
			arms = append(arms, e.Arm)
		}
		var want []lesson.Arm
		switch {
		case slices.Contains(a.LessonsShown, id):
			want = []lesson.Arm{lesson.Told}
		case slices.Contains(a.LessonsWithheld, id):
			want = []lesson.Arm{lesson.Withheld}
		}
		if d := cmp.Diff(want, arms); d != "" {
			t.Errorf("evidence about lesson %s (-want +got):\n%s", id, d)
		}
	}
}
