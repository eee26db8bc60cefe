package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia/secret/secrettest"
)

// Every text of a turn is masked, and a call reports whether its arguments were changed.
func TestTurnMasked(t *testing.T) {
	stays := []string{
		"Call.ID",                                   // matches an answer with its call
		"Call.LessonsShown", "Call.LessonsWithheld", // IDs made by SIA
		"CheckRun.Class",                  // one of a few constants
		"Opaque.Maker", "OpaquePart.Name", // configured names of dialect, endpoint and model, and one of a few constants
		"Turn.Model", // configured name
		"TurnKind",   // one of a few constants
	}
	marked := func(turn agent.Turn) agent.Turn {
		got := turn.Masked(secrettest.Mask)
		if !got.Calls[0].Masked {
			t.Error("the call does not say that its arguments are masked")
		}
		got.Calls[0].Masked = false
		return got
	}
	if d := cmp.Diff(stays, secrettest.Unmasked(t, agent.Turn{}, marked)); d != "" {
		t.Errorf("what stays is not what is listed: -listed +stays\n%s", d)
	}
	plain := agent.Turn{Calls: []agent.Call{{Arguments: "{}"}, {Arguments: "{}", Masked: true}}}
	if d := cmp.Diff(plain, plain.Masked(secrettest.Mask)); d != "" {
		t.Errorf("a turn without a secret was changed: %s", d)
	}
}
