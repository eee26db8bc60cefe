package apptest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/memory"
	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/flavour"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/conformance"
	"github.com/sia-bot/sia/sim/scripted"
)

// The names on every stage.
const (
	Owner = "ada" // owns the repository
	Name  = "shop"
	Repo  = Owner + "/" + Name

	OwnersName = ".github" // the owner's repository for shared settings, if there is one
	OwnersRepo = Owner + "/" + OwnersName

	Slug = "sia"
	Bot  = Slug + "[bot]"
)

// Secret is the webhook's secret.
const Secret = "only for tests"

// Limit bounds every wait of a test, by the machine's clock; reaching it fails the test.
const Limit = 10 * time.Minute

// Config configures a stage. The zero Config has an empty repository and a model without answers.
type Config struct {
	Files map[string]string // of the repository, by path
	Owner map[string]string // of the owner's .github repository; nil: there is none
	From  string            // instead of Files: a local git repository
	Model scripted.Script
	// available coders, cheapest first; each name is also that of its model. None: only the coder "model"
	Coders []string
	// Flavours are servers in front of the scripted model, by the names of models, with their peculiarities; "" is for
	// models without their own
	Flavours map[string]flavour.Flavour
	Pages    string        // address of SIA's pages, for links; "": none
	SignIn   bool          // people sign in at [Stage.Public], which is then the address of the pages
	Notify   notify.Config // notifications outside of GitHub; the zero value: none
	// new repositories get settings proposed; else only tasks have branches and pull requests there
	Welcome   bool
	NoSandbox bool          // commands can't be run
	Repos     sia.AllowList // repositories that the server serves; empty: all
	// the application's database is on a PostgreSQL server; else it is a file
	Postgres bool
	Log      io.Writer // the application's log; nil: discarded
}

// Stage is a simulator, a scripted model and an application between them. Its methods are called from the test's own
// goroutine.
type Stage struct {
	Sim     *ghsim.Server
	Model   *scripted.Server
	App     *app.App // nil while it is stopped
	Clock   *Clock
	Install int64  // the installation's id
	Public  string // address for signing in; "": none
	// Fronts are the servers in front of the scripted model, by the names of models
	Fronts map[string]*flavour.Server

	t      testing.TB
	dir    string
	config app.Config
	box    sandbox.Options
	log    *slog.Logger
	valid  *conformance.Validator
	holds  holds
	calls  atomic.Int64 // requests answered by the simulator

	mu      sync.Mutex
	address string // the application's webhook address; "" while it is stopped
	stop    func() error
}

