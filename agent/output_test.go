package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Output of Claude Code may arrive after its next request to the model: a call without its result belongs to the turn
// of the result.
func TestCallWaitsForItsResult(t *testing.T) {
	at := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	h := &outputParser{read: readClaude, now: func() time.Time { return at }}
	fmt.Fprintln(h, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash",`+
		`"input":{"command":"ls"}}]}}`)
	if _, calls := h.takeTurn(false); len(calls) > 0 {
		t.Errorf("taken without its result: %+v", calls)
	}
	at = at.Add(3 * time.Second)
	fmt.Fprintln(h, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"go.mod"}]}}`)
	_, calls := h.takeTurn(false)
	if d := cmp.Diff([]Call{{Name: "Bash", Arguments: `{"command":"ls"}`, Result: "go.mod",
		Took: 3 * time.Second}}, calls); d != "" {
		t.Errorf("-want +got\n%s", d)
	}

	fmt.Fprintln(h, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"Bash","input":{}}]}}`)
	if _, calls := h.takeTurn(true); len(calls) != 1 || calls[0].Result != "" {
		t.Errorf("at the end, a call that was never carried out: %+v", calls)
	}
}
