package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/flavour"
)

// clientOf returns a client for a server of a flavour.
func clientOf(t *testing.T, s *flavour.Server, change ...func(*llm.Config)) *llm.Client {
	t.Helper()
	cfg := llm.Config{Model: cmp.Or(s.Model, "coder"), Name: s.Name, BaseURL: s.URL,
		Protocol: llm.Protocol(s.Protocol), Reasoning: s.Reasoning,
		Sleep:      func(context.Context, time.Duration) error { return nil },
		Price:      llm.Price{Input: 3, CachedInput: 0.3, CacheWrite: 3.75, Output: 15},
		HTTPClient: &http.Client{Transport: &http.Transport{}}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attemptOn makes an attempt with a model in a new folder; no tools means the usual ones.
func attemptOn(t *testing.T, m agent.Model, tools ...tool.Tool) (agent.Result, *transcript) {
	t.Helper()
	a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: m, Tools: tools, Now: func() time.Time { return epoch },
		Logger: noLog})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, agent: a, rec: &transcript{}, now: epoch}
	b.in = agent.Input{Title: "Add a greeting", Body: "Say hello.", AskedBy: "ada", Repo: "acme/app", Issue: 7, Attempt: 1,
		Dir: t.TempDir(), Limits: agent.Limits{Turns: 60, Credits: 10_000 * sia.Credit}}
	b.write("main.go", "package main\n\nfunc main() {}\n")
	b.write("go.mod", "module x\n")
	return b.run(), b.rec
}

// working returns an attempt of n answers that change something, and then end.
func working(n int) (list []flavour.Turn) {
	for i := range n - 1 {
		list = append(list, flavour.Turn{Text: fmt.Sprintf("Step %d.", i), Calls: []flavour.Call{{Name: "write",
			Arguments: fmt.Sprintf(`{"path":"f%d.go","content":"package x // %s"}`, i, strings.Repeat("word ", 60))}}})
	}
	return append(list, flavour.Turn{Calls: []flavour.Call{{Name: "finish",
		Arguments: `{"summary":"Done.","ledger":[]}`}}})
}

// opaqueWords are parts of models' opaque output.
var opaqueWords = []string{"gAAAAA", "I think", "sig-", "c2ln", "Hm", "So ", "It may be", "ZGF0YQ"}

// shows returns the opaque words that a transcript shows.
func shows(rec *transcript) (words []string) {
	text := agent.Markdown(rec.turns, agent.Header{})
	for _, w := range opaqueWords {
		if strings.Contains(text, w) {
			words = append(words, w)
		}
	}
	return words
}

// An attempt finishes with each server that can answer, despite its peculiarities, and shows no opaque parts.
func TestAttemptWithEachFlavour(t *testing.T) {
	for _, f := range flavour.All() {
		if f.Fails != "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			f.Say = flavour.Saying(working(4)...)
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			res, rec := attemptOn(t, clientOf(t, s))
			if res.End != sia.EndFinished || res.Turns < 4 {
				t.Fatalf("ended %s after %d turns: %s", res.End, res.Turns, res.Reason)
			}
			if words := shows(rec); len(words) > 0 {
				t.Errorf("the transcript shows %q", words)
			}
		})
	}
}

// unlimitedMeter is a meter that allows every call.
type unlimitedMeter struct{}

func (unlimitedMeter) Reserve(prompt, want int) (gateway.Call, error) {
	return gateway.Call{Prompt: prompt, Most: want}, nil
}

func (unlimitedMeter) Settle(gateway.Call, gateway.Usage) {}

// All flavours work through the gateway as well. It learns only once what the endpoint refuses.
func TestAttemptThroughTheGateway(t *testing.T) {
	more := map[string]int{"Mistral: stream_options are forbidden": 1, "vLLM: stream_options are not known": 1,
		"Mistral: thinking is a block of the content": 0}
	for _, f := range flavour.All() {
		refused, is := more[f.Name]
		if !is {
			continue
		}
		delete(more, f.Name)
		t.Run(f.Name, func(t *testing.T) {
			f.Say = flavour.Saying(working(4)...)
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			g, err := gateway.New(gateway.Config{Upstream: s.URL, Model: "coder", Token: "t", Meter: unlimitedMeter{}})
			if err != nil {
				t.Fatal(err)
			}
			between := httptest.NewServer(g)
			t.Cleanup(between.Close)
			res, _ := attemptOn(t, clientOf(t, s, func(c *llm.Config) { c.BaseURL, c.APIKey = between.URL+"/v1", "t" }))
			if res.End != sia.EndFinished || len(s.Asks()) != res.Turns+refused {
				t.Fatalf("ended %s after %d turns and %d requests: %s", res.End, res.Turns, len(s.Asks()), res.Reason)
			}
		})
	}
	if len(more) > 0 {
		t.Errorf("there are no flavours %v", more)
	}
}

