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

// Handler receives deliveries: POST, signed, stored before it is acknowledged.
// Safe for concurrent use.
type Handler struct {
	Store  DeliverySaver
	Secret []byte
	Logger *slog.Logger
	Now    func() time.Time

	room   room
	unread atomic.Int64
}

// Unread is how many deliveries came so far of events that are not read.
func (h *Handler) Unread() int64 { return h.unread.Load() }

// ServeHTTP answers 202 when the delivery is stored or was before, 401 when the
// signature is wrong, 413 beyond MaxBody, 400 for what is no delivery, and 503
// when it could not be stored or there is no room for it: GitHub keeps it, and it
// is sent again. What its headers show to be refused is not read.
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
	if digest(signature) == nil {
		unsigned(w)
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
		if n := h.room.refused(h.Now()); n > 0 {
			h.Logger.WarnContext(r.Context(), "no room for deliveries", "count", n, "guid", guid, "event", event, "from",
				r.RemoteAddr)
		}
		w.Header().Set("Retry-After", comeAgain)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(w, "the delivery did not arrive whole", http.StatusBadRequest)
		return
	}
	defer done()
	if !Verify(h.Secret, body, signature) {
		unsigned(w)
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

// isName reports whether a header can name a delivery or an event: some printable ASCII, without spaces.
func isName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func unsigned(w http.ResponseWriter) {
	http.Error(w, "X-Hub-Signature-256 does not match: check that the webhook secret is the one SIA was given",
		http.StatusUnauthorized)
}

// delivery reads the envelope: the few fields that route it.
func (h *Handler) delivery(guid, event, contentType string, body []byte) (store.Delivery, error) {
	body, err := payloadOf(contentType, body)
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

// Verify reports whether signature is "sha256=" and the HMAC of body under
// secret, in constant time. An empty secret verifies nothing.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func Verify(secret, body []byte, signature string) bool {
	got := digest(signature)
	if got == nil || len(secret) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

// digest is what a signature holds; nil when it is none.
func digest(signature string) []byte {
	text, ok := strings.CutPrefix(signature, "sha256=")
	got, err := hex.DecodeString(text)
	if !ok || err != nil || len(got) != sha256.Size {
		return nil
	}
	return got
}
