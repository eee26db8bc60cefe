package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// zelda is in every table that can name a person. Anna is another user, who is kept.
var (
	zelda = sia.Actor{Login: "Zelda-Q", ID: 77001}
	ghost = sia.Actor{Login: "ghost", ID: 10137} // whoever was forgotten
)

func knowZelda(t *testing.T, s *fixture) sia.TaskID {
	t.Helper()
	ctx := patient(t)
	begin(t, s, 1)
	id, e := start(2, at(0))
	e.By = zelda
	f := e.Fact.(sia.Start)
	f.Body, f.Text = "Ask @zelda-q, or https://github.com/Zelda-Q; see @zelda-q2.", "as zelda-q says"
	e.Fact = f
	_, err := s.Apply(ctx, id, e)
	must(t, err)
	for i, e := range []sia.Event{
		{By: zelda, Fact: sia.PauseAsked{Reason: "@Zelda-Q said so"}},
		{By: anna, Fact: sia.Resume{}},
		{By: zelda, Fact: sia.Stop{Reason: "@Zelda-Q had it stopped"}},
		{By: sia.Actor{Login: "zelda-old", ID: zelda.ID}, Fact: sia.Start{Installation: 3, Repo: demo, Issue: 2,
			Title: "Again", DefaultBranch: "main"}},
		{By: sia.Actor{Operator: true}, Fact: sia.PauseAsked{Reason: "by hand"}},
	} {
		e.ID, e.At = fmt.Sprintf("said-%d", i), at(i+1)
		_, err := s.Apply(ctx, id, e)
		must(t, err)
	}
	body := []byte(`{"sender":{"login":"Zelda-Q","id":77001,"email":"z@example.org"},"comment":{"body":"hello"}}`)
	save(t, s, delivery("dealt-with", body))
	save(t, s, delivery("after-an-escape", []byte(`{"comment":{"body":"thanks\nzelda-q: done"}}`)))
	h := newScript(t, s).handlers()
	h.Delivery = func(context.Context, store.Delivery) error { return nil }
	e2 := engine(t, s, h, quick())
	must(t, e2.Idle(ctx))
	must(t, e2.Stop(ctx))
	save(t, s, delivery("waits", body))
	must(t, s.SaveHeard(ctx, store.Heard{Repo: demo.ID, Event: "comment/1", Issue: 2, Login: "Zelda-Q",
		Answer: "@Zelda-Q: no", At: at(1)}))
	must(t, s.PutLessons(ctx, demo.ID, lesson.NewTaught(demo.ID, "a", "Use the fake clock, says @Zelda-Q.", zelda,
		sia.Task{ID: id, Issue: 2}, at(1))))
	must(t, s.CountLessons(ctx, demo.ID, ratings(id, ghost, zelda)...)) // somebody was forgotten before
	must(t, s.AppendTurn(ctx, id, 1, 0, 1, []byte(`{"text":"by @Zelda-Q","user":{"login":"zelda-q","id":77001}}`)))
	must(t, s.AppendTurn(ctx, id, 1, 0, 2, []byte(`{"text":"thanks\nZelda-Q@users.noreply.github.com"}`)))
	must(t, s.AppendTurn(ctx, id, 1, 0, 3, []byte(
		`{"output":"[{\"author\":\"zelda-q\",\"said\":\"{\\\"by\\\":\\\"Zelda-Q\\\"}\"}]"}`)))
	must(t, s.SaveText(ctx, id, 1, "diff", "+// 77001+Zelda-Q@users.noreply.github.com; func zelda-q() is code"))
	must(t, s.LogDecision(ctx, sia.Decision{ID: "d", Task: id, Repo: demo.ID, Type: sia.DecideRerun, Choice: "once",
		Reason: "@Zelda-Q asked", Context: json.RawMessage(`{"author":"zelda-q"}`), At: at(2)}))
	must(t, s.SaveMemoryHead(ctx, demo.ID, store.MemoryHead{SHA: "a", Warning: "@Zelda-Q broke .sia/tasks/2.json"}))
	_, err = s.Halt(ctx, store.Halt{Scope: sia.RepositoryHalt(99), By: "Zelda-Q", Reason: "@Zelda-Q said so", At: at(9)})
	must(t, err)
	must(t, s.SaveExperiment(ctx, "", store.Experiment{ID: "x", Place: demo, Name: "reruns", Change: "a: 1 -> 2",
		By: "@Zelda-Q", ApprovedBy: "Zelda-Q", CreatedAt: at(9)}, ""))
	must(t, s.HoldPolicy(ctx, store.PolicyHold{Installation: 3, Decision: "rerun", Name: "reruns", By: "@zelda-q",
		At:  at(9),
		Why: "frozen by @Zelda-Q"}))
	must(t, s.OfferAttempt(ctx, store.RunnerAttempt{Key: "offered", Task: id, Owner: "o", Start: "abc", Coder: "c",
		Work: []byte(`{"prompt":"@Zelda-Q asks"}`)}))
	must(t, s.OfferAttempt(ctx, store.RunnerAttempt{Key: "another's", Task: id, Owner: "o", Start: "abc", Coder: "c",
		Work: []byte(`{"prompt":"@zelda-q2 asks"}`)}))
	return id
}

