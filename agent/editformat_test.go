package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/flavour"
)

func TestEditFormatOf(t *testing.T) {
	for model, want := range map[string]agent.EditFormat{
		"gpt-5.6-terra": agent.EditPatch, "openai/gpt-5.4": agent.EditPatch, "codex-mini": agent.EditPatch,
		"claude-opus-4-6": agent.EditReplace, "deepseek-chat": agent.EditReplace, "gpt-oss-120b": agent.EditReplace,
		"gemma3:4b": agent.EditWhole, "GPT-4o-mini": agent.EditWhole, "": agent.EditReplace,
	} {
		if got := agent.EditFormatOf(model); got != want {
			t.Errorf("%q: %s, want %s", model, got, want)
		}
	}
	if _, err := agent.ParseEditFormat("sed"); err == nil {
		t.Error("an unknown format is taken")
	}
}

// A model is offered the tool of its format, and its edits are counted.
func TestEditFormat(t *testing.T) {
	for format, want := range map[agent.EditFormat][]string{
		agent.EditReplace: {"edit", "write"}, agent.EditPatch: {"patch", "write"}, agent.EditWhole: {"write"},
	} {
		t.Run(string(format), func(t *testing.T) {
			s := flavour.Start(flavour.Flavour{Say: flavour.Saying(
				flavour.Turn{Calls: []flavour.Call{{Name: want[0],
					Arguments: `{"path":"/etc/passwd","old":"a","new":"b","content":"c"}`}}},
				flavour.Turn{Calls: []flavour.Call{{Name: "write", Arguments: `{"path":"a.go","content":"package a\n"}`}}},
				flavour.Turn{Calls: []flavour.Call{{Name: "finish", Arguments: `{"summary":"Done.","ledger":[]}`}}})})
			t.Cleanup(s.Close)
			a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: clientOf(t, s), Edit: format,
				Now: func() time.Time { return epoch }, Logger: noLog})
			if err != nil {
				t.Fatal(err)
			}
			var editing []string
			for _, name := range a.Tools() {
				if slices.Contains([]string{"edit", "patch", "write"}, name) {
					editing = append(editing, name)
				}
			}
			if fmt.Sprint(editing) != fmt.Sprint(want) {
				t.Errorf("offered %v, want %v", editing, want)
			}
			b := &bench{t: t, agent: a, rec: &transcript{}, now: epoch, in: agent.Input{Title: "x", Repo: "acme/app", Issue: 7,
				Attempt: 1, Dir: t.TempDir(), Limits: agent.Limits{Turns: 9, Credits: 100 * sia.Credit}}}
			if got, want := b.run().Edits, (sia.Edits{Format: string(format), Made: 1, Failed: 1}); got != want {
				t.Errorf("edits %+v, want %+v", got, want)
			}
		})
	}
}

// edits returns edits of the tested model.
func edits(all ...sia.Edits) (of []agent.ModelEdits) {
	for _, e := range all {
		of = append(of, agent.ModelEdits{Agent: "builtin/coder", Edits: e})
	}
	return of
}

// A format with mostly failed edits in an earlier attempt is replaced by another, unless it is configured.
func TestEditFormatGivesWay(t *testing.T) {
	for _, c := range []struct {
		configured agent.EditFormat
		earlier    []sia.Edits // on the task
		all        []agent.ModelEdits
		want       string
	}{
		{"", nil, nil, "replace"},
		{"", []sia.Edits{{Format: "replace", Made: 3, Failed: 3}}, nil, "replace"},
		{"", []sia.Edits{{Format: "replace", Made: 1, Failed: 4}}, nil, "whole"},
		{"", []sia.Edits{{Format: "replace", Failed: 2}, {Format: "replace", Failed: 2}, {Format: "whole", Failed: 3}}, nil,
			"patch"},
		{agent.EditReplace, []sia.Edits{{Format: "replace", Failed: 9}}, nil, "replace"},
		// over all tasks
		{"", nil, edits(sia.Edits{Format: "replace", Made: 5, Failed: 14}), "replace"}, // too few
		{"", nil, edits(sia.Edits{Format: "replace", Made: 15, Failed: 10}), "replace"},
		{"", nil, edits(sia.Edits{Format: "replace", Made: 10, Failed: 20}), "whole"},
		{"", nil, edits(sia.Edits{Format: "replace", Made: 15, Failed: 10},
			sia.Edits{Format: "patch", Made: 30, Failed: 1}),
			"patch"},
		{"", nil, edits(sia.Edits{Format: "replace", Made: 10, Failed: 20},
			sia.Edits{Format: "whole", Made: 1, Failed: 19}),
			"patch"},
		{"", nil, []agent.ModelEdits{{Agent: "builtin/other", Edits: sia.Edits{Format: "replace", Failed: 90}}}, "replace"},
		{agent.EditReplace, nil, edits(sia.Edits{Format: "replace", Failed: 90}), "replace"},
	} {
		s := flavour.Start(flavour.Flavour{Say: flavour.Saying(
			flavour.Turn{Calls: []flavour.Call{{Name: "write", Arguments: `{"path":"a.go","content":"package a\n"}`}}},
			flavour.Turn{Calls: []flavour.Call{{Name: "finish", Arguments: `{"summary":"Done.","ledger":[]}`}}})})
		t.Cleanup(s.Close)
		a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: clientOf(t, s), Edit: c.configured,
			Now: func() time.Time { return epoch }, Logger: noLog})
		if err != nil {
			t.Fatal(err)
		}
		in := agent.Input{Title: "x", Repo: "acme/app", Issue: 7, Attempt: 2, Dir: t.TempDir(), Edits: c.all,
			Limits: agent.Limits{Turns: 9, Credits: 100 * sia.Credit}}
		for i, e := range c.earlier {
			in.Previous = append(in.Previous, agent.PreviousAttempt{Number: i + 1, Edits: e})
		}
		b := &bench{t: t, agent: a, rec: &transcript{}, now: epoch, in: in}
		got := b.run().Edits.Format
		offered := strings.Contains(s.Asks()[0].Raw, `"name":"`+map[string]string{"replace": "edit", "patch": "patch",
			"whole": "write"}[c.want]+`"`)
		said := strings.Contains(b.rec.notes(), "too many edits with replace failed before")
		if got != c.want || !offered || said != (c.want != "replace") {
			t.Errorf("%+v: %s, offered %v, said %v", c, got, offered, said)
		}
	}
}
