package main

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/sim/scripted"
)

// story starts a model that plays a script, at $MODEL_URL.
func story(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join("testdata", "models", args[0]))
	ts.Check(err)
	script, err := scripted.Parse(text)
	ts.Check(err)
	srv, err := scripted.Start(script, scripted.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(srv.Close()) })
	ts.Setenv("MODEL_URL", srv.URL)
}
