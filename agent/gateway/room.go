package gateway

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of what requests may take of this machine.
const (
	serverBytes  = 96 << 20 // held by the requests of all gateways
	attemptBytes = 48 << 20 // held by those of one attempt
	bodyWithin   = time.Minute
	perByte      = 3 // bytes of memory for one that was read: a buffer that grows is copied
)

// Room is what the gateways of one server share: the memory for requests on their way to
// the model, and what endpoints were found to refuse. It is safe for concurrent use.
type Room struct {
	mu      sync.Mutex
	used    int
	of      map[string]int      // that each attempt uses, by its token
	refused map[string][]string // fields, by endpoint and model
	// reading is held while a request is read as JSON, which takes several times its size.
	reading sync.Mutex
}

// take takes n bytes for an attempt if there are so many, and gives them back when n is negative.
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

// refusedBy are the fields that an endpoint was found to refuse.
func (r *Room) refusedBy(endpoint string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[endpoint]
}

// refuses remembers the fields that an endpoint refuses.
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

// readBody reads a request's body, as long as there is room for it. What it holds it
// holds until release.
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
	_ = control.SetReadDeadline(time.Now().Add(bodyWithin)) // a server's connection has one
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
			body = slices.Grow(body, len(body)+n) // to twice its length: little is left to be collected
		}
		body = append(body, chunk[:n]...)
		if errors.Is(end, io.EOF) {
			// From here on reading tells whether the program is still there.
			return body, release, control.SetReadDeadline(time.Time{})
		}
		if end != nil {
			return nil, release, end
		}
	}
}
