package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/scripted"
)

func one(a scripted.Answer) scripted.Script {
	return scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{a}}}}
}

func TestStreamIsAskedForWithItsUsage(t *testing.T) {
	long := map[string]any{"path": "über.go", "content": strings.Repeat("päckage hello\n", 20)}
	c, srv, _ := serve(t, one(scripted.Answer{Text: "Two calls at once.",
		Usage: &scripted.Usage{Input: 100, Cached: 60, Output: 9},
		Calls: []scripted.Call{{Name: "write", Args: long}, {Name: "list", Args: "{}"}}}))
	resp, err := c.Complete(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(long)
	want := []llm.ToolCall{{ID: "call_0_0", Name: "write", Arguments: string(args)},
		{ID: "call_0_1", Name: "list", Arguments: "{}"}}
	if d := cmp.Diff(want, resp.Message.ToolCalls); d != "" || resp.Message.Content != "Two calls at once." ||
		resp.Finish != llm.FinishToolCalls {
		t.Errorf("answer %q, finish %s, calls (-want +got):\n%s", resp.Message.Content, resp.Finish, d)
	}
	if d := cmp.Diff(llm.Usage{Input: 100, CachedInput: 60, Output: 9}, resp.Usage); d != "" {
		t.Error(d)
	}
	if q := srv.Requests()[0]; !q.Stream || q.StreamOptions == nil || !q.StreamOptions.IncludeUsage {
		t.Errorf("request: %+v", q)
	}
}

// An answer that breaks off is retried a bounded number of times, and its usage is counted.
func TestBrokenStream(t *testing.T) {
	price := func(c *llm.Config) { c.Price = llm.Price{Input: 1, Output: 10} }
	for name, tt := range map[string]struct {
		fault scripted.Fault
		kind  llm.ErrorKind // if it never completes
		tries int
		lost  string // what is charged for a broken try
	}{
		"cut":                       {scripted.Fault{Reset: true, After: 3}, llm.KindNetwork, 5, "prompt, output"},
		"an error event":            {scripted.Fault{After: 3}, llm.KindOverloaded, 5, "prompt, output"},
		"silence":                   {scripted.Fault{Stall: true, After: 3}, llm.KindTimeout, 2, "prompt, output"},
		"silence without an answer": {scripted.Fault{Stall: true}, llm.KindTimeout, 2, ""},
		"silence before the output": {scripted.Fault{Stall: true, After: 1}, llm.KindTimeout, 2, "prompt"},
		"cut before the output":     {scripted.Fault{Reset: true, After: 1}, llm.KindNetwork, 5, "prompt"},
		"an error at once":          {scripted.Fault{After: 1}, llm.KindOverloaded, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short := func(c *llm.Config) { c.First, c.Idle = 400*time.Millisecond, 400*time.Millisecond }
			once := tt.fault
			once.Times = 1
			c, _, clk := serve(t, say("one two three four five six", &once), price, short)
			resp, err := c.Complete(t.Context(), ask("count"))
			if err != nil || resp.Message.Content != "one two three four five six" || len(clk.slept) != 1 {
				t.Fatalf("got %q, %v after %v", resp.Message.Content, err, clk.slept)
			}
			pays := tt.lost != ""
			if lost := resp.Lost; lost.Estimated != pays || (lost.Input > 0) != pays || (lost.USD > 0) != pays ||
				(lost.Output > 0) != strings.Contains(tt.lost, "output") {
				t.Errorf("lost: %+v", lost)
			}
			if got := resp.Spent(); got.Input != resp.Usage.Input+resp.Lost.Input || got.USD < resp.Usage.USD {
				t.Errorf("spent: %+v", got)
			}

			c, srv, _ := serve(t, say("one two three four five six", &tt.fault), price, short)
			resp, err = c.Complete(t.Context(), ask("count"))
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || len(srv.Requests()) != tt.tries || e.Advice() == "" {
				t.Fatalf("%d requests, error %v", len(srv.Requests()), err)
			}
			if lost := resp.Lost; (lost.USD > 0) != pays {
				t.Errorf("lost in %d tries: %+v", tt.tries, lost)
			}
		})
	}
}

