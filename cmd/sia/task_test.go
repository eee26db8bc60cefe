package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A task that has begun names the file whose settings hold for it.
func TestShowTaskNamesTheSettings(t *testing.T) {
	for from, want := range map[string]string{
		"acme/.github@1a2b3c4d5e6f:.sia/config.yml": "settings    acme/.github@1a2b3c4d5e6f:.sia/config.yml\n",
		"": "settings    defaults: there is no .sia/config.yml\n",
	} {
		var out bytes.Buffer
		e := &commandEnv{out: &out}
		showTask(e, sia.Task{Title: "Greet", SettingsFrom: from})
		if strings.Contains(out.String(), "settings") {
			t.Errorf("before it began:\n%s", out.String())
		}
		out.Reset()
		showTask(e, sia.Task{Title: "Greet", SettingsFrom: from, Attempts: []sia.Attempt{{Number: 1}}})
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}

// As JSON, a task says what it waits for in the words that people read.
func TestTaskJSONSaysWhatItWaitsFor(t *testing.T) {
	var out bytes.Buffer
	task := sia.Task{ID: "7-1", State: sia.OnHold, Pause: &sia.Pause{Kind: sia.PausedByTrouble, Reason: "no luck"}}
	if err := printJSON(&commandEnv{out: &out}, shown(task)); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["id"] != "7-1" || got["waiting"] != "no luck. `/sia resume` tries again." {
		t.Errorf("got %v", got)
	}
}