// Start starts a stage with its application. Everything is closed at the end of the test.
func Start(t testing.TB, c Config) *Stage {
	t.Helper()
	s := &Stage{t: t, dir: t.TempDir(), Clock: NewClock(), valid: conformance.New(t), log: slog.New(slog.DiscardHandler)}
	// A test is referenced until its parent ends, with all its cleanups. Its simulator and application need not be.
	t.Cleanup(func() { s.Sim, s.Model, s.App, s.stop = nil, nil, nil, nil })
	if c.Log != nil {
		s.log = slog.New(slog.NewTextHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s.github(c)
	s.model(c.Model)
	registered, err := s.Sim.CreateApp(Slug)
	s.must(err)
	s.config = Configure(s.Sim, registered, s.Model.URL, filepath.Join(s.dir, "sia"))
	s.config.Stdlib = sandboxtest.Stdlib(t)
	if s.box.Self = forwarding(); c.NoSandbox {
		s.box.Bwrap = filepath.Join(s.dir, "no-bwrap")
	}
	s.config.PublicURL, s.config.Notify = c.Pages, c.Notify
	if c.SignIn {
		s.signIn(registered)
	}
	s.config.Welcome, s.config.Repos = c.Welcome, c.Repos
	s.config.Models.Coders = coders(c.Coders, s.config.Models.Coder)
	s.startFronts(c.Flavours)
	if c.Postgres {
		s.config.DB = storetest.Postgres(t)
	}
	storetest.Create(t, s.Database())
	s.start()
	front := httptest.NewServer(s.valid.Webhooks(http.HandlerFunc(s.forward)))
	t.Cleanup(front.Close)
	s.must(s.Sim.SetWebhook(registered.ID, front.URL, Secret))
	repos := []string{Name}
	if c.Owner != nil {
		repos = append(repos, OwnersName)
	}
	s.Install, err = s.Sim.Install(registered.ID, Owner, repos...)
	s.must(err)
	s.Quiet()
	return s
}

// Configure is the configuration of an application for a registered app of a simulator with a scripted model, with its
// data in dir.
func Configure(sim *ghsim.Server, a ghsim.App, model, dir string) app.Config {
	named := func(name string) app.ModelConfig {
		return app.ModelConfig{URL: model, Key: "none", Model: name, Price: llm.Price{Input: 3, CachedInput: 0.3, Output: 15}}
	}
	const never = "@every 10000h" // tests trigger periodic work explicitly
	return app.Config{
		Listen: "127.0.0.1:0", Dir: dir, WriteSpacing: time.Microsecond,
		Models: app.ModelsConfig{Coder: named("coder"), SIA: named("sia"), Reviewer: named("reviewer")},
		Schedule: sweep.Schedule{Look: never, Redeliver: never, Repair: never, Feedback: never, Approvals: never,
			Prune: never, Trials: never, Evolve: never, Heartbeat: never, Dashboard: never,
			Watch: never},
		GitHub: app.GitHubConfig{URL: sim.URL(), API: sim.APIURL(), AppID: a.ID, PrivateKey: a.PrivateKeyPEM,
			WebhookSecret: Secret},
	}
}

// coders make attempts with models of their names; each costs ten times as much as the one before.
func coders(names []string, like app.ModelConfig) (all []app.CoderConfig) {
	like.Price = llm.Price{Input: 0.3, CachedInput: 0.03, Output: 1.5}
	for _, name := range names {
		like.Model = name
		all = append(all, app.CoderConfig{Name: name, Model: like})
		like.Price = llm.Price{Input: 10 * like.Price.Input, CachedInput: 10 * like.Price.CachedInput,
			Output: 10 * like.Price.Output}
	}
	return all
}

// github starts the simulator with its people and the repository.
func (s *Stage) github(c Config) {
	s.t.Helper()
	sim, err := ghsim.New(ghsim.Config{
		Clock: s.Clock.Now, Logger: s.log.With("who", "github"), Dir: filepath.Join(s.dir, "github"),
		Wrap:      s.valid.Middleware,
		AppKeyPEM: key(),
	})
	s.must(err)
	s.Sim = sim
	s.t.Cleanup(func() { s.should(s.Sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	s.must(err)
	sim.AfterRequest(func(ghsim.Call) { s.calls.Add(1) })
	sim.CreateUser(Owner)
	_, err = sim.CreateRepo(Owner, Name, ghsim.RepoSpec{Files: c.Files, From: c.From})
	s.must(err)
	if c.Owner != nil {
		_, err = sim.CreateRepo(Owner, OwnersName, ghsim.RepoSpec{Files: c.Owner})
		s.must(err)
	}
}

// AddRepo makes another repository of the owner's, with the first one's files on its default branch, installs the app
// there, and returns its name as owner/name.
func (s *Stage) AddRepo(name string) string {
	s.t.Helper()
	paths, err := s.Sim.Files(Repo, "main")
	s.must(err)
	files := map[string]string{}
	for _, p := range paths {
		files[p], err = s.Sim.File(Repo, "main", p)
		s.must(err)
	}
	_, err = s.Sim.CreateRepo(Owner, name, ghsim.RepoSpec{Files: files})
	s.must(err)
	_, err = s.Sim.Install(s.config.GitHub.AppID, Owner, name)
	s.must(err)
	s.Quiet()
	return Owner + "/" + name
}

// AppID is the application's app id.
func (s *Stage) AppID() int64 { return s.config.GitHub.AppID }

// InstallOn installs the app on several repositories of the owner's at once.
func (s *Stage) InstallOn(names ...string) {
	s.t.Helper()
	_, err := s.Sim.Install(s.config.GitHub.AppID, Owner, names...)
	s.must(err)
	s.Quiet()
}

// key is the private key of every stage's app: generating one takes longer than many stories.
var key = sync.OnceValue(func() []byte {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil // the simulator then generates one
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
})

// model starts the scripted model. Answers without a cost cost the same in every run; an estimate would depend on port
// numbers in prompts.
func (s *Stage) model(script scripted.Script) {
	s.t.Helper()
	for _, r := range script.Rules {
		for i := range r.Turns {
			if r.Turns[i].Usage == nil {
				r.Turns[i].Usage = &scripted.Usage{Input: 1000, Output: 100}
			}
		}
	}
	m, err := scripted.Start(script, scripted.Options{})
	s.must(err)
	s.Model = m
	s.t.Cleanup(func() { s.should(s.Model.Close()) })
}

// start starts the application; cleanup stops it.
func (s *Stage) start() {
	s.t.Helper()
	a, err := app.New(context.Background(), s.config, app.Options{
		Logger: s.log.With("who", "sia"), Now: s.Clock.Now, Boundary: s.holds.boundary, Sandbox: s.box,
		// A stop interrupts running work at once: tests check that it is repeated after the next start. Deliveries are
		// handled one at a time, because the order of concurrent ones is undefined.
		Engine: store.EngineConfig{Grace: time.Millisecond, Deliveries: 1},
	})
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop := sync.OnceValue(func() error {
		s.receive("")
		cancel()
		return errors.Join(<-ended, a.Close())
	})
	s.App, s.stop = a, stop
	s.receive(a.Addr().String())
	s.t.Cleanup(func() { s.should(s.stop()) })
}

// Stop stops the application; webhooks get no answer until Restart.
func (s *Stage) Stop() {
	s.t.Helper()
	s.must(s.stop())
	s.App = nil
}

// Restart stops the application, if it is running, and starts it on the same database. A hold ends with the stop.
func (s *Stage) Restart() {
	s.t.Helper()
	if s.App != nil {
		s.Stop()
	}
	s.start()
	s.Quiet()
}

// Lose stops the application and deletes its database, as if the disk had been lost. GitHub's data stays.
func (s *Stage) Lose() {
	s.t.Helper()
	s.Stop()
	files, err := filepath.Glob(filepath.Join(s.config.Dir, "*.db*"))
	s.must(err)
	if len(files) == 0 {
		s.t.Fatal("there is no database to lose")
	}
	for _, f := range files {
		s.must(os.Remove(f))
	}
}

// Database is the address of the application's database, for programs that run next to it.
func (s *Stage) Database() string { return s.config.WithDefaults().DB }

// Reindex rebuilds the database from memory while the application is stopped, as `sia reindex` does: for all
// repositories, or only the named one.
func (s *Stage) Reindex(only string) []memory.ReindexResult {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	m, closing, err := app.OpenMemory(ctx, s.config, app.Options{Logger: s.log.With("who", "reindex"), Now: s.Clock.Now})
	s.must(err)
	defer func() { s.should(closing()) }()
	out, err := m.Reindex(ctx, only, func(memory.ReindexResult) {})
	s.must(err)
	return out
}

// Repository opens a repository known to the application, as `sia replay` does. It is closed at the end of the test.
func (s *Stage) Repository(name string) (*app.Repository, error) {
	s.t.Helper()
	c := s.config // a command that needs neither
	c.GitHub.WebhookSecret, c.Models = "", app.ModelsConfig{}
	r, closing, err := app.OpenRepository(s.t.Context(), c, app.Options{Logger: s.log.With("who", "replay"),
		Now: s.Clock.Now}, name)
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(func() { s.should(closing()) })
	return r, nil
}

// receive sets the application's webhook address; "" while it is stopped.
func (s *Stage) receive(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = address
}

// forward forwards a webhook to the application, which has another address after each start.
func (s *Stage) forward(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	address := s.address
	s.mu.Unlock()
	Forward(w, r, address)
}

// Forward forwards a webhook to the application at an address; it answers 502 when there is none or it does not answer.
func Forward(w http.ResponseWriter, r *http.Request, address string) {
	if address == "" {
		http.Error(w, "nobody listens", http.StatusBadGateway)
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+address+"/webhook", r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		return // the simulator has closed the connection
	}
}

// Task is the task of an issue; it fails the test if there is none.
func (s *Stage) Task(issue int) sia.Task {
	s.t.Helper()
	repo, err := s.Sim.Repo(Repo)
	s.must(err)
	t, err := s.App.Store.Task(context.Background(), sia.NewTaskID(repo.ID, issue))
	s.must(err)
	return t
}

// Periodic runs one kind of periodic work now, by its name in the cron table.
func (s *Stage) Periodic(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	s.must(s.App.Periodic(ctx, name))
}

func (s *Stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Stage) should(err error) {
	if err != nil {
		s.t.Error(err)
	}
}

// forwardName makes a test binary the inner end of a sandbox's network forwarder, like `sia forward`.
const forwardName = "forward"

// ForwardIfAsked must be called first in a test binary's TestMain: if it was started as the inner end of a network
// forwarder, it runs that and exits.
func ForwardIfAsked() {
	if len(os.Args) > 1 && os.Args[1] == forwardName {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
}

// forwarding is the command for running this program as the forwarder; nil if that is not possible.
func forwarding() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, forwardName}
}
