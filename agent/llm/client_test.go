package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/scripted"
)

const key = "sk-test-0123456789abcdef0123"

// clock is a fake clock. Its sleeps only advance it.
type clock struct {
	at    time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time { return c.at }

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	c.at = c.at.Add(d)
	return ctx.Err()
}

// serve starts a scripted model and a client for it.
func serve(t *testing.T, s scripted.Script, change ...func(*llm.Config)) (*llm.Client, *scripted.Server, *clock) {
	t.Helper()
	srv, err := scripted.Start(s, scripted.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	c, clk := dial(t, srv.URL, change...)
	return c, srv, clk
}

func dial(t *testing.T, url string, change ...func(*llm.Config)) (*llm.Client, *clock) {
	t.Helper()
	clk := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	cfg := llm.Config{Name: "coder", BaseURL: url, APIKey: key, Model: "coder", Now: clk.now, Sleep: clk.sleep,
		Rand: func() float64 { return 0 }, HTTPClient: &http.Client{Transport: &http.Transport{}}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, clk
}

func say(text string, f *scripted.Fault) scripted.Script {
	return scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{{Text: text, Fault: f}}}}}
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}}
}

func TestCompleteCarriesToolCallsBothWays(t *testing.T) {
	c, srv, _ := serve(t, scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{
		{Text: "Let me look.", Calls: []scripted.Call{{Name: "read", Args: map[string]any{"path": "a.go"}}},
			Usage: &scripted.Usage{Input: 100, Cached: 40, Output: 7}},
		{Text: "Done."},
	}}}})
	spec := llm.ToolSpec{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object"}`)}
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleSystem, Content: "sys"},
		{Role: llm.RoleUser, Content: "go"}}, Tools: []llm.ToolSpec{spec}, MaxOutput: 99}
	first, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Response{
		Message: llm.Message{Role: "assistant", Content: "Let me look.",
			ToolCalls: []llm.ToolCall{{ID: "call_0_0", Name: "read", Arguments: `{"path":"a.go"}`}},
			Opaque:    &llm.Opaque{Maker: "chat " + srv.URL + " coder"}},
		Finish: "tool_calls", Model: "coder", Client: "coder", Usage: llm.Usage{Input: 100, CachedInput: 40, Output: 7},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Errorf("first answer (-want +got):\n%s", d)
	}
	req.Messages = append(req.Messages, first.Message, llm.Message{Role: llm.RoleTool, ToolCallID: "call_0_0"})
	second, err := c.Complete(t.Context(), req)
	if err != nil || second.Message.Content != "Done." || second.Finish != llm.FinishStop {
		t.Errorf("second answer = %+v, %v", second, err)
	}
	got := srv.Requests()
	if got[0].MaxTokens != 99 || cmp.Diff([]string{"read"}, got[0].ToolNames()) != "" {
		t.Errorf("first request: max %d, tools %v", got[0].MaxTokens, got[0].ToolNames())
	}
	if m := got[1].Messages; len(m) != 4 || m[3].Content == "" || m[3].ToolCallID != "call_0_0" {
		t.Errorf("an empty tool result must be sent as some text: %+v", m)
	}
}

