package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func testApplyStarts(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, e := start(42, at(0))
	res, err := s.Apply(ctx, id, e)
	must(t, err)
	if res.Ignored != "" || len(res.Effects) == 0 {
		t.Fatalf("ignored %q, effects %v", res.Ignored, res.Effects)
	}
	task, err := s.Task(ctx, id)
	must(t, err)
	if diff := cmp.Diff(res.Task, task); diff != "" {
		t.Error(diff)
	}
	replayed(t, s, id)

	events, err := s.Events(ctx, id)
	must(t, err)
	if len(events) != 1 || events[0].Seq != 1 || events[0].To != sia.Queued || events[0].From != "" ||
		events[0].Why == "" {
		t.Errorf("the log is %+v", events)
	}
	e.Rules = sia.Rules
	if diff := cmp.Diff(e, events[0].Event); diff != "" {
		t.Error(diff)
	}
	effects, err := s.Effects(ctx, id)
	must(t, err)
	if len(effects) != len(res.Effects) {
		t.Fatalf("%d effects were written, want %d", len(effects), len(res.Effects))
	}
	for i, f := range effects {
		if diff := cmp.Diff(store.EffectRecord{Effect: res.Effects[i], State: store.EffectPending}, f); diff != "" {
			t.Error(diff)
		}
	}
	if spent, err := s.TotalCreditsSpent(ctx, time.Time{}, time.Time{}); err != nil || spent != 0 {
		t.Errorf("spent %s, %v; a task that starts has cost nothing", spent, err)
	}
}