// A long attempt finishes with a server of each dialect. From the third turn on, at least four fifths of the prompts
// come from the endpoint's cache, and SIA's cost equals the endpoint's invoice.
func TestLongAttemptInEachDialect(t *testing.T) {
	for i, f := range slices.Concat(flavour.Stateful(), flavour.Stateful()) {
		window, shortened := 40_000, false
		if i >= len(flavour.Stateful()) { // the conversation outgrows it, and is shortened
			window, shortened = 9_000, true
		}
		t.Run(fmt.Sprintf("%s, %d", f.Name, window), func(t *testing.T) {
			n := 0 // a condensed conversation has fewer answers
			f.Say = func(flavour.Ask) flavour.Turn { n++; return working(40)[min(n, 40)-1] }
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			res, rec := attemptOn(t, clientOf(t, s, func(c *llm.Config) { c.Window, c.MaxOutput = window, 2_000 }))
			if res.End != sia.EndFinished || res.Turns != 40 {
				t.Fatalf("ended %s after %d turns: %s", res.End, res.Turns, res.Reason)
			}
			sum, each := s.Bill()
			usd := (float64(sum.Input-sum.Cached-sum.Written)*3 + float64(sum.Cached)*0.3 + float64(sum.Written)*3.75 +
				float64(sum.Output)*15) / 1e6
			if got := float64(res.Cost) / float64(sia.Credit) / 100; math.Abs(got-usd) >= 0.01 {
				t.Errorf("booked %.4f USD, billed %.4f USD", got, usd)
			}
			if got := (flavour.Bill{Requests: sum.Requests, Input: res.Usage.Input, Cached: res.Usage.CachedInput,
				Written: res.Usage.CacheWrite, Output: res.Usage.Output}); got != sum {
				t.Errorf("booked %+v, billed %+v", got, sum)
			}
			input, cached := 0, 0
			for _, b := range each[3:] {
				input, cached = input+b.Input, cached+b.Cached
			}
			if cached*100 < input*80 {
				t.Errorf("%d %% of the input after turn 3 were cached, want 80", cached*100/input)
			}
			notes := ""
			for _, turn := range rec.turns {
				notes += turn.Note
			}
			if (strings.Contains(notes, "left out") || strings.Contains(notes, "condensed")) != shortened {
				t.Errorf("shortened: want %v, notes %q", shortened, notes)
			}
			t.Logf("%d %% cached after turn 3, billed %.4f USD, largest prompt %d tokens", cached*100/input, usd,
				each[len(each)-1].Input)
			if words := shows(rec); len(words) > 0 {
				t.Errorf("the transcript shows %q", words)
			}
		})
	}
}

// One coder continues after another in a different dialect: it gets none of the other's reasoning, and both endpoints
// accept their conversations.
func TestAnotherDialectGoesOn(t *testing.T) {
	all := flavour.Stateful()
	for i, f := range all {
		next := all[(i+1)%len(all)]
		t.Run(f.Name+", then "+next.Name, func(t *testing.T) {
			f.Say, next.Say = flavour.Saying(working(40)...), flavour.Saying(working(6)...)
			inner := f.Refuse
			f.Refuse = func(s *flavour.Server, a flavour.Ask) (int, string) {
				if a.Turn >= 3 {
					return http.StatusPaymentRequired, flavour.Words("Insufficient balance")
				}
				if inner == nil {
					return 0, ""
				}
				return inner(s, a)
			}
			first, second := flavour.Start(f), flavour.Start(next)
			t.Cleanup(first.Close)
			t.Cleanup(second.Close)
			thinks := func(c *llm.Config) { c.Reasoning = "high" }
			chain, err := llm.NewChain(clientOf(t, first), clientOf(t, second, thinks))
			if err != nil {
				t.Fatal(err)
			}
			res, _ := attemptOn(t, chain)
			if res.End != sia.EndFinished || res.Turns != 6 {
				t.Fatalf("ended %s after %d turns: %s", res.End, res.Turns, res.Reason)
			}
			asks := second.Asks()
			if len(asks) == 0 || !strings.Contains(asks[0].Raw, "Step 2.") {
				t.Fatal("the second did not go on where the first stopped")
			}
			for _, word := range []string{"gAAAAA-1", "I think 1", "sig-1", "c2ln1=="} {
				if strings.Contains(asks[0].Raw, word) {
					t.Errorf("the second is given %q of the first", word)
				}
			}
		})
	}
}

