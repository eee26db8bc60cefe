package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/flavour"
)

// Doctor reports the features that a model works without.
func TestWeakerIsSaid(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed, Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if a.Body["reasoning_effort"] == "high" {
			return 0, ""
		}
		return 400, flavour.Words("'reasoning_effort' does not support 'xhigh'. Supported values are: 'low' and 'high'.")
	}})
	t.Cleanup(s.Close)
	models := app.ModelsConfig{Coder: app.ModelConfig{Name: "big", URL: s.URL, Model: "m", Reasoning: "xhigh"}}
	e := &cli.Env{Ctx: t.Context(), Logger: slog.New(slog.DiscardHandler)}
	const want = "xhigh is refused; high is asked for"
	found := checkModels(t.Context(), app.Config{Models: models, Free: true, Dir: defaultDir()}, e)[0]
	if !found.OK || !found.Weaker || !strings.Contains(found.Detail, want) || !strings.Contains(found.Detail, "chat") {
		t.Errorf("doctor: %+v", found)
	}
}
