package work

import (
	"context"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/technique"
)

// nobody stands for what a constructor only has to be given.
type nobody struct{ agent.Agent }

func (nobody) At(context.Context, int64, sia.Repo, string) (sia.InForce, error) {
	return sia.InForce{}, nil
}
func (nobody) Issue(context.Context, sia.Task) (github.Issue, error) { return github.Issue{}, nil }
func (nobody) Choose(sia.Task, sia.Effect, diagnose.Choice) (diagnose.Chosen, error) {
	return diagnose.Chosen{}, nil
}
func (nobody) Candidates(*technique.Library, sia.Task, sia.Pattern) []sia.Candidate { return nil }
func (nobody) Observe(context.Context, sia.Task) error                              { return nil }
func (nobody) FromTask(context.Context, sia.Task, []string, func(context.Context) ([]string, error)) error {
	return nil
}
func (nobody) ForAttempt(context.Context, sia.Task, sia.Settings) (told, withheld []lesson.Lesson, err error) {
	return nil, nil, nil
}
func (nobody) ForDiagnosis(context.Context, sia.Task) ([]string, error) { return nil, nil }
func (nobody) TakeShared(context.Context, int64) error                  { return nil }
func (nobody) Commit(context.Context, sia.Task) (sia.MemoryCommitted, error) {
	return sia.MemoryCommitted{}, nil
}
func (nobody) Read(context.Context, int64, sia.Repo, string, sia.Actor) (string, error) {
	return "", nil
}
func (nobody) Techniques(context.Context, sia.Task) (*technique.Library, string, error) {
	return nil, "", nil
}
func (nobody) CancelEffect(context.Context, string) error { return nil }

// A worker is not made without anything that it needs: least of all without what masks secrets.
func TestNewWantsEverything(t *testing.T) {
	whole := Deps{
		Store: &store.Store{}, GitHub: &github.App{}, Git: &gitops.Cache{},
		Coders:    Coders{Builtin: nobody{}, Tools: []string{"read"}, Commands: &agent.CommandAgents{}},
		Diagnoser: &diagnose.Diagnoser{}, Reviewer: &diagnose.Reviewer{},
		Settings: nobody{}, Looker: nobody{}, Chooser: nobody{}, Lessons: nobody{}, Memory: nobody{}, Canceller: nobody{},
		Links: render.Links{Host: "https://github.com"}, Secrets: &secret.Masker{},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	if _, err := New(whole); err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Deps]()) {
		d := whole
		reflect.ValueOf(&d).Elem().FieldByIndex(field.Index).SetZero()
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), field.Name) {
			t.Errorf("without %s: %v", field.Name, err)
		}
	}
}

// Every kind of effect is carried out by the worker, and nothing else is.
func TestEveryEffectHasAHandler(t *testing.T) {
	handlers := (&Worker{}).handlers()
	for _, kind := range sia.EffectKinds() {
		if handlers[kind] == nil {
			t.Errorf("nothing carries out %s", kind)
		}
	}
	if got, want := len(handlers), len(sia.EffectKinds()); got != want {
		t.Errorf("%d handlers for %d kinds of effect", got, want)
	}
}