// A stream that pauses after its start, because the model reads the prompt or thinks, has the same timeout as one that
// has not started.
func TestThinkingInSilence(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for _, sent := range []string{": PROCESSING\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n" +
				"data: [DONE]\n\n"} {
			io.WriteString(w, sent)
			http.NewResponseController(w).Flush()
			for range 10 { // takes much longer than Idle
				if resp, err := http.Get(other.URL); err == nil {
					resp.Body.Close()
				}
			}
		}
	}))
	t.Cleanup(srv.Close)
	c, _ := dial(t, srv.URL, func(c *llm.Config) { c.Idle = time.Nanosecond })
	if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Message.Content != "hi" || resp.Lost.Input > 0 {
		t.Errorf("%q, lost %+v, %v", resp.Message.Content, resp.Lost, err)
	}
}

// An endpoint that buffers an argument has the same timeout as one that has not started to answer.
func TestCallInSilence(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	for protocol, sent := range map[llm.Protocol][3]string{
		llm.ProtocolMessages: {`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"write","input":{}}}

`, `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"p\":"}}

`, `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

data: {"type":"message_stop"}

`},
		llm.ProtocolChat: {`data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write"}}]}}]}

`, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]}}]}

`, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}

data: [DONE]

`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for _, piece := range sent {
				io.WriteString(w, piece)
				http.NewResponseController(w).Flush()
				for range 10 { // takes much longer than Idle
					if resp, err := http.Get(other.URL); err == nil {
						resp.Body.Close()
					}
				}
			}
		}))
		t.Cleanup(srv.Close)
		c, _ := dial(t, srv.URL, func(c *llm.Config) { c.Protocol, c.Idle = protocol, time.Nanosecond })
		resp, err := c.Complete(t.Context(), ask("x"))
		want := []llm.ToolCall{{ID: "a", Name: "write", Arguments: `{"p":1}`}}
		if d := cmp.Diff(want, resp.Message.ToolCalls); err != nil || d != "" || resp.Message.Content != "hi" {
			t.Errorf("%s: %q, %v, calls (-want +got):\n%s", protocol, resp.Message.Content, err, d)
		}
	}
}

// An answer that is not streamed arrives only when it is complete.
func TestWholeAnswersTakeTheirTime(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for range 10 { // takes much longer than First
			if resp, err := http.Get(other.URL); err == nil {
				resp.Body.Close()
			}
		}
		io.WriteString(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(srv.Close)
	c, _ := dial(t, srv.URL, func(c *llm.Config) {
		c.First = time.Nanosecond
		c.Memory = llm.NewMemory(map[string]llm.Learned{srv.URL + " " + c.Model: {Forms: []string{"no stream"}}}, nil)
	})
	if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Message.Content != "hi" {
		t.Errorf("%q, %v", resp.Message.Content, err)
	}
}

func TestCancelCutsTheStream(t *testing.T) {
	stop := errors.New("somebody said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n")
		http.NewResponseController(w).Flush()
		cancel(stop)
		<-r.Context().Done()
		close(gone)
	}))
	t.Cleanup(srv.Close)
	c, clk := dial(t, srv.URL)
	_, err := c.Complete(ctx, ask("x"))
	var e *llm.Error
	if !errors.Is(err, stop) || errors.As(err, &e) || len(clk.slept) > 0 {
		t.Errorf("error = %v after %v, want the cause and no *llm.Error", err, clk.slept)
	}
	<-gone // the endpoint notices immediately, so that it stops working
}

// streams serves raw bodies as streams.
func streams(t *testing.T, body string, change ...func(*llm.Config)) *llm.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	c, _ := dial(t, srv.URL, change...)
	return c
}