func TestFaultsAreTriedAgainAndExplained(t *testing.T) {
	status := func(code, times int, header map[string]string) *scripted.Fault {
		return &scripted.Fault{Status: code, Times: times, Header: header}
	}
	s := time.Second
	tests := []struct {
		name  string
		fault *scripted.Fault
		kind  llm.ErrorKind // empty: succeeds
		slept []time.Duration
		wait  time.Duration
	}{
		{"429 then fine", status(429, 1, map[string]string{"Retry-After": "7"}), "", []time.Duration{7 * s}, 0},
		{"429 with a date", status(429, 1, map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:09 GMT"}), "",
			[]time.Duration{9 * s}, 0},
		{"429 in milliseconds", status(429, 1, map[string]string{"Retry-After-Ms": "2500"}), "",
			[]time.Duration{2500 * time.Millisecond}, 0},
		{"429 nonsense", status(429, 1, map[string]string{"Retry-After": "soon"}), "", []time.Duration{s / 2}, 0},
		{"500s then fine", status(500, 3, nil), "", []time.Duration{s / 2, s, 2 * s}, 0},
		{"503 for ever", status(503, 0, nil), llm.KindOverloaded, []time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"reset then fine", &scripted.Fault{Reset: true, Times: 2}, "", []time.Duration{s / 2, s}, 0},
		{"reset for ever", &scripted.Fault{Reset: true}, llm.KindNetwork, []time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"garbage then fine", &scripted.Fault{Status: 200, Body: "<html>", Times: 1}, "", []time.Duration{s / 2}, 0},
		{"a page for ever", &scripted.Fault{Status: 200, Body: "<title>Home</title>"}, llm.KindMalformed,
			[]time.Duration{s / 2}, 0},
		{"cut short for ever", &scripted.Fault{Status: 200, Body: `{"choices":[`}, llm.KindMalformed,
			[]time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"no choices", &scripted.Fault{Status: 200, Body: `{"choices":[]}`}, llm.KindMalformed,
			[]time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"asked to wait too long", status(429, 0, map[string]string{"Retry-After": "3600"}), llm.KindRateLimit, nil,
			time.Hour},
		{"a day's limit of OpenRouter", &scripted.Fault{Status: 429, Body: `{"error":{"message":"Rate limit exceeded: ` +
			`free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":` +
			`{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1772377200000"}}}}`},
			llm.KindRateLimit, nil, 3 * time.Hour},
		{"a provider behind OpenRouter", &scripted.Fault{Status: 429, Body: `{"error":{"message":"Provider returned error",` +
			`"code":429,"metadata":{"raw":"it is temporarily rate-limited upstream. Please retry shortly","is_byok":false,` +
			`"retry_after_seconds":26,"retry_after_seconds_raw":25.917,"headers":{"Retry-After":"26"}}}}`},
			llm.KindRateLimit, []time.Duration{26 * s, 26 * s, 26 * s, 26 * s}, 26 * s},
		{"a limit that is not used up", &scripted.Fault{Status: 429, Body: `{"error":{"message":"slow down","metadata":` +
			`{"headers":{"X-RateLimit-Remaining":"7","X-RateLimit-Reset":"1772377200000"}}}}`},
			llm.KindRateLimit, []time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"quota", &scripted.Fault{Status: 429, Code: "insufficient_quota"}, llm.KindQuota, nil, 0},
		{"401", status(401, 0, nil), llm.KindAuth, nil, 0},
		{"404", status(404, 0, nil), llm.KindBadRequest, nil, 0},
		{"no JSON in the error", &scripted.Fault{Status: 502, Body: "<html>bad gateway"}, llm.KindOverloaded,
			[]time.Duration{s / 2, s, 2 * s, 4 * s}, 0},
		{"context", &scripted.Fault{Status: 400, Code: "context_length_exceeded"}, llm.KindContextLength, nil, 0},
		{"redirect", &scripted.Fault{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/"}},
			llm.KindBadRequest, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, clk := serve(t, say("fine", tt.fault))
			resp, err := c.Complete(t.Context(), ask("x"))
			if d := cmp.Diff(tt.slept, clk.slept, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
			if tt.kind == "" {
				if err != nil || resp.Message.Content != "fine" {
					t.Fatalf("got %q, %v", resp.Message.Content, err)
				}
				return
			}
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || e.RetryAfter != tt.wait {
				t.Fatalf("error %v (%+v), want kind %s, wait %s", err, e, tt.kind, tt.wait)
			}
			if e.Advice() == "" || e.Tries != len(tt.slept)+1 {
				t.Errorf("advice %q, tries %d", e.Advice(), e.Tries)
			}
		})
	}
}

func TestKeysNeverLeave(t *testing.T) {
	var logs bytes.Buffer
	c, _, _ := serve(t, say("", &scripted.Fault{Status: 500,
		Body: `{"error":{"message":"bad key ` + key + ` and sk-abcd****wxyz9 Bearer zzz\u0007"}}`}),
		func(c *llm.Config) {
			c.Logger = slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
	_, err := c.Complete(t.Context(), ask("x"))
	for _, text := range []string{err.Error(), logs.String()} {
		for _, secret := range []string{key, "wxyz9", "zzz", "\a"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q appears in %q", secret, text)
			}
		}
	}
	if !strings.Contains(err.Error(), "bad key") {
		t.Errorf("the endpoint's words are missing: %v", err)
	}
}

func TestCancellationIsNoError(t *testing.T) {
	stop := errors.New("somebody said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	c, _, _ := serve(t, scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{{Text: "late",
		Delay: time.Hour}}}}})
	got := make(chan error)
	go func() {
		_, err := c.Complete(ctx, ask("x"))
		got <- err
	}()
	cancel(stop)
	err := <-got
	var e *llm.Error
	if !errors.Is(err, stop) || errors.As(err, &e) {
		t.Errorf("error = %v, want the cause and no *llm.Error", err)
	}
}

