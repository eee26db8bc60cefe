package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// verboseModel serves a model with long answers, so that leaving out results is not enough to fit the window. It
// records its requests.
func verboseModel(t *testing.T, answers int) (url string, got *[]scripted.Request) {
	t.Helper()
	got = &[]scripted.Request{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q scripted.Request
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		*got = append(*got, q)
		n := len(*got)
		name, arguments := "write", fmt.Sprintf(`{"path":"f%d.txt","content":"%d"}`, n, n)
		if n == answers {
			name, arguments = "finish", `{"summary":"Done.","ledger":[]}`
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"finish_reason": "tool_calls",
			"message": map[string]any{
				"content": fmt.Sprintf("Answer %d. ", n) + strings.Repeat("I think about it some more. ", 150),
				"tool_calls": []any{map[string]any{"id": fmt.Sprintf("c%d", n), "type": "function",
					"function": map[string]any{"name": name, "arguments": arguments}}},
			}}}})
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func TestOldAnswersAreCondensedToNotes(t *testing.T) {
	const answers = 30
	url, got := verboseModel(t, answers)
	b := newBench(t, turns(done))
	client, err := llm.New(llm.Config{Model: "coder", BaseURL: url, Window: 16_000, MaxOutput: 1_000})
	if err != nil {
		t.Fatal(err)
	}
	if b.agent, err = agent.NewBuiltin(agent.BuiltinConfig{Model: client, Now: time.Now, Logger: noLog}); err != nil {
		t.Fatal(err)
	}
	if res := b.run(); res.End != sia.EndFinished || res.Turns != answers {
		t.Fatalf("result: %+v", res)
	}
	if !strings.Contains(b.rec.notes(), "answers condensed to a note each") {
		t.Errorf("notes: %s", b.rec.notes())
	}
	brief, earlier := "", ""
	for i, q := range *got {
		if n := tokens(q); n > 15_000 {
			t.Errorf("request %d has %d tokens", i+1, n)
		}
		text, notes, condensed := strings.Cut(q.Messages[1].Content, "\n\n## Earlier in this attempt")
		if i == 0 {
			brief = text
		}
		if text != brief || q.Messages[0].Role != "system" {
			t.Fatalf("request %d: the brief changed", i+1)
		}
		if condensed != (q.Turn() < i) {
			t.Errorf("request %d has %d answers and notes: %v", i+1, q.Turn(), condensed)
		}
		list := strings.TrimSuffix(notes, "\n</untrusted>")
		if !strings.HasPrefix(list, earlier) {
			t.Fatalf("request %d: the notes were rewritten:\n%s\nwere\n%s", i+1, list, earlier)
		}
		earlier = list
	}
	for _, want := range []string{"- answer 1: write f1.txt", "- answer 9: write f9.txt"} {
		if !strings.Contains(earlier, want) {
			t.Errorf("%q is missing in:\n%s", want, earlier)
		}
	}
	if _, err := os.Stat(filepath.Join(b.in.Dir, "f29.txt")); err != nil {
		t.Error(err)
	}
}

// tokens estimates a request's messages as the agent does.
func tokens(q scripted.Request) (n int) {
	for _, m := range q.Messages {
		n += llm.CountTokens(m.Content)
		for _, c := range m.ToolCalls {
			n += llm.CountTokens(c.Function.Arguments)
		}
	}
	return n
}

// If an endpoint reports that the conversation is too long, it gets a shorter one, with the system prompt and the
// brief.
func TestContextLengthIsRecoveredByPruning(t *testing.T) {
	finish := done
	finish.Fault = &scripted.Fault{Status: 400, Code: "context_length_exceeded", Times: 1}
	look := func(what string) scripted.Answer {
		return calls(scripted.Call{Name: "search", Args: args{"pattern": what}})
	}
	b := newBench(t, turns(calls(scripted.Call{Name: "read", Args: args{"path": "big.txt"}}), look("a"), look("b"),
		look("c"), finish))
	b.write("big.txt", strings.Repeat("some words on a line\n", 390))
	if res := b.run(); res.End != sia.EndFinished || res.Turns != 5 {
		t.Fatalf("result: %+v", res)
	}
	q := b.model.Requests()
	refused, again := q[len(q)-2], q[len(q)-1]
	if refused.Status != http.StatusBadRequest || tokens(again) > tokens(refused)/2+tokens(q[0]) ||
		len(again.Messages) != len(refused.Messages) {
		t.Errorf("%d tokens were refused (HTTP %d), then %d sent", tokens(refused), refused.Status, tokens(again))
	}
	if again.System() != q[0].System() || again.User() != q[0].User() {
		t.Error("the system prompt or the brief changed")
	}
}
