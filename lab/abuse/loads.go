package abuse

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/lab/benchtask"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/visible"
)

// loads returns the attacks that put load on this machine.
func loads(dir string, box *sandbox.Sandbox) []attack {
	bomb := &gzipBomb{}
	return []attack{
		{name: "unsigned bodies: 100 of 25 MiB", limit: "64 MiB in flight", run: unsignedBodies},
		{name: "slow uploads: 100 of 15 MiB", limit: "48 MiB of an attempt", run: slowUploads},
		{name: "hostile comments: 9 of 64 KiB", limit: "GitHub's longest", run: hostileComment},
		{name: "hostile log: 32 MiB", limit: "streamed", run: hostileLog},
		{name: "gzip bomb: 1 GiB in 1 MiB", limit: "256 MiB unpacked", run: bomb.read, prepare: bomb.make},
		{name: "many files: 20,000, searched", limit: "200,000 entries, 20 s",
			run:     func(ctx context.Context) error { return searchMany(ctx, dir) },
			prepare: func() error { return makeMany(dir) }},
		{name: "deep tree: 8,000 folders", limit: "200 folders",
			run:     func(ctx context.Context) error { return runInDeep(ctx, box, dir) },
			prepare: func() error { return makeDeep(dir) }},
		{name: "arguments of a call in 4-byte pieces: 512 KiB", limit: "linear", run: slicedArguments},
	}
}

// flood sends incomplete bodies to a server concurrently, each on its own connection, and waits until each is answered
// or the connection is closed.
func flood(ctx context.Context, h http.Handler, count, size int, head string) error {
	srv := httptest.NewServer(h)
	defer srv.Close()
	piece := make([]byte, 64<<10)
	var all sync.WaitGroup
	for range count {
		all.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", srv.Listener.Addr().String())
			if err != nil {
				return
			}
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			_ = conn.SetDeadline(time.Now().Add(loadTimeout / 5)) // afterwards the connection only occupies memory
			fmt.Fprintf(conn, "%s\r\nHost: x\r\nContent-Length: %d\r\n\r\n", head, size)
			for sent := 0; sent < size-len(piece); sent += len(piece) { // never complete
				if _, err := conn.Write(piece); err != nil {
					break
				}
			}
			_, _ = conn.Read(make([]byte, 1))
		})
	}
	all.Wait()
	return nil
}

func unsignedBodies(ctx context.Context) error {
	h := &webhook.Handler{Secret: []byte("secret"), Logger: silent, Now: time.Now} // nothing is stored
	return flood(ctx, h, 100, 25<<20, "POST / HTTP/1.1\r\nX-GitHub-Delivery: x\r\nX-GitHub-Event: push\r\n"+
		"X-Hub-Signature-256: sha256="+strings.Repeat("0", 64))
}

// noMeter refuses every call, since no attack gets that far.
type noMeter struct{}

func (noMeter) Reserve(int, int) (gateway.Call, error) {
	return gateway.Call{}, errors.New("nothing is paid for")
}
func (noMeter) Settle(gateway.Call, gateway.Usage) {}

func slowUploads(ctx context.Context) error {
	g, err := gateway.New(gateway.Config{Upstream: "http://127.0.0.1:1", Model: "m", Token: "t", Meter: noMeter{}})
	if err != nil {
		return err
	}
	return flood(ctx, g, 100, 15<<20, "POST /v1/messages HTTP/1.1\r\nX-Api-Key: t")
}

// hostileTexts are units of text that are expensive to parse when repeated.
var hostileTexts = []string{"-----BEGIN RSA PRIVATE KEY----- x", "[secret: ", "plaid_token=aaaaaaaaaaaaaaaa ", "<!--",
	"](", "&#",
	"@a", "`", "/sia x\r\r"}

func hostileComment(ctx context.Context) error {
	for _, unit := range hostileTexts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		body := strings.Repeat(unit, 64<<10/len(unit))
		command.Parse(body, "sia")
		render.Neutralise(visible.Markdown(secret.Mask(body)))
	}
	return nil
}

// readLog reads a log until the context ends.
func readLog(ctx context.Context, log io.Reader) error {
	_, err := failure.Read(ctx, log, failure.Options{})
	return err
}

func hostileLog(ctx context.Context) error {
	text := "error: " + strings.Repeat("x", 60<<10) + "\n" + strings.Repeat("FAIL: a\n##[error]b\n\x1b[31m", 1000) +
		strings.Repeat("Traceback (most recent call last):\n", 1000) + strings.Repeat("\r", 10_000)
	return readLog(ctx, benchtask.Repeat(text, 32<<20))
}

// gzipBomb is a large amount of zeros, compressed.
type gzipBomb struct{ compressed bytes.Buffer }

func (g *gzipBomb) make() error {
	w := gzip.NewWriter(&g.compressed)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := w.Write(zeros); err != nil {
			return err
		}
	}
	return w.Close()
}

func (g *gzipBomb) read(ctx context.Context) error { return readLog(ctx, &g.compressed) }

// makeMany creates 20,000 files.
func makeMany(dir string) error {
	for i := range 20_000 {
		folder := filepath.Join(dir, "many", fmt.Sprint(i%100))
		if i < 100 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), []byte("x\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func searchMany(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, glob := range []string{strings.Repeat("{a,aa}", 6) + "z", ""} {
		args := fmt.Appendf(nil, `{"pattern":"y","glob":%q}`, glob)
		if _, err := tool.SearchTool().Call(ctx, tool.Env{Root: root}, args); err != nil {
			return err
		}
	}
	return nil
}

// makeDeep creates 8,000 nested folders.
func makeDeep(dir string) error {
	at, err := os.OpenRoot(dir)
	for i := 0; i < 8000 && err == nil; i++ {
		var next *os.Root
		if err = at.Mkdir("deep", 0o755); err == nil {
			next, err = at.OpenRoot("deep")
		}
		at.Close()
		at = next
	}
	if err != nil {
		return err
	}
	return at.Close()
}

func runInDeep(ctx context.Context, box *sandbox.Sandbox, dir string) error {
	r, err := box.Run(ctx, sandbox.Command{Dir: filepath.Join(dir, "deep"), Argv: []string{"/bin/true"}})
	if err == nil && r.Ended == "" {
		err = fmt.Errorf("nothing was noticed: %s", r)
	}
	return err
}

// slicedArguments runs a model server that sends the arguments of a call in pieces of 4 bytes.
func slicedArguments(ctx context.Context) error {
	args := `{"path":"a","content":"` + strings.Repeat("x", 512<<10) + `"}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := func(function string) {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",`+
				`"function":{%s}}]}}]}`+"\n\n", function)
		}
		piece(`"name":"write","arguments":""`)
		for i := 0; i < len(args); i += 4 {
			piece(fmt.Sprintf(`"arguments":%q`, args[i:min(i+4, len(args))]))
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+
			"\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	c, err := llm.New(llm.Config{BaseURL: srv.URL, Model: "m", Protocol: llm.ProtocolChat, Retries: -1})
	if err != nil {
		return err
	}
	got, err := c.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "x"}},
		Tools: []llm.ToolSpec{{Name: "write", Parameters: []byte(`{"type":"object"}`)}}})
	if err == nil && (len(got.Message.ToolCalls) != 1 || len(got.Message.ToolCalls[0].Arguments) != len(args)) {
		err = errors.New("the call did not come whole")
	}
	return err
}
