package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// owners installs the app for two owners: the first has the repositories 7 (demo),
// 8 and 9, the second 20.
func owners(t *testing.T, s *fixture) {
	t.Helper()
	ctx := patient(t)
	for installation, repos := range map[int64][]int64{3: {demo.ID, 8, 9}, 4: {20}} {
		must(t, s.UpsertInstallation(ctx, store.Installation{ID: installation, Account: fmt.Sprint("owner", installation)}))
		for _, r := range repos {
			must(t, s.UpsertRepository(ctx,
				store.Repository{Repo: sia.Repo{ID: r, Owner: fmt.Sprint("owner", installation), Name: fmt.Sprint("r", r)},
					Installation: installation}))
		}
	}
}

// approved returns a lesson of demo that a user approved.
func approved(source, text string) lesson.Lesson {
	l := taught(source, text)
	return lesson.Agreement{}.Shared(l)
}

// take copies the shared lessons into a repository.
func take(t *testing.T, s *fixture, repo int64) []lesson.Lesson {
	t.Helper()
	got, err := s.TakeSharedLessons(patient(t), repo, at(10))
	must(t, err)
	return got
}

func testLessonsShared(t *testing.T, s *fixture) {
	ctx := patient(t)
	owners(t, s)
	clock, mail := approved("a", "Use the fake clock."), approved("b", "Send mail through the Mailer.")
	must(t, s.PutLessons(ctx, demo.ID, taught("a", "Use the fake clock.")))
	first := store.SharedLesson{Installation: 3, Lesson: clock, By: "ada", At: at(1).Truncate(time.Microsecond)}
	second := store.SharedLesson{Installation: 3, Lesson: mail, By: "bea", At: at(2).Truncate(time.Microsecond)}
	if got := take(t, s, 8); got != nil {
		t.Errorf("nothing is shared, and repository 8 takes %+v", got)
	}
	must(t, s.ShareLesson(ctx, first))
	must(t, s.ShareLesson(ctx, second))
	again := first
	again.Lesson.Text, again.By = "Use no clock.", "mallory"
	must(t, s.ShareLesson(ctx, again))
	all, err := s.SharedLessons(ctx)
	must(t, err)
	if diff := cmp.Diff([]store.SharedLesson{first, second}, all); diff != "" {
		t.Error(diff)
	}
	// Each repository gets each lesson once, unless it has the original.
	var want []lesson.Lesson
	for _, l := range []lesson.Lesson{clock, mail} {
		c := l.CopyTo(8, at(10))
		want = append(want, c.InitialEvidence().Count(c))
	}
	if diff := cmp.Diff(want, take(t, s, 8)); diff != "" {
		t.Error(diff)
	}
	if got := take(t, s, 8); got != nil {
		t.Errorf("it takes %+v again", got)
	}
	if got := take(t, s, demo.ID); len(got) != 1 || got[0].ID != mail.ID {
		t.Errorf("where it was learned it is taken: %+v", got)
	}
	kept, err := s.Lessons(ctx, 8)
	must(t, err)
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]lesson.ID{clock.ID}, search(t, s, 8, "clock")); diff != "" {
		t.Error(diff)
	}
	// A forgotten copy remains forgotten, and copies don't count as learned that day.
	forgotten := want[0]
	forgotten.State = lesson.Forgotten
	must(t, s.PutLessons(ctx, 8, forgotten))
	if got := take(t, s, 8); got != nil {
		t.Errorf("what was forgotten comes back: %+v", got)
	}
	if n, err := s.LearnedSince(ctx, 8, at(0)); err != nil || n != 0 {
		t.Errorf("%d count as learned, %v", n, err)
	}
	if err := s.ShareLesson(ctx, store.SharedLesson{Installation: 5, Lesson: clock}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an installation that there is not gives %v", err)
	}
	if err := s.ShareLesson(ctx, store.SharedLesson{Installation: 3}); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a lesson that says nothing gives %v", err)
	}
}

