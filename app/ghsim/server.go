package ghsim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Config says how a simulator runs. The zero value is usable: a temporary
// directory, the wall clock, bash, no webhook.
type Config struct {
	Clock         func() time.Time // default time.Now
	Logger        *slog.Logger     // default: discard
	Dir           string           // holds the bare repositories; default a temporary directory that Close removes
	WorkflowShell string           // runs workflow steps; default bash
	WebhookURL    string           // given to every app created from then on; [Server.SetWebhook] changes it
	WebhookSecret string
	Host          string        // the name used in URLs instead of the listener's address, such as "localhost"
	Parallel      int           // workflow runs executed at a time; default 2
	JobTimeout    time.Duration // of one workflow job; default 10 minutes
	NoWorkflows   bool          // workflows are not run; tests create checks themselves
	AppKeyPEM     []byte        // every app's private key (PKCS #1), for tests to which generating one is too slow

	// Wrap, when set, is put around the whole HTTP handler, for instance a
	// conformance validator's middleware.
	Wrap func(http.Handler) http.Handler
}

// Server is one simulated GitHub. All its methods may be called concurrently.
type Server struct {
	cfg     Config
	log     *slog.Logger
	handler http.Handler
	routes  []route
	git     *gitStore
	rateMax int

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{} // one per workflow run that may execute
	http   *http.Server
	ownDir bool

	mu         sync.Mutex
	changed    *sync.Cond // on mu: broadcast when busy falls, or an entry is written
	busy       int        // deliveries and workflow runs under way or queued
	closed     bool
	url        string
	lastID     int64
	users      map[string]*user // by lower-case login
	apps       map[int64]*app
	repos      map[string]*repository // by lower-case owner/name
	insts      map[int64]*installation
	tokens     map[string]*token
	logURLs    map[string]logURL
	grants     map[string]grant // by code
	userTokens map[string]*userToken
	limits     map[string]*rateWindow
	entries    []Entry
	calls      []Call
	sent       []*delivery
	hooks      hostility
	actions    *app // github-actions, the owner of workflow check runs
}

// New makes a simulator with no users, apps or repositories. It needs the git
// command, 2.38 or later, with http-backend.
func New(cfg Config) (*Server, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.WorkflowShell == "" {
		cfg.WorkflowShell = "bash"
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = 2
	}
	if cfg.JobTimeout <= 0 {
		cfg.JobTimeout = 10 * time.Minute
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger, rateMax: 5000, lastID: 1000,
		slots: make(chan struct{}, cfg.Parallel),
		users: map[string]*user{}, apps: map[int64]*app{}, repos: map[string]*repository{},
		insts: map[int64]*installation{}, tokens: map[string]*token{},
		logURLs: map[string]logURL{}, grants: map[string]grant{}, userTokens: map[string]*userToken{}, limits: map[string]*rateWindow{},
	}
	s.changed = sync.NewCond(&s.mu)
	if cfg.Dir == "" {
		dir, err := os.MkdirTemp("", "ghsim-")
		if err != nil {
			return nil, fmt.Errorf("making the simulator's directory: %w", err)
		}
		s.cfg.Dir, s.ownDir = dir, true
	}
	abs, err := filepath.Abs(s.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("simulator directory %s: %w", s.cfg.Dir, err)
	}
	s.cfg.Dir = abs
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if s.git, err = newGitStore(s.ctx, abs); err != nil {
		s.cancel()
		return nil, err
	}
	s.addActionsApp()
	s.routes = s.routeTable()
	s.handler = s.rootHandler()
	if cfg.Wrap != nil {
		s.handler = cfg.Wrap(s.handler)
	}
	return s, nil
}

// Start listens on addr, "127.0.0.1:0" for any free port of loopback, and
// returns the base URL without a trailing slash: REST is beneath /api/v3/,
// GraphQL at /api/graphql, a repository at /owner/name.git.
func (s *Server) Start(addr string) (string, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("simulator listening on %s: %w", addr, err)
	}
	host := ln.Addr().String()
	if s.cfg.Host != "" {
		_, port, _ := net.SplitHostPort(host)
		host = net.JoinHostPort(s.cfg.Host, port)
	}
	s.SetURL("http://" + host)
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("simulator stopped serving", "error", err)
		}
	})
	return s.URL(), nil
}

// Handler is the whole simulator for a server of one's own; call SetURL with
// that server's address before anything else.
func (s *Server) Handler() http.Handler { return s.handler }

// SetURL sets the base URL that answers and payloads carry.
func (s *Server) SetURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = strings.TrimRight(url, "/")
}

// URL is the base URL, without a trailing slash.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// APIURL is the base URL of the REST API, with the trailing slash that GitHub
// clients want: "http://127.0.0.1:1234/api/v3/".
func (s *Server) APIURL() string { return s.URL() + "/api/v3/" }

// Close stops listening, kills running workflows with their process groups,
// drops deliveries that were not sent, and waits for everything to end. When the
// simulator made its own directory, it is removed.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.cancel()
	var err error
	if s.http != nil {
		err = s.http.Close()
	}
	s.wg.Wait()
	if s.ownDir {
		err = errors.Join(err, os.RemoveAll(s.cfg.Dir))
	}
	return err
}

// WaitIdle returns when no delivery and no workflow run is queued or under way,
// or with the context's error. Held deliveries don't count.
func (s *Server) WaitIdle(ctx context.Context) error {
	return s.await(ctx, func() bool { return s.busy == 0 })
}

// WaitEntry returns the first journal entry after sequence number after that
// match accepts, waiting for it if need be, or the context's error. match must
// not call the server.
func (s *Server) WaitEntry(ctx context.Context, after int, match func(Entry) bool) (Entry, error) {
	var found Entry
	next := max(after, 0)
	err := s.await(ctx, func() bool {
		for ; next < len(s.entries); next++ {
			if match(s.entries[next]) {
				found = s.entries[next]
				return true
			}
		}
		return false
	})
	return found, err
}

// await blocks until done, called with the mutex held, is true.
func (s *Server) await(ctx context.Context, done func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !done() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("waiting for the simulator: %w", err)
		}
		if s.closed {
			return errors.New("waiting for the simulator: it was closed")
		}
		s.changed.Wait()
	}
	return nil
}

// begin counts work that WaitIdle waits for; the mutex is held.
func (s *Server) begin() { s.busy++ }

// end is begin's counterpart; the mutex is held.
func (s *Server) end() {
	s.busy--
	s.changed.Broadcast()
}

func (s *Server) now() time.Time { return s.cfg.Clock().UTC() }

// newID is the next id; all kinds of thing share one sequence.
func (s *Server) newID() int64 {
	s.lastID++
	return s.lastID
}
