package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/sim/scripted"
)

// budgetMeter is a meter that allows calls until it is empty.
type budgetMeter struct {
	mu      sync.Mutex
	refuse  bool
	limit   int // 0: as requested
	wanted  []int
	settled []gateway.Usage
	open    int
}

func (p *budgetMeter) Reserve(prompt, want int) (gateway.Call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse {
		return gateway.Call{}, errors.New("the credits are spent")
	}
	p.wanted = append(p.wanted, want)
	p.open++
	return gateway.Call{Prompt: prompt, Most: p.limit, Held: 7}, nil
}

func (p *budgetMeter) Settle(c gateway.Call, u gateway.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Held != 7 {
		panic("another's call")
	}
	p.open--
	p.settled = append(p.settled, u)
}

const token, key = "throw-away", "the-real-key"

// open starts a gateway to an endpoint.
func open(t testing.TB, upstream string, p *budgetMeter) (*gateway.Gateway, string) {
	t.Helper()
	g, err := gateway.New(gateway.Config{Upstream: upstream, Key: key, Model: "m", Token: token, Meter: p})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	return g, srv.URL
}

func ask(t testing.TB, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// bodies are equivalent requests in each protocol.
var bodies = map[string]string{
	"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"hello"}]`,
	"/v1/responses":        `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"hello"}]}]`,
	"/v1/messages":         `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hello"}]`,
}

func TestUsageOfEachProtocol(t *testing.T) {
	model, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{User: "^hello$",
		Turns: []scripted.Answer{{Text: "well done", Calls: []scripted.Call{{Name: "tool", Args: map[string]any{"a": 1}}},
			Usage: &scripted.Usage{Input: 100, Cached: 40, Output: 9}}}}}}, scripted.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	for path, body := range bodies {
		for _, stream := range []string{"", `,"stream":true`} {
			p := &budgetMeter{}
			_, url := open(t, model.URL, p)
			status, text := ask(t, http.MethodPost, url+path, body+stream+"}")
			if status != 200 || !strings.Contains(text, "well") || !strings.Contains(text, "tool") ||
				(stream != "") != strings.Contains(text, "data: ") {
				t.Errorf("%s%s: %d %s", path, stream, status, text)
			}
			if want := []gateway.Usage{{Input: 100, Cached: 40, Output: 9}}; !cmp.Equal(p.settled, want) || p.open != 0 {
				t.Errorf("%s%s: settled %+v", path, stream, p.settled)
			}
		}
	}
}

// record records the requests to an endpoint.
type record struct {
	header http.Header
	path   string
	body   map[string]any
}

