// Package app wires SIA together. It is the only package that connects the others.
//
// [New] opens everything that a [Config] names, [App.Run] serves until its context ends, [App.Close] releases
// everything. End-to-end tests start the same App as `sia serve`.
//
// The package may import everything except cmd and sim/ghsim. Start reading at New.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/metrics"
	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trace"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// Options are injected by tests and the demo; the zero value is for production.
type Options struct {
	Logger *slog.Logger     // nil: slog.Default
	Now    func() time.Time // nil: the database's clock
	Engine store.EngineConfig
	// transport for GitHub's API; nil: the network
	Transport http.RoundTripper
	Sandbox   sandbox.Options                                      // Stdlib and Logger are those of the app
	Boundary  func(ctx context.Context, when string, f sia.Effect) // see store.Handlers
	Front     *Front                                               // listeners, closed by the app; nil: as configured
	Invited   *signin.Invitation                                   // browser that ran set-up and may watch; nil: none
	Version   string                                               // of this program, for the log and traces
	Local     Local
	// holds a short conversation with each model at the start of Run, which costs a few cents
	ProbeModels bool
	// counts replayed tasks of a repository, owner/name, that only one of two policies, given by id, resolved; nil: none
	Duels func(repo, present, candidate string) (won, lost int, err error)
}

// Local configures a run on one issue at a terminal, without GitHub. The zero value is for a server.
type Local struct {
	Anonymous bool                // commits contain neither accounts nor addresses, which are local
	Settings  func(*sia.Settings) // overrides settings of every repository; nil: nothing
	Policies  *policies.Set       // replace the policies of every repository; nil: they don't
	Ignored   []byte              // patterns that every workspace ignores, as in [gitops.CacheOptions]
	// BeforeTests is called with a description before tests that a change can affect are run; may be nil.
	BeforeTests func(step string)
	// Findings returns sentences about what a head changes of tests, in addition to what the text and the tests show. An
	// issue can ask for them. It is called when the head's checks have ended; may be nil.
	Findings func(head string) []string
}

// withDefaults replaces nil functions with no-ops.
func (l Local) withDefaults() Local {
	if l.Settings == nil {
		l.Settings = func(*sia.Settings) {}
	}
	if l.BeforeTests == nil {
		l.BeforeTests = func(string) {}
	}
	if l.Findings == nil {
		l.Findings = func(string) []string { return nil }
	}
	return l
}

// App is one SIA process.
type App struct {
	Store   *store.Store
	GitHub  *github.App
	Evolver *trial.Evolver
	Metrics http.Handler // handler of /metrics

	version  string
	config   Config
	log      *slog.Logger
	git      *gitops.Cache    // nil: the server has no mirrors
	tests    *evidence.Looker // nil: it runs no tests
	engine   *store.Engine
	periodic []store.Periodic
	front    *Front
	public   http.Handler
	private  http.Handler
	secrets  *secret.Masker
	now      func() time.Time
	health   healthCache
	tracer   *trace.Tracer
	probes   modelProbes
	probing  bool             // probe the models at the start of Run
	pages    http.Handler     // require a viewer in the request's context
	runners  http.Handler     // serves runners; nil: attempts are run here
	hook     *webhook.Handler // receives deliveries; nil: not in this server's roles
	ending   chan struct{}    // closed when Run ends

	free func() (int64, error) // free space of the server's folder, in bytes
}

// New opens the database, migrates its schema, starts the engine and binds the listeners. Nothing is served before Run.
func New(ctx context.Context, c Config, o Options) (_ *App, err error) {
	c = c.WithDefaults()
	if err := errors.Join(c.Validate(), c.CheckPrices()); err != nil {
		return nil, err
	}
	calls := metrics.NewCalls()
	memory := NewModelMemory(cmp.Or(c.ModelsDir, c.Dir), o.Logger)
	var tracer *trace.Tracer // nil until the secrets are known
	c.Models = c.Models.withObserver(func(ctx context.Context, call llm.Call) {
		calls.Ended(ctx, call)
		tracer.Call(ctx, call)
	}).WithMemory(memory.Memory)
	open := openStore
	if c.Roles.usesGitHub() {
		open = newDeps
	}
	g, err := open(ctx, c, o)
	if err != nil {
		return nil, err
	}
	o.Logger = g.log
	if settings := c.Unmasked(); len(settings) > 0 {
		g.log.InfoContext(ctx, "not masked in what SIA writes, since ordinary text has such values", "settings", settings)
	}
	if tracer, err = trace.New(trace.Config{Endpoint: c.Traces, Headers: c.TraceHeaders, Version: o.Version,
		Mask: g.secrets.Mask, Logger: g.log, Now: g.now, Store: g.store}); err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	a := &App{tracer: tracer, Store: g.store, GitHub: g.github, Evolver: g.evolver, version: o.Version,
		config: c, log: g.log, git: g.git,
		secrets: g.secrets, now: g.now,
		front: o.Front, probes: modelProbes{c.Models.Named(), memory}, probing: o.ProbeModels && c.Roles.Has(RoleWork),
		ending: make(chan struct{}), free: func() (int64, error) { return FreeSpace(c.Dir) }}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.Metrics, err = metrics.New(calls, g.store, a.rateLimits, a.unread, a.free, c.Roles.Names(), g.log,
		g.now); err != nil {
		return nil, err
	}
	if c.Roles.usesGitHub() {
		if err = a.startWork(ctx, g, o); err != nil {
			return nil, err
		}
	}
	if err = a.routes(o.Invited); err != nil {
		return nil, err
	}
	if a.front == nil {
		if !c.Roles.Has(RoleIntake) && !(c.Roles.Has(RoleWeb) && c.SignsIn()) && a.runners == nil {
			c.Listen = "" // it would serve nothing
		}
		a.front, err = Listen(ctx, c)
	}
	return a, err
}

