// Package fault answers HTTP requests in place of the simulated GitHub, for tests: errors, rate limits, closed
// connections, lost answers.
package fault

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Fault is an answer given in place of the simulator's.
type Fault struct {
	Status int         // default 502
	Header http.Header // added to the answer
	Body   string      // default GitHub's error body for the status
	Times  int         // how many requests it answers; 0: until Clear
	Close  bool        // the connection is closed without an answer
	After  bool        // the request is carried out first, and its answer lost
}

// Rules are the rules in force. The zero value is none. Safe for concurrent use.
type Rules struct {
	mu    sync.Mutex
	rules []*rule
}

type rule struct {
	of   func(*http.Request) *Fault
	used map[*Fault]int
}

// Add adds a rule: a fault that it returns is the answer. A rule returns the same *Fault for its Times to count. Rules
// are called in the order in which they were added.
func (rs *Rules) Add(of func(*http.Request) *Fault) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.rules = append(rs.rules, &rule{of: of, used: map[*Fault]int{}})
}

// Clear removes all rules.
func (rs *Rules) Clear() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.rules = nil
}

// For is the fault for a request, or nil. Rules are called without the lock, so they may call the simulator.
func (rs *Rules) For(r *http.Request) *Fault {
	rs.mu.Lock()
	rules := rs.rules
	rs.mu.Unlock()
	for _, rule := range rules {
		f := rule.of(r)
		if f == nil {
			continue
		}
		rs.mu.Lock()
		spent := f.Times > 0 && rule.used[f] >= f.Times
		rule.used[f]++
		rs.mu.Unlock()
		if !spent {
			return f
		}
	}
	return nil
}

// Once is a rule for [Rules.Add]: f for the requests that match.
func Once(f Fault, match func(*http.Request) bool) func(*http.Request) *Fault {
	f.Times = max(f.Times, 1)
	return func(r *http.Request) *Fault {
		if match(r) {
			return &f
		}
		return nil
	}
}

// SecondaryLimit is the answer of a secondary rate limit: 403 with Retry-After.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
func SecondaryLimit(retryAfter time.Duration, times int) Fault {
	return Fault{
		Status: http.StatusForbidden, Times: times,
		Header: http.Header{"Retry-After": {strconv.Itoa(int(retryAfter / time.Second))}},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
			`"documentation_url":"https://docs.github.com/free-pro-team@latest/rest/overview/` +
			`rate-limits-for-the-rest-api#about-secondary-rate-limits","status":"403"}`,
	}
}

// Write answers with the fault.
func (f *Fault) Write(w http.ResponseWriter) int {
	if f.Close {
		panic(http.ErrAbortHandler) // net/http's documented way to close a connection
	}
	code := f.Status
	if code == 0 {
		code = http.StatusBadGateway
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for k, vs := range f.Header {
		for _, v := range vs {
			w.Header().Set(k, v)
		}
	}
	body := f.Body
	if body == "" {
		body = fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com/rest","status":"%d"}`,
			http.StatusText(code), code)
	}
	w.WriteHeader(code)
	fmt.Fprint(w, body)
	return code
}
