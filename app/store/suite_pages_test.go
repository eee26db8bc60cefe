package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// other is a repository that is not visible to viewers of demo only.
var other = sia.Repo{ID: 8, Owner: "octo", Name: "other"}

// started starts a task of a repository, some minutes after the first.
func started(t *testing.T, s *fixture, repo sia.Repo, issue, minutes int, title string) sia.TaskID {
	t.Helper()
	id := sia.NewTaskID(repo.ID, issue)
	_, err := s.Apply(patient(t), id, sia.Event{ID: "start", At: at(minutes), By: anna,
		Fact: sia.Start{Installation: 3, Repo: repo, Issue: issue, Title: title, DefaultBranch: "main"}})
	must(t, err)
	return id
}

func stopped(t *testing.T, s *fixture, id sia.TaskID, when time.Time) {
	t.Helper()
	res, err := s.Apply(patient(t), id, sia.Event{ID: "stop" + when.String(), At: when, Fact: sia.Stop{Reason: "closed"}})
	must(t, err)
	if res.Ignored != "" {
		t.Fatal(res.Ignored)
	}
}

// issues returns the issues of tasks, in their order.
func issues(tasks []sia.Task) string {
	var b strings.Builder
	for _, task := range tasks {
		fmt.Fprintf(&b, "%s#%d ", task.Repo.Name, task.Issue)
	}
	return strings.TrimSpace(b.String())
}

// Tasks are found by the search criteria, the last changed first, and only visible ones; pages neither miss a task nor
// repeat one.
func testFound(t *testing.T, s *fixture) {
	for i, title := range []string{"Send a Mail", "Print it", "mail_er", "100% sure"} {
		started(t, s, demo, i+1, i, title)
	}
	started(t, s, other, 9, 5, "Send another mail")
	stopped(t, s, sia.NewTaskID(demo.ID, 2), at(7))
	now := s.clock.now()
	for _, c := range []struct {
		v    store.Visibility
		f    store.Find
		want string
	}{
		{store.SeesAll(), store.Find{Limit: 9}, "demo#2 other#9 demo#4 demo#3 demo#1"},
		{store.SeesOnly(demo.ID), store.Find{Limit: 9}, "demo#2 demo#4 demo#3 demo#1"},
		{store.SeesOnly(other.ID, 99), store.Find{Limit: 9}, "other#9"},
		{store.SeesOnly(), store.Find{Limit: 9}, ""}, {store.Visibility{}, store.Find{Limit: 9}, ""},
		{store.SeesOnly(demo.ID), store.Find{Repo: other.ID, Limit: 9}, ""},
		{store.SeesAll(), store.Find{Repo: other.ID, Limit: 9}, "other#9"},
		{store.SeesAll(), store.Find{Text: "MAIL", Limit: 9}, "other#9 demo#3 demo#1"},
		{store.SeesAll(), store.Find{Text: "mail  SEND ", Limit: 9}, "other#9 demo#1"},
		{store.SeesAll(), store.Find{Text: "%", Limit: 9}, "demo#4"}, {store.SeesAll(), store.Find{Text: "_", Limit: 9},
			"demo#3"},
		{store.SeesAll(), store.Find{Text: "'OR1--", Limit: 9}, ""},
		{store.SeesAll(), store.Find{States: []sia.State{sia.Stopped}, Limit: 9}, "demo#2"},
		{store.SeesAll(), store.Find{States: []sia.State{sia.Stopped, sia.Queued}, Limit: 2, Skip: 1}, "other#9 demo#4"},
		{store.SeesAll(), store.Find{Technique: sia.FreshStart, Limit: 9}, ""},
		{store.SeesAll(), store.Find{From: now.Add(time.Hour), Limit: 9}, ""},
		{store.SeesAll(), store.Find{From: now.Add(-time.Hour), To: now.Add(time.Hour), Limit: 9},
			"demo#2 other#9 demo#4 demo#3 demo#1"},
		{store.SeesAll(), store.Find{Skip: 3, Limit: 9}, "demo#3 demo#1"},
		{store.SeesAll(), store.Find{Oldest: true, Skip: 1, Limit: 2}, "demo#3 demo#4"},
	} {
		got, err := s.FindTasks(patient(t), c.v, c.f)
		if err != nil || issues(got) != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.f, issues(got), err, c.want)
		}
	}
	states, err := s.CountStates(patient(t))
	if d := cmp.Diff(map[sia.State]int{sia.Queued: 4, sia.Stopped: 1}, states); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	_, err = s.Apply(patient(t), sia.NewTaskID(demo.ID, 3), sia.Event{ID: "pause", At: at(8), By: anna,
		Fact: sia.PauseAsked{}})
	must(t, err)
	for _, c := range []struct {
		v       store.Visibility
		waiting string
		going   string
	}{
		{store.SeesOnly(demo.ID), "demo#3", "demo#4 demo#1"}, {store.SeesAll(), "demo#3", "other#9 demo#4 demo#1"},
		{store.SeesOnly(other.ID), "", "other#9"}, {store.Visibility{}, "", ""},
	} {
		waiting, err := s.FindTasks(patient(t), c.v, store.Find{Temperatures: []sia.Temperature{sia.Warm}, Limit: 9})
		must(t, err)
		going, err := s.FindTasks(patient(t), c.v, store.Find{Temperatures: []sia.Temperature{sia.Hot}, Limit: 9})
		must(t, err)
		if issues(waiting) != c.waiting || issues(going) != c.going {
			t.Errorf("%s wait and %s go on; want %s and %s", issues(waiting), issues(going), c.waiting, c.going)
		}
		var want []store.OpenCount
		for _, n := range []store.OpenCount{
			{State: sia.OnHold, Temperature: sia.Warm, Tasks: len(waiting)},
			{State: sia.Queued, Temperature: sia.Hot, Tasks: len(going)},
		} {
			if n.Tasks > 0 {
				want = append(want, n)
			}
		}
		open, err := s.CountOpen(patient(t), c.v)
		slices.SortFunc(open, func(a, b store.OpenCount) int { return strings.Compare(string(a.State), string(b.State)) })
		if d := cmp.Diff(want, open); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	}
}