// ratings returns the evidence from users' 👍 on a lesson of knowZelda.
func ratings(id sia.TaskID, by ...sia.Actor) []lesson.Evidence {
	shown := []string{string(lesson.NewID(demo.ID, "a"))}
	task := sia.Task{ID: id, Issue: 2, Attempts: []sia.Attempt{{LessonsShown: shown}}}
	for _, a := range by {
		task.Ratings = append(task.Ratings, sia.Rating{By: a, Good: true})
	}
	return lesson.FeedbackEvidence(task, nil)
}

// herID matches the id of her account, and no time that contains its digits.
var herID = regexp.MustCompile(`\b77001\b`)

// A forgotten person is in no row and not in the file; tasks match their logs, and other users are kept.
func testForget(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := knowZelda(t, s)
	before := everyTask(t, s)
	dry, err := s.Forget(ctx, "zelda-q", true)
	must(t, err)
	if len(named(t, s, "zelda")) < 9 {
		t.Fatalf("a rehearsal changed something, or the test names her too seldom: %q", named(t, s, "zelda"))
	}
	done, err := s.Forget(ctx, "zelda-q", false)
	must(t, err)
	if fmt.Sprint(dry.Rows) != fmt.Sprint(done.Rows) {
		t.Errorf("rehearsed %v, done %v", dry.Rows, done.Rows)
	}
	for _, table := range []string{"task_events", "tasks", "deliveries", "heard", "lessons", "transcripts", "texts",
		"decisions", "halts", "acts", "memory_heads", "experiments", "policy_holds", "lesson_evidence"} {
		if done.Rows[table] == 0 {
			t.Errorf("nothing changed in %s: %v", table, done.Rows)
		}
	}
	if done.Rows["deliveries"] != 2 {
		t.Errorf("%d deliveries were emptied, want those that do not wait", done.Rows["deliveries"])
	}
	if !slices.Equal(done.Logins, []string{"zelda-q", "zelda-old"}) || !slices.Equal(done.IDs, []int64{77001}) ||
		done.Waiting != 2 || done.Words != 2 || len(done.Tasks) != 1 || done.Tasks[0].ID != id {
		t.Errorf("%+v", done)
	}
	// Remaining occurrences are counted: a waiting delivery and attempt, the word in prose and code, and another's login.
	for _, cell := range slices.Concat(named(t, s, "zelda"), named(t, s, "77001")) {
		waits := strings.HasPrefix(cell, "deliveries.body") || strings.HasPrefix(cell, "runner_attempts.work")
		left := strings.NewReplacer("@zelda-q2", "", "as zelda-q says", "", "func zelda-q()", "").Replace(cell)
		if !waits && (strings.Contains(strings.ToLower(left), "zelda") || herID.MatchString(left)) {
			t.Errorf("left: %s", cell)
		}
	}
	for was, tasks := range before {
		now := replayed(t, s, was)
		if now.State != tasks.State || now.Version != tasks.Version {
			t.Errorf("task %s was %s at version %d, and is %s at %d", was, tasks.State, tasks.Version, now.State, now.Version)
		}
	}
	if by := replayed(t, s, id).AskedBy; by != ghost {
		t.Errorf("asked by %+v", by)
	}
	if by := replayed(t, s, sia.NewTaskID(demo.ID, 1)).AskedBy; by != anna {
		t.Errorf("asked by %+v", by)
	}
	// Her rating counts once.
	good := func() float64 {
		t.Helper()
		l, err := s.Lesson(ctx, demo.ID, lesson.NewID(demo.ID, "a"))
		must(t, err)
		return l.Good
	}
	rated := good()
	must(t, s.CountLessons(ctx, demo.ID, ratings(id, ghost)...))
	if now := good(); now != rated {
		t.Errorf("after her rating counted again there is %v for the lesson, before it was %v", now, rated)
	}
	if found := search(t, s, demo.ID, "fake clock"); len(found) != 1 {
		t.Errorf("the lesson is found %d times", len(found))
	}
	again, err := s.Forget(ctx, "zelda-q", false)
	if must(t, err); len(again.Rows) != 0 {
		t.Errorf("the second time changed %v", again.Rows)
	}
	if s.Files() == nil {
		must(t, s.Compact(ctx))
		return // only SQLite has files
	}
	reader, err := storetest.Raw(t, s.url).BeginTx(ctx, nil)
	must(t, err)
	must(t, reader.QueryRowContext(ctx, `SELECT count(*) FROM tasks`).Err())
	if err := s.Compact(ctx); err == nil {
		t.Error("compacted beside a reader, for whom the log keeps what was there before")
	}
	must(t, reader.Rollback())
	must(t, s.Compact(ctx))
	must(t, s.Close())
	raw, err := os.ReadFile(s.Files()[0])
	must(t, err)
	if strings.Contains(string(raw), "zelda-old") || strings.Contains(string(raw), "@Zelda-Q said so") {
		t.Error("the file still has her in its free pages")
	}
}

