// Package app wires SIA together: the only place where the rooms meet.
//
// [New] opens everything that a [Config] names, [App.Run] serves until its
// context ends, [App.Close] lets go. End-to-end tests start the same App that
// `sia serve` does.
//
// The package may import everything but cmd and app/ghsim. Start reading at
// New.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/metrics"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/trial"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/webhook"
	"github.com/sia-bot/sia/app/welcome"
	"github.com/sia-bot/sia/app/work"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/secret"
)

// Options are what tests and the demo inject; the zero value is production.
type Options struct {
	Logger *slog.Logger     // nil: slog.Default
	Now    func() time.Time // nil: time.Now
	Engine store.EngineConfig
	// command that runs this program as sandbox.Forward; nil: no command gets a network
	Forward  []string
	Boundary func(ctx context.Context, when string, f sia.Effect) // see store.Handlers
}

// App is one SIA process.
type App struct {
	Store   *store.Store
	GitHub  *github.App
	Evolver *trial.Evolver
	Metrics http.Handler // what /metrics shows

	config   Config
	log      *slog.Logger
	engine   *store.Engine
	periodic []store.Periodic
	listener net.Listener
	private  net.Listener
	handler  http.Handler
	secrets  *secret.Masker
	now      func() time.Time
	outside  outside
}

// New opens the database, brings its schema up to date, starts the engine and
// binds the listeners. Nothing is served before Run.
func New(ctx context.Context, c Config, o Options) (_ *App, err error) {
	c = c.WithDefaults()
	if err := errors.Join(c.Validate(), c.CheckPrices()); err != nil {
		return nil, err
	}
	calls := metrics.NewCalls()
	c.Models = c.Models.observed(calls.Ended)
	g, err := newGround(ctx, c, o)
	if err != nil {
		return nil, err
	}
	o.Logger = g.log
	a := &App{Store: g.store, GitHub: g.github, Evolver: g.evolver, config: c, log: g.log, secrets: g.secrets, now: g.now}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.Metrics, err = metrics.New(calls, g.store, g.github.RateLimits, g.log, g.now); err != nil {
		return nil, err
	}
	welcomer, err := newWelcomer(g, c)
	if err != nil {
		return nil, err
	}
	intake, err := webhook.NewIntake(webhook.Deps{
		Store: g.store, GitHub: g.github, Settings: g.settings, Teacher: g.lessons, Memory: g.memory,
		Welcome: welcomer,
		Coders:  c.Models.choice(),
		Secrets: g.secrets, Logger: g.log, Now: g.now,
	})
	if err != nil {
		return nil, err
	}
	looker := sweep.NewLooker(g.store, g.github, intake, g.now)
	worker, err := newWorker(ctx, g, c, o, looker)
	if err != nil {
		return nil, err
	}
	a.periodic = sweep.New(looker, worker, g.lessons, g.evolver, g.log).Table(c.Schedule)
	o.Engine.Attempts = c.Attempts
	if a.engine, err = a.Store.Start(ctx, store.Handlers{
		Delivery: webhook.LargeAlone(intake.Deliver), Setup: intake.Setup, Effect: worker.Effect, Periodic: a.periodic,
		Boundary: o.Boundary,
	}, o.Engine); err != nil {
		return nil, err
	}
	a.handler = a.routes(&webhook.Handler{Store: a.Store, Secret: []byte(c.GitHub.WebhookSecret), Logger: g.log,
		Now: g.now})
	return a, a.listen(ctx)
}

// newWelcomer builds what proposes settings to new repositories.
func newWelcomer(g *ground, c Config) (webhook.Welcomer, error) {
	if !c.Welcome {
		return welcome.Nobody{}, nil
	}
	return welcome.New(welcome.Deps{GitHub: g.github, Git: g.git, Settings: g.settings,
		Allowed: sandbox.AllowedHosts(c.SetupHosts).Allows, Now: g.now})
}

// newWorker builds what carries effects out.
func newWorker(ctx context.Context, g *ground, c Config, o Options, looker work.Looker) (_ *work.Worker, err error) {
	chains := map[string]*llm.Chain{}
	for role, m := range c.Models.Roles() {
		if chains[role], err = m.Chain(role, g.log); err != nil {
			return nil, err
		}
	}
	box, err := newSandbox(ctx, o)
	if err != nil {
		return nil, err
	}
	coders, err := newCoders(g, c, box)
	if err != nil {
		return nil, err
	}
	checker, err := agent.NewChecker(agent.CheckerConfig{Sandbox: box, Cache: sandboxCache(c), Hosts: c.SetupHosts,
		Now: g.now, Logger: g.log})
	if err != nil {
		return nil, err
	}
	policy, err := policies.ShippedTechnique()
	if err != nil {
		return nil, err
	}
	learner, err := bandit.NewLearner(policy)
	if err != nil {
		return nil, err
	}
	assign, err := policies.ShippedAssign()
	if err != nil {
		return nil, err
	}
	who, err := coder.New(assign.Parameters)
	if err != nil {
		return nil, err
	}
	setup, err := setupOf(c)
	if err != nil {
		return nil, err
	}
	return work.New(work.Deps{
		Store: g.store, GitHub: g.github, Git: g.git, Coders: coders,
		Diagnoser: &diagnose.Diagnoser{Model: chains["sia"], Log: g.log},
		Reviewer:  &diagnose.Reviewer{Model: chains["reviewer"], Log: g.log}, Checker: checker,
		Settings: g.settings, Looker: looker, Chooser: learn.NewChooser(g.store, learner, setup, g.now),
		Decider: learn.NewDecider(g.store, who, g.evolver, checker.Checks(), g.now),
		Lessons: g.lessons, Memory: g.memory, Canceller: g.store,
		Links: c.links(), Secrets: g.secrets, Logger: g.log, Now: g.now,
	})
}