func testSharingTakenBack(t *testing.T, s *fixture) {
	ctx := patient(t)
	owners(t, s)
	must(t, s.UpsertRepository(ctx,
		store.Repository{Repo: sia.Repo{ID: 10, Owner: "owner3", Name: "r10"}, Installation: 3}))
	l := approved("a", "Use the fake clock.")
	shared := store.SharedLesson{Installation: 3, Lesson: l, By: "ada", At: at(1)}
	own := taught("a", "Use the fake clock.")
	must(t, s.PutLessons(ctx, demo.ID, own))
	must(t, s.ShareLesson(ctx, shared))
	for _, repo := range []int64{8, 9, 10} {
		take(t, s, repo)
	}
	// It helped in repository 9, failed in 10, and was withheld in 8.
	count := func(repo int64, e lesson.Evidence) {
		t.Helper()
		e.Key, e.Lesson, e.At, e.Why = fmt.Sprint("attempt/", repo), l.ID, at(11), "an attempt"
		must(t, s.CountLessons(ctx, repo, e))
	}
	count(8, lesson.Evidence{Good: 1, Arm: lesson.Withheld})
	count(9, lesson.Evidence{Good: 1, Arm: lesson.Told})
	count(10, lesson.Evidence{Bad: 1, Arm: lesson.Told})
	got, err := s.UnshareLesson(ctx, 3, l.ID, "anna")
	must(t, err)
	if diff := cmp.Diff(store.Unshared{Removed: 1, Archived: 1, Kept: 1}, got); diff != "" {
		t.Error(diff)
	}
	state := func(repo int64) lesson.State {
		t.Helper()
		got, err := s.Lesson(ctx, repo, l.ID)
		if errors.Is(err, store.ErrNotFound) {
			return ""
		}
		must(t, err)
		return got.State
	}
	check := func(want map[int64]lesson.State) {
		t.Helper()
		for repo, w := range want {
			if got := state(repo); got != w {
				t.Errorf("in repository %d it is %q, want %q", repo, got, w)
			}
			if found := search(t, s, repo, "clock"); (len(found) > 0) != (w == lesson.Active) {
				t.Errorf("in repository %d, where it is %q, a search finds %v", repo, w, found)
			}
		}
	}
	check(map[int64]lesson.State{demo.ID: lesson.Active, 8: "", 9: lesson.Active, 10: lesson.Archived})
	if e, err := s.LessonEvidence(ctx, 8, ""); err != nil || len(e) != 0 {
		t.Errorf("of what is gone there is left %+v, %v", e, err)
	}
	if got := take(t, s, 8); got != nil {
		t.Errorf("it is taken after it was taken back: %+v", got)
	}
	if _, err := s.UnshareLesson(ctx, 3, l.ID, "anna"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("taking it back twice gives %v", err)
	}
	// Shared again, it is copied to repositories where it was never tried.
	must(t, s.ShareLesson(ctx, shared))
	for _, repo := range []int64{8, 9, 10} {
		take(t, s, repo)
	}
	check(map[int64]lesson.State{demo.ID: lesson.Active, 8: lesson.Active, 9: lesson.Active, 10: lesson.Archived})
	must(t, s.PutLessons(ctx, 8, taughtIn(8, "Round tax half to even.")))
	if diff := cmp.Diff([]lesson.ID{l.ID}, search(t, s, 8, "clock")); diff != "" {
		t.Error(diff)
	}
}

// taughtIn returns a lesson of another repository that a user taught.
func taughtIn(repo int64, text string) lesson.Lesson {
	return lesson.NewTaught(repo, text, text, anna, sia.Task{}, at(3))
}

// testSharingApart: nothing is shared with another owner, and nothing remains after the installation that it was
// approved for.
func testSharingApart(t *testing.T, s *fixture) {
	ctx := patient(t)
	owners(t, s)
	l := approved("a", "Use the fake clock.")
	must(t, s.ShareLesson(ctx, store.SharedLesson{Installation: 3, Lesson: l, By: "ada", At: at(1)}))
	for _, repo := range []int64{20, 99} {
		if got := take(t, s, repo); got != nil {
			t.Errorf("repository %d takes %+v", repo, got)
		}
	}
	must(t, s.PutLessons(ctx, 20, l.CopyTo(20, at(1))))
	if got, err := s.UnshareLesson(ctx, 4, l.ID, "anna"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another owner takes it back: %+v, %v", got, err)
	}
	take(t, s, 8)
	if got, err := s.UnshareLesson(ctx, 3, l.ID, "anna"); err != nil || got.Removed != 1 {
		t.Errorf("taking it back: %+v, %v", got, err)
	}
	if _, err := s.Lesson(ctx, 20, l.ID); err != nil {
		t.Errorf("another owner's lesson is gone: %v", err)
	}
	must(t, s.ShareLesson(ctx, store.SharedLesson{Installation: 3, Lesson: l, By: "ada", At: at(1)}))
	must(t, s.RemoveInstallation(ctx, 3))
	if all, err := s.SharedLessons(ctx); err != nil || len(all) != 0 {
		t.Errorf("approvals outlive the installation: %+v, %v", all, err)
	}
}