// Streams of compatible servers and gateways.
func TestStreamDialects(t *testing.T) {
	call := func(id, name, args string) llm.ToolCall { return llm.ToolCall{ID: id, Name: name, Arguments: args} }
	for name, tt := range map[string]struct {
		body  string
		text  string
		calls []llm.ToolCall
	}{
		"comments, CRLF and no last empty line": {": WORKING\r\n\r\nevent: message\r\ndata: " +
			"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\r\n\r\n: WORKING\r\n" +
			"\r\ndata: [DONE]", "hi", nil},
		"lines that end with CR alone": {": WORKING\r\r" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\"}}]}\r\r" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"i\"},\"finish_reason\":\"stop\"}]}\r\r" +
			"data: [DONE]\r\r",
			"hi", nil},
		"a character in halves": {`data: {"choices":[{"index":0,"delta":{"content":"hi \ud83d"}}]}

data: {"choices":[{"index":0,"delta":{"content":"\ude00 \ud83d, \ude00"},"finish_reason":"stop"}]}

data: [DONE]

`, "hi 😀 \uFFFD, \uFFFD", nil},
		"no DONE": {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}," +
			"\"finish_reason\":\"stop\"}]}\n\n", "hi", nil},
		"no reason": {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n" +
			"\ndata: [DONE]\n\n", "hi", nil},
		"two lines": {"data: {\"choices\":[{\"index\":0,\ndata: " +
			"\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "hi", nil},
		"no empty lines": {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\"}}]}\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"i\"}}]}\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\n" +
			"data: \"finish_reason\":\"stop\"}]}\ndata: [DONE]\n", "hi", nil},
		"the end of a thought within JSON": {`data: {"choices":[{"index":0,"delta":{"content":"{\"a\":\"x</think>y\"}"},` +
			`"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", `{"a":"x</think>y"}`, nil},
		"other choice": {"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}," +
			"{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "hi", nil},
		"whole calls under one index": {`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a",` +
			`"function":{"name":"read","arguments":"{\"p\":1}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"list",` +
			`"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`, "", []llm.ToolCall{call("a", "read", `{"p":1}`), call("b", "list", "{}")}},
		"calls without an index": {`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a",` +
			`"function":{"name":"read","arguments":"{\"p\""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":":1}"}},{"id":"b",` +
			`"function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`, "", []llm.ToolCall{call("a", "read", `{"p":1}`), call("b", "list", "{}")}},
		"the message so far before each piece": {`data: {"choices":[{"index":0,"message":{"content":"h"},"delta":` +
			`{"content":"h"}}]}

data: {"choices":[{"message":{"content":"hi"},"index":0,"delta":{"content":"i"},"finish_reason":"stop"}]}

data: [DONE]

`, "hi", nil},
		"interleaved, without ids": {`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,` +
			`"function":{"name":"read","arguments":""}},{"index":1,"function":{"name":"list","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,` +
			`"function":{"arguments":"{\"p\":1}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`, "", []llm.ToolCall{call("jwq2i1ZKF", "read", `{"p":1}`), call("cacOqBLPV", "list", "{}")}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := streams(t, tt.body).Complete(t.Context(), ask("x"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.calls, resp.Message.ToolCalls); d != "" || resp.Message.Content != tt.text {
				t.Errorf("text %q, calls (-want +got):\n%s", resp.Message.Content, d)
			}
			if !resp.Usage.Estimated || resp.Usage.Input == 0 {
				t.Errorf("a stream without usage must not look free: %+v", resp.Usage)
			}
		})
	}
}

func TestEndpointsThatDoNotStream(t *testing.T) {
	for name, tt := range map[string]struct {
		refuse map[string]string
		calls  int // requests until the first answer
		stream any
	}{
		"understood as one piece": {nil, 1, true},
		"no usage in streams":     {map[string]string{"stream_options": "Unknown parameter: stream_options"}, 2, true},
		"no streams at all":       {map[string]string{`"stream":true`: "streaming is not supported"}, 2, false},
		"neither": {map[string]string{"stream_options": "unknown: stream_options",
			`"stream":true`: "streaming is not supported"}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, got := picky(t, tt.refuse, "fine")
			for range 2 {
				if resp, err := c.Complete(t.Context(), ask("x")); err != nil || resp.Message.Content != "fine" {
					t.Fatalf("%q, %v", resp.Message.Content, err)
				}
			}
			last := (*got)[len(*got)-1]
			if len(*got) > tt.calls+1 || last["stream"] != tt.stream {
				t.Errorf("%d requests, the last with stream %v; what was learned must hold", len(*got), last["stream"])
			}
		})
	}
}

