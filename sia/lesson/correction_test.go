package lesson

import (
	"slices"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A user's correction becomes a lesson and counts against the lessons of the attempt, only once together with the same
// user's 👎 on the comment about that attempt.
func TestCorrection(t *testing.T) {
	ada := sia.Actor{Login: "ada", ID: 7}
	task := sia.Task{ID: "1005-3", Issue: 3, Repo: sia.Repo{ID: 1005}, Title: "Export invoices",
		Attempts: []sia.Attempt{
			{Number: 1, Outcome: sia.AttemptFail, LessonsShown: []string{"aaaaaaaaaaaa"}},
			{Number: 2, Outcome: sia.AttemptPass, LessonsShown: []string{"bbbbbbbbbbbb", "cccccccccccc"}},
			{Number: 3}, // under way
		},
		Interventions: []sia.Intervention{{Number: 1, After: 1}},
	}
	l, against, ok := NewCorrection(task, "comment/9", "The schema is generated.", ada, start)
	if !ok || l.Kind != Mistake || l.Text != "The schema is generated." || l.From.Attempt != 2 || l.From.By != ada ||
		l.From.Source != FromPerson || l.Good != PersonWeight {
		t.Errorf("learned %+v", l)
	}
	terms := l.Terms()
	if !slices.Contains(terms, Words("invoices", 1)[0]) || !slices.Contains(terms, Words("schema", 1)[0]) {
		t.Errorf("it is found by %v", l.Words)
	}
	counted := map[string]float64{}
	for range 2 {
		for _, e := range against {
			counted[e.Key] = e.Bad
		}
	}
	task.Ratings = []sia.Rating{{By: ada, Intervention: 1}}
	for _, e := range FeedbackEvidence(task, nil) {
		counted[e.Key] = e.Bad
	}
	sum := 0.0
	for _, bad := range counted {
		sum += bad
	}
	if len(counted) != 2 || sum != 2*PersonWeight {
		t.Errorf("words and the thumb together count %v", counted)
	}
	task.Attempts = task.Attempts[2:]
	if _, _, ok := NewCorrection(task, "comment/9", "No.", ada, start); ok {
		t.Error("an attempt that has not ended was wrong")
	}
}
