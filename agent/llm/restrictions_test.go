package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// If an earlier result is shortened, Claude refuses the thinking after it. The conversation goes on without that, and
// later thinking is sent back again. If even that is refused, none is sent.
func TestThinkingAfterAShortenedConversation(t *testing.T) {
	for _, c := range []struct {
		name               string
		shorten            func(turn int) bool
		refused, sentAtEnd int
	}{
		{"never", func(int) bool { return false }, 0, 9},
		{"once", func(turn int) bool { return turn == 4 }, 1, 5},
		{"twice", func(turn int) bool { return turn == 3 || turn == 7 }, 2, 2},
		{"each time", func(turn int) bool { return turn > 1 }, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := flavour.Bound()
			f.Say = func(a flavour.Ask) flavour.Turn {
				return flavour.Turn{Calls: []flavour.Call{{Name: "read", Arguments: fmt.Sprintf(`{"path":"%d.go"}`, a.Turn)}}}
			}
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			client := dialTo(t, s)
			req := llm.Request{Tools: []llm.ToolSpec{readTool}, Messages: ask("Read the files.").Messages}
			for turn := range 10 {
				if c.shorten(turn) {
					req.Messages[2].Content = fmt.Sprintf("(left out, %d)", turn)
				}
				resp, err := client.Complete(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				req.Messages = append(req.Messages, resp.Message, llm.Message{Role: llm.RoleTool,
					ToolCallID: resp.Message.ToolCalls[0].ID, Content: "package main"})
			}
			all := s.Asks()
			sent := strings.Count(all[len(all)-1].Raw, `"type":"thinking"`)
			if refused := len(all) - 10; refused != c.refused || sent != c.sentAtEnd {
				t.Errorf("%d refused, %d thinking blocks in the last request, want %d and %d", refused, sent, c.refused,
					c.sentAtEnd)
			}
		})
	}
}