// Tool names may differ in case; a call without arguments that starts before another one is a call of its own.
func TestNamesOfTools(t *testing.T) {
	piece := func(id, name, args string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":%q,"function":`+
			`{"name":%q,"arguments":%q}}]}}]}`+"\n\n", id, name, args)
	}
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	for name, tt := range map[string]struct {
		body, want string
	}{
		"two calls": {piece("q", "run", "") + piece("r", "read", `{"p":1}`), `q run ; r read {"p":1}; `},
		"capitals":  {piece("q", "Read", `{"p":1}`), `q read {"p":1}; `},
	} {
		req := ask("x")
		req.Tools = []llm.ToolSpec{readTool, {Name: "run", Parameters: readTool.Parameters}}
		resp, err := streams(t, tt.body+end).Complete(t.Context(), req)
		got := ""
		for _, c := range resp.Message.ToolCalls {
			got += fmt.Sprintf("%s %s %s; ", c.ID, c.Name, c.Arguments)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, want %q: %v", name, got, tt.want, err)
		}
	}
}

// Calls of different tools are different calls, even if an endpoint gives them the same ID.
func TestRepeatedIDs(t *testing.T) {
	chat := func(piece string) string { return `{"choices":[{"index":0,"delta":{"tool_calls":[` + piece + `]}}]}` }
	const chatEnd = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	item := func(kind string, index int, id, name, args string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":{"type":"function_call","id":%q,`+
			`"call_id":"call_0","name":%q,"arguments":%q}}`, kind, index, id, name, args)
	}
	delta := func(index int, args string) string {
		return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":"fc_0","output_index":%d,`+
			`"delta":%q}`, index, args)
	}
	const responsesEnd = `{"type":"response.completed","response":{"status":"completed","output":[` +
		`{"type":"function_call","call_id":"call_0","name":"delete","arguments":"{\"path\":\"old.go\"}"},` +
		`{"type":"function_call","call_id":"call_0","name":"read","arguments":"{\"path\":\"main.go\"}"}]}}`
	for name, events := range map[string][]string{
		"chat, whole": {chat(`{"index":0,"id":"call_0","function":{"name":"delete","arguments":"{\"path\":\"old.go\"}"}},` +
			`{"index":1,"id":"call_0","function":{"name":"read","arguments":"{\"path\":\"main.go\"}"}}`), chatEnd},
		"chat, without an index": {
			chat(`{"id":"call_0","function":{"name":"delete","arguments":"{\"path\":"}}`),
			chat(`{"id":"call_0","function":{"arguments":"\"old.go\"}"}}`),
			chat(`{"id":"call_0","function":{"name":"read","arguments":"{\"path\":"}}`),
			chat(`{"id":"call_0","function":{"arguments":"\"main.go\"}"}}`), chatEnd},
		"chat, one index": {
			chat(`{"index":0,"id":"call_0","function":{"name":"delete","arguments":"{\"path\":\"old.go\"}"}}`),
			chat(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"{\"path\":"}}`),
			chat(`{"index":0,"id":"call_0","function":{"name":"read","arguments":"\"main.go\"}"}}`), chatEnd},
		"responses": {item("done", 0, "fc_1", "delete", `{"path":"old.go"}`),
			item("done", 1, "fc_2", "read", `{"path":"main.go"}`), responsesEnd},
		"responses, in pieces": {item("added", 0, "fc_0", "delete", ""), item("added", 1, "fc_0", "read", ""),
			delta(0, `{"path":"old.go"}`), delta(1, `{"path":`), delta(1, `"main.go"}`), responsesEnd},
	} {
		protocol := llm.ProtocolChat
		if strings.HasPrefix(name, "responses") {
			protocol = llm.ProtocolResponses
		}
		want := []llm.ToolCall{{ID: "call_0", Name: "delete", Arguments: `{"path":"old.go"}`},
			{Name: "read", Arguments: `{"path":"main.go"}`}}
		resp, err := streams(t, "data: "+strings.Join(events, "\n\ndata: ")+"\n\n", func(c *llm.Config) {
			c.Protocol = protocol
		}).Complete(t.Context(), ask("x"))
		got := resp.Message.ToolCalls
		if err != nil || len(got) != 2 || got[1].ID == "call_0" {
			t.Errorf("%s: %+v: %v", name, got, err)
			continue
		}
		want[1].ID = got[1].ID
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, d)
		}
	}
}

// Each call is one call, even if a later event gives it another ID (https://github.com/vllm-project/vllm/pull/47916).
func TestRenumberedCalls(t *testing.T) {
	call := func(id, name, args string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":%q}`, id, name, args)
	}
	event := func(kind string, index int, item string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":%s}`, kind, index, item)
	}
	end := func(items ...string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") + `]}}`
	}
	a, b := `{"path":"a"}`, `{"path":"b"}`
	for name, tt := range map[string]struct {
		events []string
		want   []llm.ToolCall
	}{
		"in the last event": {[]string{event("done", 0, call("c1", "read", a)), event("done", 1, call("c2", "read", b)),
			end(call("x1", "read", a), call("x2", "read", b))}, []llm.ToolCall{{"c1", "read", a}, {"c2", "read", b}}},
		"in the last event, in another order": {[]string{event("done", 0, call("c1", "read", a)),
			event("done", 1, call("c2", "list", "{}")), end(call("x2", "list", "{}"), call("x1", "read", a))},
			[]llm.ToolCall{{"c1", "read", a}, {"c2", "list", "{}"}}},
		"in the last event, with one more": {[]string{event("done", 0, call("c1", "read", a)),
			end(call("x1", "read", a), call("x2", "read", b))}, []llm.ToolCall{{"c1", "read", a}, {"x2", "read", b}}},
		"at its end": {[]string{event("added", 0, call("c1", "read", "")), event("done", 0, call("d1", "read", a)),
			event("added", 0, call("c2", "read", "")), event("done", 0, call("d2", "read", b)),
			end(call("x1", "read", a), call("x2", "read", b))}, []llm.ToolCall{{"c1", "read", a}, {"c2", "read", b}}},
		"only listed at the end": {[]string{event("done", 0, call("c1", "read", a)),
			end(call("c1", "read", a), call("c2", "read", b))}, []llm.ToolCall{{"c1", "read", a}, {"c2", "read", b}}},
	} {
		resp, err := streams(t, "data: "+strings.Join(tt.events, "\n\ndata: ")+"\n\n", func(c *llm.Config) {
			c.Protocol = llm.ProtocolResponses
		}).Complete(t.Context(), ask("x"))
		if d := cmp.Diff(tt.want, resp.Message.ToolCalls); d != "" || err != nil {
			t.Errorf("%s: %v, calls (-want +got):\n%s", name, err, d)
		}
	}
}

