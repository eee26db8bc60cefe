// Package stage runs the production app on a simulated GitHub in this process, for the demo, sia run and
// the benchmarks. A [Watcher] waits for what happens there.
package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// Slug is the name of the app on a stage.
const Slug = "sia-demo"

// Stage holds a GitHub simulator, a model and the production app, which communicate over HTTP only.
type Stage struct {
	Sim     *ghsim.Server
	Model   *scripted.Server // nil with a real model
	App     *app.App
	Config  app.Config
	Options app.Options
	Dir     string // temporary

	halt  func() error // stops the app; idempotent
	close []func() error
}

// Config configures a stage.
type Config struct {
	Owner, Name string // of the repository
	Spec        ghsim.RepoSpec
	Script      []byte // of the scripted model; nil: Models
	Models      app.ModelsConfig
	Logger      *slog.Logger

	Local       app.Local
	Forward     []string // see app.Options
	Stdlib      string   // see app.Config
	NoWorkflows bool     // the repository's workflows are not run
	Closed      bool     // only the app may use the simulator
	Priced      bool     // models without a price are refused
	SetupHosts  []string
	AgentPath   []string // folders with coding agents
	AgentEnv    []string // names of environment variables that repositories may request
	Private     string   // address for the operator's pages; "": none
	DB          string   // "": in the temporary folder
	ModelsDir   string   // folder for what is learned about models; "": in the temporary folder
}

// gitPath matches the paths of Git's smart HTTP: https://git-scm.com/docs/http-protocol
var gitPath = regexp.MustCompile(`^/[^/]+/[^/]+\.git/(info/refs|git-upload-pack|git-receive-pack)$`)

