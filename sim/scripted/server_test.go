package scripted_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"

	"github.com/sia-bot/sia/sim/scripted"
)

// story is a script in its text form, with a comment.
const story = `The coder writes a file and finishes; the reviewer approves.
-- coder/add greeting --
user: (?i)greeting
not: attempt 2
turns:
- say: I write the file.
  calls:
  - write: {path: hello.go, content: "@hello.go"}
  usage: {input: 50, cached: 20, output: 9}
- calls:
  - finish: {summary: Added a greeting.}
-- coder/second try --
user: attempt 2
from: 1
repeat: true
turns:
- say: again
-- reviewer/approve --
system: You review
turns:
- json: {verdict: approved, points: []}
-- any/broken --
last: break
turns:
- fault: {status: 503, header: {Retry-After: "2"}, times: 1}
  say: well again
- calls:
  - write: "{not json"
-- file/hello.go --
package hello
`

func start(t *testing.T, text string) *scripted.Server {
	t.Helper()
	script, err := scripted.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scripted.Start(script, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(
	t *testing.T, s *scripted.Server, model string, messages ...string,
) (int, openai.ChatCompletionResponse, string) {
	t.Helper()
	q := map[string]any{"model": model}
	var list []any
	for _, m := range messages {
		role, text, _ := strings.Cut(m, ": ")
		list = append(list, map[string]any{"role": role, "content": text})
	}
	q["messages"] = list
	body, _ := json.Marshal(q)
	resp, err := http.Post(s.URL+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out openai.ChatCompletionResponse
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, out, string(raw)
}

func TestAnswersFollowTheRequestAlone(t *testing.T) {
	s := start(t, story)
	for range 2 { // a repetition gives the same: there is no state
		_, first, _ := post(t, s, "coder", "system: s", "user: Add a Greeting")
		m := first.Choices[0].Message
		if m.Content != "I write the file." ||
			m.ToolCalls[0].Function.Arguments != `{"content":"package hello\n","path":"hello.go"}` {
			t.Errorf("first turn: %+v", m)
		}
		if u := first.Usage; u.PromptTokens != 50 || u.PromptTokensDetails.CachedTokens != 20 || u.CompletionTokens != 9 {
			t.Errorf("usage: %+v", u)
		}
		_, second, _ := post(t, s, "coder", "user: Add a Greeting", "assistant: x", "tool: ok")
		if c := second.Choices[0]; c.FinishReason != "tool_calls" || c.Message.ToolCalls[0].ID != "call_1_0" {
			t.Errorf("second turn: %+v", c)
		}
	}
	_, r, _ := post(t, s, "reviewer", "system: You review.", "user: x")
	if r.Choices[0].Message.Content != `{"points":[],"verdict":"approved"}` {
		t.Errorf("reviewer: %+v", r)
	}
	for _, turns := range [][]string{{"assistant: a"}, {"assistant: a", "assistant: b"}} {
		_, r, _ := post(t, s, "coder", append([]string{"user: attempt 2 greeting"}, turns...)...)
		if r.Choices[0].Message.Content != "again" {
			t.Errorf("second try: %+v", r)
		}
	}
}

func TestUnmatchedSaysWhatWasAsked(t *testing.T) {
	s := start(t, story)
	status, _, body := post(t, s, "coder", "user: paint it black")
	for _, want := range []string{"script_no_match", `model \"coder\"`, "turn 0", "paint it black", "second try"} {
		if status != 400 || !strings.Contains(body, want) {
			t.Errorf("HTTP %d, %q missing in %s", status, want, body)
		}
	}
	if got := s.Requests(); len(got) != 1 || got[0].Rule != "" || got[0].Status != 400 ||
		got[0].User() != "paint it black" {
		t.Errorf("record: %+v", got)
	}
}

func TestFaultsStrikeAsOftenAsTheyShould(t *testing.T) {
	s := start(t, story)
	status, _, _ := post(t, s, "any model", "user: break")
	if status != 503 {
		t.Errorf("HTTP %d, want 503", status)
	}
	if _, r, _ := post(t, s, "any model", "user: break"); r.Choices[0].Message.Content != "well again" {
		t.Errorf("after the fault: %+v", r)
	}
	if _, r, _ := post(t, s, "m", "assistant: a",
		"user: break"); r.Choices[0].Message.ToolCalls[0].Function.Arguments != "{not json" {
		t.Errorf("broken arguments: %+v", r)
	}
	var rules []string
	for _, q := range s.Requests() {
		rules = append(rules, q.Rule)
	}
	if d := cmp.Diff([]string{"broken", "broken", "broken"}, rules); d != "" {
		t.Error(d)
	}
}

func TestStreamGivesTheSameAnswer(t *testing.T) {
	s := start(t, story)
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = s.URL
	st, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{
		Model: "coder", StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "greeting"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var text, args string
	var finish openai.FinishReason
	var usage *openai.Usage
	for {
		c, err := st.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Usage != nil {
			usage = c.Usage
		}
		for _, ch := range c.Choices {
			text += ch.Delta.Content
			for _, call := range ch.Delta.ToolCalls {
				args += call.Function.Arguments
			}
			if ch.FinishReason != "" {
				finish = ch.FinishReason
			}
		}
	}
	if text != "I write the file." || !strings.Contains(args, "hello.go") || finish != "tool_calls" || usage == nil ||
		usage.PromptTokens != 50 {
		t.Errorf("text %q, args %q, finish %q, usage %+v", text, args, finish, usage)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no sections": {"hello", "no rules"},
		"bad name":    {"-- coder --\nturns: [{say: x}]\n", `section "coder"`},
		"unknown key": {"-- coder/a --\nuser: x\nturn: []\n", "turn"},
		"no turns":    {"-- coder/a --\nuser: x\n", "no turns"},
		"bad regexp":  {"-- coder/a --\nuser: (\nturns: [{say: x}]\n", "regexp"},
		"no file":     {"-- coder/a --\nturns: [{say: \"@x.go\"}]\n", "file/x.go"},
		"two tools":   {"-- coder/a --\nturns: [{calls: [{a: {}, b: {}}]}]\n", "one tool"},
		"bad delay":   {"-- coder/a --\nturns: [{say: x, delay: soon}]\n", "delay"},
		"bad status":  {"-- coder/a --\nturns: [{fault: {status: 42}}]\n", "status 42"},
		"bad model":   {"-- [/a --\nturns: [{say: x}]\n", "model"},
	} {
		if _, err := scripted.Parse([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestSetScript(t *testing.T) {
	s := start(t, story)
	if err := s.SetScript(scripted.Script{Rules: []scripted.Rule{{Name: "new",
		Turns: []scripted.Answer{{Text: "new"}}}}}); err != nil {
		t.Fatal(err)
	}
	if _, r, _ := post(t, s, "x", "user: y"); r.Choices[0].Message.Content != "new" {
		t.Errorf("got %+v", r)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(story))
	f.Add([]byte("-- --")) // a library once panicked on it
	f.Add([]byte("-- a/b --\nturns:\n- calls: [{x: \"@y\"}]\n-- file/y --\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := scripted.Parse(text); err == nil && len(s.Rules) == 0 {
			t.Error("a script without rules was accepted")
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"coder","messages":[{"role":"user","content":[{"type":"text","text":"greeting"}]},` +
		`{"role":"assistant","content":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var q scripted.Request
		if json.Unmarshal(body, &q) == nil && q.Turn() > len(q.Messages) {
			t.Error("more turns than messages")
		}
	})
}