// Arguments that are almost JSON are repaired if unambiguous, but not if the answer was cut off.
func TestArgumentsThatAreNotQuiteJSON(t *testing.T) {
	for _, tt := range []struct{ args, finish, want string }{ // finish "": there is none
		{"{\"path\": \"a\", \"old\": \"x\n\"}", "tool_calls", `{"path":"a","old":"x\n"}`},
		{`{"path": "a"}}</tool_call>`, "tool_calls", `{"path":"a"}`},
		{`{"path": "a",}`, "tool_calls", `{"path":"a"}`},
		{`{"path": "a"`, "tool_calls", `{"path":"a"}`},
		{"```json\n{\"path\": \"a\"}\n```", "tool_calls", `{"path":"a"}`},
		{`{'path': 'a', 'all': True}`, "tool_calls", `{"path":"a","all":true}`},
		{`"{\"path\": \"a\",}"`, "tool_calls", `{"path":"a"}`},
		{`{"path": "a"`, "length", `{"path": "a"`},
		{`{"path": "a"} and so on`, "tool_calls", `{"path": "a"} and so on`},
		{`{"path": "a" "b"}`, "tool_calls", `{"path": "a" "b"}`},
		{`{"path": "a", "from": 12`, "", `{"path": "a", "from": 12`},
		{`{"path": "a", "from": 12}`, "", `{"path": "a", "from": 12}`},
		{"```json\n{\"path\": \"a\",}\n```", "", `{"path":"a"}`},
		{``, "", ``},
	} {
		body := fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":`+
			`{"name":"read","arguments":%q}}]},"finish_reason":%q}]}`+"\n\ndata: [DONE]\n\n", tt.args, tt.finish)
		resp, err := streams(t, body).Complete(t.Context(), ask("x"))
		if err != nil || len(resp.Message.ToolCalls) != 1 || resp.Message.ToolCalls[0].Arguments != tt.want {
			t.Errorf("%s, %s: %v, want %s: %v", tt.args, tt.finish, resp.Message.ToolCalls, tt.want, err)
		}
		cut := tt.finish == "" && tt.want != "" && !json.Valid([]byte(tt.want))
		if cut != (resp.Finish == llm.FinishLength) && tt.finish != "length" {
			t.Errorf("%s, %s: it ends by %q", tt.args, tt.finish, resp.Finish)
		}
	}
}

