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
	"time"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/api"
	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/fault"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/monitor"
	"github.com/sia-bot/sia/sim/ghsim/pages"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/people"
	"github.com/sia-bot/sia/sim/ghsim/remote"
	"github.com/sia-bot/sia/sim/ghsim/runner"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Config configures a simulator. The zero value is usable: a temporary directory, the wall clock, bash, no webhook.
type Config struct {
	Clock         func() time.Time // default time.Now
	Logger        *slog.Logger     // default: discard
	Dir           string           // holds the bare repositories; default a temporary directory that Close removes
	WorkflowShell string           // runs workflow steps; default bash
	WebhookURL    string           // webhook of later apps; SetWebhook changes it
	WebhookSecret string
	Host          string        // the name used in URLs instead of the listener's address, such as "localhost"
	Parallel      int           // workflow runs executed at a time; default 2
	JobTimeout    time.Duration // of one workflow job; default 10 minutes
	NoWorkflows   bool          // workflows are not run; tests create checks themselves
	ByHand        bool          // no job runs by itself: tests start and end each (people.Jobs)
	AppKeyPEM     []byte        // every app's private key (PKCS #1), for tests for which generating one is too slow

	// Wrap, when set, wraps the whole HTTP handler, for instance in a conformance validator's middleware.
	Wrap func(http.Handler) http.Handler
}

// withDefaults sets defaults.
func (cfg Config) withDefaults() Config {
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
	return cfg
}

// Server is one simulated GitHub. All its methods may be called concurrently. People's actions and views are in
// [people.People].
type Server struct {
	*people.People

	host    string
	dir     string
	ownDir  bool
	log     *slog.Logger
	mon     *monitor.Monitor
	hub     *model.Hub
	journal *journal.Journal
	queue   *delivery.Queue
	faults  *fault.Rules
	api     *api.Handler
	handler http.Handler
	http    *http.Server
}

// New makes a simulator with no users, apps or repositories. It needs the git
// command, 2.38 or later.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{host: cfg.Host, log: cfg.Logger, mon: monitor.New(), faults: &fault.Rules{}}
	if err := s.makeDir(cfg.Dir); err != nil {
		return nil, err
	}
	store, err := git.New(s.mon.Context(), s.dir)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.hub = model.NewHub(cfg.Clock)
	s.journal = journal.New(s.mon, s.hub.Now)
	s.queue = delivery.New(s.mon, s.hub, cfg.Logger)
	shape := payload.New(s.hub, store, cfg.Logger)
	w := world.New(world.Config{
		Hub: s.hub, Monitor: s.mon, Git: store, Shaper: shape, Journal: s.journal, Queue: s.queue,
		Runner: runner.New(runner.Config{Dir: s.dir, Shell: cfg.WorkflowShell, Timeout: cfg.JobTimeout, Clock: s.hub.Now,
			Logger: cfg.Logger}),
		Parallel: cfg.Parallel, NoWorkflows: cfg.NoWorkflows, ByHand: cfg.ByHand, Logger: cfg.Logger,
	})
	issuer := access.NewTokenIssuer(s.hub, cfg.AppKeyPEM)
	hook := people.Webhook{URL: cfg.WebhookURL, Secret: cfg.WebhookSecret}
	s.People = people.New(w, store, issuer, hook, s.mon.Context().Done())
	s.api = api.New(api.Config{World: w, Shaper: shape, Git: store, Desk: issuer, Queue: s.queue, Faults: s.faults,
		Logger: cfg.Logger, Journal: s.journal})
	s.handler = route(s.api, remote.New(w, store, issuer, s.faults, cfg.Logger),
		pages.New(w, store, s.People, issuer, s.journal))
	if cfg.Wrap != nil {
		s.handler = cfg.Wrap(s.handler)
	}
	return s, nil
}

func (s *Server) makeDir(dir string) error {
	if dir == "" {
		made, err := os.MkdirTemp("", "ghsim-")
		if err != nil {
			return fmt.Errorf("making the simulator's directory: %w", err)
		}
		s.dir, s.ownDir = made, true
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("simulator directory %s: %w", dir, err)
	}
	s.dir = abs
	return nil
}

// route sends requests to the API, to git or to the pages.
func route(rest http.Handler, gitHTTP *remote.Handler, site http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if api.Handles(r) {
			rest.ServeHTTP(w, r)
		} else if req, is := git.ParseRequest(r); is {
			gitHTTP.Serve(w, r, req)
		} else {
			site.ServeHTTP(w, r)
		}
	})
}

// Start listens on addr, "127.0.0.1:0" for any free port of loopback, and returns the base URL without a trailing
// slash: REST is below /api/v3/, GraphQL at /api/graphql, a repository at /owner/name.git.
func (s *Server) Start(addr string) (string, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("simulator listening on %s: %w", addr, err)
	}
	host := ln.Addr().String()
	if s.host != "" {
		_, port, _ := net.SplitHostPort(host)
		host = net.JoinHostPort(s.host, port)
	}
	s.SetURL("http://" + host)
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second}
	s.mon.Serve(func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("simulator stopped serving", "error", err)
		}
	})
	return s.URL(), nil
}

// Handler is the whole simulator for another server; call SetURL with that server's address before anything else.
func (s *Server) Handler() http.Handler { return s.handler }

// SetURL sets the base URL in answers and payloads.
func (s *Server) SetURL(url string) {
	s.mon.Lock()
	defer s.mon.Unlock()
	s.hub.SetURL(url)
}

// URL is the base URL, without a trailing slash.
func (s *Server) URL() string {
	s.mon.Lock()
	defer s.mon.Unlock()
	return s.hub.URL()
}

// APIURL is the base URL of the REST API, with the trailing slash that GitHub clients expect:
// "http://127.0.0.1:1234/api/v3/".
func (s *Server) APIURL() string { return s.URL() + "/api/v3/" }

// Close stops listening, kills running workflows with their process groups, drops unsent deliveries, and waits for
// everything to end. It removes the directory that the simulator made itself.
func (s *Server) Close() error {
	if !s.mon.Close() {
		return nil
	}
	var err error
	if s.http != nil {
		err = s.http.Close()
	}
	s.mon.Wait()
	if s.ownDir {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// WaitIdle returns when no delivery and no workflow run is queued or in progress, or with the context's error. Held
// deliveries don't count.
func (s *Server) WaitIdle(ctx context.Context) error { return s.mon.WaitIdle(ctx) }