// Transcripts of tasks that ended long ago are deleted, and no others.
func testTranscriptsPruned(t *testing.T, s *fixture) {
	ctx := patient(t)
	open, ended := begin(t, s, 1), begin(t, s, 2)
	stopTask(t, s, ended)
	must(t, s.AppendTurn(ctx, open, 1, 0, 1, []byte(`{}`)))
	for _, id := range []sia.TaskID{open, ended} {
		must(t, s.SaveText(ctx, id, 1, "diff", "+ a line"))
	}
	_, err := storetest.Raw(t, s.url).ExecContext(ctx, `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 501)
		INSERT INTO transcripts (task_id, attempt, run, number, turn) SELECT '`+string(ended)+`', 1, 0, i, '' FROM n`)
	must(t, err)
	for _, c := range []struct {
		before int
		want   int64
	}{{-60, 0}, {60 * 24 * 400, 502}, {60 * 24 * 400, 0}} {
		if n, err := s.PruneTranscripts(ctx, at(c.before)); err != nil || n != c.want {
			t.Errorf("before %d: pruned %d, %v; want %d", c.before, n, err, c.want)
		}
	}
	left, err := s.Turns(ctx, open, 1)
	if must(t, err); len(left) != 1 {
		t.Errorf("%d turns of the open task are left", len(left))
	}
	if left, err = s.Turns(ctx, ended, 1); err != nil || len(left) != 0 {
		t.Errorf("%d turns of the ended task are left, %v", len(left), err)
	}
	if _, err := s.Text(ctx, open, 1, "diff"); err != nil {
		t.Errorf("the text of the open task: %v", err)
	}
	if _, err := s.Text(ctx, ended, 1, "diff"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the text of the ended task is left, %v", err)
	}
	replayed(t, s, ended)
}

