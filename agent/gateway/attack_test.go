package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/gateway"
)

// settle waits until all calls are settled, which happens after their answers.
func (p *budgetMeter) settle(t *testing.T, calls int) []gateway.Usage {
	t.Helper()
	for t.Context().Err() == nil {
		p.mu.Lock()
		if len(p.settled) == calls && p.open == 0 {
			defer p.mu.Unlock()
			return p.settled
		}
		p.mu.Unlock()
		runtime.Gosched()
	}
	return nil
}

// A call costs its reservation if the program hangs up before the usage arrives, or if the endpoint reports none.
func TestCallsThatNobodyCanCount(t *testing.T) {
	const limit = 5000
	sse := func(w http.ResponseWriter, lines ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, l := range lines {
			io.WriteString(w, "data: "+l+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
	cut := func(lines ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			sse(w, lines...)
			panic(http.ErrAbortHandler)
		}
	}
	for _, c := range []struct {
		name, path string
		answer     func(http.ResponseWriter, *http.Request)
		hangUp     bool // before the answer's header
		took       int  // reported input tokens; 0: none
	}{
		{"hung up before the head", "/v1/chat/completions",
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, 0},
		{"the endpoint hangs up", "/v1/responses",
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, 0},
		{"chat, cut before the usage", "/v1/chat/completions", cut(`{"choices":[{"delta":{"content":"a"}}]}`), false, 0},
		{"chat, cut with a usage that grows", "/v1/chat/completions",
			cut(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}`), false, 7},
		{"chat, whole without usage", "/v1/chat/completions",
			func(w http.ResponseWriter, _ *http.Request) { sse(w, `{"choices":[]}`, `[DONE]`) }, false, 0},
		{"messages, cut before the usage", "/v1/messages",
			cut(`{"type":"message_start","message":{"usage":{"input_tokens":30,"output_tokens":1}}}`), false, 30},
		{"messages, whole with half a usage", "/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
			sse(w, `{"type":"message_start","message":{"usage":{"input_tokens":30,"output_tokens":1}}}`,
				`{"type":"message_stop"}`)
		}, false, 30},
		{"responses, cut before the end", "/v1/responses",
			cut(`{"type":"response.created","response":{"usage":{"input_tokens":3,"output_tokens":0}}}`), false, 0},
		{"not streamed, cut", "/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			io.WriteString(w, `{"usage":{"input_tokens":3,"output_tokens":1}`)
		}, false, 0},
		{"not streamed, without usage", "/v1/messages",
			func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"content":[]}`) }, false, 0},
		{"not JSON", "/v1/messages", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `hello`) }, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan struct{}, 1)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // after this, the server notices when the gateway hangs up
				asked <- struct{}{}
				c.answer(w, r)
			}))
			t.Cleanup(srv.Close)
			p := &budgetMeter{limit: limit}
			_, url := open(t, srv.URL, p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.hangUp {
				go func() { <-asked; cancel() }()
			}
			body := bodies[c.path] + `,"stream":true}`
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+c.path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", token)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			want := gateway.Usage{Input: max(len(body)/3, c.took), Output: limit}
			if got := p.settle(t, 1); !cmp.Equal(got, []gateway.Usage{want}) {
				t.Errorf("settled %+v, want %+v", got, want)
			}
		})
	}
}

