package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// taught returns a lesson of demo that a user taught.
func taught(source, text string) lesson.Lesson {
	now := at(0).Truncate(time.Microsecond)
	return lesson.NewTaught(demo.ID, source, text, anna, sia.Task{ID: "7-1", Issue: 1}, now)
}

func ids(found []lesson.SearchHit) []lesson.ID {
	var all []lesson.ID
	for _, f := range found {
		all = append(all, f.ID)
	}
	return all
}

// anyHit is the search option that every lesson is usable.
func anyHit(lesson.SearchHit) bool { return true }

func search(t *testing.T, s *fixture, repo int64, text string) []lesson.ID {
	t.Helper()
	found, err := s.SearchLessons(patient(t), repo, lesson.Words(text, 80), 10, anyHit)
	must(t, err)
	return ids(found)
}

func testLessonsKept(t *testing.T, s *fixture) {
	ctx := patient(t)
	a, b := taught("a", "Run make generate after a change of the schema."),
		taught("b", "The mail key is only set in production.")
	a.Conflicts, a.Tags, a.Tools = []lesson.ID{b.ID}, []string{"environment"}, []string{"run"}
	must(t, s.PutLessons(ctx, demo.ID, a, b))
	got, err := s.Lessons(ctx, demo.ID)
	must(t, err)
	if diff := cmp.Diff([]lesson.Lesson{a, b}, got); diff != "" {
		t.Error(diff)
	}
	// Replaced: all but counts and creation.
	changed := a
	changed.Text, changed.State, changed.Occurrences = "Run make all.", lesson.Promoted, 3
	changed.Good, changed.Bad, changed.CreatedAt, changed.CountedAt = 90, 80, at(50), at(50)
	must(t, s.PutLessons(ctx, demo.ID, changed))
	changed.Good, changed.Bad, changed.CreatedAt, changed.CountedAt = a.Good, a.Bad, a.CreatedAt, a.CountedAt
	one, err := s.Lesson(ctx, demo.ID, a.ID)
	must(t, err)
	if diff := cmp.Diff(changed, one); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Lesson(ctx, demo.ID, lesson.NewID(1, "none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a lesson that there is not gives %v", err)
	}
	// All or none.
	foreign := taught("c", "Elsewhere.")
	foreign.Repo = 8
	if err := s.PutLessons(ctx, demo.ID, taught("d", "New."), foreign); err == nil {
		t.Error("a lesson of another repository was saved")
	}
	if err := s.PutLessons(ctx, demo.ID, lesson.Lesson{ID: "x y", Repo: demo.ID}); err == nil {
		t.Error("a lesson without a proper id was saved")
	}
	if got, err := s.Lessons(ctx, demo.ID); err != nil || len(got) != 2 {
		t.Errorf("there are %d lessons, %v", len(got), err)
	}
}