func TestTimeout(t *testing.T) {
	c, _, clk := serve(t, scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{{Text: "late",
		Delay: time.Hour}}}}},
		func(c *llm.Config) { c.First, c.Timeout, c.Retries = 20*time.Millisecond, time.Minute, 1 })
	_, err := c.Complete(t.Context(), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindTimeout || len(clk.slept) != 1 {
		t.Errorf("error = %v after %v", err, clk.slept)
	}
}

func TestDeadlineIsNotSleptThrough(t *testing.T) {
	c, _, clk := serve(t, say("fine",
		&scripted.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "30"}}),
		func(c *llm.Config) { c.Now = time.Now })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := c.Complete(ctx, ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.RetryAfter != 30*time.Second || len(clk.slept) != 0 {
		t.Errorf("error = %v, slept %v", err, clk.slept)
	}
}

// picky serves an endpoint that refuses parts of the protocol, as compatible servers do.
func picky(t *testing.T, refuse map[string]string, answer string) (*llm.Client, *[]map[string]any) {
	t.Helper()
	var got []map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var q map[string]any
		if err := json.Unmarshal(body, &q); err != nil {
			t.Errorf("request: %v", err)
		}
		got = append(got, q)
		for word, message := range refuse {
			if bytes.Contains(body, []byte(word)) {
				w.WriteHeader(http.StatusBadRequest)
				json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
				return
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"message": map[string]any{"role": "assistant", "content": answer}, "finish_reason": "stop"}}})
	}))
	t.Cleanup(srv.Close)
	c, _ := dial(t, srv.URL, func(*llm.Config) {})
	return c, &got
}

func TestStructuredOutputFallsBack(t *testing.T) {
	schema := &llm.Schema{Name: "answer", JSON: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
	tests := []struct {
		name   string
		refuse map[string]string
		format any
		calls  int
	}{
		{"all is understood", nil, "json_schema", 1},
		{"no schema", map[string]string{"json_schema": "response_format json_schema is not supported"}, "json_object", 2},
		{"no format", map[string]string{"response_format": "unknown field response_format"}, nil, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, got := picky(t, tt.refuse, "Sure:\n```json\n{\"n\": 3}\n```")
			for range 2 {
				req := ask("how many?")
				req.Schema = schema
				resp, err := c.Complete(t.Context(), req)
				if err != nil || string(resp.JSON) != `{"n": 3}` {
					t.Fatalf("got %s, %v", resp.JSON, err)
				}
				if !resp.Usage.Estimated || resp.Usage.Input == 0 || resp.Usage.Output == 0 {
					t.Errorf("usage = %+v, want an estimate", resp.Usage)
				}
			}
			if len(*got) != tt.calls+1 {
				t.Errorf("%d requests, want %d and then one: what was learned must hold", len(*got), tt.calls)
			}
			last := (*got)[len(*got)-1]
			var format any
			if f, ok := last["response_format"].(map[string]any); ok {
				format = f["type"]
			}
			if format != tt.format {
				t.Errorf("format = %v, want %v", format, tt.format)
			}
			text, _ := json.Marshal(last["messages"])
			if told := strings.Contains(string(text), "JSON Schema"); told != (tt.format != "json_schema") {
				t.Errorf("schema in the prompt: %v", told)
			}
		})
	}
}

func TestEndpointQuirks(t *testing.T) {
	c, got := picky(t, map[string]string{
		`"max_tokens"`: "Unsupported parameter: 'max_tokens' is not supported with this model. " +
			"Use 'max_completion_tokens' instead.",
	}, "fine")
	for range 2 {
		if _, err := c.Complete(t.Context(), ask("x")); err != nil {
			t.Fatal(err)
		}
	}
	last := (*got)[len(*got)-1]
	if last["max_completion_tokens"] == nil || len(*got) != 3 {
		t.Errorf("%d requests, last %v", len(*got), last)
	}
}

