package learn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Of two concurrent edits the second gets an error, and neither text is lost; saved text contains no secrets.
func TestEditingALesson(t *testing.T) {
	w := newTeacher(t)
	ctx := t.Context()
	l := lesson.NewTaught(repo, "one", "run make generate after a change of the schema", sia.Actor{Login: "ada"},
		sia.Task{}, w.now)
	w.must(w.store.PutLessons(ctx, repo, l))
	seen := lesson.DraftOf(l)

	first := seen
	first.Text, first.Context = "run make gen with the token ghp_"+strings.Repeat("a1B2", 9), "the schema changes"
	kept, err := w.Edit(ctx, repo, l.ID, first, sia.Actor{Login: "ben"})
	w.must(err)
	if strings.Contains(kept.Text, "ghp_") || !strings.Contains(kept.Text, "run make gen with") ||
		kept.From.By.Login != "ben" || kept.Good != lesson.PersonWeight {
		t.Errorf("kept: %+v", kept)
	}
	second := seen
	second.Text = "run make all"
	var stale *lesson.StaleError
	if _, err := w.Edit(ctx, repo, l.ID, second, sia.Actor{Login: "cem"}); !errors.As(err, &stale) ||
		stale.Now.ID != kept.ID {
		t.Fatalf("the second: %v", err)
	}
	if states := w.states(); states[l.Text] != lesson.Merged || states[kept.Text] != lesson.Active || len(states) != 2 {
		t.Errorf("%v", states)
	}
	second.Seen = stale.Now.Version()
	again, err := w.Edit(ctx, repo, kept.ID, second, sia.Actor{Operator: true})
	w.must(err)
	if again.Text != "run make all" || (again.From.By != sia.Actor{}) {
		t.Errorf("sent again, it is %+v", again)
	}
	// A text that another lesson has is rejected, and a forgotten lesson is not restored.
	other := lesson.NewTaught(repo, "two", "something else", sia.Actor{Login: "ada"}, sia.Task{}, w.now)
	w.must(w.store.PutLessons(ctx, repo, other))
	same := lesson.DraftOf(other)
	same.Text = "run make all"
	var refused lesson.Refused
	if _, err := w.Edit(ctx, repo, other.ID, same, sia.Actor{Login: "ben"}); !errors.As(err, &refused) {
		t.Errorf("the same words twice: %v", err)
	}
	w.teach(1, sia.Teach{Forget: string(other.ID)})
	if _, err := w.Edit(ctx, repo, other.ID, same, sia.Actor{Login: "ben"}); !errors.As(err, &stale) ||
		stale.Now.State != lesson.Forgotten {
		t.Errorf("a forgotten one: %v", err)
	}
}

// Evidence for and against an old text does not count for a user's new one, nor for the same text that the user teaches
// again after it was archived.
func TestEditBeginsAnew(t *testing.T) {
	const words = "Run make generate after a change of the schema."
	for name, anew := range map[string]func(w *teacher, old lesson.Lesson){
		"edited": func(w *teacher, old lesson.Lesson) {
			d := lesson.DraftOf(old)
			d.Text = "Run make gen after a change of the schema."
			_, err := w.Edit(t.Context(), repo, old.ID, d, sia.Actor{Login: "ben"})
			w.must(err)
		},
		"taught again": func(w *teacher, _ lesson.Lesson) { w.teach(1, sia.Teach{Learn: words}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeacher(t)
			old := lesson.NewTaught(repo, "old", words, sia.Actor{Login: "ada"}, sia.Task{}, w.now)
			old.State, old.Bad = lesson.Archived, 6
			w.must(w.store.PutLessons(t.Context(), repo, old))
			anew(w, old)
			w.tidy()
			all, err := w.store.Lessons(t.Context(), repo)
			w.must(err)
			if len(all) != 2 || all[0].State != lesson.Merged || all[1].State != lesson.Active ||
				all[1].Good != lesson.PersonWeight || all[1].Bad != 0 {
				t.Errorf("after a heartbeat: %+v", all)
			}
		})
	}
}
