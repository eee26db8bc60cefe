package scripted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request, in bytes.
const maxBody = 16 << 20

// maxRecorded is how many requests are kept; older ones are dropped.
const maxRecorded = 4096

// Options configure the server. The zero Options listen on a free loopback port and require no key.
type Options struct {
	Addr string // host:port to listen on
	Key  string // API key that requests must carry
}

// Server is a running scripted model. It is safe for concurrent use.
type Server struct {
	URL string // the base URL for a client, ending in /v1

	key    string
	http   *http.Server
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	rules    []rule
	requests []Request
	struck   map[[2]int]int // (rule, answer) → how often its fault has occurred
}

// Start checks the script and serves it until Close.
func Start(script Script, o Options) (*Server, error) {
	rules, err := script.compile()
	if err != nil {
		return nil, err
	}
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("start scripted model: %w", err)
	}
	s := &Server{
		URL: "http://" + l.Addr().String() + "/v1", key: o.Key,
		closed: make(chan struct{}), rules: rules, struck: map[[2]int]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete(chat))
	mux.HandleFunc("POST /v1/responses", s.complete(responses))
	mux.HandleFunc("POST /v1/messages", s.complete(messages))
	mux.HandleFunc("GET /v1/models", s.models)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) //nolint:errcheck // it always ends with ErrServerClosed
	return s, nil
}

// Close stops the server and closes every connection to it.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.http.Close()
}

// SetScript replaces the script. Counts of faults start again; the record of requests is kept.
func (s *Server) SetScript(script Script) error {
	rules, err := script.compile()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules, s.struck = rules, map[[2]int]int{}
	return nil
}

// Requests returns the requests so far, oldest first: at most the last 4,096.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// complete answers requests of a protocol.
func (s *Server) complete(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, p) }
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "too_large", "the request can't be read: "+err.Error())
		return
	}
	q, err := p.read(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_json", "the request is not JSON of the protocol: "+err.Error())
		return
	}
	if s.key != "" && !p.authorized(r, s.key) {
		s.record(q, "", http.StatusUnauthorized)
		fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
		return
	}
	name, answer, fault, ok := s.match(q)
	if !ok {
		s.record(q, "", http.StatusBadRequest)
		fail(w, http.StatusBadRequest, "script_no_match", s.unmatched(q))
		return
	}
	if answer.Delay > 0 {
		t := time.NewTimer(answer.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			s.record(q, name, 0)
			return
		case <-s.closed:
			return
		}
	}
	switch {
	case q.Stream && p.stream != nil && fault == nil:
		s.record(q, name, http.StatusOK)
		p.stream(w, q, answer)
	case q.Stream && p.stream == nil && (fault == nil || fault.After > 0):
		s.record(q, name, http.StatusOK)
		if s.stream(r.Context(), w, q, answer, fault) {
			cutOff(w)
		}
	case fault != nil:
		s.strike(r.Context(), w, q, name, *fault)
	default:
		s.record(q, name, http.StatusOK)
		p.whole(w, q, answer)
	}
}

// Say is the model's answer to a request for this path, for servers in front of the model. Faults and delays are left
// out.
func (s *Server) Say(path string, body []byte) (Message, error) {
	protocols := map[string]protocol{"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}
	p, ok := protocols[path]
	if !ok {
		return Message{}, fmt.Errorf("the scripted model is not asked at %s", path)
	}
	q, err := p.read(body)
	if err != nil {
		return Message{}, fmt.Errorf("read a request for the scripted model: %w", err)
	}
	name, answer, _, ok := s.match(q)
	if !ok {
		s.record(q, "", http.StatusBadRequest)
		return Message{}, errors.New(s.unmatched(q))
	}
	s.record(q, name, http.StatusOK)
	m, _, err := answer.message(q.Turn())
	return m, err
}

// match finds the rule for q, its answer, and the fault that occurs this time.
func (s *Server) match(q Request) (string, Answer, *Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.rules {
		n, ok := r.answer(q)
		if !ok {
			continue
		}
		a := r.Turns[n]
		if f := a.Fault; f != nil && (f.Times == 0 || s.struck[[2]int{i, n}] < f.Times) {
			s.struck[[2]int{i, n}]++
			return r.Name, a, f, true
		}
		return r.Name, a, nil, true
	}
	return "", Answer{}, nil, false
}

func (s *Server) record(q Request, rule string, status int) {
	q.Rule, q.Status = rule, status
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxRecorded {
		s.requests = append(s.requests[:0], s.requests[1:]...)
	}
	s.requests = append(s.requests, q)
}

// strike answers with a fault.
func (s *Server) strike(ctx context.Context, w http.ResponseWriter, q Request, rule string, f Fault) {
	if f.Reset || f.Stall {
		s.record(q, rule, 0)
		if f.Stall {
			s.stall(ctx)
		}
		cutOff(w)
		return
	}
	s.record(q, rule, f.status())
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	if f.Body == "" {
		fail(w, f.status(), f.Code, "a fault of the script")
		return
	}
	w.WriteHeader(f.status())
	io.WriteString(w, f.Body) //nolint:errcheck // the client is gone
}

// stall waits until the client disconnects or the server is closed.
func (s *Server) stall(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.closed:
	}
}

// cutOff resets the connection.
func cutOff(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // at worst the client sees a close instead of a reset
	}
	conn.Close()
}

// unmatched describes the request, for the author of the script.
func (s *Server) unmatched(q Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "no rule of the script answers model %q at turn %d (assistant messages so far). ", q.Model, q.Turn())
	fmt.Fprintf(&b, "Last message: %q. User text begins: %q. Rules:", cut(q.Last(), 160), cut(q.User(), 240))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		fmt.Fprintf(&b, " %s/%s turns %d–%d;", r.Model, r.Name, r.From, r.From+len(r.Turns)-1)
	}
	return b.String()
}

// models lists the models that the rules name, as GET /v1/models does.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list, have := []model{}, map[string]bool{}
	s.mu.Lock()
	for _, r := range s.rules {
		if r.Model != "" && !have[r.Model] {
			have[r.Model] = true
			list = append(list, model{r.Model, "model"})
		}
	}
	s.mu.Unlock()
	send(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// Wait returns when the server has recorded n requests, or with ctx's error.
func (s *Server) Wait(ctx context.Context, n int) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		have := len(s.requests)
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