func endpoint(t testing.TB, answer func(http.ResponseWriter)) (string, *record) {
	got := &record{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.header, got.path, got.body = r.Header.Clone(), r.URL.Path, nil
		_ = json.NewDecoder(r.Body).Decode(&got.body)
		answer(w)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/base/v1/", got
}

func plain(w http.ResponseWriter) {
	io.WriteString(w, `{"usage":{"prompt_tokens":5,"completion_tokens":2}}`)
}

func TestWhatIsForwarded(t *testing.T) {
	upstream, got := endpoint(t, plain)
	for _, c := range []struct {
		name, path, body string
		limit            int
		want             string
	}{
		{"a bound that is set", "/v1/chat/completions",
			`{"model":"m","max_tokens":9000,"n":8,"service_tier":"priority","web_search_options":{},"stream":true,"x":1}`, 100,
			`{"model":"m","max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}`},
		{"a bound that is not", "/chat/completions", `{"model":"m"}`, 100, `{"model":"m","max_tokens":100}`},
		{"a bound that is lower", "/v1/messages", `{"model":"m","max_tokens":10}`, 100, `{"model":"m","max_tokens":10}`},
		{"the provider's tools", "/v1/messages",
			`{"model":"m","max_tokens":10,"mcp_servers":[{"url":"https://x"}],"tools":[{"name":"a","input_schema":{}},` +
				`{"type":"web_search_20250305","name":"w"},{"type":"web_fetch_20250910","name":"f"},{"type":"bash_20250124",` +
				`"name":"bash"}]}`, 100,
			`{"model":"m","max_tokens":10,"tools":[{"name":"a","input_schema":{}},{"type":"bash_20250124","name":"bash"}]}`},
		{"none but the provider's", "/v1/responses",
			`{"model":"m","background":true,"previous_response_id":"r","store":true,"tools":[{"type":"mcp",` +
				`"server_url":"https://x"},{"type":"web_search"},{"type":"code_interpreter"}],"tool_choice":"required"}`, 0,
			`{"model":"m","store":false}`},
	} {
		p := &budgetMeter{limit: c.limit}
		_, url := open(t, upstream, p)
		if status, text := ask(t, http.MethodPost, url+c.path, c.body, "Cookie", "c=1", "X-Api-Key", token,
			"Anthropic-Version", "2023-06-01"); status != 200 {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got.body); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
		if got.path != "/base/v1"+strings.TrimPrefix(c.path, "/v1") || got.header.Get("Authorization") != "Bearer "+key ||
			got.header.Get("Cookie") != "" || got.header.Get("Anthropic-Version") != "2023-06-01" {
			t.Errorf("%s: %s %v", c.name, got.path, got.header)
		}
		if k := got.header.Get("X-Api-Key"); k == token || strings.HasSuffix(c.path, "messages") && k != key {
			t.Errorf("%s: key %q", c.name, k)
		}
	}
}

// Anthropic's protocol always has a version in its path. Its libraries add it, and so does the gateway if the base has
// none (https://api-docs.deepseek.com/guides/anthropic_api).
func TestBaseWithoutAVersion(t *testing.T) {
	upstream, got := endpoint(t, plain)
	for base, want := range map[string]string{"/base/v1/": "/base/v1/messages", "/base": "/base/v1/messages",
		"": "/v1/messages", "/v12": "/v12/messages", "/vendor": "/vendor/v1/messages"} {
		_, url := open(t, strings.TrimSuffix(upstream, "/base/v1/")+base, &budgetMeter{})
		if status, text := ask(t, http.MethodPost, url+"/v1/messages", `{"model":"m"}`); status != 200 || got.path != want {
			t.Errorf("%q: %d %s, asked at %s, want %s", base, status, text, got.path, want)
		}
	}
	_, url := open(t, strings.TrimSuffix(upstream, "/v1/"), &budgetMeter{})
	if status, text := ask(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"m"}`); status != 200 ||
		got.path != "/base/chat/completions" {
		t.Errorf("chat completions: %d %s, asked at %s", status, text, got.path)
	}
}

// If an endpoint refuses a field that the gateway adds, it is called without the field, or with its other name, and the
// gateway records that.
func TestWhatIsAddedCanBeRefused(t *testing.T) {
	var asked []map[string]any
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		asked = append(asked, body)
		for name, status := range map[string]int{"max_tokens": 422, "stream_options": 400} {
			if body[name] != nil {
				http.Error(w, `{"detail":[{"type":"extra_forbidden","loc":["body","`+name+`"]}]}`, status)
				return
			}
		}
		plain(w)
	}))
	t.Cleanup(model.Close)
	room := &gateway.Room{}
	for _, tries := range []int{3, 1} {
		p := &budgetMeter{limit: 100}
		g, err := gateway.New(gateway.Config{Upstream: model.URL, Model: "m", Token: token, Meter: p, Room: room})
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(g)
		t.Cleanup(srv.Close)
		asked = nil
		status, text := ask(t, http.MethodPost, srv.URL+"/v1/chat/completions", `{"model":"m","stream":true}`)
		if status != 200 || len(asked) != tries || len(p.settled) != 1 {
			t.Fatalf("%d %s: asked %v, settled %v", status, text, asked, p.settled)
		}
		want := map[string]any{"model": "m", "stream": true, "max_completion_tokens": 100.0}
		if d := cmp.Diff(want, asked[tries-1]); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
}

func TestRefused(t *testing.T) {
	upstream, got := endpoint(t, plain)
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		says                     string
	}{
		{"another model", "POST", "/v1/messages", `{"model":"dear"}`, nil, 403, `asks the model \"m\"`},
		{"no model", "POST", "/v1/messages", `{}`, nil, 403, "asks the model"},
		{"another key", "POST", "/v1/messages", `{"model":"m"}`, []string{"Authorization", "Bearer x"}, 401,
			"not the attempt's key"},
		{"no JSON", "POST", "/v1/responses", `x`, nil, 400, "not JSON"},
		{"null", "POST", "/v1/responses", `null`, nil, 400, "not JSON"},
		{"a strange bound", "POST", "/v1/messages", `{"model":"m","max_tokens":"many"}`, nil, 400, "not JSON"},
		{"strange tools", "POST", "/v1/messages", `{"model":"m","tools":{}}`, nil, 400, "not a list"},
		{"too large", "POST", "/v1/messages", `{"model":"m","x":"` + strings.Repeat("x", 17<<20) + `"}`, nil, 413,
			"more than"},
		{"another path", "POST", "/v1/files", `{}`, nil, 404, "nothing else"},
		{"a way around", "POST", "/v1/messages/../files", `{"model":"m"}`, nil, 404, "nothing else"},
		{"another method", "DELETE", "/v1/messages", ``, nil, 404, "nothing else"},
	} {
		p := &budgetMeter{}
		_, url := open(t, upstream, p)
		status, text := ask(t, c.method, url+c.path, c.body, c.header...)
		if status != c.status || !strings.Contains(text, c.says) || got.path != "" || p.open != 0 {
			t.Errorf("%s: %d %.300s; asked %q, %d open", c.name, status, text, got.path, p.open)
		}
	}
	p := &budgetMeter{refuse: true}
	g, url := open(t, upstream, p)
	if status, text := ask(t, "POST", url+"/v1/messages", `{"model":"m"}`); status != 402 ||
		!strings.Contains(text, "the credits are spent") {
		t.Errorf("without credits: %d %s", status, text)
	}
	if status, text := ask(t, "GET", url+"/v1/models", ""); status != 200 || !strings.Contains(text, `"id":"m"`) {
		t.Errorf("models: %d %s", status, text)
	}
	g.Close()
	if status, text := ask(t, "POST", url+"/v1/messages", `{"model":"m"}`); status != 403 ||
		!strings.Contains(text, "the attempt is over") || got.path != "" {
		t.Errorf("closed: %d %s", status, text)
	}
}

