package webhook

import (
	"context"
	"errors"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// halt obeys a command that concerns everything in a repository, and returns the answer to it. ok is false if the
// intent is no such command. A command that was obeyed before gets the same answer again.
func (in *Intake) halt(ctx context.Context, intent sia.Intent) (answer sia.Query, ok bool, err error) {
	e := intent.Event
	var apply func() (text string, done bool, err error)
	switch f := e.Fact.(type) {
	case sia.PauseAsked:
		apply = func() (string, bool, error) { return in.haltAll(ctx, e, f) }
		ok = f.Scope != ""
	case sia.Resume:
		apply = func() (string, bool, error) { return in.liftAll(ctx, intent, f) }
		ok = f.Scope != ""
	}
	if !ok {
		return answer, false, nil
	}
	key := "halt/" + e.ID
	earlier, err := in.Store.Heard(ctx, intent.Repo.ID, key)
	if err == nil { // it was obeyed but not answered; the state may have changed since
		return sia.Query{Topic: "say", Text: earlier.Answer, Obeyed: true}, true, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return answer, true, err
	}
	text, done, err := apply()
	if err != nil {
		return answer, true, err
	}
	answer = sia.Query{Topic: "say", Text: text, Obeyed: done}
	if !done {
		return answer, true, nil
	}
	return answer, true, in.Store.SaveHeard(ctx, store.Heard{Repo: intent.Repo.ID, Event: key, Issue: e.Origin.OnIssue,
		Login: e.By.Login, Answer: text, At: in.Now()})
}

// operatorHalt returns the operator's halt of a scope, if by is somebody else, who can't change or lift it.
func (in *Intake) operatorHalt(
	ctx context.Context, scope sia.HaltScope, by sia.Actor,
) (h store.Halt, is bool, err error) {
	halts, err := in.Store.Halts(ctx)
	for _, h := range halts {
		if h.Scope == scope && h.Actor().Operator && !by.Operator {
			return h, true, err
		}
	}
	return h, false, err
}

func (in *Intake) haltAll(ctx context.Context, e sia.Event, f sia.PauseAsked) (string, bool, error) {
	if h, is, err := in.operatorHalt(ctx, f.Scope, e.By); err != nil || is {
		return render.HaltLine(h.Reason, h.Scope, true), false, err
	}
	tasks, err := in.Store.Halt(ctx, store.Halt{Scope: f.Scope, By: e.By.Login, Reason: f.Reason, At: in.Now()})
	return render.Halted(tasks), true, err
}

func (in *Intake) liftAll(ctx context.Context, intent sia.Intent, f sia.Resume) (string, bool, error) {
	if h, is, err := in.operatorHalt(ctx, f.Scope, intent.Event.By); err != nil || is {
		return render.StillHalted(h.Reason, h.Scope, true), false, err
	}
	tasks, known, err := in.Store.Lift(ctx, f.Scope, intent.Event.By.Login, in.Now())
	if err != nil {
		return "", false, err
	}
	left, halted, err := in.Store.HaltOver(ctx, intent.Installation, intent.Repo.ID)
	if err != nil || halted {
		return render.StillHalted(left.Reason, left.Scope, left.Actor().Operator), false, err
	}
	return render.Lifted(tasks, known), known, nil
}
