package api

import (
	"net/http"
	"strings"
	"time"
)

// Call is one received API request.
type Call struct {
	Seq          int
	At           time.Time
	Method       string
	Pattern      string // route pattern, "/repos/{owner}/{repo}/issues"; empty for an unknown route
	Path         string // as requested, with the query
	Status       int
	Installation int64 // of its token; 0 for none
	Reads        bool  // it changes nothing: GET, or a GraphQL query
	Conditional  bool  // answered 304 and not counted against the rate limit
	Fault        bool  // answered by a fault in place of the simulator
}

// Tally counts requests by kind.
type Tally struct {
	All      int // every request, tokens, refusals and answers 304 included
	Free     int // of all: 304 answers, which the primary rate limit does not count
	Creating int // of all: those that create content, which GitHub limits to 80 a minute
}

// Count counts requests. Every POST creates content, except for tokens and GraphQL queries.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
func Count(calls []Call) (n Tally) {
	for _, c := range calls {
		n.All++
		if c.Conditional {
			n.Free++
		}
		if c.Method == http.MethodPost && !c.Reads && !strings.HasSuffix(c.Path, "/access_tokens") {
			n.Creating++
		}
	}
	return n
}

func (h *Handler) logCall(entry *Call) {
	h.world.Lock()
	entry.Seq, entry.At = len(h.calls)+1, h.world.Now()
	h.calls = append(h.calls, *entry)
	after := h.after
	h.world.Unlock()
	for _, fn := range after {
		fn(*entry)
	}
}

// AfterRequest calls fn after each API request was answered. It is called without the lock, before the answer is sent,
// so it may call the simulator.
func (h *Handler) AfterRequest(fn func(Call)) {
	h.world.Lock()
	defer h.world.Unlock()
	h.after = append(h.after, fn)
}

// Calls are the API requests received so far, REST and GraphQL, in order of completion. Git over HTTP and pages are not
// included.
func (h *Handler) Calls() []Call {
	h.world.Lock()
	defer h.world.Unlock()
	return append([]Call(nil), h.calls...)
}

// CountCalls counts the API requests received that count against a rate limit: all but 304 answers.
func (h *Handler) CountCalls() int {
	n := 0
	for _, c := range h.Calls() {
		if !c.Conditional {
			n++
		}
	}
	return n
}
