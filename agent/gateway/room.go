package gateway

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of the memory for requests.
const (
	serverBytes  = 96 << 20 // for the requests of all gateways
	attemptBytes = 48 << 20 // for the requests of one attempt
	bodyTimeout  = time.Minute
	perByte      = 3 // bytes of memory per byte read: a growing buffer is copied
)

// Room is shared by the gateways of a server: it limits the memory for requests, and records fields that endpoints
// refuse. It is safe for concurrent use.
type Room struct {
	mu      sync.Mutex
	used    int
	of      map[string]int      // used by each attempt, by its token
	refused map[string][]string // fields, by endpoint and model
	// reading is locked while a request is parsed, which takes several times its size.
	reading sync.Mutex
}

// take reserves n bytes for an attempt, or releases them if n is negative. It reports false if they are not available.
func (r *Room) take(token string, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 && (r.of[token]+n > attemptBytes || r.used+n > serverBytes) {
		return false
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.used += n
	if r.of[token] += n; r.of[token] == 0 {
		delete(r.of, token)
	}
	return true
}

// refusedBy returns the fields that an endpoint is known to refuse.
func (r *Room) refusedBy(endpoint string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[endpoint]
}

// refuses records the fields that an endpoint refuses.
func (r *Room) refuses(endpoint string, names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string][]string{}
	}
	r.refused[endpoint] = names
}

var (
	errLarge = errors.New("the request is too large")
	errFull  = errors.New("other requests fill the memory that there is for them")
)

// readBody reads a request's body if there is enough memory, which stays reserved until release.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	held := 0
	release = func() {
		g.Room.take(g.Token, -held)
		held = 0
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // a server's connection has one
	chunk := make([]byte, 32<<10)
	for {
		n, end := r.Body.Read(chunk)
		if len(body)+n > maxRequest {
			return nil, release, errLarge
		}
		if !g.Room.take(g.Token, perByte*n) {
			return nil, release, errFull
		}
		held += perByte * n
		if len(body)+n > cap(body) {
			body = slices.Grow(body, len(body)+n) // at least double the capacity, to limit garbage
		}
		body = append(body, chunk[:n]...)
		if errors.Is(end, io.EOF) {
			// Without a deadline, the server detects a closed connection from now on.
			return body, release, control.SetReadDeadline(time.Time{})
		}
		if end != nil {
			return nil, release, end
		}
	}
}