// Lessons about models, which earlier versions stored, are left out. What a user said about one is kept, and found once
// it is stored as another kind.
func testLessonsAboutModels(t *testing.T, s *fixture) {
	ctx := patient(t)
	count, said := taught("a", "How `builtin/x` does at first attempts."), taught("b", "The model forgets the changelog.")
	count.Kind, said.Kind, count.From.Source = lesson.Model, lesson.Model, lesson.FromOutcome
	must(t, s.PutLessons(ctx, demo.ID, count, said))
	look := func(want lesson.Lesson, found ...lesson.ID) {
		t.Helper()
		got, err := s.Lessons(ctx, demo.ID)
		must(t, err)
		if diff := cmp.Diff([]lesson.Lesson{want}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(found, search(t, s, demo.ID, "changelog")); diff != "" {
			t.Error(diff)
		}
	}
	look(said)
	if _, err := s.Lesson(ctx, demo.ID, count.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the count gives %v", err)
	}
	said, _ = said.Upgrade()
	must(t, s.PutLessons(ctx, demo.ID, said))
	look(said, said.ID)
}

func testLessonsFound(t *testing.T, s *fixture) {
	ctx := patient(t)
	mail := taught("mail", "Send mail through the Mailer interface; the key is not set in tests.")
	sms := taught("sms", "Send text messages through the Texter interface.")
	tax := taught("tax", "Round tax half to even.")
	must(t, s.PutLessons(ctx, demo.ID, mail, sms, tax))
	if diff := cmp.Diff([]lesson.ID{mail.ID, sms.ID},
		search(t, s, demo.ID, "Send a confirmation mail to guests")); diff != "" {
		t.Error(diff)
	}
	if got := search(t, s, demo.ID, `" OR NOT ( * "unknown" NEAR zebra`); got != nil {
		t.Errorf("words that no lesson has find %v", got)
	}
	if got := search(t, s, demo.ID, ""); got != nil {
		t.Errorf("no words find %v", got)
	}
	// A retired lesson is found only by searches that include retired ones.
	sms.State = lesson.Archived
	mail.State, mail.Into = lesson.Merged, tax.ID
	must(t, s.PutLessons(ctx, demo.ID, sms, mail))
	if got := search(t, s, demo.ID, "send mail"); got != nil {
		t.Errorf("archived and merged lessons are found: %v", got)
	}
	like, err := s.SearchAllLessons(ctx, demo.ID, lesson.Words("send mail", 80), 10)
	must(t, err)
	if diff := cmp.Diff([]lesson.ID{sms.ID}, ids(like)); diff != "" {
		t.Error(diff)
	}
	// A lesson is found by its current text.
	tax.Text = "Send invoices on Mondays."
	tax.Words = nil
	must(t, s.PutLessons(ctx, demo.ID, tax))
	if got := search(t, s, demo.ID, "round half even"); got != nil {
		t.Errorf("the old words find %v", got)
	}
	if diff := cmp.Diff([]lesson.ID{tax.ID}, search(t, s, demo.ID, "invoices")); diff != "" {
		t.Error(diff)
	}
}

func testLessonsApart(t *testing.T, s *fixture) {
	ctx := patient(t)
	a := taught("a", "Use the fake clock.")
	other := lesson.NewTaught(71, "a", "Use the fake clock.", anna, sia.Task{}, at(0))
	must(t, s.PutLessons(ctx, demo.ID, a))
	must(t, s.PutLessons(ctx, 71, other))
	if diff := cmp.Diff([]lesson.ID{a.ID}, search(t, s, demo.ID, "clock")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]lesson.ID{other.ID}, search(t, s, 71, "clock")); diff != "" {
		t.Error(diff)
	}
	if got := search(t, s, 72, "clock"); got != nil {
		t.Errorf("a repository without lessons has %v", got)
	}
	if _, err := s.Lesson(ctx, 71, a.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a lesson of another repository gives %v", err)
	}
	repos, err := s.LessonRepositories(ctx)
	must(t, err)
	if diff := cmp.Diff([]int64{demo.ID, 71}, repos); diff != "" {
		t.Error(diff)
	}
}

func testEvidenceOnce(t *testing.T, s *fixture) {
	ctx := patient(t)
	l := taught("a", "Use the fake clock.")
	must(t, s.PutLessons(ctx, demo.ID, l))
	good := lesson.Evidence{Key: "7-2/" + string(l.ID), Lesson: l.ID, Good: 1, At: l.CountedAt, Why: "it passed",
		Arm: lesson.Told}
	held := lesson.Evidence{Key: "7-3/" + string(l.ID), Lesson: l.ID, Bad: 1, At: l.CountedAt.Add(time.Minute),
		Why: "it failed", Arm: lesson.Withheld}
	for range 3 {
		must(t, s.CountLessons(ctx, demo.ID, good, held,
			lesson.Evidence{Key: "nobody", Lesson: lesson.NewID(1, "none"), Good: 1}))
	}
	got, err := s.Lesson(ctx, demo.ID, l.ID)
	must(t, err)
	if got.Good != lesson.PersonWeight+1 || got.Bad != 0 {
		t.Errorf("it counts %v for and %v against", got.Good, got.Bad)
	}
	all, err := s.LessonEvidence(ctx, demo.ID, "")
	must(t, err)
	if diff := cmp.Diff([]lesson.Evidence{good, held}, all); diff != "" {
		t.Error(diff)
	}
	// Enough evidence against it archives it immediately.
	for i := range 6 {
		must(t, s.CountLessons(ctx, demo.ID,
			lesson.Evidence{Key: fmt.Sprint("against/", i), Lesson: l.ID, Bad: 2, At: l.CountedAt}))
	}
	if got, err := s.Lesson(ctx, demo.ID, l.ID); err != nil || got.State != lesson.Archived {
		t.Errorf("it is %s, %v", got.State, err)
	}
	if got := search(t, s, demo.ID, "clock"); got != nil {
		t.Errorf("an archived lesson is found: %v", got)
	}
}

