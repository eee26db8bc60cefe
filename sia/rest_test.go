package sia

import (
	"testing"
	"time"
)

// When nothing can be done any more, such as after the app was uninstalled,
// failures must not lead to ever more effects that fail.
func TestFailuresComeToRest(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, gone := range []bool{false, true} {
		r := Step(Task{}, Event{ID: "start", At: now, By: person, Fact: Start{Repo: Repo{ID: 9}, Issue: 3, Title: "Do it", DefaultBranch: "main"}})
		todo := r.Effects
		r = Step(r.Task, Event{ID: "stop", At: now, By: person, Fact: Stop{Reason: "said so", Gone: gone}})
		todo = append(todo, r.Effects...)
		for n := 0; len(todo) > 0; n++ {
			if n == 20 {
				t.Fatalf("gone %v: effects follow failed effects without end: %+v", gone, todo)
			}
			f := todo[0]
			r = Step(r.Task, Event{ID: f.Key, At: now, Effect: f.Key, Fact: EffectFailed{Effect: f.Kind, Reason: "it could not be reached"}})
			todo = append(todo[1:], r.Effects...)
		}
	}
}
