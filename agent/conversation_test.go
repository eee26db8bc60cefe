package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/agent/llm"
)

// While a conversation grows and is shortened, the system prompt and the brief stay, every call has its result right
// after its answer, the bound holds if possible, and notes are only appended, or dropped from the oldest.
//
//test:plain
func TestConversationProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c conversation
		const system, brief = "You are an engineer.", "# The task\n\nAdd a greeting."
		c.beginWith(system, brief)
		size := rapid.IntRange(0, 4000)
		answers := 0
		var notes []string
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") > 0 {
				answers++
				exchanged(t, &c, answers, size)
				continue
			}
			bound := rapid.IntRange(0, 6000).Draw(t, "bound")
			limit := bound + rapid.IntRange(0, 2000).Draw(t, "more")
			before := c.total
			note := c.shorten(bound, limit)
			if (note == "") != (c.total == before) {
				t.Fatalf("from %d to %d tokens: %q", before, c.total, note)
			}
			if c.total > limit && (len(c.turns) > 0 || len(c.notes) > 0) {
				t.Fatalf("%d tokens of at most %d, and %d answers and %d notes could go", c.total, limit, len(c.turns),
					len(c.notes))
			}
			if i := slices.Index(notes, first(c.notes)); len(c.notes) > 0 && i >= 0 &&
				!slices.Equal(notes[i:], c.notes[:len(notes)-i]) {
				t.Fatalf("notes were rewritten: %q became %q", notes, c.notes)
			}
			notes = slices.Clone(c.notes)
		}
		if got := len(c.turns) + len(c.notes) + c.droppedNotes; got != answers {
			t.Fatalf("%d answers are %d turns, %d notes and %d left out", answers, len(c.turns), len(c.notes), c.droppedNotes)
		}
		list := c.messages()
		if list[0].Content != system || !strings.HasPrefix(list[1].Content, brief) || list[1].Role != llm.RoleUser {
			t.Fatalf("the beginning is %+v", list[:2])
		}
		sum := 0
		for _, m := range list {
			sum += m.Tokens()
		}
		if sum != c.total {
			t.Fatalf("%d tokens, reckoned as %d", sum, c.total)
		}
		if err := allowed(list); err != nil {
			t.Fatal(err)
		}
	})
}

// exchanged adds an answer with calls and their results, or a text and the loop's reply.
func exchanged(t *rapid.T, c *conversation, n int, size *rapid.Generator[int]) {
	m := llm.Message{Role: llm.RoleAssistant, Content: strings.Repeat("word ", size.Draw(t, "text")/5)}
	var calls []Call
	for i := range rapid.IntRange(0, 4).Draw(t, "calls") {
		args := fmt.Sprintf(`{"path":"f%d.go","content":"%s"}`, n, strings.Repeat("x ", size.Draw(t, "args")/2))
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "write", Arguments: args})
		calls = append(calls, Call{Name: "write", Arguments: args})
	}
	c.addMessage(m)
	for _, call := range m.ToolCalls {
		c.addMessage(llm.Message{Role: llm.RoleTool, ToolCallID: call.ID,
			Content: strings.Repeat("line\n", size.Draw(t, "result")/5)})
	}
	if len(calls) == 0 {
		c.addMessage(llm.Message{Role: llm.RoleUser, Content: "Go on."})
	}
	c.noteLast(turnNote(n, m.Content, calls))
}

// allowed checks the protocol's rules for a conversation.
func allowed(list []llm.Message) error {
	for i := 0; i < len(list); i++ {
		switch m := list[i]; m.Role {
		case llm.RoleTool:
			return fmt.Errorf("message %d is a result of no call", i)
		case llm.RoleAssistant:
			for _, call := range m.ToolCalls {
				if i++; i >= len(list) || list[i].Role != llm.RoleTool || list[i].ToolCallID != call.ID {
					return fmt.Errorf("the call %s has no result after it", call.ID)
				}
			}
		}
	}
	return nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func TestNotes(t *testing.T) {
	for want, tt := range map[string]struct {
		text  string
		calls []Call
	}{
		"- answer 3: read a.go; read b.go; edit a.go": {"", []Call{
			{Name: "read", Arguments: `{"path":"a.go"}`, Result: "…"},
			{Name: "read", Arguments: `{"path":"b.go"}`, Result: "…"},
			{Name: "edit", Arguments: `{"path":"a.go","old":"x","new":"y"}`, Result: "edited", Changed: []string{"a.go"}}}},
		"- answer 3: run go test ./... → exit status 1": {"",
			[]Call{{Name: "run", Arguments: `{"command":"go test\n./..."}`, Result: "exit status 1\nFAIL"}}},
		"- answer 3: edit a.go → error: no such text": {"",
			[]Call{{Name: "edit", Arguments: `{"path":"a.go"}`, Result: "error: no such text\nnearest: …", IsError: true}}},
		"- answer 3: patch a.go, b.go": {"",
			[]Call{{Name: "patch", Arguments: `{"patch":"--- a"}`, Result: "ok", Changed: []string{"a.go", "b.go"}}}},
		"- answer 3: search func main": {"",
			[]Call{{Name: "search", Arguments: `{"pattern":"func main"}`},
				{Name: "search", Arguments: `{"pattern":"func main"}`}}},
		"- answer 3: read":                    {"", []Call{{Name: "read", Arguments: `{not json`}}},
		"- answer 3: said: I think about it.": {"I think\nabout it.<!-- x -->", nil},
	} {
		if got := turnNote(3, tt.text, tt.calls); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var many []Call
	for i := range 100 {
		many = append(many, Call{Name: "read", Arguments: fmt.Sprintf(`{"path":"dir/file%d.go"}`, i)})
	}
	if n := utf8.RuneCountInString(turnNote(1, "", many)); n > maxNote {
		t.Errorf("a note of %d characters", n)
	}
}
