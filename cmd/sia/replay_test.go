package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/agent/llm/scripted"
)

// scriptedModel starts a model that writes the file of the first argument over the second, and finishes. Its
// address is $SIA_MODEL_URL.
func scriptedModel(ts *testscript.TestScript, _ bool, args []string) {
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	turns := []scripted.Answer{
		call("write", map[string]any{"path": args[1], "content": ts.ReadFile(args[0])}),
		call("finish", map[string]any{"summary": "Done."}),
	}
	srv, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Name: "coder", Repeat: true, Turns: turns}}},
		scripted.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(srv.Close()) })
	ts.Setenv("SIA_MODEL_URL", srv.URL)
	ts.Setenv("SIA_MODEL", "scripted")
}