// Evidence replaces earlier evidence with the same key, and its counts.
func testEvidenceReplaced(t *testing.T, s *fixture) {
	ctx := patient(t)
	l := taught("a", "Use the fake clock.")
	must(t, s.PutLessons(ctx, demo.ID, l))
	first := lesson.Evidence{Key: "proof", Lesson: l.ID, Good: 2, At: l.CountedAt.Add(time.Minute), Arm: lesson.Replayed}
	other := lesson.Evidence{Key: "7-2", Lesson: l.ID, Good: 1, At: l.CountedAt.Add(2 * time.Minute), Arm: lesson.Told}
	second := lesson.Evidence{Key: "proof", Lesson: l.ID, Bad: 2, At: l.CountedAt.Add(3 * time.Minute),
		Arm: lesson.Replayed}
	must(t, s.ReplaceEvidence(ctx, demo.ID, first))
	must(t, s.CountLessons(ctx, demo.ID, other))
	for range 2 {
		must(t, s.ReplaceEvidence(ctx, demo.ID, second))
	}
	got, err := s.Lesson(ctx, demo.ID, l.ID)
	must(t, err)
	if got.Good != l.Good+1 || got.Bad != l.Bad+2 {
		t.Errorf("it counts %v for and %v against, want %v and %v", got.Good, got.Bad, l.Good+1, l.Bad+2)
	}
	all, err := s.LessonEvidence(ctx, demo.ID, l.ID)
	must(t, err)
	if diff := cmp.Diff([]lesson.Evidence{other, second}, all); diff != "" {
		t.Error(diff)
	}

	// Evidence about a forgotten lesson is ignored, and evidence about a merged one counts for the lesson it was merged
	// into.
	b := taught("b", "Use a clock that is fake.")
	must(t, s.PutLessons(ctx, demo.ID, b))
	l.State, l.Into = lesson.Merged, b.ID
	must(t, s.PutLessons(ctx, demo.ID, l))
	must(t, s.ReplaceEvidence(ctx, demo.ID, first))
	if got, err := s.Lesson(ctx, demo.ID, b.ID); err != nil || got.Good != b.Good+2 {
		t.Errorf("what stands for it counts %v, %v; want %v", got.Good, err, b.Good+2)
	}
	b.State = lesson.Forgotten
	must(t, s.PutLessons(ctx, demo.ID, b))
	must(t, s.ReplaceEvidence(ctx, demo.ID, second))
	if got, err := s.Lesson(ctx, demo.ID, b.ID); err != nil || got.Good != b.Good+2 || got.Bad != b.Bad {
		t.Errorf("a forgotten lesson counts %v for and %v against, %v", got.Good, got.Bad, err)
	}
}

func testEvidenceMerged(t *testing.T, s *fixture) {
	ctx := patient(t)
	a, b, c := taught("a", "Use the fake clock."), taught("b", "Use a fake clock."),
		taught("c", "Use the clock that is fake.")
	b.State, b.Into = lesson.Merged, a.ID
	c.State, c.Into = lesson.Merged, b.ID
	must(t, s.PutLessons(ctx, demo.ID, a, b, c))
	must(t, s.CountLessons(ctx, demo.ID, lesson.Evidence{Key: "k", Lesson: c.ID, Good: 1, At: a.CountedAt}))
	got, err := s.Lesson(ctx, demo.ID, a.ID)
	must(t, err)
	if got.Good != a.Good+1 {
		t.Errorf("what stands for it counts %v, want %v", got.Good, a.Good+1)
	}
	e, err := s.LessonEvidence(ctx, demo.ID, a.ID)
	must(t, err)
	if len(e) != 1 || e[0].Lesson != a.ID {
		t.Errorf("the evidence is %+v", e)
	}
}

