package main

import (
	"io"
	"testing"
)

// A server proposes settings to new repositories unless a flag or the environment disables it.
func TestWelcomeFlag(t *testing.T) {
	for _, c := range []struct {
		env  string
		args []string
		want bool
	}{
		{"", nil, true}, {"", []string{"--no-welcome"}, false}, {"false", nil, false}, {"true", nil, true},
		{"false", []string{"--welcome"}, true},
	} {
		if c.env != "" {
			t.Setenv("SIA_WELCOME", c.env)
		}
		var line commandLine
		parser, err := newParser(&line, io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(append([]string{"serve"}, c.args...)); err != nil {
			t.Fatal(err)
		}
		got, err := line.Serve.config()
		if err != nil || got.Welcome != c.want {
			t.Errorf("SIA_WELCOME=%s sia serve %v: %t, %v", c.env, c.args, got.Welcome, err)
		}
	}
}
