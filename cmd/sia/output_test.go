package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// withoutOutput lists the commands without output for programs, each with the reason.
var withoutOutput = map[string]string{
	"serve":        "it logs, and --log-json is for programs",
	"help":         "it is for people",
	"runner start": "it logs as serve does",
	"runner pods":  "it logs as serve does",
}

// Every command with output can print it as JSON.
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

// A command ends at once, without a message, if nobody reads its output.
func TestOutputUnread(t *testing.T) {
	for _, command := range []string{"help", "version", "demo"} {
		r, w, err := os.Pipe()
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sia", command)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = w, &said
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != cli.ExitUnread || said.Len() > 0 {
			t.Errorf("sia %s: %v, %s", command, err, &said)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