// Ended tasks that are in memory are deleted completely, long after they ended. What was learned from them is kept.
func testTasksPruned(t *testing.T, s *fixture) {
	ctx := patient(t)
	w := newScript(t, s)
	w.on[sia.DoMemory] = func(_ context.Context, task sia.Task, _ sia.Effect) (sia.Fact, error) {
		switch task.Issue {
		case 2:
			return sia.MemoryCommitted{Warning: "the branch is protected"}, nil
		case 3:
			return nil, &sia.Error{Op: "commit", Message: "no", Permanent: true}
		}
		return sia.MemoryCommitted{SHA: "3e304"}, nil
	}
	gone, refused, failed := begin(t, s, 1), begin(t, s, 2), begin(t, s, 3)
	e := run(t, s, w)
	for _, id := range []sia.TaskID{gone, refused, failed} {
		settle(t, s, e, id, sia.Passed)
	}
	exhaust(t, s, e)
	open := begin(t, s, 4) // no engine runs
	must(t, e.Stop(ctx))
	must(t, s.AppendTurn(ctx, gone, 1, 0, 1, []byte(`{}`)))
	must(t, s.RecordCoderOutcome(ctx, store.CoderOutcome{Task: gone, Attempt: 1, Repo: demo.ID, Coder: "fast", At: at(1)}))
	must(t, s.RecordTaskEnd(ctx, store.TaskEnd{Task: gone, Repo: demo.ID, Kind: "bug", Passed: true}))
	for _, c := range []struct {
		before time.Time
		want   int64
	}{{at(-60), 0}, {s.clock.now().Add(time.Hour), 1}, {s.clock.now().Add(time.Hour), 0}} {
		if n, err := s.PruneTasks(ctx, c.before); err != nil || n != c.want {
			t.Errorf("before %s: pruned %d, %v; want %d", c.before, n, err, c.want)
		}
	}
	if _, err := s.Task(ctx, gone); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the task is there: %v", err)
	}
	for _, id := range []sia.TaskID{refused, failed, open} {
		replayed(t, s, id)
	}
	left := named(t, s, string(gone)+"/")
	for _, cell := range slices.DeleteFunc(append(left, named(t, s, string(gone))...), func(cell string) bool {
		return strings.HasPrefix(cell, "coder_outcomes.") || strings.HasPrefix(cell, "task_ends.") ||
			strings.HasPrefix(cell, "deleted_tasks.") || strings.HasPrefix(cell, "river_job.")
	}) {
		t.Errorf("left: %s", cell)
	}
	if all, err := s.CoderOutcomesSince(ctx, 0); err != nil || len(all) != 1 {
		t.Errorf("outcomes of coders: %v, %v", all, err)
	}
	if alone, _, err := s.TaskEnds(ctx, demo.ID, "bug"); err != nil || alone != (store.TaskCount{Ended: 1, Passed: 1}) {
		t.Errorf("ends of tasks: %v, %v", alone, err)
	}
	// The deletion is recorded. An event for the task is ignored, and it can be started again.
	isDeleted(t, s, gone, true)
	isDeleted(t, s, open, false)
	res, err := s.Apply(ctx, gone, sia.Event{ID: "late", At: s.clock.now(), By: anna, Fact: sia.Stop{Reason: "late"}})
	if must(t, err); res.Ignored == "" {
		t.Errorf("a late event gave %+v", res)
	}
	id, again := start(1, s.clock.now())
	again.ID = "once more"
	_, err = s.Apply(ctx, id, again)
	must(t, err)
	replayed(t, s, id)
	isDeleted(t, s, gone, false)
}

func isDeleted(t *testing.T, s *fixture, id sia.TaskID, want bool) {
	t.Helper()
	if got, err := s.Deleted(patient(t), id); err != nil || got != want {
		t.Errorf("task %s was deleted: %t, %v; want %t", id, got, err, want)
	}
}

// Only tasks that name the person are loaded and block writers: here, one of a newer version can't be.
func testForgetLoadsNamed(t *testing.T, s *fixture) {
	knowZelda(t, s)
	id := started(t, s, other, 77, 1, "a task of others")
	_, err := storetest.Raw(t, s.url).ExecContext(patient(t),
		fmt.Sprintf(`UPDATE tasks SET needs = %d WHERE id = '%s'`, sia.TaskVersion+1, id))
	must(t, err)
	if done, err := s.Forget(patient(t), "zelda-q", false); err != nil || done.Rows["tasks"] == 0 {
		t.Errorf("changed %v, err %v", done.Rows, err)
	}
}

// A task of a newer version, and a lesson that can't be read, do not keep the person in other rows.
func testForgetGoesOn(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := knowZelda(t, s)
	newer, e := start(3, at(0))
	e.By = zelda
	_, err := s.Apply(ctx, newer, e)
	must(t, err)
	db := storetest.Raw(t, s.url)
	for _, query := range []string{fmt.Sprintf(`UPDATE tasks SET needs = %d WHERE id = '%s'`, sia.TaskVersion+1, newer),
		`UPDATE lessons SET lesson = replace(lesson, '{"id"', '["id"')`} {
		_, err := db.ExecContext(ctx, query)
		must(t, err)
	}
	done, err := s.Forget(ctx, "zelda-q", false)
	if err == nil || !strings.Contains(err.Error(), "task "+string(newer)) || !strings.Contains(err.Error(), "lesson") {
		t.Errorf("err %v", err)
	}
	if len(done.Tasks) != 1 || done.Tasks[0].ID != id || done.Rows["halts"] != 1 || done.Rows["texts"] != 1 {
		t.Errorf("%+v", done)
	}
	acts, err := s.Acts(ctx, store.ActFilter{Login: store.Operator})
	must(t, err)
	if !slices.ContainsFunc(acts, func(a store.Act) bool { return a.What == "forget person" }) {
		t.Error("it is not in the audit log")
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`UPDATE tasks SET needs = %d WHERE id = '%s'`, sia.TaskVersion, newer))
	must(t, err)
	if done, _ = s.Forget(ctx, "zelda-q", false); len(done.Tasks) != 1 || done.Tasks[0].ID != newer {
		t.Errorf("again: %+v", done)
	}
}

