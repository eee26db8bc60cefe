package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/webhook"
)

const secret = "it is a secret"

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{})
	return s
}

// A valid delivery is stored and acknowledged; any other request is refused with a status for the reason.
func TestHandler(t *testing.T) {
	s := newStore(t)
	h := &webhook.Handler{Store: s, Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	body := []byte(`{"action":"labeled","installation":{"id":1},"repository":{"full_name":"o/r"}}`)
	for _, c := range []struct {
		name   string
		method string
		event  string
		guid   string
		body   []byte
		sign   string
		want   int
	}{
		{"good", "POST", "issues", "g1", body, sign(body), http.StatusAccepted},
		{"the same again", "POST", "issues", "g1", body, sign(body), http.StatusAccepted},
		{"no signature", "POST", "issues", "g3", body, "", http.StatusUnauthorized},
		{"a wrong signature", "POST", "issues", "g3", body, sign([]byte("else")), http.StatusUnauthorized},
		{"a SHA-1 signature", "POST", "issues", "g3", body, "sha1=" + strings.Repeat("0", 40), http.StatusUnauthorized},
		{"a signature that is no hex", "POST", "issues", "g3", body, "sha256=zz", http.StatusUnauthorized},
		{"no delivery id", "POST", "issues", "", body, sign(body), http.StatusBadRequest},
		{"a delivery id that is no text", "POST", "issues", "\xff", body, sign(body), http.StatusBadRequest},
		{"a delivery id with a space", "POST", "issues", "g 1", body, sign(body), http.StatusBadRequest},
		{"no JSON", "POST", "issues", "g4", []byte("x=1"), sign([]byte("x=1")), http.StatusBadRequest},
		{"a GET", "GET", "issues", "g5", nil, "", http.StatusMethodNotAllowed},
		{"too large", "POST", "issues", "g6", bytes.Repeat([]byte(" "), webhook.MaxBody+1), "",
			http.StatusRequestEntityTooLarge},
		{"an event that no task is about", "POST", "fork", "g2", body, sign(body), http.StatusAccepted},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/webhook", bytes.NewReader(c.body))
		r.Header.Set("X-GitHub-Event", c.event)
		r.Header.Set("X-GitHub-Delivery", c.guid)
		r.Header.Set("X-Hub-Signature-256", c.sign)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: got %d %s, want %d", c.name, w.Code, strings.TrimSpace(w.Body.String()), c.want)
		}
	}
	if n := h.Unread(); n != 1 {
		t.Errorf("%d deliveries are counted that are not read, want that of the fork", n)
	}
	if d, err := s.LatestDelivery(t.Context()); err != nil || d.Event == "fork" {
		t.Errorf("kept %+v %v, want nothing of a fork, which no task is about", d, err)
	}
}

// A delivery that can't be stored is not acknowledged, so that GitHub keeps it.
func TestHandlerWithoutDatabase(t *testing.T) {
	s := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h := &webhook.Handler{Store: s, Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	body := []byte(`{"action":"labeled"}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhook", bytes.NewReader(body))
	r.Header.Set("X-GitHub-Event", "issues")
	r.Header.Set("X-GitHub-Delivery", "g1")
	r.Header.Set("X-Hub-Signature-256", sign(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", w.Code)
	}
}

// An empty secret verifies nothing.
func TestVerifyWithoutSecret(t *testing.T) {
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte("body"))
	if webhook.Verify(nil, []byte("body"), "sha256="+hex.EncodeToString(mac.Sum(nil))) {
		t.Error("a signature under the empty secret was accepted")
	}
}
