package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
)

// MaxBody is the largest delivery that GitHub sends.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap
const MaxBody = 25 << 20

// Handler receives deliveries: POST, signed, stored before it is acknowledged.
// Safe for concurrent use.
type Handler struct {
	Store  *store.Store
	Secret []byte
	Logger *slog.Logger
	Now    func() time.Time
}

// ServeHTTP answers 202 when the delivery is stored or was before, 401 when the
// signature is wrong, 413 beyond MaxBody, 400 for what is no delivery, and 503
// when it could not be stored: GitHub keeps it, and it is sent again.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "webhooks are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			http.Error(w, "the delivery is larger than 25 MiB", http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "the delivery did not arrive whole", http.StatusBadRequest)
		return
	}
	if !Verify(h.Secret, body, r.Header.Get("X-Hub-Signature-256")) {
		http.Error(w, "X-Hub-Signature-256 does not match: check that the webhook secret is the one SIA was given",
			http.StatusUnauthorized)
		return
	}
	d, err := h.delivery(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx := r.Context()
	if !Handled(d.Event) {
		err = h.Store.CountEvent(ctx, d.Event, d.Action)
	} else {
		_, err = h.Store.SaveDelivery(ctx, d)
	}
	if err != nil {
		h.Logger.ErrorContext(ctx, "delivery not stored", "guid", d.GUID, "event", d.Event, "error", err)
		http.Error(w, "the delivery could not be stored; please send it again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// delivery reads the envelope: headers, and the few fields that route it.
func (h *Handler) delivery(r *http.Request, body []byte) (store.Delivery, error) {
	guid, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if guid == "" || event == "" || len(guid) > 100 || len(event) > 100 {
		return store.Delivery{}, errors.New("X-GitHub-Delivery and X-GitHub-Event are needed")
	}
	var envelope struct {
		Action       string `json:"action"`
		Installation struct {
			ID int64 `json:"id"`
		} `json:"installation"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return store.Delivery{}, errors.New("the body is not JSON: set the webhook's content type to application/json")
	}
	return store.Delivery{
		GUID: guid, Event: event, Action: envelope.Action, Installation: envelope.Installation.ID,
		Repo: envelope.Repository.FullName, Body: body, Received: h.Now(),
	}, nil
}

// Verify reports whether signature is "sha256=" and the HMAC of body under
// secret, in constant time. An empty secret verifies nothing.
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func Verify(secret, body []byte, signature string) bool {
	digest, ok := strings.CutPrefix(signature, "sha256=")
	if !ok || len(secret) == 0 {
		return false
	}
	got, err := hex.DecodeString(digest)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}