// After an answer that is empty, cut off or paused, the model is told to continue, a bounded number of times.
func TestAnswersThatAreNoEnd(t *testing.T) {
	for _, c := range []struct {
		name, text, finish string
		times              int
		want               sia.AttemptEnd
	}{
		{"empty", "", "stop", 3, sia.EndFinished},
		{"empty for ever", "", "stop", 99, sia.EndError},
		{"cut off", "First I", "length", 3, sia.EndFinished},
		{"cut off for ever", "First I", "length", 99, sia.EndError},
		{"pausing", "Wait", "pause_turn", 3, sia.EndFinished}, // https://github.com/laravel/ai/pull/493
		{"pausing for ever", "Wait", "pause_turn", 99, sia.EndError},
		{"a text, and once more", "It is done.", "stop", 99, sia.EndFinished},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			f := flavour.Flavour{Message: func(m map[string]any) string {
				if n++; n > 1 && n <= 1+c.times {
					m["content"] = c.text
					delete(m, "tool_calls")
					return c.finish
				}
				return ""
			}, Say: func(flavour.Ask) flavour.Turn { return working(3)[min(max(0, n-c.times), 2)] }}
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			res, _ := attemptOn(t, clientOf(t, s))
			if res.End != c.want || c.want == sia.EndError && res.Reason == "" {
				t.Errorf("ended %s after %d turns: %q, %q", res.End, res.Turns, res.Reason, res.Summary)
			}
			if c.finish == "length" && c.want == sia.EndError && !strings.HasPrefix(res.Reason, agent.AnswersCut) {
				t.Errorf("the reason %q does not say that answers were cut off", res.Reason)
			}
			if c.times == 3 && res.Turns < 5 {
				t.Errorf("ended after %d turns", res.Turns)
			}
		})
	}
}

// An attempt ends if a model only thinks despite the maximum room for its answers, before it has used up the budget; a
// short answer that was cut off does not end it.
func TestThinksForEver(t *testing.T) {
	var allowed any
	s := flavour.Start(flavour.Flavour{
		Say: func(a flavour.Ask) flavour.Turn {
			allowed = a.Body["max_tokens"]
			return flavour.Turn{}
		},
		Message: func(map[string]any) string { return "length" },
		Usage: func(b flavour.Bill) map[string]any {
			return map[string]any{"prompt_tokens": b.Input, "completion_tokens": allowed}
		}})
	t.Cleanup(s.Close)
	res, _ := attemptOn(t, clientOf(t, s))
	if res.End != sia.EndError || res.Turns != 3 || !strings.HasPrefix(res.Reason, agent.AnswersCut+"32768 tokens") {
		t.Errorf("ended %s after %d turns: %q", res.End, res.Turns, res.Reason)
	}
}

// The first request of an attempt is small: prompt and tools are part of every turn, and paid for each time without a
// cache. It includes all tools.
func TestFirstRequestIsSmall(t *testing.T) {
	f := flavour.Flavour{Say: flavour.Saying(working(2)...)}
	s := flavour.Start(f)
	t.Cleanup(s.Close)
	attemptOn(t, clientOf(t, s), slices.Concat(tool.DefaultTools(), tool.SandboxTools())...)
	if n := len(s.Asks()[0].Raw); n > 16<<10 {
		t.Errorf("%d bytes, want at most 16 KiB", n)
	} else {
		t.Logf("%d bytes", n)
	}
}