// An empty login is rejected, because it would match everywhere.
func testForgetGhost(t *testing.T, s *fixture) {
	knowZelda(t, s)
	for _, login := range []string{"Ghost", ""} {
		if _, err := s.Forget(patient(t), login, false); !sia.IsPermanent(err) {
			t.Errorf("%q: err %v", login, err)
		}
	}
}

// Acts are listed by login, repository and time, the latest first, and limited.
func testActs(t *testing.T, s *fixture) {
	ctx := patient(t)
	knowZelda(t, s)
	_, err := s.Halt(ctx, store.Halt{Scope: sia.SuspensionHalt(3), Reason: "GitHub suspended it", At: at(8)})
	must(t, err)
	for _, c := range []struct {
		f    store.ActFilter
		want string
	}{
		{store.ActFilter{Login: "zelda-q"}, "approve policy halt hold policy propose policy stop said pause start"},
		{store.ActFilter{Login: "operator"}, "pause"},
		{store.ActFilter{Login: "zelda-q", Repo: 99}, "halt"},
		{store.ActFilter{Login: "zelda-q", Since: at(3)}, "approve policy halt hold policy propose policy stop"},
		{store.ActFilter{Login: "zelda-q", Limit: 1}, "approve policy"},
		{store.ActFilter{Login: "nobody"}, ""},
	} {
		acts, err := s.Acts(ctx, c.f)
		must(t, err)
		var what []string
		for i, a := range acts {
			what = append(what, a.What)
			if i > 0 && a.At.After(acts[i-1].At) {
				t.Errorf("%+v: %v comes after %v", c.f, a, acts[i-1])
			}
		}
		if got := strings.Join(what, " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
	all, err := s.Acts(ctx, store.ActFilter{Login: "sia"})
	must(t, err)
	if !slices.ContainsFunc(all, func(a store.Act) bool { return a.What == "halt" }) {
		t.Error("that GitHub suspended an installation is not among what nobody did here")
	}
	// A lifted pause is listed, and so is the lift.
	_, _, err = s.Lift(ctx, sia.RepositoryHalt(99), "anna", at(10))
	must(t, err)
	_, _, err = s.Lift(ctx, sia.RepositoryHalt(99), "", at(11)) // not paused
	must(t, err)
	must(t, s.LogAct(ctx, store.Act{At: at(12), What: "learn", Repo: 99, Detail: "abc"}))
	lifted, err := s.Acts(ctx, store.ActFilter{Repo: 99})
	must(t, err)
	for i := range lifted {
		lifted[i].At = time.Time{}
	}
	if d := cmp.Diff([]store.Act{
		{Who: "operator", What: "learn", Repo: 99, Detail: "abc"},
		{Who: "anna", What: "lift", Repo: 99, Detail: "repository 99: goes on", Person: true},
		{Who: "Zelda-Q", What: "halt", Repo: 99, Detail: "repository 99: @Zelda-Q said so", Person: true},
	}, lifted); d != "" {
		t.Error(d)
	}
	decided := func(a store.Act) bool { return a.What == "decide rerun" && a.Detail == "once: @Zelda-Q asked" }
	if !slices.ContainsFunc(all, decided) ||
		!slices.ContainsFunc(all, func(a store.Act) bool { return strings.HasPrefix(a.What, "effect ") }) {
		t.Errorf("%+v", all)
	}
}

// Acts that are read in several batches have the same order, and what SIA wrote. Of two events of a task at one time,
// the later is listed first.
func testManyActs(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	w := newScript(t, s)
	e := run(t, s, w)
	settle(t, s, e, id, sia.Passed)
	exhaust(t, s, e)
	few, err := s.Acts(ctx, store.ActFilter{Login: "sia", Limit: 1000})
	must(t, err)
	_, err = storetest.Raw(t, s.url).ExecContext(ctx, fmt.Sprintf(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1203)
		INSERT INTO acts (at, by_login, what, repo_id, detail) SELECT %d + i, 'sia', 'halt', 9, '' FROM n`,
		s.clock.now().Add(time.Hour).UnixMicro()))
	must(t, err)
	for _, c := range []struct{ limit, want int }{{1203 + len(few), 1203 + len(few)}, {500, 500}, {501, 501}} {
		var all []store.Act
		must(t, s.EachAct(ctx, store.ActFilter{Login: "sia", Limit: c.limit}, func(a store.Act) error {
			all = append(all, a)
			return nil
		}))
		descending := slices.IsSortedFunc(all, func(a, b store.Act) int { return b.At.Compare(a.At) })
		if len(all) != c.want || !descending {
			t.Errorf("of at most %d there are %d, sorted: %t", c.limit, len(all), descending)
		}
		if len(all) > 1203 {
			if d := cmp.Diff(few, all[1203:]); d != "" {
				t.Error(d)
			}
		}
	}
	enough, n := errors.New("enough"), 0
	if err := s.EachAct(ctx, store.ActFilter{Login: "sia", Limit: 1000}, func(store.Act) error {
		n++
		return enough
	}); !errors.Is(err, enough) || n != 1 {
		t.Errorf("after %d: %v", n, err)
	}

	paused, once := begin(t, s, 2), s.clock.now().Add(time.Minute)
	for i, f := range []sia.Fact{sia.PauseAsked{Reason: "said so"}, sia.Resume{}} {
		_, err := s.Apply(ctx, paused, sia.Event{ID: fmt.Sprint("at-once-", i), At: once, By: anna, Fact: f})
		must(t, err)
	}
	both, err := s.Acts(ctx, store.ActFilter{Login: "anna", Since: once.Add(-time.Second)})
	must(t, err)
	if len(both) != 2 || both[0].What != "resume" || both[1].What != "pause" {
		t.Errorf("at one time: %+v", both)
	}
}

// Acts name what SIA wrote to GitHub, for users and for programs.
func testActsName(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 1)
	w := newScript(t, s)
	e := run(t, s, w)
	settle(t, s, e, id, sia.Passed)
	exhaust(t, s, e)
	must(t, s.SaveSurface(ctx, id, store.SurfaceStatus, 4711, "h"))
	all, err := s.Acts(ctx, store.ActFilter{Login: "sia"})
	must(t, err)
	got := map[string]store.Act{}
	for _, a := range all {
		got[a.What] = a
	}
	pull := store.Wrote{Pull: 101, URL: "https://example.com/pull/1"}
	for what, want := range map[string]struct {
		store.Wrote
		words string
	}{
		"effect push":         {store.Wrote{Commit: "c0ffee1"}, "done: commit c0ffee1"},
		"effect pull":         {pull, "done: pull request #101, https://example.com/pull/1"},
		"effect final-review": {pull, "done: pull request #101, https://example.com/pull/1"},
		"effect memory":       {store.Wrote{Commit: "3e304"}, "done: commit 3e304"},
		"effect sync":         {store.Wrote{Issue: 1, Comment: 4711}, "done: issue #1, comment 4711"},
	} {
		if a := got[what]; a.Wrote != want.Wrote || a.Detail != want.words {
			t.Errorf("%s: %+v, want %+v", what, a, want)
		}
	}
}

// All acts of the operator are found by one name.
func testOperatorsActs(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h1"))
	must(t, s.RemoveRunner(ctx, "mill"))
	_, err := s.Forget(ctx, "somebody", true)
	must(t, err)
	_, err = s.Forget(ctx, "somebody", false)
	must(t, err)
	_, err = s.ImportPriors(ctx, store.PriorImport{Source: "priors.txt", Key: "k", Signed: []byte("x"), At: at(1)})
	must(t, err)
	must(t, s.RemovePriors(ctx))
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "acme"}))
	shared := lesson.NewTaught(demo.ID, "a", "Use the fake clock.", anna, sia.Task{}, at(1))
	must(t, s.ShareLesson(ctx, store.SharedLesson{Installation: 3, Lesson: shared, By: "whoever runs the server",
		At: at(2)}))
	must(t, s.SaveExperiment(ctx, "", store.Experiment{ID: "x", Place: demo, Name: "reruns", Change: "a: 1 -> 2",
		By: "@Anna", CreatedAt: at(3)}, ""))
	must(t, s.SaveExperiment(ctx, "", store.Experiment{ID: "y", Place: demo, Name: "reruns", Change: "a: 1 -> 3",
		By: "whoever runs the server", CreatedAt: at(4)}, ""))
	list := func(who string) (what []string) {
		acts, err := s.Acts(ctx, store.ActFilter{Login: who})
		must(t, err)
		for _, a := range acts {
			what = append(what, a.What)
		}
		slices.Sort(what)
		return what
	}
	if d := cmp.Diff([]string{"add runner", "forget person", "import priors", "propose policy", "remove priors",
		"remove runner", "share lesson"}, list(store.Operator)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"propose policy"}, list("anna")); d != "" {
		t.Error(d)
	}
	_, err = s.UnshareLesson(ctx, 3, shared.ID, "")
	must(t, err)
	must(t, s.RemoveInstallation(ctx, 3))
	all := list(store.Operator)
	if !slices.Contains(all, "share lesson") || !slices.Contains(all, "unshare lesson") {
		t.Errorf("%q", all)
	}
}

// Users of GitHub may be named like the operator and SIA. Who froze a policy, or shared a lesson, stays known.
func testActsOfNamesakes(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.UpsertInstallation(ctx, store.Installation{ID: 3, Account: "acme"}))
	for i, by := range []string{"@Operator", "sia", "whoever runs the server", "", "@anna"} {
		must(t, s.HoldPolicy(ctx, store.PolicyHold{Installation: 3, Name: "reruns", Decision: "rerun", By: by, At: at(i),
			Why: fmt.Sprint("reason ", i)}))
	}
	shared := lesson.NewTaught(demo.ID, "a", "Use the fake clock.", anna, sia.Task{}, at(1))
	for range 2 {
		must(t, s.ShareLesson(ctx, store.SharedLesson{Installation: 3, Lesson: shared, By: "sia", At: at(5)}))
	}
	id := started(t, s, demo, 3, 9, "a task")
	_, err := s.Apply(ctx, id, sia.Event{ID: "p", At: at(6), By: sia.Actor{Login: "operator", ID: 5},
		Fact: sia.PauseAsked{Reason: "said so"}})
	must(t, err)
	must(t, s.RemoveInstallation(ctx, 3))
	for _, c := range []struct {
		login, want string
		person      bool
	}{
		{"operator", "reason 2", false}, {"@operator", "p reason 0", true}, {"sia", "reason 3", false},
		{"@SIA", "share reason 1", true}, {"anna", "reason 4", true}, {"@Anna", "reason 4", true},
	} {
		acts, err := s.Acts(ctx, store.ActFilter{Login: c.login, Since: at(0)})
		must(t, err)
		var got []string
		for _, a := range acts {
			if a.Person != c.person {
				t.Errorf("%s: %+v", c.login, a)
			}
			switch a.What {
			case "pause":
				got = append(got, "p")
			case "share lesson":
				got = append(got, "share")
			case "hold policy":
				got = append(got, strings.TrimPrefix(a.Detail, "reruns: "))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.login, got, c.want)
		}
	}
}

func everyTask(t *testing.T, s *fixture) map[sia.TaskID]sia.Task {
	t.Helper()
	all, err := s.Tasks(patient(t), store.Filter{})
	must(t, err)
	out := map[sia.TaskID]sia.Task{}
	for _, task := range all {
		out[task.ID] = replayed(t, s, task.ID)
	}
	return out
}

// named returns the cells of every table that contain a word, as table.column: text, after unpacking.
func named(t *testing.T, s *fixture, word string) (cells []string) {
	t.Helper()
	db := storetest.Raw(t, s.url)
	tables := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	columns := `SELECT name FROM pragma_table_info('%s')`
	if s.Files() == nil {
		tables = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`
		columns = `SELECT column_name FROM information_schema.columns WHERE table_name = '%s'`
	}
	for _, table := range column(t, db, tables) {
		for _, name := range column(t, db, fmt.Sprintf(columns, table)) {
			for _, value := range column(t, db, `SELECT `+name+` FROM `+table) {
				if strings.Contains(strings.ToLower(value), word) {
					cells = append(cells, table+"."+name+": "+value)
				}
			}
		}
	}
	return cells
}

func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var v sql.NullString
		must(t, rows.Scan(&v))
		all = append(all, v.String)
	}
	must(t, rows.Err())
	return all
}
