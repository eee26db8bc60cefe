package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

func testMemoryHeads(t *testing.T, s *fixture) {
	ctx := patient(t)
	look := func(repo int64, want store.MemoryHead) {
		t.Helper()
		got, err := s.MemoryHead(ctx, repo)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	look(demo.ID, store.MemoryHead{})
	must(t, s.SaveMemoryHead(ctx, demo.ID, store.MemoryHead{SHA: "a", Warning: "broken"}))
	look(demo.ID, store.MemoryHead{SHA: "a", Warning: "broken"})
	must(t, s.SaveMemoryHead(ctx, demo.ID, store.MemoryHead{SHA: "b"}))
	look(demo.ID, store.MemoryHead{SHA: "b"})
	look(demo.ID+1, store.MemoryHead{})
}

// Restored lessons have their old counts, which are not counted again, and existing lessons are not replaced.
func testLessonsRestored(t *testing.T, s *fixture) {
	ctx := patient(t)
	a, b := taught("a", "Run make generate after a change of the schema."),
		taught("b", "The mail key is only set in production.")
	a.Good, a.Bad, b.State = 4, 1, lesson.Forgotten
	e := lesson.Evidence{Key: "7-1/2", Lesson: a.ID, Good: 1, At: a.CountedAt, Why: "it helped"}
	for _, want := range []int{2, 0} {
		n, err := s.RestoreLessons(ctx, demo.ID, []lesson.Lesson{a, b}, []lesson.Evidence{e})
		if err != nil || n != want {
			t.Errorf("restored %d, %v; want %d", n, err, want)
		}
		must(t, s.CountLessons(ctx, demo.ID, e)) // reported again
	}
	got, err := s.Lessons(ctx, demo.ID)
	must(t, err)
	if diff := cmp.Diff([]lesson.Lesson{a, b}, got); diff != "" {
		t.Error(diff)
	}
	if found := search(t, s, demo.ID, "generate the schema"); len(found) != 1 || found[0] != a.ID {
		t.Errorf("found %v", found)
	}
	if _, err := s.RestoreLessons(ctx, demo.ID+1, []lesson.Lesson{a}, nil); err == nil {
		t.Error("a lesson of another repository was restored")
	}
}

// Many lessons are restored in several transactions, so that none blocks other writers for long: those before a broken
// one are restored with their evidence.
func testManyLessonsRestored(t *testing.T, s *fixture) {
	ctx := patient(t)
	var lessons []lesson.Lesson
	var evidence []lesson.Evidence
	for i := range 250 {
		l := taught(fmt.Sprint(i), fmt.Sprintf("Lesson %d says something.", i))
		lessons = append(lessons, l)
		evidence = append(evidence, lesson.Evidence{Key: fmt.Sprintf("7-%d/1", i), Lesson: l.ID, Good: 1, At: l.CountedAt})
	}
	broken := slices.Clone(lessons)
	broken[230].Repo++
	for _, c := range []struct {
		lessons   []lesson.Lesson
		want, all int
	}{{broken, 200, 200}, {lessons, 50, 250}, {lessons, 0, 250}} {
		n, err := s.RestoreLessons(ctx, demo.ID, c.lessons, evidence)
		if n != c.want || (err != nil) != (c.lessons[230].Repo != demo.ID) {
			t.Errorf("restored %d, %v; want %d", n, err, c.want)
		}
		is, err := s.Lessons(ctx, demo.ID)
		must(t, err)
		seen, err := s.LessonEvidence(ctx, demo.ID, "")
		must(t, err)
		if len(is) != c.all || len(seen) != c.all {
			t.Errorf("%d lessons and %d pieces of evidence; want %d each", len(is), len(seen), c.all)
		}
	}
}

// A restored task replays like any other, and its cost is recorded at its time.
func testTaskRestored(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := sia.NewTaskID(demo.ID, 5)
	task := sia.Task{
		ID: id, Version: 9, Installation: 3, Repo: demo, Issue: 5, Title: "Confirm bookings", State: sia.Passed,
		CreatedAt: at(0),
		Attempts: []sia.Attempt{{Number: 1, StartedAt: at(0), EndedAt: at(1), Outcome: sia.AttemptPass, Head: "abc",
			Cost: 900}}, Head: "abc",
		Credits: sia.Ledger{Budget: 100 * sia.Credit, Spent: 900},
	}
	e := sia.Event{ID: "reindex", At: at(1), Fact: sia.Restored{Task: task}}
	res, err := s.Apply(ctx, id, e)
	must(t, err)
	if res.Ignored != "" || res.Task.State != sia.Passed {
		t.Errorf("got %+v", res)
	}
	replayed(t, s, id)
	if found, err := s.TaskByRef(ctx, demo.ID, sia.CommitRef("abc")); err != nil || len(found) != 1 {
		t.Errorf("found by its commit: %v, %v", found, err)
	}
	for minute, want := range map[int]sia.Credits{0: 900, 2: 0} {
		if got, err := s.TotalCreditsSpent(ctx, at(minute), time.Time{}); err != nil || got != want {
			t.Errorf("spent since minute %d: %v, %v; want %v", minute, got, err, want)
		}
	}
	e.ID = "reindex-again"
	if res, err = s.Apply(ctx, id, e); err != nil || res.Ignored == "" {
		t.Errorf("restored over what is known: %+v, %v", res, err)
	}
}

func testOutcomesOf(t *testing.T, s *fixture) {
	ctx := patient(t)
	var want []store.Outcome
	for i, task := range []sia.TaskID{"7-1", "7-2", "7-1"} {
		o := store.Outcome{Task: task, Intervention: i + 1, Repo: demo, Pattern: sia.Environment, Technique: sia.FreshStart,
			Z: 0.5, At: at(i)}
		_, err := s.RecordOutcome(ctx, o)
		must(t, err)
		if task == "7-1" {
			o.ID = int64(i + 1)
			o.At = o.At.Truncate(1000)
			want = append(want, o)
		}
	}
	got, err := s.OutcomesOf(ctx, "7-1")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