// A program that reads the start of an answer and then hangs up pays for all of it.
func TestHangUpInTheMiddle(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(srv.Close)
	p := &budgetMeter{limit: 700}
	_, url := open(t, srv.URL, p)
	body := bodies["/v1/chat/completions"] + `,"stream":true}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := p.settle(t, 1); !cmp.Equal(got, []gateway.Usage{{Input: len(body) / 3, Output: 700}}) {
		t.Errorf("settled %+v", got)
	}
}

// Requests with content that is not on the list don't reach the endpoint, in any spelling.
func TestOnlyWhatIsListedGoesThrough(t *testing.T) {
	upstream, got := endpoint(t, plain)
	const chat, responses, messages = "/v1/chat/completions", "/v1/responses", "/v1/messages"
	for _, c := range []struct {
		name, path, body string
		want             string // as it is forwarded; empty: refused
		says             string
	}{
		{"other models and ways", chat, `{"model":"m","messages":[],"models":["dear"],"fallbacks":["dear"],` +
			`"plugins":[{"id":"web"}],"provider":{"order":["x"]},"api_base":"https://x","base_url":"https://x",` +
			`"extra_body":{"model":"dear"},"transforms":["x"],"route":"fallback","Model":"dear","MODEL":"dear",` +
			`"best_of":20,"n":20,"prediction":{"type":"content","content":"x"},"service_tier":"priority","user":"u",` +
			`"functions":[{"name":"f"}],"logprobs":true,"web_search_options":{}}`,
			`{"model":"m","messages":[],"max_tokens":100}`, ""},
		{"every bound", chat, `{"model":"m","max_tokens":90000,"max_completion_tokens":80000,"max_output_tokens":70000}`,
			`{"model":"m","max_tokens":100,"max_completion_tokens":100}`, ""},
		{"one bound below the other", chat, `{"model":"m","max_tokens":5,"max_completion_tokens":80000}`,
			`{"model":"m","max_tokens":5,"max_completion_tokens":100}`, ""},
		{"bounds that bound nothing", responses, `{"model":"m","max_output_tokens":null,"max_tokens":9}`,
			`{"model":"m","store":false,"max_output_tokens":100}`, ""},
		{"a negative bound", messages, `{"model":"m","max_tokens":-1}`, `{"model":"m","max_tokens":100}`, ""},
		{"a bound in another case", messages, `{"model":"m","Max_Tokens":90000,"max_tokens":50}`,
			`{"model":"m","max_tokens":50}`, ""},
		{"thinking beyond the bound", messages,
			`{"model":"m","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}}`,
			`{"model":"m","max_tokens":100}`, ""},
		{"the model twice", chat, `{"model":"dear","model":"m"}`, "", "twice"},
		{"the model twice, escaped", chat, `{"model":"m","\u006dodel":"dear"}`, "", "twice"},
		{"a name twice, far inside", messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"text",` +
			`"type":"server_tool_use","text":"x"}]}]}`, "", "twice"},
		{"hosted tools of chat", chat, `{"model":"m","tools":[{"type":"web_search_preview"},{"type":"file_search"},` +
			`{"type":"mcp","server_url":"https://x"},{"type":"function","function":{"name":"f","url":"https://x"}},` +
			`{"Type":"function","function":{"name":"g"}},{"type":"openrouter:web_search"}]}`,
			`{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"max_tokens":100}`, ""},
		{"hosted tools of responses", responses, `{"model":"m","tools":[{"type":"shell","environment":` +
			`{"type":"container_auto"}},{"type":"code_interpreter","container":{"type":"auto"}},{"type":"image_generation"},` +
			`{"type":"computer_use_preview"},{"type":"tool_search"},{"type":"apply_patch"},{"type":"web_search"},` +
			`{"type":"namespace","name":"n","tools":[{"type":"mcp","server_url":"https://x"},{"type":"function","name":"f",` +
			`"server_url":"https://x"}]}]}`,
			`{"model":"m","store":false,"max_output_tokens":100,"tools":[{"type":"namespace","name":"n","tools":` +
				`[{"type":"function","name":"f"}]}]}`, ""},
		{"hosted tools of messages", messages, `{"model":"m","tools":[{"type":"web_fetch_20250910","name":"f"},` +
			`{"type":"code_execution_20250825","name":"c"},{"type":"memory_20250818","name":"m"},{"type":"bash_tool_x",` +
			`"name":"b"},{"type":"mcp_toolset","mcp_server_name":"x"},{"type":"tool_search_tool_regex_20251119"},` +
			`{"type":"text_editor_20250728","name":"e"},{"type":"custom","name":"a","allowed_callers":["code_execution"]}],` +
			`"container":"c","mcp_servers":[{"url":"https://x"}],"speed":"fast","inference_geo":"us",` +
			`"context_management":{"edits":[{"type":"compact_20260112"},{"type":"clear_thinking_20251015","keep":"all"}]}}`,
			`{"model":"m","max_tokens":100,"tools":[{"type":"text_editor_20250728","name":"e"},{"type":"custom",` +
				`"name":"a"}],"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}}`, ""},
		{"what is stored", responses, `{"model":"m","previous_response_id":"r","conversation":"c","prompt":{"id":"p"},` +
			`"background":true,"store":true,"include":["file_search_call.results","reasoning.encrypted_content"]}`,
			`{"model":"m","store":false,"max_output_tokens":100,"include":["reasoning.encrypted_content"]}`, ""},
		{"a choice of a hosted tool", responses, `{"model":"m","tools":[{"type":"function","name":"f"}],` +
			`"tool_choice":{"type":"web_search"}}`, "", "web_search"},
		{"an item that is stored", responses, `{"model":"m","input":[{"type":"item_reference","id":"x"}]}`, "",
			"item_reference"},
		{"an image's address", chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":` +
			`{"url":"https://x/?secret"}}]}]}`, "", "data: URLs"},
		{"an image's address, short", chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url",` +
			`"image_url":"HTTPS://x"}]}]}`, "", "data: URLs"},
		{"an address in a tool's result", responses, `{"model":"m","input":[{"type":"function_call_output","call_id":"c",` +
			`"output":[{"type":"input_image","image_url":"https://x"}]}]}`, "", "data: URLs"},
		{"a file's address", responses, `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_url":` +
			`"https://x","file_id":"f","filename":"a","file_data":"data:text/plain,a"}]}]}`,
			`{"model":"m","store":false,"max_output_tokens":100,"input":[{"role":"user","content":[{"type":"input_file",` +
				`"filename":"a","file_data":"data:text/plain,a"}]}]}`, ""},
		{"an image that lies elsewhere", messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"image",` +
			`"source":{"type":"url","url":"https://x"}}]}]}`, "", `\"url\" is not passed on`},
		{"an uploaded file", messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result",` +
			`"tool_use_id":"t","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}]}`, "",
			`\"file\" is not passed on`},
		{"a container's upload", messages, `{"model":"m","messages":[{"role":"user","content":[{"type":` +
			`"container_upload","file_id":"f"}]}]}`, "", "container_upload"},
		{"a cache that costs more", messages, `{"model":"m","system":[{"type":"text","text":"x","cache_control":` +
			`{"type":"ephemeral","ttl":"1h"}}]}`,
			`{"model":"m","max_tokens":100,"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`, ""},
		{"what is sent inline", messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":` +
			`{"type":"base64","media_type":"image/png","data":"AAAA","url":"https://x"}}]}]}`,
			`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64",` +
				`"media_type":"image/png","data":"AAAA"}}]}]}`, ""},
		{"more values than memory", messages, `{"model":"m","messages":[` + strings.Repeat("[],", 200_000) + `[]]}`, "",
			"values"},
		{"deeper than can be read", messages, `{"model":"m","messages":` + strings.Repeat("[", 100_000) +
			strings.Repeat("]", 100_000) + `}`, "", "depth"},
	} {
		got.path, got.body = "", nil
		p := &budgetMeter{limit: 100}
		_, url := open(t, upstream, p)
		status, text := ask(t, http.MethodPost, url+c.path, c.body, "Anthropic-Beta",
			"context-1m-2025-08-07, claude-code-20250219,fast-mode-2026-02-01", "OpenAI-Beta", "x=1")
		if c.want == "" {
			if status != http.StatusBadRequest || !strings.Contains(text, c.says) || got.path != "" || len(p.wanted) > 0 {
				t.Errorf("%s: %d %.300s; asked %q, %d reserved", c.name, status, text, got.path, len(p.wanted))
			}
			continue
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(c.name, err)
		}
		if d := cmp.Diff(want, got.body); status != 200 || d != "" {
			t.Errorf("%s: %d %.300s -want +got\n%s", c.name, status, text, d)
		}
		if b := got.header.Get("Anthropic-Beta"); b != "claude-code-20250219" || got.header.Get("OpenAI-Beta") != "" {
			t.Errorf("%s: betas %q", c.name, b)
		}
	}
}

