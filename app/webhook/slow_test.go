package webhook_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/webhook"
)

// attacked is a handler behind a local proxy.
type attacked struct {
	t    *testing.T
	url  string
	now  atomic.Int64  // the handler's clock, in seconds
	held chan struct{} // one for each connection that has sent its bytes or was refused before
	over chan int      // the status of each connection that has ended
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	a := &attacked{t: t, held: make(chan struct{}, 1<<14), over: make(chan int, 1<<14)}
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Unix(a.now.Load(), 0) }}
	proxies, err := clientaddr.Parse([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(clientaddr.Behind(proxies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sends int64
		if _, err := fmt.Sscan(r.Header.Get("X-Sends"), &sends); err != nil {
			h.ServeHTTP(w, r)
			return
		}
		held := sync.OnceFunc(func() { a.held <- struct{}{} })
		r.Body = &watched{ReadCloser: r.Body, left: sends, held: held}
		answer := &statusOf{ResponseWriter: w}
		h.ServeHTTP(answer, r)
		held()
		a.over <- answer.status
	})))
	t.Cleanup(srv.Close)
	a.url = srv.URL
	return a
}

// watched is a body that signals when all bytes that its sender sends were read, and another read waits.
type watched struct {
	io.ReadCloser
	left int64
	held func()
}

func (b *watched) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.held()
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

type statusOf struct {
	http.ResponseWriter
	status int
}

func (w *statusOf) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusOf) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// hold opens connections from an address. Each claims a large body, sends a part of it, and then nothing. It returns
// when all of that has arrived.
func (a *attacked) hold(from string, connections int, sends int64) {
	a.t.Helper()
	for range connections {
		c, err := (&net.Dialer{}).DialContext(a.t.Context(), "tcp", strings.TrimPrefix(a.url, "http://"))
		if err != nil {
			a.t.Fatal(err)
		}
		a.t.Cleanup(func() { _ = c.Close() })
		head := fmt.Sprintf("POST /webhook HTTP/1.1\r\nHost: sia\r\nContent-Length: %d\r\nX-GitHub-Event: issues\r\n"+
			"X-GitHub-Delivery: g\r\nX-Hub-Signature-256: %s\r\nX-Forwarded-For: %s\r\nX-Sends: %d\r\n\r\n",
			claim, sign(nil), from, sends)
		go func() { _, _ = c.Write(append([]byte(head), make([]byte, sends)...)) }() // closed if it is refused
	}
	for range connections {
		<-a.held
	}
}

// deliver sends a signed body, and returns the status of the response.
func (a *attacked) deliver(from string, size int) int {
	a.t.Helper()
	body := []byte(`{"action":"labeled","installation":{"id":1},"repository":{"full_name":"o/r"},"x":"` +
		strings.Repeat("x", size) + `"}`)
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.url+"/webhook", bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("X-GitHub-Event", "issues")
	r.Header.Set("X-GitHub-Delivery", "g")
	r.Header.Set("X-Hub-Signature-256", sign(body))
	r.Header.Set("X-Forwarded-For", from)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

const (
	hooks    = "192.0.2.1"   // GitHub's address
	stranger = "203.0.113.7" // an attacker's address
	largest  = webhook.MaxBody - 1000
	claim    = webhook.MaxInFlight / 4 // of each held connection
)

// The claimed length of a body reserves no memory, not even if all connections have one address, as behind a proxy
// that was not named.
func TestSilentConnectionsRefuseNobody(t *testing.T) {
	for _, from := range []string{stranger, hooks} {
		t.Run(from, func(t *testing.T) {
			a := newAttacked(t)
			a.hold(from, 100*webhook.MaxInFlight/claim, 0) // a hundred times the limit in all
			for _, size := range []int{1, 1 << 20, largest} {
				if got := a.deliver(hooks, size); got != http.StatusAccepted {
					t.Errorf("a delivery of %d bytes: %d", size, got)
				}
			}
		})
	}
}

// The address that sends most is evicted, and not others: neither a few large bodies nor many small ones cause signed
// deliveries to be refused.
func TestTheAddressThatTakesMostGivesWay(t *testing.T) {
	for name, c := range map[string]struct {
		connections int
		sends       int64
	}{
		"few large":  {10 * webhook.MaxInFlight / claim, claim - 1},
		"many small": {10 * webhook.MaxInFlight / (4 << 20), 4<<20 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttacked(t)
			a.hold(stranger, c.connections, c.sends)
			for _, size := range []int{1, 1 << 20, claim} {
				if got := a.deliver(hooks, size); got != http.StatusAccepted {
					t.Errorf("a delivery of %d bytes: %d", size, got)
				}
			}
		})
	}
}

// Among connections from one address, stalled bodies are evicted, and active ones are not.
func TestStalledBodiesGiveWay(t *testing.T) {
	a := newAttacked(t)
	a.hold(hooks, 4, claim-1)
	if got := a.deliver(hooks, 1); got != http.StatusServiceUnavailable {
		t.Errorf("while others arrive: %d", got)
	}
	a.now.Add(2)
	if got := a.deliver(hooks, 1<<20); got != http.StatusAccepted {
		t.Errorf("when others have stalled: %d", got)
	}
}