func TestEndpointThatFails(t *testing.T) {
	down := httptest.NewServer(nil)
	down.Close()
	refused, _ := endpoint(t, func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	})
	moved, _ := endpoint(t, func(w http.ResponseWriter) {
		w.Header().Set("Location", "http://169.254.169.254/")
		w.WriteHeader(307)
	})
	for name, c := range map[string]struct {
		url    string
		status int
		failed string
	}{
		"down":     {down.URL, 502, "the endpoint can't be reached"},
		"refusing": {refused, 429, "the endpoint answered 429 Too Many Requests"},
		"moved":    {moved, 307, "the endpoint answered 307"},
	} {
		p := &budgetMeter{}
		g, url := open(t, c.url, p)
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages",
			strings.NewReader(`{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil { // ends after the call was settled
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.HasPrefix(g.Failed(), c.failed) || resp.Header.Get("Location") != "" {
			t.Errorf("%s: %s, %q", name, resp.Status, g.Failed())
		}
		if !cmp.Equal(p.settled, []gateway.Usage{{}}) {
			t.Errorf("%s: settled %+v", name, p.settled)
		}
	}
}

// A call ends if the endpoint does not respond in time. The program gets an error, even if the gateway's server has a
// shorter write timeout.
func TestEndpointThatIsSilent(t *testing.T) {
	over := make(chan struct{})
	upstream, _ := endpoint(t, func(http.ResponseWriter) { <-over })
	ended := make(chan gateway.Ended, 1)
	g, err := gateway.New(gateway.Config{Upstream: upstream, Model: "m", Token: token, Meter: &budgetMeter{},
		Begin: 20 * time.Millisecond, Observe: func(_ context.Context, e gateway.Ended) { ended <- e }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(g)
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	status, text := ask(t, http.MethodPost, server.URL+"/v1/chat/completions", `{"model":"m"}`)
	close(over)
	if status != http.StatusBadGateway || !strings.Contains(text, "did not begin to answer within 20ms") ||
		g.Failed() == "" {
		t.Errorf("%d %s", status, text)
	}
	if e := <-ended; e.Status != 0 || e.Hungup || e.Path != "/chat/completions" || e.Took <= 0 {
		t.Errorf("observed as %+v", e)
	}
}

// An answer that breaks off before its usage costs its reservation.
func TestAnswerThatBreaksOff(t *testing.T) {
	upstream, _ := endpoint(t, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: message_start\ndata: "+
			"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30,\"output_tokens\":1}}}\n\n"+
			strings.Repeat("data: {\"delta\":\"some words of the answer\"}\n\n", 50))
		panic(http.ErrAbortHandler)
	})
	p := &budgetMeter{limit: 5000}
	g, url := open(t, upstream, p)
	ask(t, http.MethodPost, url+"/v1/messages", `{"model":"m","stream":true}`)
	if len(p.settled) != 1 || p.settled[0].Input != 30 || p.settled[0].Output != 5000 ||
		g.Failed() != "the endpoint's answer broke off" {
		t.Errorf("settled %+v, %q", p.settled, g.Failed())
	}
}

// For any answer in any pieces, no reservation remains, and the answer is passed on unchanged.
func TestAnyAnswer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"data: ", "{\"usage\":", "{\"input_tokens\":3}}", "\n", "\n\n",
			"null", "[1]", "{\"message\":{\"usage\":null}}", "x", "\"usage\""}), 0, 20).Draw(r, "pieces")
		stream := rapid.Bool().Draw(r, "stream")
		upstream, _ := endpoint(t, func(w http.ResponseWriter) {
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			for _, s := range pieces {
				io.WriteString(w, s)
				http.NewResponseController(w).Flush()
			}
		})
		p := &budgetMeter{}
		_, url := open(t, upstream, p)
		if _, text := ask(t, http.MethodPost, url+"/v1/messages", `{"model":"m"}`); text != strings.Join(pieces, "") {
			r.Errorf("%q became %q", pieces, text)
		}
		if p.open != 0 || len(p.settled) != 1 || p.settled[0].Input < 3 {
			r.Errorf("settled %+v", p.settled)
		}
	})
}

func TestNew(t *testing.T) {
	for name, c := range map[string]gateway.Config{
		"no address": {Model: "m", Token: "t", Meter: &budgetMeter{}},
		"no scheme":  {Upstream: "api.openai.com/v1", Model: "m", Token: "t", Meter: &budgetMeter{}},
		"no model":   {Upstream: "https://x/v1", Token: "t", Meter: &budgetMeter{}},
		"no token":   {Upstream: "https://x/v1", Model: "m", Meter: &budgetMeter{}},
		"no meter":   {Upstream: "https://x/v1", Model: "m", Token: "t"},
	} {
		if _, err := gateway.New(c); err == nil {
			t.Errorf("%s: a gateway was made", name)
		}
	}
}

// Cache reads and writes are counted in each dialect, streamed or not.
func TestCacheIsBooked(t *testing.T) {
	for name, c := range map[string]struct {
		path, kind, body string
		want             gateway.Usage
	}{
		"chat, OpenRouter": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":5,` +
				`"total_tokens":105,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`,
			gateway.Usage{Input: 100, Cached: 60, Written: 30, Output: 5}},
		"chat, numbers in quotes": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":"100","completion_tokens":"5"}}`, gateway.Usage{Input: 100, Output: 5}},
		"chat, reasoning beside the output": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":70}}}`,
			gateway.Usage{Input: 100, Output: 70}},
		"chat, cache creation": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":5,` +
				`"prompt_tokens_details":{"cached_tokens":60,"cache_creation_tokens":30}}}`,
			gateway.Usage{Input: 100, Cached: 60, Written: 30, Output: 5}},
		"chat, DeepSeek": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":5,` +
				`"prompt_cache_hit_tokens":64}}`, gateway.Usage{Input: 100, Cached: 64, Output: 5}},
		"chat, Moonshot": {"/v1/chat/completions", "text/event-stream", `data: {"choices":[{"finish_reason":"stop","usage":` +
			`{"prompt_tokens":100,"completion_tokens":5,"cached_tokens":64}}]}` + "\n\ndata: [DONE]\n\n",
			gateway.Usage{Input: 100, Cached: 64, Output: 5}},
		"chat, LiteLLM": {"/v1/chat/completions", "application/json", `{"usage":{"prompt_tokens":100,"completion_tokens":5,` +
			`"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`,
			gateway.Usage{Input: 100, Cached: 60, Written: 30, Output: 5}},
		"responses": {"/v1/responses", "text/event-stream",
			`data: {"type":"response.completed","response":{"usage":` +
				`{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":5}}}` + "\n\n",
			gateway.Usage{Input: 100, Cached: 64, Output: 5}},
		"messages": {"/v1/messages", "text/event-stream",
			`data: {"type":"message_start","message":{"usage":{"input_tokens":10,` +
				`"cache_read_input_tokens":60,"cache_creation_input_tokens":30,"output_tokens":1}}}` + "\n\n" +
				`data: {"type":"message_delta","usage":{"output_tokens":5}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			gateway.Usage{Input: 100, Cached: 60, Written: 30, Output: 5}},
		"chat, more than can be": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":9000000}}`, gateway.Usage{Input: 100, Output: 4 * 8192}},
		"chat, a total that can't be": {"/v1/chat/completions", "application/json",
			`{"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":900000000000}}`,
			gateway.Usage{Input: 100, Output: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				io.WriteString(w, c.body)
			}))
			defer up.Close()
			m := &usageMeter{}
			g, err := gateway.New(gateway.Config{Upstream: up.URL + "/v1", Model: "m", Token: "t", Meter: m})
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(g)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+c.path,
				strings.NewReader(`{"model":"m"}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer t")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			srv.Close() // waits until the call is settled
			if d := cmp.Diff(c.want, m.used); d != "" {
				t.Errorf("booked (-want +got):\n%s", d)
			}
		})
	}
}

// An endpoint may repeat the key in an error, but the program does not get it.
func TestErrorsDoNotHaveTheKey(t *testing.T) {
	const secret = `sk-"a/b<c>-0123`
	for _, c := range []struct{ key, body, want string }{
		{secret, `bad key sk-"a/b<c>-0123.`, `bad key ***.`},
		{secret, `{"error":{"message":"bad key sk-\"a/b<c>-0123."}}`, `{"error":{"message":"bad key ***."}}`},
		{secret, `{"error":{"message":"bad key sk-\"a\/b\u003cc\u003E-0123."}}`, `{"error":{"message":"bad key ***."}}`},
		{secret, `{"error":{"message":"\u0073k-\u0022a/b\u003Cc>-0123"}}`, `{"error":{"message":"***"}}`},
		{secret, strings.Repeat("x", 32<<10-5) + secret + "!", strings.Repeat("x", 32<<10-5) + "***!"},
		{secret, strings.Repeat(secret, 100_000), ""},
		{"key", "a key is missing", "a key is missing"},
		{"", "a key is missing", "a key is missing"},
	} {
		for _, status := range []int{401, 400, 503, 302} {
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				io.WriteString(w, c.body)
			}))
			g, err := gateway.New(gateway.Config{Upstream: up.URL, Key: c.key, Model: "m", Token: token,
				Meter: &budgetMeter{}})
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(g)
			got, text := ask(t, http.MethodPost, srv.URL+"/v1/chat/completions", `{"model":"m","stream":true}`)
			srv.Close()
			up.Close()
			if got != status || text != c.want {
				t.Errorf("%.100s: %d %.100s, want %.100s", c.body, got, text, c.want)
			}
		}
	}
}

