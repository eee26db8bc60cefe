package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

func offer(t *testing.T, s *fixture, task sia.TaskID, key, owner string) {
	t.Helper()
	must(t, s.OfferAttempt(t.Context(), store.RunnerAttempt{Key: key, Task: task, Owner: owner, Start: "abc", Coder: "c",
		Work: []byte("work of " + owner), Credits: 100, Spent: 10, MostCalls: 3}))
}

func gone(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s: %v", what, err)
	}
}

// A runner is identified by its token until it is removed, and then can't report on its attempt.
func testRunners(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h1"))
	must(t, s.AddRunner(ctx, "barn", "h2"))
	if err := s.AddRunner(ctx, "mill", "h3"); !sia.IsPermanent(err) {
		t.Errorf("added twice: %v", err)
	}
	r, err := s.RunnerByHash(ctx, "h1")
	if must(t, err); r.Name != "mill" || !r.Seen.IsZero() {
		t.Errorf("found %+v", r)
	}
	_, err = s.RunnerByHash(ctx, "h3")
	gone(t, "an unknown token", err)
	must(t, s.MarkRunnerSeen(ctx, "mill", "v1", true))
	offer(t, s, begin(t, s, 42), "k", "o")
	if _, found, err := s.ClaimAttempt(ctx, "nobody", "p0", true, false, time.Hour); err != nil || found {
		t.Errorf("taken by a runner that there is not: %v, %v", found, err)
	}
	_, _, err = s.ClaimAttempt(ctx, "mill", "p", true, false, time.Hour)
	must(t, err)
	all, err := s.Runners(ctx)
	must(t, err)
	if len(all) != 2 || all[1].About != "v1" || all[1].Seen.IsZero() || len(all[1].Attempts) != 1 ||
		len(all[0].Attempts) != 0 {
		t.Errorf("listed: %+v", all)
	}
	must(t, s.RemoveRunner(ctx, "mill"))
	gone(t, "removed twice", s.RemoveRunner(ctx, "mill"))
	_, err = s.RunnerByHash(ctx, "h1")
	gone(t, "a removed token", err)
	_, err = s.RenewAttempt(ctx, "p", time.Hour)
	gone(t, "the attempt of a removed runner", err)
	if w, err := s.WatchAttempt(ctx, "k", "o"); err != nil || !w.Lost {
		t.Errorf("it is not lost: %+v, %v", w, err)
	}
}

