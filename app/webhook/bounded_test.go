package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/sia"
)

// slowBody is a body of zeros. The test decides when its last byte arrives.
type slowBody struct {
	left  int
	read  *atomic.Int64
	begun func()
	gate  <-chan struct{}
	once  sync.Once
}

func (b *slowBody) Read(p []byte) (int, error) {
	b.once.Do(b.begun)
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), b.left)
	if n == b.left { // the last byte waits
		if n--; n == 0 {
			<-b.gate
			n = 1
		}
	}
	b.left -= n
	b.read.Add(int64(n))
	return n, nil
}

// TestBodiesInFlightAreBounded: at ten times the limit, only bodies up to the limit are held, and the other senders
// are asked to retry.
func TestBodiesInFlightAreBounded(t *testing.T) {
	for _, chunked := range []bool{false, true} {
		t.Run(fmt.Sprint("chunked ", chunked), func(t *testing.T) {
			h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler),
				Now: time.Now}
			var refused, others atomic.Int64
			gate := make(chan struct{})
			posts := 10 * webhook.MaxInFlight / webhook.MaxBody
			var wg sync.WaitGroup
			ended := make(chan struct{}, posts)
			reads := make([]atomic.Int64, posts) // of the admitted ones
			for i := range reads {
				wg.Go(func() {
					defer func() {
						reads[i].Store(0)
						ended <- struct{}{}
					}()
					body := &slowBody{left: webhook.MaxBody, read: &reads[i], begun: func() {}, gate: gate}
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", body)
					r.ContentLength = webhook.MaxBody
					if chunked {
						r.ContentLength = -1
					}
					r.Header.Set("X-GitHub-Event", "issues")
					r.Header.Set("X-GitHub-Delivery", "g")
					r.Header.Set("X-Hub-Signature-256", sign([]byte("else")))
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					switch {
					case w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "":
						refused.Add(1)
					case w.Code != http.StatusUnauthorized:
						others.Add(1)
					}
				})
			}
			inside := webhook.MaxInFlight / webhook.MaxBody
			for range posts - inside { // refused ones end while the others are held
				<-ended
			}
			var held int64
			for i := range reads {
				held += reads[i].Load()
			}
			if held > webhook.MaxInFlight {
				t.Errorf("%d bytes are held", held)
			}
			close(gate)
			wg.Wait()
			if refused.Load() < int64(posts-inside) || others.Load() != 0 {
				t.Errorf("of %d, %d were refused and %d ended otherwise", posts, refused.Load(), others.Load())
			}
			// Then memory is available again.
			body := []byte(`{"action":"labeled","installation":{"id":1},"repository":{"full_name":"o/r"}}`)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", bytes.NewReader(body))
			r.Header.Set("X-GitHub-Event", "issues")
			r.Header.Set("X-GitHub-Delivery", "g")
			r.Header.Set("X-Hub-Signature-256", sign(body))
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusAccepted {
				t.Errorf("later: %d", w.Code)
			}
		})
	}
}

// TestNothingIsReadOfWhatIsRefused: headers are checked before the body is read.
func TestNothingIsReadOfWhatIsRefused(t *testing.T) {
	h := &webhook.Handler{Store: newStore(t), Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	for name, c := range map[string]struct {
		length          int64
		sign, event, id string
		want            int
	}{
		"too large":     {webhook.MaxBody + 1, sign(nil), "issues", "g", http.StatusRequestEntityTooLarge},
		"not signed":    {100, "", "issues", "g", http.StatusUnauthorized},
		"badly signed":  {100, "sha256=12", "issues", "g", http.StatusUnauthorized},
		"SHA-1":         {100, "sha1=" + strings.Repeat("0", 40), "issues", "g", http.StatusUnauthorized},
		"no event":      {100, sign(nil), "", "g", http.StatusBadRequest},
		"no id":         {100, sign(nil), "issues", "", http.StatusBadRequest},
		"an endless id": {100, sign(nil), "issues", strings.Repeat("g", 1000), http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var read atomic.Int64
			gate := make(chan struct{})
			close(gate)
			body := &slowBody{left: 100, read: &read, begun: func() {}, gate: gate}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", body)
			r.ContentLength = c.length
			r.Header.Set("X-GitHub-Event", c.event)
			r.Header.Set("X-GitHub-Delivery", c.id)
			r.Header.Set("X-Hub-Signature-256", c.sign)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.want || read.Load() != 0 {
				t.Errorf("got %d, %d bytes read", w.Code, read.Load())
			}
		})
	}
}

// TestFormsAreRead: an app's webhook may be set to send forms; the signature covers the form.
func TestFormsAreRead(t *testing.T) {
	s := newStore(t)
	h := &webhook.Handler{Store: s, Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	got := make(chan store.Delivery, 10)
	e, err := s.Start(t.Context(), store.Handlers{
		Delivery: func(_ context.Context, d store.Delivery) error { got <- d; return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return sia.Done{}, nil },
	}, store.EngineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Stop(context.WithoutCancel(t.Context())) }()
	payload := `{"action":"labeled","installation":{"id":1},"repository":{"full_name":"o/r"},"x":"a+b %26 ü"}`
	for i, c := range []struct {
		kind, body string
		want       int
	}{
		{"application/x-www-form-urlencoded", "payload=" + url.QueryEscape(payload), http.StatusAccepted},
		{"Application/X-WWW-Form-URLEncoded; charset=utf-8", "payload=" + url.QueryEscape(payload), http.StatusAccepted},
		{"application/x-www-form-urlencoded", "payload=%zz", http.StatusBadRequest},
		{"application/x-www-form-urlencoded", "else=" + url.QueryEscape(payload), http.StatusBadRequest},
		{"application/json", "payload=" + url.QueryEscape(payload), http.StatusBadRequest},
	} {
		guid := fmt.Sprint("form", i)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		r.Header.Set("X-GitHub-Event", "issues")
		r.Header.Set("X-GitHub-Delivery", guid)
		r.Header.Set("X-Hub-Signature-256", sign([]byte(c.body)))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: got %d %s", c.body, w.Code, w.Body)
		}
		if c.want != http.StatusAccepted {
			continue
		}
		if d := <-got; string(d.Body) != payload || d.Repo != "o/r" || d.GUID != guid {
			t.Errorf("stored %+v", d)
		}
	}
}

// TestLargeDeliveriesGoOneByOne: at most one large delivery is processed at once. The others wait their turn outside,
// and small ones are not delayed.
func TestLargeDeliveriesGoOneByOne(t *testing.T) {
	began, gate := make(chan struct{}), make(chan struct{})
	deliver := webhook.SerializeLarge(func(_ context.Context, d store.Delivery) error {
		if len(d.Body) == 1 {
			return nil
		}
		began <- struct{}{}
		<-gate
		return nil
	})
	large := store.Delivery{GUID: "large", Body: make([]byte, webhook.MaxBody)}
	done := make(chan error)
	for range 2 { // the second after the first
		go func() { done <- deliver(t.Context(), large) }()
		<-began
		for range 10 {
			if err := deliver(t.Context(), large); !sia.WaitsTurn(err) || sia.RetryAfter(err) == 0 {
				t.Errorf("beside another one: %v", err)
			}
		}
		if err := deliver(t.Context(), store.Delivery{Body: []byte("x")}); err != nil {
			t.Error(err)
		}
		gate <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