// Images and documents are reserved for what they may cost, not by their size.
func TestReservationOfImagesAndDocuments(t *testing.T) {
	const window = 150_000
	chat := func(image string) string {
		return `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"},` + image + `]}]}`
	}
	responses := func(part string) string {
		return `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[` + part + `]}]}`
	}
	messages := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
			part + `]}]}]}`
	}
	const png = `{"type":"base64","media_type":"image/png","data":"AAAA"}`
	const pdf = `{"type":"base64","media_type":"application/pdf","data":"AAAA"}`
	for name, c := range map[string]struct {
		path, body   string
		least, limit int // of the reserved prompt
	}{
		"chat, text": {"/v1/chat/completions", chat(`{"type":"text","text":"data:image/png,a"}`), 0, 99},
		"chat, an image": {"/v1/chat/completions", chat(`{"type":"image_url","image_url":{"url":"data:image/png,a"}}`),
			5000, 5099},
		"chat, two images": {"/v1/chat/completions", chat(`{"type":"image_url","image_url":"data:image/png,a"},` +
			`{"type":"image_url","image_url":"data:image/png,a"}`), 10_000, 10_099},
		"chat, a PDF as an image": {"/v1/chat/completions",
			chat(`{"type":"image_url","image_url":{"url":"data:application/pdf,a"}}`), window, window},
		"responses, an image": {"/v1/responses", responses(`{"type":"input_image","image_url":"data:image/png,a"}`),
			5000, 5099},
		"responses, a file": {"/v1/responses", responses(`{"type":"input_file","filename":"a.pdf","file_data":` +
			`"data:image/png,a"}`), window, window + 9999},
		"messages, an image": {"/v1/messages", messages(`{"type":"im\u0061ge","source":` + png + `}`), 5000, 5099},
		"messages, a PDF":    {"/v1/messages", messages(`{"type":"document","source":` + pdf + `}`), window, window},
		"messages, a PDF as an image": {"/v1/messages", messages(`{"type":"image","source":` + pdf + `}`),
			window, window},
		"messages, a text as a document": {"/v1/messages", messages(`{"type":"document","source":{"type":"text",` +
			`"media_type":"text/plain","data":"x"}}`), 0, 99},
	} {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
		m := &usageMeter{}
		g, err := gateway.New(gateway.Config{Upstream: up.URL + "/v1", Model: "m", Token: token, Meter: m, Window: window})
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(g)
		status, text := ask(t, http.MethodPost, srv.URL+c.path, c.body)
		srv.Close()
		up.Close()
		// The answer has no usage, so that the reservation is charged.
		if got := m.used.Input; status != http.StatusOK || got < c.least || got > c.limit {
			t.Errorf("%s: %d tokens are reserved, want %d to %d: %d %s", name, got, c.least, c.limit, status, text)
		}
	}
}