// A week counts the tasks that ended in it, with their final states, and the credits spent in it.
func testWeeks(t *testing.T, s *fixture) {
	w := newScript(t, s)
	w.on[sia.DoBegin] = func(ctx context.Context, task sia.Task, f sia.Effect) (sia.Fact, error) {
		begun, err := w.well(ctx, task, f)
		fact := begun.(sia.Begun)
		fact.Settings.Team = "billing"
		return fact, err
	}
	e, err := s.Start(patient(t), w.handlers(), quick())
	must(t, err)
	passed := begin(t, s, 42)
	settle(t, s, e, passed, sia.Passed)
	must(t, e.Idle(patient(t)))
	stop(t, e) // continues with the following tasks
	until := s.clock.now().Add(time.Hour)
	a, b, c := started(t, s, demo, 1, 1, "a"), started(t, s, demo, 2, 1, "b"), started(t, s, other, 3, 1, "c")
	stopped(t, s, a, until.AddDate(0, 0, -8))
	stopped(t, s, b, until.Add(-time.Minute))
	stopped(t, s, c, until.Add(-time.Minute))
	if _, err := s.Apply(patient(t), b, sia.Event{ID: "again", At: until.Add(-time.Second), By: anna, Fact: sia.Start{
		Installation: 3, Repo: demo, Issue: 2, Title: "b", DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	stopped(t, s, b, until.Add(-time.Millisecond))
	rebuilt := sia.Task{ID: sia.NewTaskID(demo.ID, 77), Repo: demo, Issue: 77, State: sia.Passed}
	_, err = s.Apply(patient(t), rebuilt.ID, sia.Event{ID: "r", At: until.Add(-time.Minute),
		Fact: sia.Restored{Task: rebuilt}})
	must(t, err)
	got, err := s.Weeks(patient(t), store.SeesOnly(demo.ID), until, 3)
	must(t, err)
	want := []store.Week{{}, {Stopped: 1}, {Passed: 1, Stopped: 1, Spent: 3 * sia.Credit}}
	for i := range want {
		want[i].From = until.AddDate(0, 0, -7*(3-i))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// Forecasts use the tasks that ended after an attempt, and were not rebuilt.
	ended, err := s.EndedTasks(patient(t), 3, 10)
	if err != nil || len(ended) != 1 || ended[0].Repo != demo.ID || ended[0].Cost != 3*sia.Credit || !ended[0].Passed ||
		ended[0].Title == "" || ended[0].Took < 0 {
		t.Errorf("tasks that ended: %+v, %v", ended, err)
	}
	if none, err := s.EndedTasks(patient(t), 4, 10); err != nil || len(none) != 0 {
		t.Errorf("of another installation: %+v, %v", none, err)
	}
	if none, err := s.Weeks(patient(t), store.Visibility{}, until, 1); err != nil || none[0].Passed+none[0].Stopped != 0 ||
		none[0].Spent != 0 {
		t.Errorf("who sees nothing sees %+v, %v", none, err)
	}
	costs, err := s.Costs(patient(t), store.SeesAll(), until.AddDate(0, 0, -2), until.AddDate(0, 0, -1), until)
	if d := cmp.Diff([]store.Cost{{Repo: demo.ID, Period: 1, Spent: 3 * sia.Credit}}, costs); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if costs, err := s.Costs(patient(t), store.SeesOnly(other.ID), until.AddDate(0, 0, -1), until); err != nil ||
		len(costs) > 0 {
		t.Errorf("costs of what is out of sight: %+v, %v", costs, err)
	}
	teams, err := s.TeamCosts(patient(t), store.SeesAll(), until.AddDate(0, 0, -2), until.AddDate(0, 0, -1), until)
	if d := cmp.Diff([]store.TeamCost{{Team: "billing", Period: 1, Spent: 3 * sia.Credit}}, teams); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if teams, err := s.TeamCosts(patient(t), store.SeesOnly(other.ID), until.AddDate(0, 0, -1), until); err != nil ||
		len(teams) > 0 {
		t.Errorf("teams that are out of sight: %+v, %v", teams, err)
	}
}

// The pulse changes exactly when something visible changes.
func testPulse(t *testing.T, s *fixture) {
	pulse := func(v store.Visibility, id sia.TaskID) string {
		t.Helper()
		p, err := s.Pulse(patient(t), v, id)
		must(t, err)
		return p
	}
	mine := store.SeesOnly(demo.ID)
	if p := pulse(mine, ""); p != "" {
		t.Errorf("the pulse of nothing is %q", p)
	}
	id := started(t, s, demo, 1, 1, "a")
	all, one := pulse(mine, ""), pulse(mine, id)
	theirs := started(t, s, other, 2, 2, "b")
	if pulse(mine, "") != all || pulse(mine, id) != one {
		t.Error("it beats for what is out of sight")
	}
	must(t, s.AppendTurn(patient(t), id, 1, 0, 1, []byte(`{}`)))
	if pulse(mine, id) == one {
		t.Error("it does not beat for a turn of an attempt")
	}
	one = pulse(mine, id)
	stopped(t, s, id, at(3))
	if pulse(mine, "") == all || pulse(mine, id) == one {
		t.Error("it does not beat for a task that ends")
	}
	all = pulse(mine, "")
	x := store.Experiment{ID: "theirs", Place: other, Phase: store.ExperimentProposed, CreatedAt: at(4)}
	must(t, s.SaveExperiment(patient(t), x, "proposed"))
	if pulse(mine, "") != all {
		t.Error("it beats for a change of a policy that is out of sight")
	}
	x.ID, x.Place = "mine", demo
	for _, what := range []string{"proposed", ""} { // then SIA asks about it
		must(t, s.SaveExperiment(patient(t), x, what))
		if pulse(mine, "") == all {
			t.Errorf("it does not beat for a change of a policy: %+v", x)
		}
		all, x.Comment = pulse(mine, ""), 5
	}
	for _, id := range []sia.TaskID{theirs, "no"} {
		if _, err := s.Pulse(patient(t), mine, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the pulse of %s: %v", id, err)
		}
	}
}

// Tallies count the visible outcomes, of one repository or of all.
func testTallies(t *testing.T, s *fixture) {
	ctx := patient(t)
	record := func(repo sia.Repo, issue int, technique sia.TechniqueID, resolved bool, day int) {
		t.Helper()
		id := sia.NewTaskID(repo.ID, issue)
		_, err := s.RecordOutcome(ctx, store.Outcome{Task: id, Intervention: 1, Repo: repo, Pattern: "p",
			Technique: technique,
			Resolved:  resolved, At: at(0).AddDate(0, 0, day)})
		must(t, err)
		kind := "bug"
		if technique == "y" {
			kind = "docs"
		}
		must(t, s.RecordCoderOutcome(ctx, store.CoderOutcome{Task: id, Attempt: 1, Repo: repo.ID, Kind: kind, Coder: "fast",
			Cost: 10, Resolved: resolved, At: at(0)}))
	}
	record(demo, 1, "x", true, 0)
	record(demo, 2, "x", false, 9)
	record(demo, 3, "y", true, 9)
	record(other, 4, "z", false, 9)
	mine := store.SeesOnly(demo.ID)
	techniques, err := s.TechniqueTallies(ctx, mine, 0)
	if d := cmp.Diff([]store.Tally{{Name: "x", Tried: 2, Resolved: 1}, {Name: "y", Tried: 1, Resolved: 1}},
		techniques); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	coders, err := s.CoderTallies(ctx, store.SeesAll(), other.ID)
	if d := cmp.Diff([]store.Tally{{Name: "fast", Tried: 1, Cost: 10}}, coders); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	kinds, err := s.CoderKindTallies(ctx, mine, 0)
	if d := cmp.Diff([]store.Tally{{Name: "fast", Kind: "bug", Tried: 2, Resolved: 1, Cost: 20},
		{Name: "fast", Kind: "docs", Tried: 1, Resolved: 1, Cost: 10}}, kinds); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	patterns, err := s.PatternTallies(ctx, mine, 0, at(0).AddDate(0, 0, 5))
	want := []store.PatternTally{{Pattern: "p", Lately: 2, Before: 1, Resolved: 2, Best: "y", BestOf: 1, BestDid: 1}}
	if d := cmp.Diff(want, patterns); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if hidden, err := s.TechniqueTallies(ctx, mine, other.ID); err != nil || len(hidden) > 0 {
		t.Errorf("what is out of sight: %+v, %v", hidden, err)
	}
}
