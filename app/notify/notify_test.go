package notify_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

// needs returns the titles of messages about tasks of issues.
func needs(issues ...int) (titles []string) {
	for _, i := range issues {
		titles = append(titles, fmt.Sprintf("SIA needs a person: octo/demo#%d", i))
	}
	return titles
}

// The task that has waited longest is reported, however many running tasks changed later.
func TestToldBesideOthers(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tell := r.notifier(r.chat.config())
	r.start(1, "Green, and changed tests")
	r.start(2, "Under way")
	db := storetest.Raw(t, r.url)
	for _, statement := range []string{
		`UPDATE tasks SET state = 'checking', task = replace(task, '"state":"queued"', '"state":"checking"')`,
		`UPDATE tasks SET temperature = 'warm', task = replace(task, '"state":"checking"',
			'"state":"checking","gate":{"seq":1,"awaits_person":true}') WHERE id = '7-1'`,
		`WITH RECURSIVE more(n) AS (VALUES (3) UNION ALL SELECT n + 1 FROM more WHERE n < 1010)
			INSERT INTO tasks (id, installation_id, repo_id, issue, state, temperature, title, version, task, created_at,
				updated_at)
			SELECT '7-' || n, installation_id, repo_id, n, state, temperature, title, version,
				replace(task, '"7-2"', '"7-' || n || '"'), created_at, updated_at + n FROM tasks, more WHERE id = '7-2'`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		r.check(err)
	}
	tell()
	want(t, "told", r.chat.said(), needs(1)...)
}

// Each question and each pause that a user has to lift is reported once, also after a restart; pauses by users and
// running tasks are not.
func TestToldOnce(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tell := r.notifier(r.chat.config())
	r.ask(1, "Confirm <!channel> & @here")
	r.now = r.now.Add(time.Second)
	r.apply(2, begun("Budget", "the budget of the day is used up"), r.start(2, "Budget"))
	r.start(3, "Goes on")
	r.start(4, "Paused by a person")
	r.apply(4, sia.PauseAsked{Reason: "@anna said so"}, "")
	tell()
	texts := r.chat.texts()
	if len(texts) != 2 || !strings.HasPrefix(texts[0], needs(1)[0]) || !strings.HasPrefix(texts[1], needs(2)[0]) {
		t.Fatalf("told %q", texts)
	}
	for _, bad := range []string{"<", ">", "@here", "@channel"} {
		if strings.Contains(texts[0], bad) {
			t.Errorf("%q in %s", bad, texts[0])
		}
	}
	for _, part := range []string{"Shall SIA work on this issue anyway?", "&amp;",
		"https://github.com/octo/demo/issues/1"} {
		if !strings.Contains(texts[0], part) {
			t.Errorf("no %q in %s", part, texts[0])
		}
	}
	if !strings.Contains(texts[1], "The budget of the day is used up. `/sia resume`") {
		t.Error(texts[1])
	}
	r.now = r.now.Add(time.Minute)
	tell()
	r.notifier(r.chat.config())()
	want(t, "again", r.chat.said())

	r.apply(2, sia.Resume{}, "") // another pause
	task, err := r.Task(t.Context(), sia.NewTaskID(7, 2))
	r.check(err)
	for key, kind := range task.Pending {
		if kind == sia.DoBegin {
			r.apply(2, begun("Budget", "the budget of the day is used up"), key)
		}
	}
	tell()
	want(t, "another pause", r.chat.said(), needs(2)...)
}

