package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// A pause is shown on the first page and on each included task, to those who see its repositories.
func TestPagesSayWhatIsPaused(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	for _, halt := range []store.Halt{
		{Scope: sia.RepositoryHalt(bookings.ID), By: "ada", Reason: "everything in this repository is paused: @ada said so"},
		{Scope: sia.RepositoryHalt(vault.ID), Reason: "the vault is shut"}} {
		_, err := s.Halt(t.Context(), halt)
		ok(t, err)
	}
	words := "Everything in this repository is paused: @ada said so. `/sia resume all`"
	passed := "GET /tasks/" + string(sia.NewTaskID(bookings.ID, 5))
	for address, want := range map[string]string{
		"GET /":                 bookings.String() + ": " + words,
		"GET /?format=json":     "Everything in this repository is paused",
		passed:                  words,
		passed + "?format=json": `"halted":"Everything in this repository is paused`,
	} {
		if _, body := ask(t, h, member(), address, ""); !strings.Contains(body, want) || strings.Contains(body, "vault") {
			t.Errorf("%s: no %q, or what is another's:\n%s", address, want, body)
		}
	}
}

// A task can't be resumed while a wider pause includes it, so there is no button for that.
func TestNoResumeOfOneWhereAllIsPaused(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	id := sia.NewTaskID(bookings.ID, 6)
	for _, c := range []struct {
		fact   sia.Fact
		resume bool
	}{
		{sia.PauseAsked{Reason: "all is paused", Scope: sia.RepositoryHalt(bookings.ID)}, false},
		{sia.Resume{Scope: sia.RepositoryHalt(bookings.ID)}, false},
		{sia.PauseAsked{Reason: "ada said so"}, true},
	} {
		_, err := s.Apply(t.Context(), id, sia.Event{ID: fmt.Sprintf("%+v", c.fact), At: start.Add(time.Hour),
			By: sia.Actor{Login: "ada"}, Fact: c.fact})
		ok(t, err)
		_, body := ask(t, h, member(), "GET /tasks/"+string(id), "")
		if got := strings.Contains(body, `value="resume"`); got != c.resume {
			t.Errorf("after %+v: a button to resume: %v", c.fact, got)
		}
	}
}
