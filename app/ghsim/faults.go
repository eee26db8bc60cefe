package ghsim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault is an answer given in place of the simulator's.
type Fault struct {
	Status int         // default 502
	Header http.Header // added to the answer
	Body   string      // default GitHub's error body for the status
	Times  int         // how many requests it answers; 0: until ClearFaults
	Close  bool        // the connection is cut instead of an answer
	After  bool        // the request is carried out first, and its answer lost
}

// hostility is what tests do to the simulated GitHub.
type hostility struct {
	drop, duplicate, hold func(Delivery) bool
	held                  []*delivery
	faults                []*faultRule
	after                 []func(Call)
}

type faultRule struct {
	of   func(*http.Request) *Fault
	used map[*Fault]int
}

// FailRequests puts a rule in force for API and git requests and downloads of logs: where it returns a
// fault, that is the answer. Return the same *Fault for its Times to count.
// Rules are asked in the order in which they were added.
func (s *Server) FailRequests(rule func(*http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.faults = append(s.hooks.faults, &faultRule{of: rule, used: map[*Fault]int{}})
}

// ClearFaults ends all rules of FailRequests and exhausted rate limits.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.faults = nil
	clear(s.limits)
}

// Once is a rule for FailRequests: f for the requests that match.
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
			`"documentation_url":"https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits","status":"403"}`,
	}
}

// ExhaustRateLimit makes an installation's primary rate limit used up until the
// simulator's clock reaches reset.
func (s *Server) ExhaustRateLimit(installation int64, reset time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[limitKey(installation, nil)] = &rateWindow{used: s.rateMax, reset: reset}
}

// SetRateLimit sets how many requests an hour each installation and app may
// make; default 5000.
func (s *Server) SetRateLimit(perHour int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rateMax = perHour
}

// AfterRequest calls fn after each API request was answered. It is called
// without the server's lock, before the answer is sent, so it may call the server.
func (s *Server) AfterRequest(fn func(Call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.after = append(s.hooks.after, fn)
}

// DropDeliveries makes webhook deliveries that match fail without reaching the
// application; they stay in the list of failed deliveries and can be
// redelivered. nil ends it. match must not call the server.
func (s *Server) DropDeliveries(match func(Delivery) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.drop = match
}

// DuplicateDeliveries makes deliveries that match arrive twice. nil ends it.
func (s *Server) DuplicateDeliveries(match func(Delivery) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.duplicate = match
}

// HoldDeliveries keeps deliveries that match back until [Server.Release]. nil
// ends it for new ones.
func (s *Server) HoldDeliveries(match func(Delivery) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.hold = match
}

// Release sends what was held, in the order that reorder gives the held
// deliveries' indices; nil keeps the order. It returns how many were held.
func (s *Server) Release(reorder func([]Delivery) []int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.hooks.held
	s.hooks.held = nil
	order := make([]int, len(held))
	ds := make([]Delivery, len(held))
	for i, d := range held {
		order[i], ds[i] = i, d.Delivery
	}
	if reorder != nil {
		order = reorder(ds)
	}
	for _, i := range order {
		s.queue(held[i])
	}
	return len(held)
}

// fault is the fault in force for a request, or nil.
func (s *Server) fault(r *http.Request) *Fault {
	s.mu.Lock()
	rules := s.hooks.faults
	s.mu.Unlock()
	for _, rule := range rules {
		f := rule.of(r)
		if f == nil {
			continue
		}
		s.mu.Lock()
		spent := f.Times > 0 && rule.used[f] >= f.Times
		rule.used[f]++
		s.mu.Unlock()
		if !spent {
			return f
		}
	}
	return nil
}

// write answers with the fault.
func (f *Fault) write(w http.ResponseWriter) int {
	if f.Close {
		panic(http.ErrAbortHandler) // net/http's documented way to cut a connection
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
		body = fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com/rest","status":"%d"}`, http.StatusText(code), code)
	}
	w.WriteHeader(code)
	fmt.Fprint(w, body)
	return code
}