// A change of a policy is reported once when SIA asks about it, and once when a person has to merge it; a draft that a
// person has to mark ready, once.
func TestToldOfPoliciesAndDrafts(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	tell := r.notifier(r.chat.config())
	demo := sia.Repo{ID: 7, Owner: "octo", Name: "demo"}
	x := store.Experiment{ID: "recover-1", Installation: 3, Place: demo, Name: "recover", Change: "0.1 -> 0.3", Pull: 9,
		Phase: store.ExperimentProposed, CreatedAt: r.now}
	var saved store.ExperimentPhase
	save := func() {
		r.check(r.SaveExperiment(t.Context(), saved, x, ""))
		saved = x.Phase
		tell()
		tell()
	}
	save()
	want(t, "not asked about", r.chat.said())
	x.Comment = 5
	save()
	if texts := r.chat.texts(); len(texts) != 1 || !strings.HasPrefix(texts[0], "SIA needs a person: policy recover of "+
		"octo/demo") || !strings.Contains(texts[0], "https://github.com/octo/demo/pull/9") {
		t.Errorf("asked about: %q", texts)
	}
	x.Phase, x.Why = store.ExperimentBetter, store.ExperimentUnmerged+"a rule forbids it"
	save()
	if texts := r.chat.texts(); len(texts) != 1 || !strings.Contains(texts[0], "a rule forbids it.") {
		t.Errorf("to be merged: %q", texts)
	}
	task := sia.Task{ID: sia.NewTaskID(7, 4), Installation: 3, Repo: demo, Issue: 4, Title: "Confirm", State: sia.Passed,
		Since: r.now, Pull: sia.Pull{Number: 12, Draft: true, Refused: "the plan has no drafts"}}
	_, err := r.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: r.now, Fact: sia.Restored{Task: task}})
	r.check(err)
	save()
	want(t, "a draft", r.chat.said(), needs(4)...)
}