func TestNoObjectInTheAnswer(t *testing.T) {
	c, _, _ := serve(t, say("I would rather not.", nil))
	req := ask("x")
	req.Schema = &llm.Schema{Name: "a", JSON: json.RawMessage(`{"type":"object"}`)}
	resp, err := c.Complete(t.Context(), req)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindMalformed || resp.Usage.Input == 0 || resp.Message.Content == "" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]llm.Config{
		"no model":   {BaseURL: "https://x.test/v1"},
		"no scheme":  {Model: "m", BaseURL: "x.test/v1"},
		"scheme":     {Model: "m", BaseURL: "ftp://x.test"},
		"no host":    {Model: "m", BaseURL: "https:///v1"},
		"user":       {Model: "m", BaseURL: "https://me:hunter2@x.test/v1"},
		"query":      {Model: "m", BaseURL: "https://x.test/v1?key=hunter2"},
		"bad URL":    {Model: "m", BaseURL: "https://x.test/%zz:hunter2"},
		"bad window": {Model: "m", Window: -1},
	} {
		if _, err := llm.New(cfg); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPrice(t *testing.T) {
	u := llm.Usage{Input: 1_000_000, CachedInput: 400_000, Output: 100_000}
	for _, tt := range []struct {
		price llm.Price
		want  float64
	}{
		{llm.Price{}, 0},
		{llm.Price{Input: 2, Output: 10}, 3},
		{llm.Price{Input: 2, CachedInput: 0.5, Output: 10}, 2.4},
	} {
		if got := tt.price.Cost(u); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%+v: %v, want %v", tt.price, got, tt.want)
		}
	}
	if got := (llm.Price{Input: 1}).Cost(llm.Usage{Input: 10, CachedInput: 99}); got != 1e-5 {
		t.Errorf("more cached than there is: %v", got)
	}
}

func TestCountTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "hello world": 2} {
		if got := llm.CountTokens(text); got != want {
			t.Errorf("CountTokens(%q) = %d, want %d", text, got, want)
		}
	}
	long := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 2000)
	if n := llm.CountTokens(long); n < len(long)/6 || n > len(long)/2 {
		t.Errorf("%d bytes are %d tokens", len(long), n)
	}
}

// The advice about a refused request quotes the endpoint.
func TestAdviceQuotesTheEndpoint(t *testing.T) {
	for _, c := range []struct {
		err  llm.Error
		want string
	}{
		{llm.Error{Kind: llm.KindBadRequest, Status: 400, Message: "tools are not supported. "},
			"The endpoint says: tools are not supported."},
		{llm.Error{Kind: llm.KindBadRequest, Status: 404, Message: "no such model"}, "Check the model's name and the " +
			"endpoint's address, which often ends in /v1, in the server's configuration. The endpoint says: no such model."},
		{llm.Error{Kind: llm.KindRateLimit, Status: 429, Message: "Add 10 credits to unlock 1000 requests per day"},
			"The endpoint limits how much may be asked (it says: Add 10 credits to unlock 1000 requests per day); wait, or " +
				"raise the account's limit."},
		{llm.Error{Kind: llm.KindNoTools, Status: 500, Message: "tools param requires --jinja flag"},
			"The model can't call tools as it is served (it says: tools param requires --jinja flag). Use a model that can " +
				"call tools, or switch on its server's parser for tool calls (vLLM: --enable-auto-tool-choice, llama.cpp: " +
				"--jinja)."},
		{llm.Error{Kind: llm.KindBadRequest},
			"Check the model's name and the endpoint's address, which often ends in /v1, in the server's configuration."},
	} {
		if got := c.err.Advice(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The advice for an answer that is too large does not blame the address, and the call is not retried.
func TestAnswerThatIsTooLarge(t *testing.T) {
	asked := 0
	srv := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		var calls []string
		for i := range 300 {
			calls = append(calls, fmt.Sprintf(`{"id":"%d","type":"function","function":{"name":"read","arguments":"{}"}}`, i))
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","tool_calls":[%s]},"finish_reason":"tool_calls"}]}`,
			strings.Join(calls, ","))
	})
	c, _ := dial(t, srv)
	_, err := c.Complete(t.Context(), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || asked != 1 || e.Temporary() || !strings.Contains(e.Message, "over 256 tool calls at once") ||
		!strings.Contains(e.Advice(), "Use another model") {
		t.Errorf("%d requests: %+v", asked, err)
	}
}

// Redirects are followed only within an endpoint, since others would get the key.
func TestRedirects(t *testing.T) {
	moved := 0
	here := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/chat/completions" {
			moved++
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%q}}]}`, r.Header.Get("Authorization"))
			return
		}
		w.Header().Set("Location", "/v2"+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	elsewhere := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", here+"/v2/chat/completions?key=x")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	c, _ := dial(t, here)
	if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Message.Content != "Bearer "+key {
		t.Errorf("within: %q, %v", resp.Message.Content, err)
	}
	c, _ = dial(t, elsewhere)
	_, err := c.Complete(t.Context(), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindBadRequest || !strings.Contains(e.Message, here+"/v2/chat/completions;") {
		t.Errorf("elsewhere: %v", err)
	}
	if moved != 1 {
		t.Errorf("%d requests went there", moved)
	}
}

// newServer serves f; connections are closed at the end.
func newServer(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}