// startWork creates the pages and starts the engine, depending on the server's roles.
func (a *App) startWork(ctx context.Context, g *deps, o Options) (err error) {
	c := a.config
	var box *sandbox.Sandbox
	if c.Roles.Has(RoleWork) && !c.OnRunners { // else nothing of a repository runs here
		if box, err = NewSandbox(ctx, cmp.Or(c.Stdlib, filepath.Join(sandboxCache(c), "stdlib")), o); err != nil {
			return err
		}
	}
	p, err := newParts(g, c, box, a.ending)
	if err != nil {
		return err
	}
	a.tests = g.tests
	if p.runners != nil {
		a.runners = runner.NewHandler(p.runners, g.room)
	}
	if c.Roles.Has(RoleWeb) {
		a.pages, err = web.New(web.Deps{
			From: g.store, Do: p.intake, Lessons: g.lessons, Settings: g.settings,
			Advise: adviser{g.store}, Diffs: newDiffer(g),
			Models: a.probes, Links: c.links(), Logger: g.log, Now: g.now, Ending: a.ending,
		})
		if err != nil {
			return err
		}
	}
	if !c.Roles.Has(RoleWork) {
		return nil
	}
	channels, err := c.Notify.Channels(g.log, g.now)
	if err != nil {
		return err
	}
	a.periodic = append(p.sweeper.Table(c.Schedule, c.Keep),
		notify.New(g.store, channels, c.Notify.Summary, c.links(), g.secrets, g.log, g.now).Table()...)
	o.Engine.Attempts = c.Attempts
	if c.OnRunners {
		o.Engine.AttemptWait = runner.MaxWait
	}
	if o.Engine.Server, err = serverName(filepath.Join(c.Dir, "git")); err != nil {
		return err
	}
	a.engine, err = a.Store.Start(ctx, store.Handlers{
		Delivery: webhook.SerializeLarge(p.intake.Deliver), Setup: p.intake.Setup, Effect: a.tracer.Effect(p.worker.Effect),
		Spent: p.worker.Spent, Periodic: a.periodic, Boundary: o.Boundary,
	}, o.Engine)
	return err
}

// unread returns the number of deliveries with events that SIA ignores; 0 if this server receives none.
func (a *App) unread() int64 {
	if a.hook == nil {
		return 0
	}
	return a.hook.Unread()
}

// rateLimits returns the rate limits last reported by GitHub; none if this server makes no requests to it.
func (a *App) rateLimits() []github.RateLimit {
	if a.GitHub == nil {
		return nil
	}
	return a.GitHub.RateLimits()
}

// routes sets up the handlers of both addresses.
func (a *App) routes(invited *signin.Invitation) error {
	private, public := http.NewServeMux(), http.NewServeMux()
	private.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "ok, role %s\n", a.config.Roles)
	})
	private.HandleFunc("GET /readyz", a.ready)
	private.Handle("GET /metrics", a.Metrics)
	private.Handle("GET "+profiles, signin.Local(profiler()))
	a.private, a.public = private, public
	if a.config.Roles.Has(RoleIntake) {
		a.hook = &webhook.Handler{Store: a.Store, Secret: []byte(a.config.GitHub.WebhookSecret), Logger: a.log, Now: a.now}
		public.Handle("/webhook", &refusals{next: a.hook, log: a.log, now: a.now})
	}
	if a.runners != nil {
		public.Handle(runner.Prefix, a.runners)
	}
	if a.pages == nil {
		return nil
	}
	at := ""
	if a.config.SignsIn() {
		at = a.config.PublicURL
	}
	progress := setup.NewProgress(a.GitHub, a.Store, at, a.now(), a.log, a.now).Handler()
	own := http.NewServeMux()
	own.Handle("/", a.pages)
	own.Handle(setup.Path, progress)
	own.Handle(setup.Path+"/", progress)
	private.Handle("/", signin.Local(own))

	if invited != nil {
		invitedPages := signin.Invited(invited, progress)
		public.Handle(setup.Path, invitedPages)
		public.Handle(setup.Path+"/", invitedPages)
	}
	if !a.config.SignsIn() {
		return nil
	}
	site, err := signin.New(signin.Config{
		GitHub: a.config.GitHub.URL, API: a.config.GitHub.API, ClientID: a.config.GitHub.ClientID,
		ClientSecret: a.config.GitHub.ClientSecret, PublicURL: a.config.PublicURL, Installed: a.GitHub,
		Logger: a.log, Now: a.now, Lifetime: a.config.SignInFor,
	}, a.pages)
	if err != nil {
		return err
	}
	public.Handle("/", site)
	return nil
}

