package flavour

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Server is a running server of a flavour. Its methods are safe for concurrent use.
type Server struct {
	Flavour
	URL string // ends in /v1 and Client.Query

	http *httptest.Server

	mu      sync.Mutex
	bill    Bill
	bills   []Bill                     // of each answer
	asks    []Ask                      // all requests
	prompts []string                   // in the cache
	marked  map[[sha256.Size]byte]bool // prefixes in the cache
	counts  map[string]int             // state of a flavour
}

// Start serves a flavour until Close.
func Start(f Flavour) *Server {
	if f.Say == nil {
		f.Say = reading
	}
	if f.Paths == nil {
		f.Paths = []string{Chat}
	}
	s := &Server{Flavour: f, counts: map[string]int{}, marked: map[[sha256.Size]byte]bool{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1" + f.Query
	return s
}

// Close stops the server.
func (s *Server) Close() { s.http.CloseClientConnections(); s.http.Close() }

// Asks returns the requests so far.
func (s *Server) Asks() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Ask(nil), s.asks...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	a := Ask{Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header, Raw: string(raw)}
	if !slices.Contains(s.Paths, a.Path) {
		refuse(w, http.StatusNotFound, `{"detail":"Not Found"}`)
		return
	}
	if err := json.Unmarshal(raw, &a.Body); err != nil {
		refuse(w, http.StatusBadRequest, Words("the body is not JSON"))
		return
	}
	a.Turn = turnOf(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, a)
	if s.Refuse != nil {
		if status, body := s.Refuse(s, a); status != 0 {
			refuse(w, status, body)
			return
		}
	}
	t := s.Say(a)
	b := s.count(a, t)
	if s.Whole != nil && s.Whole(s, w, b) {
		return
	}
	stream, _ := a.Body["stream"].(bool)
	n := len(s.bills) // ids and reasoning are unique to an answer
	switch a.Path {
	case Chat:
		s.chat(w, n, t, b, stream)
	case Responses:
		s.responses(w, n, t, b, stream)
	default:
		s.messages(w, n, t, b, stream)
	}
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// messagesOf are the messages or items of a request.
func messagesOf(a Ask) (list []object) {
	all, _ := a.Body["messages"].([]any)
	if a.Path == Responses {
		all, _ = a.Body["input"].([]any)
	}
	for _, one := range all {
		if m, ok := one.(object); ok {
			list = append(list, m)
		}
	}
	return list
}

// turnOf counts the answers in a conversation: in Responses, consecutive items are one answer.
func turnOf(a Ask) (n int) {
	before := false
	for _, m := range messagesOf(a) {
		kind, _ := m["type"].(string)
		is := m["role"] == "assistant" || kind == "function_call" || kind == "reasoning"
		if is && (!before || a.Path != Responses) {
			n++
		}
		before = is
	}
	return n
}