// An attempt is assigned to one runner; its turns are reported one by one, and its result once.
func testRunnerAttempt(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h"))
	task := begin(t, s, 42)
	if _, found, err := s.ClaimAttempt(ctx, "mill", "p", true, false, time.Hour); err != nil || found {
		t.Errorf("taken where none is: %v, %v", found, err)
	}
	offer(t, s, task, "k", "o")
	var wins sync.Map
	var all sync.WaitGroup
	for _, pass := range []string{"p1", "p2", "p3", "p4"} {
		all.Go(func() {
			if _, found, err := s.ClaimAttempt(ctx, "mill", pass, true, false, time.Hour); err != nil || found {
				wins.Store(pass, err)
			}
		})
	}
	all.Wait()
	var pass string
	for p, err := range wins.Range {
		if err != nil || pass != "" {
			t.Fatalf("%v took it, and %s: %v", p, pass, err)
		}
		pass = p.(string)
	}
	a, err := s.HeldAttempt(ctx, pass)
	if must(t, err); a.Key != "k" || a.Task != task || a.Start != "abc" || a.Credits != 100 || a.Spent != 10 {
		t.Errorf("held: %+v", a)
	}

	must(t, s.ReportTurn(ctx, pass, 1, []byte("one")))
	must(t, s.ReportTurn(ctx, pass, 1, []byte("again")))
	if err := s.ReportTurn(ctx, pass, 2, []byte("two")); err == nil {
		t.Error("the second turn came before the first was taken")
	}
	w, err := s.WatchAttempt(ctx, "k", "o")
	must(t, err)
	if d := cmp.Diff(store.RunnerWatch{State: store.RunnerRunning, Runner: "mill", Claims: 1, Number: 1,
		Report: []byte("one"), Spent: 10}, w); d != "" {
		t.Error(d)
	}
	must(t, s.TakeReport(ctx, "k", "o", 1))
	must(t, s.ReportTurn(ctx, pass, 1, []byte("late")))
	if n, err := s.TakenTurns(ctx, pass); err != nil || n != 1 {
		t.Errorf("taken: %d, %v", n, err)
	}
	if w, err := s.WatchAttempt(ctx, "k", "o"); err != nil || w.Report != nil {
		t.Errorf("what was taken is there again: %+v, %v", w, err)
	}

	for i, want := range []bool{true, false, true, false} { // 50 of 90; 50 of 40; 40 of 40; the fourth
		most := []sia.Credits{50, 50, 40, 0}[i]
		if ok, err := s.ReserveCall(ctx, pass, most); err != nil || ok != want {
			t.Errorf("call %d: %v, %v", i+1, ok, err)
		}
		if i == 2 {
			ok, err := s.ReserveCall(ctx, pass, 0)
			if must(t, err); !ok {
				t.Error("a third call that costs nothing is refused")
			}
		}
	}
	must(t, s.SettleCall(ctx, "k", 50, 5))
	must(t, s.RefuseCall(ctx, pass, "all is spent"))
	if stop, err := s.RenewAttempt(ctx, pass, time.Hour); err != nil || stop {
		t.Errorf("renewed: %v, %v", stop, err)
	}
	must(t, s.StopAttempt(ctx, "k", "o"))
	if stop, err := s.RenewAttempt(ctx, pass, time.Hour); err != nil || !stop {
		t.Errorf("stopped: %v, %v", stop, err)
	}

	must(t, s.AskAboutChange(ctx, pass, []byte("change"), []byte("its pack")))
	_, answered, err := s.ChangeAnswer(ctx, pass)
	if w, werr := s.WatchAttempt(ctx, "k", "o"); err != nil || werr != nil || !w.Asks || answered {
		t.Errorf("asked: %+v, %v, answered %v, %v", w, werr, answered, err)
	}
	must(t, s.AnswerAboutChange(ctx, "k", "another", []byte("no owner's")))
	must(t, s.AnswerAboutChange(ctx, "k", "o", []byte("a secret")))
	answer, answered, err := s.ChangeAnswer(ctx, pass)
	if w, werr := s.WatchAttempt(ctx, "k", "o"); err != nil || werr != nil || w.Asks || string(answer) != "a secret" ||
		!answered {
		t.Errorf("answered: %+v, %v, %q, %v", w, werr, answer, err)
	}

	must(t, s.FinishAttempt(ctx, pass, []byte("result"), []byte("pack")))
	must(t, s.AnswerAboutChange(ctx, "k", "o", []byte("late")))
	gone(t, "finished twice", s.FinishAttempt(ctx, pass, []byte("other"), nil))
	offer(t, s, task, "k", "o2") // its server was lost: the result is kept
	_, err = s.CloseAttempt(ctx, "k", "o")
	gone(t, "closed by the owner before", err)
	w, err = s.WatchAttempt(ctx, "k", "o2")
	if must(t, err); w.State != store.RunnerDone || w.Spent != 55 || w.Runner != "mill" {
		t.Errorf("offered again: %+v", w)
	}
	result, pack, err := s.AttemptResult(ctx, "k", "o2")
	if must(t, err); string(result) != "result" || string(pack) != "pack" {
		t.Errorf("result %q, pack %q", result, pack)
	}
	if spent, err := s.CloseAttempt(ctx, "k", "o2"); err != nil || spent != 55 {
		t.Errorf("closed: %d spent, %v", spent, err)
	}
	_, err = s.WatchAttempt(ctx, "k", "o2")
	gone(t, "closed", err)
}

// A runner that releases its attempt is not counted as lost.
func testRunnerReleases(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h"))
	offer(t, s, begin(t, s, 42), "k", "o")
	for n, lost := range []bool{false, true, false, false, true} {
		pass := fmt.Sprint("p", n)
		_, found, err := s.ClaimAttempt(ctx, "mill", pass, true, false, time.Hour)
		if must(t, err); !found {
			t.Fatalf("runner %d was offered nothing", n)
		}
		if w, err := s.WatchAttempt(ctx, "k", "o"); err != nil || w.Asks {
			t.Errorf("runner %d asks about the change of the one before: %+v, %v", n, w, err)
		}
		must(t, s.AskAboutChange(ctx, pass, []byte("change"), []byte("pack")))
		if work, err := s.AttemptWork(ctx, pass); err != nil || string(work) != "work of o" {
			t.Errorf("runner %d was given %q, %v", n, work, err)
		}
		must(t, s.ReleaseAttempt(ctx, pass, lost))
		want := []int{0, 1, 1, 1, 2}[n]
		if w, err := s.WatchAttempt(ctx, "k", "o"); err != nil || !w.Lost || w.Claims != want {
			t.Errorf("after runner %d: %+v, %v; %d runners were lost", n, w, err, want)
		}
		must(t, s.ReofferAttempt(ctx, "k", "o", []byte("work of o")))
	}
}