// wrap hides the simulator's pages, on which anybody may act as any user, from other users of this machine. The API and
// Git remain: they require the app's token, and only this process has the key for one.
func (c Config) wrap(h http.Handler) http.Handler {
	if !c.Closed {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/") && !gitPath.MatchString(r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// folderPrefix is the prefix of a stage's folder. pidFile in it has the process id, in maxPIDBytes bytes at most.
const (
	folderPrefix = "sia-stage-"
	pidFile      = "pid"
	maxPIDBytes  = 20
)

// staleAge is the minimum age of a folder that counts as left behind. Its process may run in a container and be
// invisible here.
const staleAge = 24 * time.Hour

// removeStale removes what killed processes left: old folders of processes that have ended. Any user can create such
// names in the temporary folder, and replace what they refer to. So only folders that this user alone may change are
// removed: no other user can replace them.
func removeStale(now time.Time, log *slog.Logger) {
	marks, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", pidFile)) // the pattern is valid
	for _, mark := range marks {
		if dir, err := os.Lstat(filepath.Dir(mark)); err != nil || !dir.IsDir() || dir.Mode().Perm() != 0o700 || !isOwn(dir) {
			continue
		}
		st, err := os.Lstat(mark)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxPIDBytes || now.Sub(st.ModTime()) < staleAge {
			continue
		}
		text, err := os.ReadFile(mark)
		pid, notPID := strconv.Atoi(string(text))
		if errors.Join(err, notPID) != nil {
			continue
		}
		p, err := os.FindProcess(pid)
		if err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			continue
		}
		if err := sandbox.RemoveAll(filepath.Dir(mark)); err != nil {
			log.Debug("folder stays", "file", mark, "error", err)
		}
	}
}

// isOwn reports whether a file belongs to the user of this process.
func isOwn(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// Start starts a stage. The caller closes it.
func Start(ctx context.Context, set Config) (_ *Stage, err error) {
	s := &Stage{}
	secret := rand.Text() // webhook secret, since other users of this machine can reach it
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	removeStale(time.Now(), set.Logger)
	dir, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, err
	}
	s.Dir = dir
	s.defers(func() error { return sandbox.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return nil, err
	}
	if s.Sim, err = ghsim.New(ghsim.Config{Logger: set.Logger, Dir: filepath.Join(dir, "github"),
		NoWorkflows: set.NoWorkflows, Wrap: set.wrap}); err != nil {
		return nil, err
	}
	s.defers(s.Sim.Close)
	if _, err = s.Sim.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.Sim.CreateUser(set.Owner)
	if _, err = s.Sim.CreateRepo(set.Owner, set.Name, set.Spec); err != nil {
		return nil, err
	}
	models, err := s.models(set)
	if err != nil {
		return nil, err
	}
	registered, err := s.Sim.CreateApp(Slug)
	if err != nil {
		return nil, err
	}
	configured := app.Config{
		Listen: "127.0.0.1:0", Private: set.Private, Dir: filepath.Join(dir, "sia"), DB: set.DB, Stdlib: set.Stdlib,
		Models: models, ModelsDir: set.ModelsDir, Free: !set.Priced,
		Schedule:     sweep.DefaultSchedule(),
		Keep:         sweep.DefaultRetention(),
		WriteSpacing: 10 * time.Millisecond, SetupHosts: set.SetupHosts, AgentPath: set.AgentPath, AgentEnv: set.AgentEnv,
		GitHub: app.GitHubConfig{URL: s.Sim.URL(), API: s.Sim.APIURL(), AppID: registered.ID,
			PrivateKey: registered.PrivateKeyPEM, WebhookSecret: secret,
			ClientID: registered.ClientID, ClientSecret: registered.ClientSecret},
	}
	front, err := app.Listen(ctx, configured)
	if err != nil {
		return nil, err
	}
	configured.PublicURL = "http://" + front.Addr().String()
	if err = s.Sim.SetCallbackURL(registered.ID, configured.PublicURL+signin.CallbackPath); err != nil {
		return nil, errors.Join(err, front.Close())
	}
	s.Config = configured
	s.Options = app.Options{Logger: set.Logger, Front: front, Local: set.Local,
		Sandbox: sandbox.Options{Self: set.Forward}}
	s.Options.Engine.OutageTries = 1 // somebody is waiting: no more tries than after other errors
	if err = s.serve(ctx); err != nil {
		return nil, err
	}
	s.defers(func() error { return s.halt() })
	if err = s.Sim.SetWebhook(registered.ID, s.Webhook(), secret); err != nil {
		return nil, err
	}
	_, err = s.Sim.Install(registered.ID, set.Owner, set.Name)
	return s, err
}

// Pages returns the address of SIA's own pages.
func (s *Stage) Pages() string { return "http://" + s.App.Addr().String() }

// Webhook returns the address for deliveries.
func (s *Stage) Webhook() string { return s.Pages() + "/webhook" }

// serve runs the app until halt is called.
func (s *Stage) serve(ctx context.Context) (err error) {
	if s.App, err = app.New(ctx, s.Config, s.Options); err != nil {
		return errors.Join(err, s.Options.Front.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	ended, running := make(chan error, 1), s.App
	go func() { ended <- running.Run(ctx) }()
	s.halt = sync.OnceValue(func() error { stop(); return errors.Join(<-ended, running.Close()) })
	return nil
}

// Ask makes the user login, with write access, open an issue and label it. SIA limits the number of tasks of one user.
func (s *Stage) Ask(repo, login, title, body string) (issue int, err error) {
	s.Sim.CreateUser(login)
	if err = s.Sim.SetPermission(repo, login, "write"); err != nil {
		return 0, err
	}
	if issue, err = s.Sim.OpenIssue(repo, login, title, body); err != nil {
		return 0, err
	}
	return issue, s.Sim.Label(repo, issue, login, sia.DefaultSettings().Label)
}

// TaskOf returns an issue's task; the zero value if there is none yet.
func (s *Stage) TaskOf(ctx context.Context, issue int) (sia.Task, error) {
	all, err := s.App.Store.Tasks(ctx, store.Filter{Issue: issue})
	if err != nil || len(all) == 0 {
		return sia.Task{}, err
	}
	return all[0], nil
}

// Restart stops the app in any state, and starts it again with the same address and database.
func (s *Stage) Restart(ctx context.Context) (err error) {
	listen := s.App.Addr().String()
	if err = s.halt(); err != nil {
		return err
	}
	again := s.Config
	again.Listen, again.Private = listen, ""
	if s.Options.Front, err = app.Listen(ctx, again); err != nil {
		return err
	}
	return s.serve(ctx)
}

// models returns the scripted model, which it starts, or the user's models.
func (s *Stage) models(set Config) (app.ModelsConfig, error) {
	if set.Script == nil {
		return set.Models, nil
	}
	script, err := scripted.Parse(set.Script)
	if err != nil {
		return app.ModelsConfig{}, err
	}
	if s.Model, err = scripted.Start(script, scripted.Options{}); err != nil {
		return app.ModelsConfig{}, err
	}
	s.defers(s.Model.Close)
	// Prices of a mid-sized model, so that credits mean something.
	price := llm.Price{Input: 3, CachedInput: 0.3, Output: 15}
	named := func(model string) app.ModelConfig {
		return app.ModelConfig{URL: s.Model.URL, Key: "none", Model: model, Price: price}
	}
	return app.ModelsConfig{Coder: named("coder"), SIA: named("sia"), Reviewer: named("reviewer")}, nil
}

func (s *Stage) defers(f func() error) { s.close = append(s.close, f) }

// Close closes everything in reverse order.
func (s *Stage) Close() error {
	var all []error
	for i := len(s.close) - 1; i >= 0; i-- {
		all = append(all, s.close[i]())
	}
	return errors.Join(all...)
}