// An output far beyond the requested maximum is not charged as reported.
func TestImplausibleOutput(t *testing.T) {
	for name, tt := range map[string]struct {
		end  string // of the stream
		lost bool
	}{
		"complete":   {"data: [DONE]\n\n", false},
		"broken off": {`data: {"error":{"message":"overloaded","code":503}}` + "\n\n", true},
	} {
		body := `data: {"choices":[{"index":0,"delta":{"content":"hi"}}],"usage":{"prompt_tokens":100,` +
			`"completion_tokens":9000000}}` + "\n\n" + tt.end
		resp, err := streams(t, body, func(c *llm.Config) {
			c.Price, c.Retries = llm.Price{Input: 1, Output: 25}, -1
		}).Complete(t.Context(), ask("x"))
		u := resp.Spent()
		if (err != nil) != tt.lost || u.Input != 100 || u.Output != 4*llm.DefaultMaxOutput || !u.Estimated || u.USD > 1 {
			t.Errorf("%s: %+v: %v", name, u, err)
		}
	}
}

// A call that was written as text is not completed if nothing says that the answer is complete.
func TestTextCallWithoutAFinishReason(t *testing.T) {
	for text, want := range map[string]int{
		`[TOOL_CALLS]read{"path": "a", "lines": 12`:  0,
		`[TOOL_CALLS]read{"path": "a", "lines": 12}`: 1,
	} {
		req := ask("x")
		req.Tools = []llm.ToolSpec{readTool}
		body := fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\ndata: [DONE]\n\n", text)
		resp, err := streams(t, body).Complete(t.Context(), req)
		if got := len(resp.Message.ToolCalls); err != nil || got != want || (resp.Unread == "") != (want == 1) {
			t.Errorf("%s: %d calls, unread %q: %v", text, got, resp.Unread, err)
		}
	}
}

// A refusal in the protocol's field is a withheld answer, not text of the model.
func TestRefusal(t *testing.T) {
	for protocol, body := range map[llm.Protocol]string{
		llm.ProtocolChat: `{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I can't."},` +
			`"finish_reason":"stop"}]}`,
		llm.ProtocolResponses: `{"status":"completed","output":[{"type":"message","role":"assistant","content":` +
			`[{"type":"refusal","refusal":"I can't."}]}]}`,
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
		t.Cleanup(srv.Close)
		c, _ := dial(t, srv.URL, func(c *llm.Config) { c.Protocol = protocol })
		resp, err := c.Complete(t.Context(), ask("x"))
		if err != nil || resp.Finish != llm.FinishContentFilter || resp.Message.Content != "I can't." {
			t.Errorf("%s: %q ends by %s: %v", protocol, resp.Message.Content, resp.Finish, err)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":7}]}," +
		"\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	f.Add("data: {\"error\":{\"message\":\"x\",\"code\":502}}\n\n")
	f.Add("data:\n\n\xff: \n")
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := streams(t, body).Complete(t.Context(), ask("x"))
		if err == nil && (resp.Message.Role != llm.RoleAssistant || resp.Usage.Input == 0) {
			t.Errorf("answer without role or usage: %+v", resp)
		}
	})
}
