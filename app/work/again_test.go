package work

import (
	"log/slog"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// begin returns the dependencies of effects on the shop, for a process that started at a time.
func (s *shop) begin(at time.Time) *common {
	return &common{Deps{GitHub: s.app, Links: render.Links{Host: "https://github.test"}, Secrets: &secret.Masker{},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now}, newOwnEffects(at)}
}

// task returns a task that asks a user.
func (s *shop) task(t *testing.T) sia.Task {
	t.Helper()
	issue, err := s.sim.OpenIssue("acme/shop", "ann", "Greet", "Greet the customers.")
	if err != nil {
		t.Fatal(err)
	}
	return sia.Task{ID: "9-1", Installation: s.in, Repo: s.repo.Name(), Issue: issue, Title: "Greet",
		Head: sia.SHA(s.head), Attempts: []sia.Attempt{{Number: 1, Outcome: sia.AttemptFail}},
		Next: &sia.Intervention{Number: 1, After: 1, Diagnosis: sia.Diagnosis{Technique: sia.Decomposition}},
		Escalation: &sia.Escalation{Number: 2, Kind: sia.AskQuestion, Question: "Who is greeted?",
			Options: []sia.Option{{Letter: "A", Text: "The world"}}}}
}

// An effect that failed after its write is not written twice when it is repeated, in the same or another process.
func TestDoneAgainIsWrittenOnce(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	task := s.task(t)
	now := time.Now()
	for _, f := range []sia.Effect{
		{Key: "9-1/1/announce-v7", At: now}, {Key: "9-1/1/announce-v7-again-v9", At: now.Add(time.Minute)},
		{Key: "9-1/1/announce-v7-again-v12", At: now.Add(time.Hour)},
	} {
		f.Task, f.Kind, f.Attempt = task.ID, sia.DoAnnounce, 1
		w := &surfaceWorker{common: s.begin(now.Add(-time.Minute))}
		if _, err := w.announce(t.Context(), task, f); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.comments(t, task.Issue); n != 1 {
		t.Errorf("the comment stands %d times", n)
	}
}

// An effect for an outdated question leaves it to the effect of the newer one.
func TestAnOldQuestionIsNotPut(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	task := s.task(t)
	w := &surfaceWorker{common: s.begin(time.Now())}
	for seq, want := range map[int]int{1: 0, 2: 1} {
		f := sia.Effect{Key: "9-1/1/escalate-q" + string(rune('0'+seq)), Task: task.ID, Kind: sia.DoEscalate, Seq: seq}
		fact, err := w.escalate(t.Context(), task, f)
		if err != nil {
			t.Fatal(err)
		}
		if e, put := fact.(sia.EscalationOpened); put != (want == 1) || put && e.Question != 2 {
			t.Errorf("question %d: %+v", seq, fact)
		}
	}
	if n := s.comments(t, task.Issue); n != 1 {
		t.Errorf("%d questions stand", n)
	}
}

// Checks that were re-requested before a process ended are not requested again.
func TestRerunIsAskedOnce(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	task := s.task(t)
	now := time.Now()
	f := sia.Effect{Key: "9-1/1/rerun-1", Task: task.ID, Kind: sia.DoRerun, SHA: task.Head, CheckIDs: []int64{s.run.ID},
		At: now}
	for range 2 {
		w := &checkWorker{common: s.begin(now.Add(-time.Minute))}
		w.own.since = now.Add(time.Minute) // the effect is older than the process
		if _, err := w.rerun(t.Context(), task, f); err != nil {
			t.Fatal(err)
		}
		if err := s.sim.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	set, err := s.repo.Checks.Of(t.Context(), s.head)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Runs) != 2 {
		t.Errorf("it ran %d times", len(set.Runs))
	}
}

// comments returns the number of an issue's comments.
func (s *shop) comments(t *testing.T, issue int) int {
	t.Helper()
	all, err := s.repo.CommentsSince(t.Context(), issue, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