// profiles is the path of this process's Go profiles, see [pprof].
const profiles = "/debug/pprof/"

func profiler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(profiles, pprof.Index)
	mux.HandleFunc(profiles+"profile", pprof.Profile)
	mux.HandleFunc(profiles+"trace", pprof.Trace)
	return mux
}

// Pages returns SIA's pages, which require a viewer in the request's context (package app/web/viewer).
func (a *App) Pages() http.Handler { return a.pages }

// Addr returns the address for webhooks; nil: not in this server's roles.
func (a *App) Addr() net.Addr { return a.front.Addr() }

// Engine returns the running job engine, nil if not in the server's roles. Tests use it to wait until it is idle.
func (a *App) Engine() *store.Engine { return a.engine }

// Periodic runs one kind of periodic work now, regardless of the schedule: look, redeliver, repair, prune, heartbeat or
// notify.
func (a *App) Periodic(ctx context.Context, name string) error {
	for _, p := range a.periodic {
		if p.Name == name {
			return p.Run(ctx)
		}
	}
	return fmt.Errorf("there is no periodic work called %q", name)
}

// Run serves until ctx ends, then lets running requests and effects finish. It returns nil after ctx has ended.
func (a *App) Run(ctx context.Context) error {
	context.AfterFunc(ctx, func() {
		a.logEnding(context.WithoutCancel(ctx), context.Cause(ctx))
		close(a.ending) // ends open pages first, because the front waits for them
	})
	a.front.Answer(a.public, a.private)
	about := []any{"version", a.version, "role", a.config.Roles.String(), "database", "SQLite"}
	if store.IsPostgres(a.config.DB) {
		about[len(about)-1] = "PostgreSQL"
	}
	if a.config.Roles.Has(RoleIntake) {
		about = append(about, "webhooks", a.Addr().String()+"/webhook")
	}
	a.log.InfoContext(ctx, "serving", about...)
	if a.config.SignsIn() && a.pages != nil {
		a.log.InfoContext(ctx, "pages, for who signs in with GitHub", "address", a.config.PublicURL)
	}
	if private := a.front.PrivateAddr(); private != nil && a.pages != nil {
		a.log.InfoContext(ctx, "pages, for this machine only", "address", "http://"+private.String())
	}
	if a.git != nil {
		tidying, end := context.WithCancel(ctx)
		defer end()
		go runner.Daily(tidying, func() {
			a.git.Tidy(tidying)
			if a.tests != nil {
				a.tests.Tidy()
				agent.Tidy(sandboxCache(a.config), a.now, a.log)
			}
		})
	}
	var probing sync.WaitGroup
	if a.probing {
		probing.Go(func() { a.probeModels(ctx) })
	}
	err := a.front.Run(ctx)
	probing.Wait()
	if ctx.Err() != nil {
		<-a.ending
	}
	return err
}

// logEnding logs that the server stops, and what it waits for.
func (a *App) logEnding(ctx context.Context, why error) {
	about := []any{"why", why, "within", stopTimeout}
	if a.engine != nil {
		attempts, effects := a.engine.Running()
		about = append(about, "attempts", attempts, "effects", effects)
	}
	a.log.InfoContext(ctx, "stopping: no more work is begun; attempts go on at the next start or on another server, and "+
		"other effects may end", about...)
}

// Close stops the engine and releases all resources. Running effects get up to stopTimeout; unfinished ones continue
// after the next start.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var all []error
	if a.front != nil {
		all = append(all, a.front.Close())
	}
	if a.engine != nil {
		all = append(all, a.engine.Stop(ctx))
	}
	if a.Store != nil {
		all = append(all, a.Store.Close())
	}
	if err := a.tracer.Close(ctx); err != nil {
		a.log.Warn("the last traces are lost", "error", err)
	}
	return errors.Join(all...)
}
