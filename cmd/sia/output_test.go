package main

import (
	"io"
	"testing"
)

// withoutOutput are the commands that print nothing that a program would read otherwise, each with
// the reason.
var withoutOutput = map[string]string{
	"serve":        "it logs, and --log-json is for programs",
	"demo":         "it tells a story",
	"help":         "it is for people",
	"runner start": "it logs as serve does",
	"runner pods":  "it logs as serve does",
}

// Every command that prints something prints it for programs, too.
func TestEveryCommandHasJSON(t *testing.T) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		has := false
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				has = has || flag.Name == "output" && flag.Enum == "text,json"
			}
		}
		if why, excepted := withoutOutput[command.Path()]; has == excepted {
			t.Errorf("sia %s has --output: %v; excepted because: %q", command.Path(), has, why)
		}
	}
}