// usageMeter allows every call and records the usage of the last one.
type usageMeter struct{ used gateway.Usage }

func (m *usageMeter) Reserve(prompt, _ int) (gateway.Call, error) {
	return gateway.Call{Prompt: prompt, Input: prompt, Most: 10}, nil
}

func (m *usageMeter) Settle(_ gateway.Call, u gateway.Usage) { m.used = u }

// A model's opaque output is passed back through the gateway.
func TestOpaqueGoesThrough(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","max_completion_tokens":9,"messages":[` +
			`{"role":"assistant","reasoning_content":"a","reasoning_text":"e","provider_specific_fields":` +
			`{"thought_signatures":["f"]},` +
			`"reasoning_details":[{"type":"reasoning.text","signature":"b"}],"thinking_blocks":[{"type":"thinking"}],` +
			`"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":{"google":` +
			`{"thought_signature":"d"}},"provider_specific_fields":{"thought_signature":"g"}}]},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}],"closed":true,` +
			`"signature":"i"}]}]}`,
		"/v1/responses": `{"model":"m","max_output_tokens":9,"input":[` +
			`{"type":"reasoning","encrypted_content":"a","summary":[]},` +
			`{"role":"assistant","phase":"commentary","content":"b"}]}`,
		"/v1/messages": `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"thinking",` +
			`"thinking":"a","signature":"b"},{"type":"redacted_thinking","data":"c"}]}]}`,
	} {
		got := make(chan string, 1)
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				b = []byte(err.Error())
			}
			got <- string(b)
			io.WriteString(w, `{}`)
		}))
		defer up.Close()
		g, err := gateway.New(gateway.Config{Upstream: up.URL + "/v1", Model: "m", Token: "t", Meter: &usageMeter{}})
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(g)
		defer srv.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer t")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); len(got) == 0 {
			t.Fatalf("%s: %s", path, resp.Status)
		}
		var want, have map[string]any
		if err := errors.Join(json.Unmarshal([]byte(body), &want), json.Unmarshal([]byte(<-got), &have)); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"messages", "input"} {
			if d := cmp.Diff(want[list], have[list]); d != "" {
				t.Errorf("%s (-sent +passed on):\n%s", path, d)
			}
		}
	}
}
