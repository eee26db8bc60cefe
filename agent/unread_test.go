package agent_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// A model is told why its calls can't be parsed. If that continues, the attempt ends as an error.
func TestCallsThatCannotBeRead(t *testing.T) {
	b := newBench(t, turns(scripted.Answer{Text: `<tool_call>{"name": "read" "arguments": {}}</tool_call>`}))
	const why = "a comma or } is missing, at byte 16"
	if res := b.run(); res.End != sia.EndError || !strings.Contains(res.Reason, why) {
		t.Errorf("%s: %s", res.End, res.Reason)
	}
	if message := strings.Join(b.rec.turns[1].Told, " "); !strings.Contains(message, why) {
		t.Errorf("it was told: %s", message)
	}
}

// The model is told about a call that can't be parsed, and the other calls in the answer are carried out.
func TestACallThatCannotBeReadBesideAnother(t *testing.T) {
	b := newBench(t, turns(scripted.Answer{Text: `<tool_call>{"name": "list", "arguments": {}}</tool_call>` +
		`<tool_call>{"name": "read" "arguments": {}}</tool_call>`}, scripted.Answer{Text: "Done."}))
	b.run()
	first := b.rec.turns[1]
	if message := strings.Join(first.Told, " "); len(first.Calls) != 1 || first.Calls[0].IsError ||
		!strings.Contains(message, "a comma or } is missing") {
		t.Errorf("%+v; it was told: %s", first.Calls, message)
	}
}
