package main

import (
	"net/http"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sia-bot/sia/sim/scripted"
)

// scriptedModel starts a model that writes the first file over the second, and finishes. Its address is $SIA_MODEL_URL.
// With a third and a fourth argument it does so only if its prompt matches the fourth, a regular expression; otherwise
// it writes the third file. With "-" as a file, the model refuses to answer.
func scriptedModel(ts *testscript.TestScript, _ bool, args []string) {
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	writes := func(name, file, user string) scripted.Rule {
		r := scripted.Rule{Name: name, User: user, Repeat: true}
		if file == "-" {
			r.Turns = []scripted.Answer{{Fault: &scripted.Fault{Status: http.StatusUnauthorized}}}
			return r
		}
		r.Turns = []scripted.Answer{
			call("write", map[string]any{"path": args[1], "content": ts.ReadFile(file)}),
			call("finish", map[string]any{"summary": "Done."}),
		}
		return r
	}
	rules := []scripted.Rule{writes("coder", args[0], "")}
	if len(args) > 2 {
		rules = []scripted.Rule{writes("told", args[0], args[3]), writes("untold", args[2], "")}
	}
	srv, err := scripted.Start(scripted.Script{Rules: rules}, scripted.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(srv.Close()) })
	ts.Setenv("SIA_MODEL_URL", srv.URL)
	ts.Setenv("SIA_MODEL", "scripted")
}
