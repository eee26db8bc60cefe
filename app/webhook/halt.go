package webhook

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// halt obeys a command that concerns everything in a repository, and gives the answer to
// it; ok is false when the intent is no such command. A comment that was obeyed before,
// and that a look at its issue finds again, gives the zero answer.
func (in *Intake) halt(ctx context.Context, intent sia.Intent) (answer sia.Query, ok bool, err error) {
	e := intent.Event
	var obey func() (text string, done bool, err error)
	switch f := e.Fact.(type) {
	case sia.PauseAsked:
		obey = func() (string, bool, error) { return in.haltAll(ctx, e, f) }
		ok = f.Scope != ""
	case sia.Resume:
		obey = func() (string, bool, error) { return in.liftAll(ctx, intent, f) }
		ok = f.Scope != ""
	}
	if !ok {
		return answer, false, nil
	}
	key := "halt/" + e.ID
	if _, err = in.Store.Heard(ctx, intent.Repo.ID, key); !errors.Is(err, store.ErrNotFound) {
		return answer, true, err
	}
	text, done, err := obey()
	if err != nil {
		return answer, true, err
	}
	return sia.Query{Topic: "say", Text: text, Obeyed: done}, true, in.Store.SaveHeard(ctx, store.Heard{
		Repo: intent.Repo.ID, Event: key, Issue: e.Origin.OnIssue, Login: e.By.Login, At: in.Now(),
	})
}

func (in *Intake) haltAll(ctx context.Context, e sia.Event, f sia.PauseAsked) (string, bool, error) {
	tasks, err := in.Store.Halt(ctx, store.Halt{Scope: f.Scope, By: e.By.Login, Reason: f.Reason, At: in.Now()})
	return render.Halted(tasks), true, err
}

func (in *Intake) liftAll(ctx context.Context, intent sia.Intent, f sia.Resume) (string, bool, error) {
	tasks, known, err := in.Store.Lift(ctx, f.Scope, intent.Event.By.Login, in.Now())
	if err != nil {
		return "", false, err
	}
	left, halted, err := in.Store.HaltOver(ctx, intent.Installation, intent.Repo.ID)
	if err != nil || halted {
		return render.StillHalted(left.Reason, left.Scope), false, err
	}
	return render.Lifted(tasks, known), known, nil
}