// line is a connection without a socket: it records read deadlines, and ends its body at a past one.
type line struct {
	*httptest.ResponseRecorder
	until chan time.Time
	body  *io.PipeReader
	over  chan struct{} // closed when it is answered
}

func (l line) SetReadDeadline(t time.Time) error {
	if !t.After(time.Now()) {
		return l.body.CloseWithError(os.ErrDeadlineExceeded)
	}
	l.until <- t
	return nil
}

// post begins a delivery over a line, and returns the writer of its body.
func (l *line) post(t *testing.T, h http.Handler, from string) (sender *io.PipeWriter) {
	t.Helper()
	l.ResponseRecorder, l.until, l.over = httptest.NewRecorder(), make(chan time.Time, 2), make(chan struct{})
	l.body, sender = io.Pipe()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", l.body)
	r.RemoteAddr = from + ":1"
	r.Header.Set("X-GitHub-Event", "issues")
	r.Header.Set("X-GitHub-Delivery", "g")
	r.Header.Set("X-Hub-Signature-256", sign([]byte("{}")))
	go func() {
		defer close(l.over)
		h.ServeHTTP(l, r)
		_ = l.body.Close() // as a server does
	}()
	return sender
}

// If silent connections use up the memory, they are evicted for one that delivers.
func TestManySilentConnections(t *testing.T) {
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	const silent = 10 * webhook.MaxInFlight / (16 << 10)
	var ends []func()
	for range silent {
		var l line
		sender := l.post(t, h, stranger)
		ends = append(ends, func() {
			_ = sender.CloseWithError(io.ErrUnexpectedEOF)
			<-l.over
		})
		select {
		case <-l.until: // it has begun
		case <-l.over:
		}
	}
	var l line
	sender := l.post(t, h, hooks)
	_, _ = sender.Write([]byte("{}")) // closed if it is refused
	_ = sender.Close()
	if <-l.over; l.Code != http.StatusAccepted {
		t.Errorf("beside %d connections: %d", silent, l.Code)
	}
	for _, end := range ends {
		end()
	}
}

// A sender of one byte now and then has stalled, although its body never stops arriving.
func TestTricklingBodiesGiveWay(t *testing.T) {
	var now atomic.Int64
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Unix(now.Load(), 0) }}
	var senders []*io.PipeWriter
	var lines []*line
	for range 4 { // together they take all the memory
		l := &line{}
		sender := l.post(t, h, hooks)
		if _, err := sender.Write(make([]byte, claim/2+1)); err != nil {
			t.Fatal(err)
		}
		senders, lines = append(senders, sender), append(lines, l)
	}
	for range 3 {
		now.Add(1)
		for _, s := range senders {
			if _, err := s.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := senders[0].Write(make([]byte, 16<<10)); err != nil { // this one continues as it should
			t.Fatal(err)
		}
	}
	var l line
	sender := l.post(t, h, hooks)
	_, _ = sender.Write([]byte("{}")) // closed if it is refused
	_ = sender.Close()
	if <-l.over; l.Code != http.StatusAccepted {
		t.Errorf("beside bodies that trickle: %d", l.Code)
	}
	if _, err := senders[0].Write(make([]byte, 1)); err != nil {
		t.Errorf("the one that went on gave way: %v", err)
	}
	for i, s := range senders {
		_ = s.CloseWithError(io.ErrUnexpectedEOF)
		<-lines[i].over
	}
}

// A client with many addresses, such as an IPv6 network, can't hold memory by sending nothing from each of them.
func TestManyAddressesRefuseNobody(t *testing.T) {
	var now atomic.Int64
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Unix(now.Load(), 0) }}
	var ends []func()
	for i := range webhook.MaxInFlight / (16 << 10) {
		var l line
		sender := l.post(t, h, fmt.Sprintf("[2001:db8:1:%x::1]", i))
		ends = append(ends, func() {
			_ = sender.CloseWithError(io.ErrUnexpectedEOF)
			<-l.over
		})
		<-l.until // it has begun
	}
	now.Add(2)
	var l line
	sender := l.post(t, h, hooks)
	_, _ = sender.Write([]byte("{}"))
	_ = sender.Close()
	if <-l.over; l.Code != http.StatusAccepted {
		t.Errorf("beside %d addresses: %d", len(ends), l.Code)
	}
	for _, end := range ends {
		end()
	}
}

// The first byte of a body is awaited for no longer than GitHub's own timeout of ten seconds.
func TestBodiesHaveToBegin(t *testing.T) {
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	var l line
	began := time.Now()
	sender := l.post(t, h, hooks)
	first := <-l.until
	if latest := time.Now().Add(10 * time.Second); first.Before(began) || first.After(latest) {
		t.Errorf("began %s, has to begin by %s", began, first)
	}
	if _, err := sender.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	if last := <-l.until; !last.After(first) {
		t.Errorf("has to begin by %s, and to end by %s", first, last)
	}
	_ = sender.CloseWithError(io.ErrUnexpectedEOF)
	if <-l.over; l.Code != http.StatusBadRequest {
		t.Errorf("half a body: %d", l.Code)
	}
}
