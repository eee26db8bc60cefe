package store

import (
	"fmt"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A log of an older version, in which questions and their answers are events, replays, and goes on.
func TestLogsWithEventsThatChangedNothing(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	apply := func(e sia.Event) sia.Result {
		t.Helper()
		res, err := s.Apply(ctx, "9-3", e)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	mallory := sia.Actor{Login: "mallory", ID: 6}
	ask := func(n int) sia.Event {
		return sia.Event{ID: fmt.Sprintf("comment/%d", n), By: mallory, Fact: sia.Query{Topic: "status"},
			Origin: sia.Origin{OnIssue: 3, Comment: int64(n), Command: true}}
	}
	apply(sia.Event{ID: "start", By: mallory, Fact: sia.Start{Repo: sia.Repo{ID: 9}, Issue: 3, Title: "t"}})
	s.step = sia.Replay // as versions before did
	for n := range 5 {
		for _, f := range apply(ask(n)).Effects {
			apply(sia.Event{ID: f.Key, Effect: f.Key, Fact: sia.Done{}})
		}
	}
	s.step = sia.Step
	apply(ask(6))
	apply(sia.Event{ID: "pause", By: mallory, Fact: sia.PauseAsked{Reason: "lunch"}})
	task, err := s.Replay(ctx, "9-3")
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.Events(ctx, "9-3")
	if err != nil || len(events) != 12 || task.State != sia.OnHold || int(task.Version) != len(events) {
		t.Errorf("%d events, %s, version %d, %v", len(events), task.State, task.Version, err)
	}
}