// A database that rejects writes, on a full disk, does not cause the same message each minute: it is recorded later.
func TestToldOnceWithoutWrites(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	c := r.chat.config()
	c.Summary = notify.Daily
	rounds := r.rounds(c)
	r.check(rounds()) // counts from now on
	r.ask(1, "Confirm")
	r.now = r.now.AddDate(0, 0, 1)
	db := storetest.Raw(t, r.url)
	for _, table := range []string{"notices", "summaries"} {
		for _, verb := range []string{"INSERT", "UPDATE"} {
			_, err := db.ExecContext(t.Context(), `CREATE TRIGGER full_`+table+verb+` BEFORE `+verb+` ON `+table+`
				BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
			r.check(err)
		}
	}
	for range 3 {
		if rounds() == nil {
			t.Error("nothing was said of the notes")
		}
		r.now = r.now.Add(time.Minute)
	}
	want(t, "told", r.chat.said(), append(needs(1), "SIA from 3 Mar 07:00 to 3 Mar 08:00 UTC")...)
	for _, trigger := range []string{"full_noticesINSERT", "full_noticesUPDATE", "full_summariesINSERT",
		"full_summariesUPDATE"} {
		_, err := db.ExecContext(t.Context(), `DROP TRIGGER `+trigger)
		r.check(err)
	}
	r.check(rounds())
	r.notifier(c)() // recorded for other processes
	want(t, "told again", r.chat.said())
}

// A grouped message that can't be recorded is not sent again when another task waits.
func TestGroupToldOnceWithoutWrites(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.flood(12)
	db := storetest.Raw(t, r.url)
	_, err := db.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE INSERT ON notices WHEN NEW.grouped = 1
		BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
	r.check(err)
	rounds := r.rounds(r.chat.config())
	var told []string
	for i := range 3 {
		if rounds() == nil {
			t.Error("nothing was said of the notes")
		}
		told = append(told, r.chat.said()...)
		r.ask(40+i, "Later")
		r.now = r.now.Add(time.Minute)
	}
	want(t, "told", told[10:], "SIA needs people: 2 more wait")
	_, err = db.ExecContext(t.Context(), `DROP TRIGGER full`)
	r.check(err)
	r.now = r.now.Add(time.Hour)
	r.check(rounds())
	r.notifier(r.chat.config())() // recorded for other processes
	want(t, "told of what came later", r.chat.said(), needs(40, 41, 42)...)
}

// A grouped message that is refused is given up after some tries, also if other tasks wait each time; those are
// reported later.
func TestRefusedGroup(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.flood(12)
	r.chat.answers(func(w http.ResponseWriter, text string) {
		if strings.HasPrefix(text, "SIA needs people") {
			http.Error(w, "invalid_payload", http.StatusBadRequest)
		}
	})
	tell := r.notifier(r.chat.config())
	var told []string
	for i := range 5 {
		tell()
		told = append(told, r.chat.said()...)
		r.ask(40+i, "Later")
		r.now = r.now.Add(5 * time.Minute)
	}
	want(t, "told", told[10:], "SIA needs people: 2 more wait", "SIA needs people: 3 more wait",
		"SIA needs people: 4 more wait")
	if n := strings.Count(r.log.String(), "given up"); n != 1 {
		t.Errorf("logged %d times: %s", n, r.log.String())
	}
	r.now = r.now.Add(time.Hour)
	tell()
	want(t, "told of what came later", r.chat.said(), needs(42, 43, 44, 41, 40)...)
}

// Tasks in a halted scope are not reported.
func TestHaltIsNotTold(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.start(1, "One")
	n, err := r.Halt(t.Context(), store.Halt{Scope: sia.ServerHalt, Reason: "everything is paused", At: r.now})
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	r.notifier(r.chat.config())()
	want(t, "of a halt", r.chat.said())
}

// However many tasks wait at once, ten messages an hour are about one each, and one is about the others.
func TestFlood(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.flood(25)
	tell := r.notifier(r.chat.config())
	tell()
	want(t, "at once", r.chat.said(), append(needs(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "SIA needs people: 15 more wait")...)
	r.ask(40, "Later")
	r.now = r.now.Add(30 * time.Minute)
	tell()
	r.notifier(r.chat.config())()
	want(t, "in the same hour", r.chat.said())
	r.now = r.now.Add(31 * time.Minute)
	tell()
	want(t, "after it", r.chat.said(), needs(40)...)
}

// A need that no longer exists is not reported, even if its message failed before.
func TestNoLongerNeeded(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.ask(1, "One")
	r.chat.answers(func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadGateway) })
	tell := r.notifier(r.chat.config())
	tell()
	want(t, "tried", r.chat.said(), needs(1)...)
	r.apply(1, sia.Stop{Reason: "@anna said so"}, "")
	r.chat.answers(nil)
	r.now = r.now.Add(2 * time.Hour)
	tell()
	want(t, "stopped", r.chat.said())
}

// A failing channel is paused, longer each time, as long as it asks for and an hour at most. The failure is logged
// once, without the address, and no message is lost.
func TestChannelFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, text string)
		waits  []time.Duration // between tries
		fix    string
	}{
		"overloaded": {func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusServiceUnavailable) },
			[]time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute}, "SIA tries again"},
		"asks to wait": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, []time.Duration{10 * time.Minute, 10 * time.Minute}, "SIA tries again"},
		"asks to wait for ever": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Retry-After", "1e300")
			w.WriteHeader(http.StatusTooManyRequests)
		}, []time.Duration{time.Hour, time.Hour}, "SIA tries again"},
		"gone": {func(w http.ResponseWriter, _ string) { http.Error(w, "no_service", http.StatusNotFound) },
			[]time.Duration{time.Minute, 2 * time.Minute}, "make a new webhook"},
		"leads elsewhere": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", path)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, []time.Duration{time.Minute}, "set SIA_NOTIFY_URL to where it leads"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t)
			r.ask(1, "One")
			r.ask(2, "Two")
			r.chat.answers(c.answer)
			tell := r.notifier(r.chat.config())
			tell()
			want(t, "first", r.chat.said(), needs(1)...)
			for _, wait := range c.waits {
				r.now = r.now.Add(wait - time.Second)
				tell()
				want(t, "too early", r.chat.said())
				r.now = r.now.Add(time.Second)
				tell()
				want(t, "after "+wait.String(), r.chat.said(), needs(1)...)
			}
			if n := strings.Count(r.log.String(), "level=WARN"); n != 1 || !strings.Contains(r.log.String(), c.fix) {
				t.Errorf("logged %d times, or without %q: %s", n, c.fix, r.log.String())
			}
			if strings.Contains(r.log.String(), path) {
				t.Errorf("the address is in the log: %s", r.log.String())
			}
			r.chat.answers(nil)
			r.now = r.now.Add(time.Hour)
			tell()
			want(t, "when it works again", r.chat.said(), needs(1, 2)...)
			if !strings.Contains(r.log.String(), "arrive again") {
				t.Error(r.log.String())
			}
		})
	}
}

// A rejected message does not block others, and is given up after some tries.
func TestRefusedMessage(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.ask(1, "poison")
	r.now = r.now.Add(time.Second)
	r.ask(2, "Two")
	r.chat.answers(func(w http.ResponseWriter, text string) {
		if strings.Contains(text, "poison") {
			http.Error(w, "invalid_payload", http.StatusBadRequest)
		}
	})
	tell := r.notifier(r.chat.config())
	for _, told := range [][]int{{1}, {2, 1}, {1}, nil, nil} {
		tell()
		want(t, "told", r.chat.said(), needs(told...)...)
		r.now = r.now.Add(time.Hour)
	}
	if n := strings.Count(r.log.String(), "given up"); n != 1 || !strings.Contains(r.log.String(), "sia notify test") {
		t.Errorf("logged %d times, or without what to do: %s", n, r.log.String())
	}
}

// A channel that refuses everything for some minutes loses no message, nor the summary.
func TestShortBlock(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	c := r.chat.config()
	c.Summary = notify.Daily
	tell := r.notifier(c)
	tell() // the period begins
	r.ask(1, "One")
	r.ask(2, "Two")
	r.now = tuesday.Add(time.Hour)
	r.chat.answers(func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadRequest) })
	for range 4 { // after 0, 1, 2 and 3 minutes
		tell()
		r.now = r.now.Add(time.Minute)
	}
	want(t, "tried", r.chat.said(), needs(1, 2, 1)...)
	r.chat.answers(nil)
	r.now = r.now.Add(time.Hour)
	tell()
	want(t, "told", r.chat.said(), append(needs(2, 1), "SIA from 3 Mar 07:00 to 3 Mar 08:00 UTC")...)
}

// A summary is sent when it is due, over the time since the last one, unless nothing happened; after a failure it is
// retried.
func TestSummary(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	c := r.chat.config()
	c.Summary = notify.Daily
	tell := r.notifier(c)
	tell() // the period begins on Tuesday at 07:00
	r.start(1, "One")
	r.now = tuesday.Add(time.Hour - time.Second)
	tell()
	want(t, "too early", r.chat.said())
	r.now = tuesday.Add(time.Hour)
	r.chat.answers(func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadGateway) })
	tell()
	want(t, "fails", r.chat.said(), "SIA from 3 Mar 07:00 to 3 Mar 08:00 UTC")
	r.chat.answers(nil)
	r.now = r.now.Add(10 * time.Minute)
	tell()
	texts := r.chat.texts()
	if len(texts) != 1 || !strings.Contains(texts[0], "octo/demo: 1 started, 0 passed, 0 stopped") {
		t.Errorf("told %q", texts)
	}
	tell()
	r.notifier(c)()
	r.now = tuesday.Add(25 * time.Hour)
	tell()
	want(t, "of a day without anything", r.chat.said())
	r.apply(1, sia.Stop{Reason: "@anna said so"}, "")
	r.now = tuesday.Add(73 * time.Hour)
	r.notifier(c)() // which was down meanwhile
	texts = r.chat.texts()
	if len(texts) != 1 || !strings.HasPrefix(texts[0], "SIA from 4 Mar 08:00 to 6 Mar 08:00 UTC\n") ||
		!strings.Contains(texts[0], "0 % (0 of 1 task") {
		t.Errorf("told %q", texts)
	}
}

// A weekly summary is sent on Mondays.
func TestWeekly(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	c := r.chat.config()
	c.Summary = notify.Weekly
	tell := r.notifier(c)
	tell()
	r.start(1, "One")
	for day := range 6 {
		r.now = tuesday.AddDate(0, 0, day).Add(time.Hour)
		if r.now.Weekday() != time.Monday {
			tell()
		}
	}
	want(t, "before Monday", r.chat.said())
	r.now = time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	tell()
	want(t, "on Monday", r.chat.said(), "SIA from 3 Mar 07:00 to 9 Mar 08:00 UTC")
}

// Without channels there is no periodic work.
func TestOff(t *testing.T) {
	channels, err := notify.Config{}.Channels(slog.New(slog.DiscardHandler), time.Now)
	if err != nil || len(channels) != 0 {
		t.Fatal(channels, err)
	}
	if table := notify.New(nil, channels, notify.Off, render.Links{}, nil, nil, time.Now).Table(); len(table) != 0 {
		t.Errorf("%d lines", len(table))
	}
}
