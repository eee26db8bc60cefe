package app

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// refusalLogInterval is the minimum interval of log lines about webhooks with a wrong signature, since anybody can send
// any number of them.
const refusalLogInterval = time.Minute

// refusals forwards webhooks and logs that some were refused because of their signature.
type refusals struct {
	next http.Handler
	log  *slog.Logger
	now  func() time.Time

	mu       sync.Mutex
	loggedAt time.Time
	unlogged int // refused since then
}

// ServeHTTP implements http.Handler.
func (h *refusals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &statusWriter{ResponseWriter: w}
	h.next.ServeHTTP(seen, r)
	if seen.status != http.StatusUnauthorized {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unlogged++
	if now := h.now(); h.loggedAt.IsZero() || now.Sub(h.loggedAt) >= refusalLogInterval {
		h.log.WarnContext(r.Context(), "webhooks refused: their signature is wrong", "count", h.unlogged,
			"from", r.RemoteAddr,
			"fix", "if they are GitHub's, set the same webhook secret here (--webhook-secret) and in the app's settings")
		h.loggedAt, h.unlogged = now, 0
	}
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
