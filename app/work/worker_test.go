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

// New fails without any of the dependencies, in particular the masker of secrets.
func TestNewWantsEverything(t *testing.T) {
	whole := Deps{
		Store: &store.Store{}, GitHub: &github.App{}, Git: &gitops.Cache{},
		Coders:    Coders{All: []Coder{{}}, Tools: []string{"read"}},
		Diagnoser: &diagnose.Diagnoser{}, Reviewer: &diagnose.Reviewer{}, Checker: &agent.Commands{},
		Evidence: &evidence.Looker{},
		// required by the constructor
		Settings: struct{ Settings }{}, Looker: struct{ Looker }{}, Chooser: struct{ Chooser }{},
		Decider: struct{ Decider }{}, Lessons: struct{ Lessons }{}, Memory: struct{ Memory }{},
		Canceller: struct{ Canceller }{}, Links: render.Links{Host: "https://github.com"}, Secrets: &secret.Masker{},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, BeforeTests: func(string) {},
		Findings: func(string) []string { return nil },
	}
	if _, err := New(whole); err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Deps]()) {
		if field.Type.Kind() == reflect.Bool {
			continue // false is a valid value
		}
		if field.Name == "Remote" {
			continue // optional
		}
		d := whole
		reflect.ValueOf(&d).Elem().FieldByIndex(field.Index).SetZero()
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), field.Name) {
			t.Errorf("without %s: %v", field.Name, err)
		}
	}
}

// The worker executes exactly the known kinds of effects.
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
