package main

import (
	"bytes"
	"cmp"
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
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/visible"
)

// Resources of this machine that an attack may use.
const (
	abuseCPU     = 2 * time.Second // unless it ends soon after abuseTimeout
	abuseTimeout = 5 * time.Second
	abuseMemory  = 100 << 20 // increase of the live heap, in bytes
)

type benchAbuseCmd struct {
	Only       []string `help:"Attacks to try, by how their names begin; all when left out." placeholder:"NAME" sep:"none"`
	Disk       string   `help:"Folder of a small disk to be filled." hidden:""`
	cli.Format `embed:""`

	plant func(*demoStage) error // lets a test inject a fault into the new stage
}

// abuse is an attack.
type abuse struct {
	name, limit string // limit is what stops it, in words
	run         func(ctx context.Context) error
	prepare     func() error // nil: nothing to prepare
	// within is the time limit of an attack that is no load on this machine and whose use of resources is not judged. 0:
	// the attack is a load and has abuseTimeout.
	within time.Duration
}

// abuseFigure is the result of one attack.
type abuseFigure struct {
	Attack  string  `json:"attack"`
	Limit   string  `json:"limit"`
	Memory  float64 `json:"peak_memory_mb"` // increase of the live heap
	CPU     float64 `json:"cpu_seconds"`
	Seconds float64 `json:"seconds"`
	Held    bool    `json:"held"`
	Why     string  `json:"why,omitempty"` // why it did not hold, or could not be completed
}

// Run runs the attacks one after the other and prints one table. Attacker and target share this process, so the
// resources of both are counted.
func (c *benchAbuseCmd) Run(e *cli.Env) (err error) {
	dir, err := os.MkdirTemp("", "sia-abuse-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sandbox.RemoveAll(dir)) }()
	box, err := openSandbox(e.Ctx, sandbox.Options{Logger: silentLogger()})
	if err != nil {
		return fmt.Errorf("what the sandbox holds can't be tried here: %w", err)
	}
	p := &abuseTarget{dir: dir, box: box, plant: c.plant, disk: c.Disk}
	defer func() { err = errors.Join(err, p.shut()) }()
	var all []abuseFigure
	held := 0
	for _, a := range slices.Concat(abuseLoads(dir, box), p.attacks()) {
		if len(c.Only) > 0 && !slices.ContainsFunc(c.Only, func(o string) bool { return strings.HasPrefix(a.name, o) }) {
			continue
		}
		fmt.Fprintf(e.Err, "%s…\n", a.name)
		f, err := a.measure(e.Ctx)
		if err != nil { // continue with the others
			f.Why = err.Error()
		}
		if all = append(all, f); f.Held {
			held++
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("no attack's name begins with %s; leave --only out to try all", strings.Join(c.Only, ", "))
	}
	var failed error
	if held < len(all) {
		failed = fmt.Errorf("%d of %d attacks held; see those that did not", held, len(all))
	}
	if c.Output == "json" {
		return errors.Join(e.JSON(all), failed)
	}
	w := cli.NewTable(e.Out, "ATTACK", "LIMIT", "PEAK MB", "CPU s", "SECONDS", "HELD")
	for _, f := range all {
		word := "yes"
		if !f.Held {
			word = strings.TrimSpace("no " + f.Why)
		}
		w.Rowf("%s\t%s\t%.0f\t%.2f\t%.2f\t%s", f.Attack, f.Limit, f.Memory, f.CPU, f.Seconds, word)
	}
	err = w.Flush()
	e.Linef("\n%d of %d held", held, len(all))
	return errors.Join(err, failed)
}

// abuseLoads returns the attacks that put load on this machine.
func abuseLoads(dir string, box *sandbox.Sandbox) []abuse {
	bomb := &gzipBomb{}
	return []abuse{
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

// Help describes the attacks and the exit code.
func (*benchAbuseCmd) Help() string {
	return "Plays findings of testers, the numbered ones and those that held, against the program as it runs: a " +
		"simulated GitHub, real git, the sandbox, a scripted model. Exits 1 when an attack " +
		"was not held, or could not be tried."
}

// measure runs the attack until it ends or its context is canceled.
func (a abuse) measure(ctx context.Context) (abuseFigure, error) {
	if a.prepare != nil {
		if err := a.prepare(); err != nil {
			return abuseFigure{Attack: a.name, Limit: a.limit}, err
		}
	}
	runtime.GC()
	before := liveHeap()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.within, abuseTimeout))
	defer cancel()
	done := make(chan error, 1)
	began, worked := time.Now(), processorTime()
	go func() { done <- a.run(ctx) }()
	var peak uint64
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			peak = max(peak, liveHeap())
		case err := <-done:
			cancelled := errors.Is(err, context.DeadlineExceeded) && a.within == 0
			took, cpu := time.Since(began), processorTime()-worked
			grown := int64(peak) - int64(before)
			f := abuseFigure{Attack: a.name, Limit: a.limit, Memory: float64(max(0, grown)) / 1e6, CPU: cpu.Seconds(),
				Seconds: took.Seconds()}
			if err != nil && !cancelled {
				return f, err
			}
			f.Held = a.within > 0 || grown <= abuseMemory && (cpu <= abuseCPU || cancelled && took <= 2*abuseTimeout)
			return f, nil
		}
	}
}

// liveHeap returns the bytes of heap that were live at the last garbage collection. It leaves out uncollected garbage,
// since the collector chooses its amount.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// processorTime returns the CPU time of this process, without its children.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
			_ = conn.SetDeadline(time.Now().Add(abuseTimeout / 5)) // afterwards the connection only occupies memory
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
	h := &webhook.Handler{Secret: []byte("secret"), Logger: silentLogger(), Now: time.Now} // nothing is stored
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
	return readLog(ctx, io.LimitReader(&repeatedText{text: text}, 32<<20))
}

// repeatedText is a reader that repeats a text endlessly.
type repeatedText struct {
	text string
	at   int
}

func (r *repeatedText) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
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
