package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

var readTool = llm.ToolSpec{Name: "read", Description: "Reads a file.", Parameters: json.RawMessage(
	`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
		`"properties":{"path":{"type":"string"},"lines":` +
		`{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`)}

// fromAnother is an answer of another model, with an ID that Mistral refuses and reasoning of that model.
var fromAnother = []llm.Message{
	{Role: llm.RoleAssistant, Content: "", ToolCalls: []llm.ToolCall{{ID: "toolu_01_very-long", Name: `read" path="x`,
		Arguments: `{"path":"x.go"}`}}, Opaque: &llm.Opaque{Maker: "chat http://elsewhere/v1 other",
		Parts: []llm.OpaquePart{{Name: "reasoning_content", Raw: `"of another"`}}}},
	{Role: llm.RoleTool, ToolCallID: "toolu_01_very-long", Content: "package x"},
}

// dialTo returns a client for a server, configured for its flavour.
func dialTo(t *testing.T, s *flavour.Server, change ...func(*llm.Config)) *llm.Client {
	t.Helper()
	c, _ := dial(t, s.URL, append([]func(*llm.Config){func(c *llm.Config) {
		c.Protocol, c.Reasoning = llm.Protocol(s.Protocol), s.Reasoning
		if s.Model != "" {
			c.Model = s.Model
		}
	}}, change...)...)
	return c
}

// Each flavour completes a conversation with tool results and a user message. The usage equals the server's, opaque
// parts are not shown, and lessons are used in the next conversation.
func TestQuirks(t *testing.T) {
	all := flavour.All()
	if len(all) < 40 {
		t.Errorf("%d flavours", len(all))
	}
	names := map[string]bool{}
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			if !strings.HasPrefix(f.Source, "https://") || names[f.Name] {
				t.Error("it has no source, or no name of its own")
			}
			names[f.Name] = true
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			c := dialTo(t, s)
			var earlier []llm.Message
			if f.Foreign {
				earlier = fromAnother
			}
			said, used, err := converse(t, c, earlier)
			if f.Fails != "" {
				var e *llm.Error
				if !errors.As(err, &e) || string(e.Kind) != f.Fails || e.Advice() == "" {
					t.Fatalf("error %v, want %s", err, f.Fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []string{`I look. read {"path":"main.go"}`, `read {"path":"go.mod"}`, "Done."}[len(earlier)/2:]
			if f.Name == "Qwen Coder: an answer is nothing but a call" {
				want[0] = strings.TrimPrefix(want[0], "I look. ")
			}
			if d := cmp.Diff(want, said); d != "" {
				t.Errorf("conversation (-want +got):\n%s", d)
			}
			sum, _ := s.Bill()
			if got := (flavour.Bill{Requests: sum.Requests, Input: used.Input, Cached: used.CachedInput,
				Written: used.CacheWrite, Output: used.Output}); got != sum && !f.Free {
				t.Errorf("used %+v, billed %+v", got, sum)
			}
			if got := c.Protocol(); f.Speaks != "" && string(got) != f.Speaks {
				t.Errorf("dialect %s, want %s", got, f.Speaks)
			}
			weaker := strings.Join(c.Weaker(), "; ")
			if !strings.Contains(weaker, f.Weaker) || f.Weaker == "" && weaker != "" {
				t.Errorf("what is weaker: %q, want %q", weaker, f.Weaker)
			}
			before := len(s.Asks())
			again, _, err := converse(t, c, nil)
			if n := len(s.Asks()) - before; err != nil || !f.Apart && n != len(again) {
				t.Errorf("the next conversation took %d requests for %d answers: %v", n, len(again), err)
			}
		})
	}
}

// converse talks to a model until it calls no tool, and returns the text and the calls of each answer.
func converse(t *testing.T, c *llm.Client, earlier []llm.Message) (said []string, used llm.Usage, err error) {
	t.Helper()
	req := llm.Request{Tools: []llm.ToolSpec{readTool}, Messages: append([]llm.Message{
		{Role: llm.RoleSystem, Content: strings.Repeat("You are an engineer who reads <files> & more. ", 100)},
		{Role: llm.RoleUser, Content: "Read the files."}}, earlier...)}
	ids := map[string]bool{}
	for range 6 {
		resp, err := c.Complete(t.Context(), req)
		used = used.Add(resp.Spent())
		if err != nil {
			return said, used, err
		}
		words := resp.Message.Content
		req.Messages = append(req.Messages, resp.Message)
		for _, call := range resp.Message.ToolCalls {
			var args map[string]any
			if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
				t.Errorf("arguments %q: %v", call.Arguments, err)
			}
			plain, err := json.Marshal(args)
			if err != nil || ids[call.ID] {
				t.Errorf("id %q is not its own, or %v", call.ID, err)
			}
			ids[call.ID] = true
			words += fmt.Sprintf(" %s %s", call.Name, plain)
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, Content: "package main"})
		}
		said = append(said, strings.TrimSpace(words))
		if len(resp.Message.ToolCalls) == 0 {
			return said, used, nil
		}
		if len(said) == 1 {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "Go on."})
		}
	}
	return said, used, errors.New("it never ends")
}

// An answer with exactly as many tokens as allowed was cut off, whatever the endpoint says. One with more was not: its
// reasoning is not limited.
func TestStopAtTheLimit(t *testing.T) {
	for output, want := range map[int]string{98: llm.FinishStop, 99: llm.FinishLength, 120: llm.FinishStop} {
		s := flavour.Start(flavour.Flavour{Say: flavour.Saying(flavour.Turn{Text: "So it goes"}),
			Usage: func(b flavour.Bill) map[string]any {
				return map[string]any{"prompt_tokens": b.Input, "completion_tokens": output}
			}})
		t.Cleanup(s.Close)
		req := ask("go")
		req.MaxOutput = 99
		if resp, err := dialTo(t, s).Complete(t.Context(), req); err != nil || resp.Finish != want {
			t.Errorf("%d tokens: %s, %v, want %s", output, resp.Finish, err, want)
		}
	}
}