// A runner without heartbeats for the length of a lease, and one that released its attempt, can't report any more. The
// next one gets the input from the owner, with the credits spent.
func testRunnerLost(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h"))
	task := begin(t, s, 42)
	offer(t, s, task, "k", "o")
	take := func(pass string, lease time.Duration, work string) {
		t.Helper()
		a, found, err := s.ClaimAttempt(ctx, "mill", pass, true, false, lease)
		if must(t, err); !found || string(a.Work) != work {
			t.Fatalf("took %v: %q", found, a.Work)
		}
	}
	take("p1", time.Hour, "work of o")
	must(t, s.ReportTurn(ctx, "p1", 1, []byte("lost")))
	must(t, s.ReleaseAttempt(ctx, "p1", true))
	late := func(pass string) {
		t.Helper()
		_, err := s.RenewAttempt(ctx, pass, time.Hour)
		gone(t, "renewed", err)
		gone(t, "reported", s.ReportTurn(ctx, pass, 2, []byte("late")))
		gone(t, "finished", s.FinishAttempt(ctx, pass, []byte("late"), nil))
		if ok, err := s.ReserveCall(ctx, pass, 0); err != nil || ok {
			t.Errorf("a call of a late runner: %v, %v", ok, err)
		}
		_, err = s.HeldAttempt(ctx, pass)
		gone(t, "held", err)
		_, err = s.AttemptWork(ctx, pass)
		gone(t, "asked for its work", err)
		gone(t, "given back", s.ReleaseAttempt(ctx, pass, false))
	}
	late("p1")
	if w, err := s.WatchAttempt(ctx, "k", "o"); err != nil || !w.Lost {
		t.Errorf("given back: %+v, %v", w, err)
	}
	must(t, s.ReofferAttempt(ctx, "k", "o", []byte("more work")))
	late("p1")
	take("p2", 0, "more work")
	late("p2")
	w, err := s.WatchAttempt(ctx, "k", "o")
	if must(t, err); !w.Lost || w.Claims != 2 || w.Report != nil {
		t.Errorf("after a lease that has ended: %+v", w)
	}
	must(t, s.ReofferAttempt(ctx, "k", "o", []byte("more work")))
	take("p3", time.Hour, "more work")
	offer(t, s, task, "k", "o2") // another server took the attempt over
	late("p3")
	gone(t, "the owner before", s.TakeReport(ctx, "k", "o", 1))
	take("p4", time.Hour, "work of o2")
	all, err := s.RunnerStandings(ctx)
	if must(t, err); len(all) != 1 || all[0].State != store.RunnerRunning || all[0].Task != task {
		t.Errorf("standings: %+v", all)
	}
	must(t, s.PruneRunnerAttempts(ctx)) // its effect does not exist
	if all, err := s.RunnerStandings(ctx); err != nil || len(all) != 0 {
		t.Errorf("after pruning: %+v, %v", all, err)
	}
}

// Tests are given to runners that can run them, before attempts, and to no other; also when they are offered again.
// They are kept as long as their effect is pending.
func testRunnerTests(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, s.AddRunner(ctx, "mill", "h"))
	task := begin(t, s, 42)
	pending, err := s.Effects(ctx, task)
	if must(t, err); len(pending) == 0 {
		t.Fatal("the task has no effect")
	}
	can := func(want bool) {
		t.Helper()
		if got, err := s.HasTestRunner(ctx); err != nil || got != want {
			t.Errorf("a runner can run tests: %v, %v", got, err)
		}
	}
	can(false)
	must(t, s.MarkRunnerSeen(ctx, "mill", "v1", true))
	can(true)
	must(t, s.MarkRunnerSeen(ctx, "mill", "v1", false))
	can(false)
	must(t, s.MarkRunnerSeen(ctx, "mill", "v1", true))
	s.clock.reach(s.clock.now().Add(59 * time.Minute))
	can(true)
	s.clock.reach(s.clock.now().Add(time.Minute))
	can(false) // it is away
	offer(t, s, task, "k", "o")
	tests := store.RunnerAttempt{Key: pending[0].Key + " x", TestsOf: pending[0].Key, Task: task, Owner: "o",
		Start: "abc", Work: []byte("tests")}
	must(t, s.OfferAttempt(ctx, tests))
	all, err := s.RunnerStandings(ctx)
	if must(t, err); len(all) != 2 || !all[1].Tests || !all[1].Waits() || all[0].Tests || !all[0].Waits() {
		t.Errorf("standings: %+v", all)
	}
	take := func(pass string, attempts, tests bool, want string) {
		t.Helper()
		a, found, err := s.ClaimAttempt(ctx, "mill", pass, attempts, tests, time.Hour)
		if must(t, err); found != (want != "") || a.Key != want {
			t.Errorf("%s was given %q", pass, a.Key)
		}
	}
	take("p1", true, true, tests.Key)
	take("p0", false, true, "") // only the attempt waits
	must(t, s.ReleaseAttempt(ctx, "p1", true))
	must(t, s.ReofferAttempt(ctx, tests.Key, "o", tests.Work))
	take("p2", true, false, "k")
	take("p3", true, false, "")
	must(t, s.PruneRunnerAttempts(ctx)) // the effect of k does not exist
	take("p4", false, true, tests.Key)
	if a, err := s.HeldAttempt(ctx, "p4"); err != nil || a.TestsOf != tests.TestsOf {
		t.Errorf("held: %+v, %v", a, err)
	}
	must(t, s.FinishAttempt(ctx, "p4", []byte("result"), nil))
	tests.Owner = "o2"
	must(t, s.OfferAttempt(ctx, tests))
	if w, err := s.WatchAttempt(ctx, tests.Key, "o2"); err != nil || w.State != store.RunnerDone {
		t.Errorf("offered by another server: %+v, %v", w, err)
	}
	take("p5", true, true, "")
}
