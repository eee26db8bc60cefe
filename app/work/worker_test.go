package work

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/secret"
)

// A worker is not made without anything that it needs: least of all without what masks secrets.
func TestNewWantsEverything(t *testing.T) {
	whole := Deps{
		Store: &store.Store{}, GitHub: &github.App{}, Git: &gitops.Cache{},
		Coders:    Coders{All: []Coder{{}}, Tools: []string{"read"}},
		Diagnoser: &diagnose.Diagnoser{}, Reviewer: &diagnose.Reviewer{}, Checker: &agent.Commands{},
		Evidence: &evidence.Looker{},
		// what a constructor only has to be given
		Settings: struct{ Settings }{}, Looker: struct{ Looker }{}, Chooser: struct{ Chooser }{},
		Decider: struct{ Decider }{}, Lessons: struct{ Lessons }{}, Memory: struct{ Memory }{},
		Canceller: struct{ Canceller }{}, Links: render.Links{Host: "https://github.com"}, Secrets: &secret.Masker{},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, BeforeTests: func(string) {},
	}
	if _, err := New(whole); err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Deps]()) {
		if field.Type.Kind() == reflect.Bool {
			continue // false says something, too
		}
		if field.Name == "Elsewhere" {
			continue // attempts are made here
		}
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
