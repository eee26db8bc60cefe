package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/access"
)

// filePrefix is the prefix of the path of every log and artifact.
const filePrefix = "/_logs/"

// fileLife is how long such an address is valid.
const fileLife = time.Minute

// file is a job's log, or an artifact's zip.
type file struct {
	kind    string // content type
	content []byte
}

// fileAddress is a short-lived address of a file.
type fileAddress struct {
	file
	expires time.Time
}

// newAddress is a URL of a file.
func (c *call) newAddress(f file) string {
	key := access.NewSecret("")
	c.files[key] = fileAddress{file: f, expires: c.world.Now().Add(fileLife)}
	return c.shape.HTML("%s%s", filePrefix, key)
}

// serveFile serves a file by its short-lived address, without credentials.
func (h *Handler) serveFile(w http.ResponseWriter, r *http.Request) {
	if f := h.faults.For(r); f != nil {
		f.Write(w)
		return
	}
	f, known := h.fileAt(strings.TrimPrefix(r.URL.EscapedPath(), filePrefix))
	if !known {
		http.Error(w, "this address has expired: ask for it again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	w.Write(f.content)
}

func (h *Handler) fileAt(key string) (f file, known bool) {
	h.world.Lock()
	defer h.world.Unlock()
	l, known := h.files[key]
	if !known || !h.world.Now().Before(l.expires) {
		return file{}, false
	}
	return l.file, true
}
