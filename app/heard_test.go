package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// A command that its author adds to a comment by an edit is executed at once, also a corrected one, and a later read of
// the issue finds nothing new in it.
func TestEditedComment(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	plain, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "Please wait.")
	check(t, err)
	typo, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia paus")
	check(t, err)
	s.Quiet()
	check(t, s.Sim.EditComment(apptest.Repo, plain, apptest.Owner, "/sia pause"))
	s.Quiet()
	if state := s.Task(n).State; state != sia.OnHold {
		t.Fatalf("after a comment became /sia pause, it is %s", state)
	}
	check(t, s.Sim.EditComment(apptest.Repo, typo, apptest.Owner, "/sia stop"))
	s.Go()
	s.Settle()
	s.Periodic("look")
	s.Settle()
	if state := s.Task(n).State; state != sia.Stopped {
		t.Errorf("after a typo became /sia stop, it is %s", state)
	}
	events, err := s.App.Store.Events(context.Background(), s.Task(n).ID)
	check(t, err)
	pauses := 0
	for _, e := range events {
		if e.Event.Fact.Kind() == sia.KPause {
			pauses++
		}
	}
	if pauses != 1 {
		t.Errorf("it was paused %d times, want 1", pauses)
	}
}

// An edit of the issue during an attempt is noticed at once.
func TestEditedIssue(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	check(t, s.Sim.EditIssueBody(apptest.Repo, n, apptest.Owner, "Put a friendly greeting into `hello.txt`."))
	s.Quiet()
	if text := said(t, s, n); !strings.Contains(text, "**Edited** by `ada`") {
		t.Errorf("SIA said:\n%s", text)
	}
	s.Go()
	s.Settle()
	if text := said(t, s, n); s.Task(n).State != sia.Passed || !strings.Contains(text, "this may answer the text before") {
		t.Errorf("%s, SIA says:\n%s", s.Task(n).State, text)
	}
}

// Comments of another app are not commands, regardless of its permissions, until the settings name it.
func TestBotsAreIgnoredUnlessNamed(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	const bot = "helper[bot]"
	s.Sim.CreateUser(bot)
	check(t, s.Sim.SetPermission(apptest.Repo, bot, "admin"))
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.")
	check(t, err)
	for _, named := range []bool{false, true} {
		if named {
			settings := fmt.Sprintf("access: {bots: [%q]}\nchecks: {settle: 10s}\n", bot)
			push(t, s, "main", map[string]string{".sia/config.yml": settings})
		}
		check(t, second(s.Sim.Comment(apptest.Repo, n, bot, "/sia start")))
		s.Settle()
		tasks, err := s.App.Store.Tasks(t.Context(), store.Filter{Repo: repoID(t, s)})
		check(t, err)
		if started := len(tasks) == 1 && tasks[0].State == sia.Passed; started != named || said(t, s, n) != "" != named {
			t.Errorf("named %t: %d tasks; SIA said:\n%s", named, len(tasks), said(t, s, n))
		}
	}
	check(t, second(s.Sim.Comment(apptest.Repo, n, bot, "/sia accept-tests")))
	s.Settle()
	if text := said(t, s, n); !strings.Contains(text, "only from people") {
		t.Errorf("a bot accepts changes of tests; SIA said:\n%s", text)
	}
}

// A label that the settings name later is created in the repository.
func TestLabelOfLaterSettings(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	created := func() (n int) {
		s.Settle()
		for _, c := range s.Sim.Calls() {
			if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/labels") && c.Status == http.StatusCreated {
				n++
			}
		}
		return n
	}
	before := created()
	for _, more := range []int{1, 0} {
		push(t, s, "main", map[string]string{
			".sia/config.yml": fmt.Sprintf("label: fix-it\nchecks: {settle: 1%ds}\n", more)})
		now := created()
		if now != before+more {
			t.Errorf("%d labels created, want %d", now-before, more)
		}
		before = now
	}
}

// A repository unknown to SIA, because the app was installed before the server existed, is added by the first delivery
// that names it.
func TestUnknownRepository(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	check(t, s.App.Store.RemoveInstallation(context.Background(), s.Install))
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	if task := s.Task(n); task.State != sia.Passed || task.Settings.Checks.Settle.D().String() != "10s" {
		t.Errorf("%s, its checks settle in %s", task.State, task.Settings.Checks.Settle.D())
	}
	known, err := s.App.Store.Repository(context.Background(), repoID(t, s))
	if err != nil || known.String() != apptest.Repo || known.DefaultBranch != "main" {
		t.Errorf("known as %+v, %v", known, err)
	}
}