func testForgettingFinal(t *testing.T, s *fixture) {
	ctx := patient(t)
	l := taught("a", "Use the fake clock.")
	forgotten := l
	forgotten.State = lesson.Forgotten
	must(t, s.PutLessons(ctx, demo.ID, l))
	must(t, s.PutLessons(ctx, demo.ID, forgotten))
	must(t, s.PutLessons(ctx, demo.ID, l))
	must(t, s.CountLessons(ctx, demo.ID, lesson.Evidence{Key: "k", Lesson: l.ID, Good: 50, At: l.CountedAt}))
	got, err := s.Lesson(ctx, demo.ID, l.ID)
	must(t, err)
	if diff := cmp.Diff(forgotten, got); diff != "" {
		t.Error(diff)
	}
	if got := search(t, s, demo.ID, "clock"); got != nil {
		t.Errorf("a forgotten lesson is found: %v", got)
	}
}

func testLearnedSince(t *testing.T, s *fixture) {
	ctx := patient(t)
	var all []lesson.Lesson
	for i := range 5 {
		l := taught(fmt.Sprint(i), fmt.Sprint("Lesson ", i))
		l.CreatedAt = at(i)
		if i != 4 {
			l.From.Source = lesson.FromOutcome
		}
		if i == 3 {
			l.State = lesson.Merged
		}
		all = append(all, l)
	}
	must(t, s.PutLessons(ctx, demo.ID, all...))
	for since, want := range map[int]int{0: 3, 1: 2, 2: 1, 3: 0} {
		if n, err := s.LearnedSince(ctx, demo.ID, at(since)); err != nil || n != want {
			t.Errorf("since minute %d: %d, %v, want %d", since, n, err, want)
		}
	}
}

// testWordsChangePlaces: reordering words, and moving words from one lesson to another, does not change the number of
// lessons that have each.
func testWordsChangePlaces(t *testing.T, s *fixture) {
	ctx := patient(t)
	a, b := taught("a", "Fake clock."), taught("b", "Real mail.")
	a.Words, b.Words = nil, nil
	must(t, s.PutLessons(ctx, demo.ID, a, b))
	a.Text = "Clock, fake."
	must(t, s.PutLessons(ctx, demo.ID, a))
	a.Text, b.Text = b.Text, a.Text
	must(t, s.PutLessons(ctx, demo.ID, a, b))
	for word, want := range map[string]lesson.ID{"clock": b.ID, "fake": b.ID, "mail": a.ID, "real": a.ID} {
		if diff := cmp.Diff([]lesson.ID{want}, search(t, s, demo.ID, word)); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
}

// testSearchesStayTrue: after any sequence of writes, a search for a word finds exactly the live lessons that have it.
func testSearchesStayTrue(t *testing.T, s *fixture) {
	ctx := patient(t)
	vocabulary := []string{"clock", "mail", "tax", "schema", "3d", "größe", "x1", "ключ"}
	repo := int64(100)
	rapid.Check(t, func(r *rapid.T) {
		repo++
		model := map[lesson.ID]lesson.Lesson{}
		for range rapid.IntRange(1, 12).Draw(r, "writes") {
			l := lesson.Lesson{
				ID: lesson.NewID(repo, fmt.Sprint(rapid.IntRange(0, 3).Draw(r, "which"))), Repo: repo, Kind: lesson.Discovery,
				State: rapid.SampledFrom([]lesson.State{lesson.Active, lesson.Promoted, lesson.Archived, lesson.Merged,
					lesson.Forgotten}).Draw(r, "state"),
				Words: rapid.SliceOfNDistinct(rapid.SampledFrom(vocabulary), 0, 4, rapid.ID).Draw(r, "words"),
			}
			if err := s.PutLessons(ctx, repo, l); err != nil {
				r.Fatal(err)
			}
			if model[l.ID].State != lesson.Forgotten {
				model[l.ID] = l
			}
		}
		for _, w := range vocabulary {
			var want []lesson.ID
			for id, l := range model {
				if l.Live() && slices.Contains(l.Words, w) {
					want = append(want, id)
				}
			}
			found, err := s.SearchLessons(ctx, repo, []string{w}, 10, anyHit)
			if err != nil {
				r.Fatal(err)
			}
			got := ids(found)
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("%s: %s", w, diff)
			}
		}
	})
}