// sandboxCache is the folder in which what runs in the sandbox keeps what it fetched and built.
func sandboxCache(c Config) string { return filepath.Join(c.Dir, "sandbox") }

// newCoders builds those that work on tasks, in a sandbox where there is one.
func newCoders(g *ground, c Config, box *sandbox.Sandbox) (out work.Coders, err error) {
	table, err := policies.ShippedCoders()
	if err != nil {
		return out, err
	}
	cache := sandboxCache(c)
	for _, one := range c.Models.coders() {
		model, err := one.Model.Chain(one.Name, g.log)
		if err != nil {
			return out, err
		}
		builtin, err := agent.NewBuiltin(agent.BuiltinConfig{
			Model: model, Sandbox: box, Cache: cache, Hosts: c.SetupHosts, Now: g.now, Logger: g.log,
		})
		if err != nil {
			return out, err
		}
		commands, err := agent.NewCommandAgents(agent.CommandAgentsConfig{
			Upstream: one.Model.URL, Key: one.Model.Key, Model: one.Model.Model, Price: one.Model.Price,
			Sandbox: box, Path: c.AgentPath, Env: c.AgentEnv, Cache: cache, Hosts: c.SetupHosts, Now: g.now, Logger: g.log,
		})
		if err != nil {
			return out, err
		}
		out.Tools = builtin.Tools()
		known, _ := table.Of(one.Model.Model)
		out.All = append(out.All, work.Coder{Name: one.Name, Builtin: builtin, Commands: commands, Command: one.Command,
			Cost: one.cost(), Prior: known.Resolved, Known: known.Name})
	}
	return out, nil
}

// newSandbox finds out whether commands can be run here, and says so; nil: they can't.
func newSandbox(ctx context.Context, o Options) (*sandbox.Sandbox, error) {
	so := sandbox.Options{Self: o.Forward, Logger: o.Logger}
	found := sandbox.Probe(ctx, so)
	if !found.OK() {
		o.Logger.WarnContext(ctx, "no sandbox: attempts can't build or test before they push", "why", found.String(), "fix",
			found.Fix)
		return nil, nil //nolint:nilnil // that there is none is an answer
	}
	o.Logger.InfoContext(ctx, "sandbox", "found", found.String(), "fix", found.Fix)
	return sandbox.New(so, found)
}

func (a *App) listen(ctx context.Context) (err error) {
	var lc net.ListenConfig
	if a.listener, err = lc.Listen(ctx, "tcp", a.config.Listen); err != nil {
		return fmt.Errorf("listen for webhooks: %w; choose another address with --listen", err)
	}
	if a.config.Private == "" {
		return nil
	}
	if a.private, err = lc.Listen(ctx, "tcp", a.config.Private); err != nil {
		return fmt.Errorf("listen privately: %w; choose another address with --private", err)
	}
	return nil
}

// routes is the public surface: webhooks and nothing else.
func (a *App) routes(hook http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/webhook", &refusals{next: hook, log: a.log, now: a.now})
	return mux
}

// privateRoutes is for the operator's own network.
func (a *App) privateRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", a.Metrics)
	mux.Handle("/", web.New(a.Store, a.config.links(), a.log))
	return mux
}

// Addr is the address on which webhooks are received.
func (a *App) Addr() net.Addr { return a.listener.Addr() }

// Engine is the running job engine, for tests that wait until it is idle.
func (a *App) Engine() *store.Engine { return a.engine }

// Periodic does one kind of periodic work now, whatever the schedule says: look,
// redeliver, repair, prune or heartbeat.
func (a *App) Periodic(ctx context.Context, name string) error {
	for _, p := range a.periodic {
		if p.Name == name {
			return p.Run(ctx)
		}
	}
	return fmt.Errorf("there is no periodic work called %q", name)
}

// Timeouts of the servers; a delivery of 25 MiB over a slow line fits.
const (
	readTimeout = time.Minute
	stopTimeout = 20 * time.Second
)

// Run serves until ctx ends, then lets running requests and effects finish. It
// returns nil when it was asked to end.
func (a *App) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	serve := func(l net.Listener, h http.Handler) {
		if l == nil {
			return
		}
		srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout,
			WriteTimeout: readTimeout, IdleTimeout: 2 * time.Minute}
		g.Go(func() error {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		g.Go(func() error {
			<-ctx.Done()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer cancel()
			return srv.Shutdown(end)
		})
	}
	serve(a.listener, a.handler)
	serve(a.private, a.privateRoutes())
	a.log.InfoContext(ctx, "serving", "webhooks", a.listener.Addr().String()+"/webhook")
	if a.private != nil {
		a.log.InfoContext(ctx, "pages, for this machine only", "address", "http://"+a.private.Addr().String())
	}
	return g.Wait()
}

// Close stops the engine and lets go of everything. Running effects get a little
// time; what does not finish is taken up at the next start.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var all []error
	for _, l := range []net.Listener{a.listener, a.private} {
		if l != nil {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				all = append(all, err)
			}
		}
	}
	if a.engine != nil {
		all = append(all, a.engine.Stop(ctx))
	}
	if a.Store != nil {
		all = append(all, a.Store.Close())
	}
	return errors.Join(all...)
}
