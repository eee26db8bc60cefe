package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/ghsim/access"
	"github.com/sia-bot/sia/app/ghsim/model"
)

// logPrefix begins the path of every log's address.
const logPrefix = "/_logs/"

// logLife is how long a log's address is good for.
const logLife = time.Minute

// logAddress is a short-lived address of a job's log.
type logAddress struct {
	job     *model.Job
	expires time.Time
}

// newLogAddress is the URL of a job's log.
func (c *call) newLogAddress(j *model.Job) string {
	key := access.NewSecret("")
	c.logs[key] = logAddress{job: j, expires: c.world.Now().Add(logLife)}
	return c.shape.HTML("%s%s", logPrefix, key)
}

// serveLog serves a log by its short-lived address; no credentials are asked.
func (h *Handler) serveLog(w http.ResponseWriter, r *http.Request) {
	if f := h.faults.For(r); f != nil {
		f.Write(w)
		return
	}
	text, known := h.logAt(strings.TrimPrefix(r.URL.EscapedPath(), logPrefix))
	if !known {
		http.Error(w, "this address has expired: ask for the log again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(text)
}

func (h *Handler) logAt(key string) (text []byte, known bool) {
	h.world.Lock()
	defer h.world.Unlock()
	l, known := h.logs[key]
	if !known || !h.world.Now().Before(l.expires) {
		return nil, false
	}
	return l.job.Log, true
}