// Slow uploads can't exceed the common memory limit, and further requests are told to retry.
func TestSlowUploadsShareTheirRoom(t *testing.T) {
	upstream, _ := endpoint(t, plain)
	room := &gateway.Room{}
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const servers, uploads, size = 12, 9, 15 << 20 // one of each exceeds the common limit
	urls := make([]string, servers)
	for i := range urls {
		g, err := gateway.New(gateway.Config{Upstream: upstream, Model: "m", Token: fmt.Sprint(token, i),
			Meter: &budgetMeter{}, Room: room})
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(g)
		t.Cleanup(srv.Close)
		urls[i] = srv.URL
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	var held []net.Conn
	for i := range servers * uploads {
		all.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(urls[i%servers], "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n",
				fmt.Sprint(token, i%servers), size)
			piece := []byte(strings.Repeat("x", 64<<10))
			for sent := 0; sent < size-len(piece); sent += len(piece) { // never completed
				_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
				if _, err := conn.Write(piece); err != nil {
					break
				}
			}
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			line, _ := bufio.NewReader(conn).ReadString('\n')
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(line, "503") {
				refused++
			}
			held = append(held, conn)
		})
	}
	all.Wait()
	runtime.GC()
	runtime.ReadMemStats(&during)
	if grown := int64(during.HeapInuse) - int64(before.HeapInuse); grown > 100<<20 {
		t.Errorf("the uploads hold %d MiB", grown>>20)
	}
	if refused < 50 {
		t.Errorf("%d were refused", refused)
	}
	for _, c := range held {
		c.Close()
	}
	// The memory is free again.
	for i, url := range urls {
		for t.Context().Err() == nil {
			if status, _ := ask(t, http.MethodPost, url+"/v1/messages", `{"model":"m","max_tokens":9}`, "X-Api-Key",
				fmt.Sprint(token, i)); status == 200 {
				break
			}
			runtime.Gosched()
		}
	}
}