func testApplyTwice(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, e := start(42, at(0))
	_, err := s.Apply(ctx, id, e)
	must(t, err)
	before, err := s.Task(ctx, id)
	must(t, err)
	res, err := s.Apply(ctx, id, e)
	must(t, err)
	if res.Ignored == "" || len(res.Effects) != 0 {
		t.Errorf("the second time: ignored %q, effects %v", res.Ignored, res.Effects)
	}
	after := replayed(t, s, id)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if events, err := s.Events(ctx, id); err != nil || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// testApplyNothing: an event that changes nothing is not in the log, is answered once, and is ignored when it is
// repeated.
func testApplyNothing(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, e := start(42, at(0))
	first, err := s.Apply(ctx, id, e)
	must(t, err)
	mallory := sia.Actor{Login: "mallory", ID: 6}
	var said []sia.Event
	for i := range 60 {
		e := sia.Event{ID: fmt.Sprintf("comment/%d", i), At: at(i), By: mallory, Origin: sia.Origin{OnIssue: 42,
			Comment: int64(i)}, Fact: sia.Query{Topic: "say", Text: "you may not"}}
		if i%2 > 0 {
			e.Fact = sia.Stop{Reason: "said so"} // a repetition
		}
		said = append(said, e)
		e.Fact = sia.Query{Topic: "say", Text: "you may not"}
		_, err := s.Apply(ctx, id, e)
		must(t, err)
	}
	for _, e := range said {
		res, err := s.Apply(ctx, id, e)
		if must(t, err); res.Ignored == "" || len(res.Effects) > 0 {
			t.Errorf("%s counts later: ignored %q, %d effects", e.ID, res.Ignored, len(res.Effects))
		}
		if known, err := s.Applied(ctx, id, e.ID); err != nil || !known {
			t.Errorf("%s was not heard: %v", e.ID, err)
		}
	}
	task := replayed(t, s, id)
	if events, err := s.Events(ctx, id); err != nil || len(events) != 1 || task.Version != first.Task.Version {
		t.Errorf("%d events, version %d, %v", len(events), task.Version, err)
	}
	effects, err := s.Effects(ctx, id)
	must(t, err)
	if len(effects) != len(first.Effects)+len(said) {
		t.Errorf("%d effects", len(effects))
	}
}

func testApplyToNoTask(t *testing.T, s *fixture) {
	ctx := patient(t)
	res, err := s.Apply(ctx, "7-404", sia.Event{ID: "x", At: at(0), Fact: sia.Stop{Reason: "closed"}})
	must(t, err)
	if res.Ignored == "" {
		t.Error("an event of no task was not ignored")
	}
	if events, err := s.Events(ctx, "7-404"); err != nil || len(events) != 0 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func testApplyNonsense(t *testing.T, s *fixture) {
	ctx := patient(t)
	_, e := start(1, at(0))
	if _, err := s.Apply(ctx, "7-2", e); err == nil {
		t.Error("a task was started under another's id")
	}
	if _, err := s.Apply(ctx, "7-1", sia.Event{ID: "x"}); err == nil {
		t.Error("an event without a fact was applied")
	}
	e.ID = ""
	if _, err := s.Apply(ctx, "7-1", e); err == nil {
		t.Error("an event without an id was applied")
	}
	if all, err := s.Tasks(ctx, store.Filter{}); err != nil || len(all) != 0 {
		t.Errorf("nonsense left %d tasks, %v", len(all), err)
	}
}

func testApplyAtOnce(t *testing.T, s *fixture) {
	const people, each = 12, 15
	ctx := patient(t)
	processes := [...]*store.Store{s.Store, s.beside(t)}
	id := begin(t, s, 42)
	var all sync.WaitGroup
	for p := range people {
		all.Go(func() {
			for i := range each {
				// Half of the events are sent by all: each is applied once.
				e := sia.Event{ID: fmt.Sprintf("own-%d-%d", p, i), At: at(i), By: anna,
					Fact: sia.Edited{Title: fmt.Sprintf("t%d", p), Body: fmt.Sprint(i)}}
				if i%2 == 0 {
					e.ID = fmt.Sprintf("shared-%d", i)
				}
				if _, err := processes[p%2].Apply(ctx, id, e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	replayed(t, s, id)
	events, err := s.Events(ctx, id)
	must(t, err)
	if want := 1 + people*(each/2) + (each+1)/2; len(events) != want {
		t.Errorf("%d events, want %d", len(events), want)
	}
	for i, e := range events {
		if e.Seq != i+1 {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
		if i > 0 && e.From != events[i-1].To {
			t.Errorf("event %d leaves %s, the one before led to %s", e.Seq, e.From, events[i-1].To)
		}
	}
}

// In brief, a log is the same without what the gate saw: with many checks, its looks are most of it.
func testEventsInBrief(t *testing.T, s *fixture) {
	ctx := patient(t)
	id, e := start(42, at(0))
	res, err := s.Apply(ctx, id, e)
	must(t, err)
	checks := slices.Repeat([]sia.Check{{Name: "test", Colour: sia.Running, Required: true}}, 1000)
	pending := sia.Judged{SHA: "c0ffee", Looked: at(9), Verdict: sia.VerdictPending, Checks: checks, Explain: []string{}}
	for i, step := range []struct {
		of   sia.EffectKind
		fact sia.Fact
	}{
		{sia.DoBegin, sia.Begun{Settings: sia.DefaultSettings(), BaseBranch: "main", BaseSHA: "ba5e",
			Title: "Confirm bookings", Body: "By e-mail."}},
		{sia.DoDecide, sia.Decided{Type: sia.DecideAssign, Choice: "coder", Agent: "builtin/x"}},
		{sia.DoAttempt, sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 1, Added: 1}}},
		{sia.DoPush, sia.Pushed{SHA: "c0ffee"}},
		{sia.DoPull, sia.PullOpened{Number: 7, NodeID: "n", URL: "u", Draft: true}},
		{sia.DoGate, pending},
		{sia.DoGate, pending},
	} {
		for key, kind := range res.Task.Pending {
			if kind == step.of {
				e = sia.Event{ID: fmt.Sprint("e", i), At: at(i + 1), Effect: key, Fact: step.fact}
			}
		}
		res, err = s.Apply(ctx, id, e)
		must(t, err)
		if res.Ignored != "" {
			t.Fatalf("%s is ignored: %s", step.of, res.Ignored)
		}
	}
	want, err := s.Events(ctx, id)
	must(t, err)
	looks := 0
	for i := range want {
		if want[i].Event.Fact.Kind() == sia.KJudged {
			e := want[i].Event
			want[i].Event = sia.Event{ID: e.ID, At: e.At.Truncate(time.Microsecond), Fact: sia.Judged{}}
			looks++
		}
	}
	got, err := s.EventsInBrief(ctx, id)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || looks != 2 {
		t.Errorf("%d looks, %s", looks, diff)
	}
}

// Attempts that begin at once, on any servers, can't both use the last credits of a daily budget: reservations count.
// The others begin automatically when credits were returned.
func testRoomOfADay(t *testing.T, s *fixture) {
	processes := [...]*store.Store{s.Store, s.beside(t)}
	for i, budget := range []sia.BudgetSettings{{Task: 100, RepoPerDay: 50}, {Task: 100, InstallationPerDay: 50}} {
		var running atomic.Int32
		w := newScript(t, s)
		w.on[sia.DoBegin] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
			fact, err := w.well(ctx, task, f)
			b := fact.(sia.Begun)
			b.Settings.Budget = budget
			return b, err
		}
		w.on[sia.DoAttempt] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
			if running.Add(1) > 1 {
				t.Error("two attempts run at a time, each with the rest of the day")
			}
			defer running.Add(-1)
			return w.well(ctx, task, f)
		}
		ids := []sia.TaskID{begin(t, s, 10*i+1), begin(t, s, 10*i+2), begin(t, s, 10*i+3)}
		for _, kind := range []sia.EffectKind{sia.DoBegin, sia.DoDecide, sia.DoDecide} {
			var all sync.WaitGroup
			for n, id := range ids {
				task, err := s.Task(patient(t), id)
				must(t, err)
				all.Go(func() {
					for key, k := range task.Pending {
						if k != kind {
							continue
						}
						f, err := s.Effect(patient(t), key)
						fact, failed := w.effect(patient(t), task, f.Effect)
						if err = errors.Join(err, failed); err == nil {
							_, err = processes[n%2].Apply(patient(t), id, sia.Event{ID: key, At: s.clock.now(), Effect: key, Fact: fact})
						}
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		}
		begun := 0
		for _, id := range ids {
			task := replayed(t, s, id)
			if task.State == sia.Working {
				begun++
			} else if task.State != sia.Queued || !task.NoRoom {
				t.Errorf("%s is %s %+v", id, task.State, task.Pause)
			}
		}
		if begun != 1 {
			t.Errorf("%d began", begun)
		}
		e := engine(t, s, w.handlers(), quick())
		for _, id := range ids {
			settle(t, s, e, id, sia.Passed)
		}
		stop(t, e)
		s.clock.reach(s.clock.now().Add(25 * time.Hour))
	}
}

// testRandomEvents checks invariant 5 of docs/architecture.md: for any events, in any order and number, the log gives
// the stored task, and the recorded costs match its account.
func testRandomEvents(t *testing.T, s *fixture) {
	issue := 0
	rapid.Check(t, func(r *rapid.T) {
		issue++
		ctx := patient(t)
		id, e := start(issue, at(0))
		before, err := s.TotalCreditsSpent(ctx, time.Time{}, time.Time{})
		if err != nil {
			r.Fatal(err)
		}
		var emitted []sia.Effect
		apply := func(e sia.Event) {
			res, err := s.Apply(ctx, id, e)
			if err != nil {
				r.Fatal(err)
			}
			emitted = append(emitted, res.Effects...)
		}
		apply(e)
		for i := range rapid.IntRange(1, 25).Draw(r, "events") {
			apply(randomEvent(r, i, emitted))
		}
		task, err := s.Replay(ctx, id)
		if err != nil {
			r.Fatal(err)
		}
		after, err := s.TotalCreditsSpent(ctx, time.Time{}, time.Time{})
		if err != nil {
			r.Fatal(err)
		}
		if booked, cost := after-before, task.Credits.Spent+task.Credits.Overrun; booked != cost {
			r.Fatalf("%s were booked, and the task's account says %s", booked, cost)
		}
	})
	// After erasing a person, the logs give the stored tasks, too.
	done, err := s.Forget(patient(t), anna.Login, false)
	must(t, err)
	if len(done.Tasks) != issue {
		t.Errorf("%d tasks were rewritten, want %d", len(done.Tasks), issue)
	}
	for _, task := range done.Tasks {
		if now := replayed(t, s, task.ID); now.AskedBy.Login != "ghost" {
			t.Errorf("task %s was asked for by %+v", task.ID, now.AskedBy)
		}
	}
}

// randomEvent returns a random event: mostly an outcome of an effect, success or failure, also repeated; and requests
// of users.
func randomEvent(r *rapid.T, i int, emitted []sia.Effect) sia.Event {
	e := sia.Event{ID: fmt.Sprintf("e-%d", rapid.IntRange(0, i).Draw(r, "id")), At: at(i), By: anna}
	wishes := []sia.Fact{
		sia.PauseAsked{Reason: "lunch"}, sia.Resume{Credits: 5 * sia.Credit}, sia.Stop{Reason: "no"}, sia.Retry{},
		sia.Edited{Title: "t"},
		sia.AnswerGiven{Letter: "A"}, sia.CheckSeen{SHA: "c1"}, sia.CheckSeen{SHA: "c1", Reset: true},
		sia.Query{Topic: "status"}, sia.PullClosed{},
	}
	if len(emitted) > 0 && rapid.IntRange(0, 9).Draw(r, "outcome") < 8 {
		f := emitted[rapid.IntRange(max(0, len(emitted)-4), len(emitted)-1).Draw(r, "effect")]
		e.ID, e.Effect, e.By = f.Key, f.Key, sia.Actor{}
		e.Fact = rapid.SampledFrom(outcomes(f, at(i))).Draw(r, "fact")
		return e
	}
	e.Fact = rapid.SampledFrom(wishes).Draw(r, "wish")
	return e
}

// outcomes returns the facts that an effect may report.
func outcomes(f sia.Effect, now time.Time) []sia.Fact {
	failed := sia.EffectFailed{Effect: f.Kind, Reason: "GitHub is down"}
	sha := sia.SHA(fmt.Sprintf("c0ffee%d", f.Attempt))
	switch f.Kind {
	case sia.DoBegin:
		return []sia.Fact{sia.Begun{Settings: sia.DefaultSettings(), BaseBranch: "main", BaseSHA: "ba5e"},
			sia.Begun{Hold: "spent"}, failed}
	case sia.DoDecide:
		return []sia.Fact{decided(f.Question), decided(f.Question), failed}
	case sia.DoAttempt:
		return []sia.Fact{
			sia.AttemptEnded{End: sia.EndFinished, Commit: sha, Diff: sia.DiffStat{Files: 1}, Hunks: []uint64{uint64(f.Attempt)},
				Cost: 2 * sia.Credit},
			sia.AttemptEnded{End: sia.EndTime, Commit: sha, Cost: 40 * sia.Credit}, sia.AttemptEnded{End: sia.EndFinished},
			failed,
		}
	case sia.DoPush:
		return []sia.Fact{sia.Pushed{SHA: f.SHA}, sia.PushRefused{Head: "a11ce", Reason: "it moved"},
			sia.PushRefused{Reason: "GitHub does not take it", Change: true}, failed}
	case sia.DoPull:
		return []sia.Fact{sia.PullOpened{Number: 9}, failed}
	case sia.DoGate:
		red := sia.Judged{SHA: f.SHA, Looked: now, Verdict: sia.VerdictRed,
			Failures: []sia.CheckFailure{{Check: "test", Signature: "s"}}}
		return []sia.Fact{red, red, sia.Judged{SHA: f.SHA, Looked: now, Verdict: sia.VerdictTampered, Weigh: []string{"a"}},
			sia.Judged{SHA: f.SHA, Looked: now, Verdict: sia.VerdictGreen},
			sia.Judged{SHA: f.SHA, Looked: now, Verdict: sia.VerdictPending}, failed}
	case sia.DoDiagnose:
		d := sia.Diagnosis{Pattern: sia.WrongTool, Technique: sia.ToolChange, Prompt: f.Key}
		return []sia.Fact{sia.Diagnosed{Diagnosis: d, Cost: sia.Credit},
			sia.Diagnosed{Diagnosis: sia.Diagnosis{Blocker: "b", Question: "q"}}, failed}
	case sia.DoWeigh:
		return []sia.Fact{sia.Weighed{SHA: f.SHA, Quotes: []string{"it says so"}}, sia.Weighed{SHA: f.SHA}, failed}
	case sia.DoReview:
		return []sia.Fact{sia.Reviewed{Review: sia.Review{Verdict: sia.Approved}},
			sia.Reviewed{Review: sia.Review{Verdict: sia.Rejected}}, failed}
	case sia.DoMemory:
		return []sia.Fact{sia.MemoryCommitted{SHA: "3e304"}, failed}
	case sia.DoAnnounce:
		return []sia.Fact{sia.CommentPosted{}, failed}
	case sia.DoEscalate:
		return []sia.Fact{sia.EscalationOpened{Issue: 77}, failed}
	case sia.DoSync:
		return []sia.Fact{sia.SyncDone{Version: int64(now.Minute())}, failed}
	default:
		return []sia.Fact{sia.Done{}, failed}
	}
}

func testRefs(t *testing.T, s *fixture) {
	ctx := patient(t)
	id := begin(t, s, 42)
	task, err := s.Task(ctx, id)
	must(t, err)
	for _, ref := range []string{sia.IssueRef(42), sia.BranchRef(task.Branch)} {
		if ids, err := s.TaskByRef(ctx, demo.ID, ref); err != nil || !cmp.Equal(ids, []sia.TaskID{id}) {
			t.Errorf("%s gives %v %v", ref, ids, err)
		}
	}
	if ids, err := s.TaskByRef(ctx, demo.ID+1, sia.IssueRef(42)); err != nil || len(ids) != 0 {
		t.Errorf("another repository's issue gives %v %v", ids, err)
	}
}

func testFilters(t *testing.T, s *fixture) {
	ctx := patient(t)
	for i := range 4 {
		begin(t, s, i+1)
	}
	_, err := s.Apply(ctx, sia.NewTaskID(demo.ID, 2),
		sia.Event{ID: "stop", At: at(1), By: anna, Fact: sia.Stop{Reason: "closed"}})
	must(t, err)
	for _, c := range []struct {
		f    store.Filter
		want int
	}{
		{store.Filter{}, 4}, {store.Filter{State: sia.Stopped}, 1}, {store.Filter{Open: true}, 3},
		{store.Filter{Limit: 2}, 2},
		{store.Filter{Repo: demo.ID}, 4}, {store.Filter{Repo: 99}, 0}, {store.Filter{Installation: 3, Open: true}, 3},
		{store.Filter{Installation: 4}, 0},
	} {
		got, err := s.Tasks(ctx, c.f)
		if err != nil || len(got) != c.want {
			t.Errorf("%+v: %d tasks, %v; want %d", c.f, len(got), err, c.want)
		}
	}
	if got, err := s.Tasks(ctx, store.Filter{Limit: 1}); err != nil || got[0].Issue != 2 {
		t.Errorf("the task that changed last is not first: %v %v", got, err)
	}
}
