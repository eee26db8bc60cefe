package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/app/store"
)

// MaxBody is the largest delivery that GitHub sends.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap
const MaxBody = 25 << 20

// Handler receives deliveries. It verifies the signature, and stores a delivery before it acknowledges it. It is safe
// for concurrent use.
type Handler struct {
	Store  DeliverySaver
	Secret []byte
	Logger *slog.Logger
	Now    func() time.Time

	budget budget
	unread atomic.Int64
}

// Unread counts received deliveries of events that SIA does not read.
func (h *Handler) Unread() int64 { return h.unread.Load() }

// ServeHTTP answers 202 for a delivery that is stored, 401 for a wrong signature, 413 for a body over MaxBody, 400
// for a malformed delivery, and 503 if it can't be stored or no memory is left. GitHub keeps a refused delivery, and
// SIA requests it again. A request that its headers refuse is not read.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "webhooks are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	if r.ContentLength > MaxBody {
		http.Error(w, errTooLarge.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	signature := r.Header.Get("X-Hub-Signature-256")
	if parseSignature(signature) == nil {
		rejectSignature(w)
		return
	}
	guid, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if !isName(guid) || !isName(event) {
		http.Error(w, "X-GitHub-Delivery and X-GitHub-Event are needed, in printable ASCII", http.StatusBadRequest)
		return
	}
	body, done, err := h.receive(w, r)
	switch {
	case errors.Is(err, errTooLarge):
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	case errors.Is(err, errNoRoom):
		if n := h.budget.countRefused(h.Now()); n > 0 {
			h.Logger.WarnContext(r.Context(), "no room for deliveries", "count", n, "guid", guid, "event", event, "from",
				r.RemoteAddr)
		}
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(w, "the delivery did not arrive whole", http.StatusBadRequest)
		return
	}
	defer done()
	if !Verify(h.Secret, body, signature) {
		rejectSignature(w)
		return
	}
	d, err := h.delivery(guid, event, r.Header.Get("Content-Type"), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx := r.Context()
	if !Handled(d.Event) {
		h.unread.Add(1)
		h.Logger.InfoContext(ctx, "delivery of an event that SIA does not read", "guid", d.GUID, "event", d.Event)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if _, err := h.Store.SaveDelivery(ctx, d); err != nil {
		h.Logger.ErrorContext(ctx, "delivery not stored", "guid", d.GUID, "event", d.Event, "error", err)
		http.Error(w, "the delivery could not be stored; please send it again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// isName reports whether a header can name a delivery or an event: up to 100 characters of printable ASCII, without
// spaces.
func isName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func rejectSignature(w http.ResponseWriter) {
	http.Error(w, "X-Hub-Signature-256 does not match: check that the webhook secret is the one SIA was given",
		http.StatusUnauthorized)
}

// delivery reads the envelope and returns the delivery to store.
func (h *Handler) delivery(guid, event, contentType string, body []byte) (store.Delivery, error) {
	body, err := extractPayload(contentType, body)
	if err != nil {
		return store.Delivery{}, err
	}
	e, err := readEnvelope(body)
	if err != nil {
		return store.Delivery{}, err
	}
	return store.Delivery{
		GUID: guid, Event: event, Action: e.action, Installation: e.installation, Repo: e.repository, Body: body,
		Received: h.Now(),
	}, nil
}

// Verify reports whether signature is "sha256=" and the HMAC of body under secret. It compares in constant time. An
// empty secret verifies nothing.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func Verify(secret, body []byte, signature string) bool {
	got := parseSignature(signature)
	if got == nil || len(secret) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

// parseSignature returns the digest in a signature, or nil if the signature is malformed.
func parseSignature(signature string) []byte {
	text, ok := strings.CutPrefix(signature, "sha256=")
	got, err := hex.DecodeString(text)
	if !ok || err != nil || len(got) != sha256.Size {
		return nil
	}
	return got
}
