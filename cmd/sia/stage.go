package main

import (
	"cmp"
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

// demoStage holds the servers of the demo and the benchmarks: a GitHub simulator, a model and the production app, which
// communicate over HTTP only.
type demoStage struct {
	sim    *ghsim.Server
	model  *scripted.Server // nil with a real model
	app    *app.App
	config app.Config
	local  app.Local
	front  *app.Front
	logger *slog.Logger
	dir    string       // temporary
	halt   func() error // stops the app; idempotent
	close  []func() error
}

// stageConfig configures a stage.
type stageConfig struct {
	spec   ghsim.RepoSpec
	name   string // of the repository
	script []byte // of the scripted model; nil: models
	models app.ModelsConfig
	logger *slog.Logger

	local       app.Local
	owner       string // of the repository; "": demoUser
	noWorkflows bool   // the repository's workflows are not run
	closed      bool   // only the app may use the simulator
	priced      bool   // models without a price are refused
	setupHosts  []string
	private     string // address for the operator's pages; "": none
	modelsDir   string // folder for what is learned about models; "": in the temporary folder
}

// gitPath matches the paths of Git's smart HTTP: https://git-scm.com/docs/http-protocol
var gitPath = regexp.MustCompile(`^/[^/]+/[^/]+\.git/(info/refs|git-upload-pack|git-receive-pack)$`)

// wrap hides the simulator's pages, on which anybody may act as any user, from other users of this machine. The API and
// Git remain: they require the app's token, and only this process has the key for one.
func (c stageConfig) wrap(h http.Handler) http.Handler {
	if !c.closed {
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

// stageFolder is the prefix of a stage's folder. stagePIDFile in it has the process id, in maxPIDBytes bytes at most.
const (
	stageFolder  = "sia-stage-"
	stagePIDFile = "pid"
	maxPIDBytes  = 20
)

// staleStageAge is the minimum age of a folder that counts as left behind. Its process may run in a container and be
// invisible here.
const staleStageAge = 24 * time.Hour

// sweepStages removes what killed processes left: old folders of processes that have ended. Any user can create such
// names in the temporary folder, and replace what they refer to. So only folders that this user alone may change are
// removed: no other user can replace them.
func sweepStages(now time.Time, log *slog.Logger) {
	marks, _ := filepath.Glob(filepath.Join(os.TempDir(), stageFolder+"*", stagePIDFile)) // the pattern is valid
	for _, mark := range marks {
		if dir, err := os.Lstat(filepath.Dir(mark)); err != nil || !dir.IsDir() || dir.Mode().Perm() != 0o700 || !isOwn(dir) {
			continue
		}
		st, err := os.Lstat(mark)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxPIDBytes || now.Sub(st.ModTime()) < staleStageAge {
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

// newStage starts a stage. The caller shuts it down.
func newStage(ctx context.Context, set stageConfig) (_ *demoStage, err error) {
	s := &demoStage{logger: set.logger}
	secret := rand.Text() // webhook secret, since other users of this machine can reach it
	defer func() {
		if err != nil {
			err = errors.Join(err, s.shut())
		}
	}()
	sweepStages(time.Now(), set.logger)
	dir, err := os.MkdirTemp("", stageFolder)
	if err != nil {
		return nil, err
	}
	s.dir = dir
	s.defers(func() error { return sandbox.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, stagePIDFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return nil, err
	}
	if s.sim, err = ghsim.New(ghsim.Config{Logger: set.logger, Dir: filepath.Join(dir, "github"),
		NoWorkflows: set.noWorkflows, Wrap: set.wrap}); err != nil {
		return nil, err
	}
	s.defers(s.sim.Close)
	if _, err = s.sim.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	owner := cmp.Or(set.owner, demoUser)
	s.sim.CreateUser(owner)
	if _, err = s.sim.CreateRepo(owner, set.name, set.spec); err != nil {
		return nil, err
	}
	models, err := s.models(set)
	if err != nil {
		return nil, err
	}
	registered, err := s.sim.CreateApp(demoApp)
	if err != nil {
		return nil, err
	}
	configured := app.Config{
		Listen: "127.0.0.1:0", Private: set.private, Dir: filepath.Join(dir, "sia"), Stdlib: stdlibFolder(),
		Models: models, ModelsDir: set.modelsDir, Free: !set.priced,
		Schedule:     sweep.DefaultSchedule(),
		Keep:         sweep.DefaultRetention(),
		WriteSpacing: 10 * time.Millisecond, SetupHosts: set.setupHosts,
		GitHub: app.GitHubConfig{URL: s.sim.URL(), API: s.sim.APIURL(), AppID: registered.ID,
			PrivateKey: registered.PrivateKeyPEM, WebhookSecret: secret,
			ClientID: registered.ClientID, ClientSecret: registered.ClientSecret},
	}
	front, err := app.Listen(ctx, configured)
	if err != nil {
		return nil, err
	}
	configured.PublicURL = "http://" + front.Addr().String()
	if err = s.sim.SetCallbackURL(registered.ID, configured.PublicURL+signin.CallbackPath); err != nil {
		return nil, errors.Join(err, front.Close())
	}
	s.config, s.local, s.front = configured, set.local, front
	if err = s.serve(ctx); err != nil {
		return nil, err
	}
	s.defers(func() error { return s.halt() })
	if err = s.sim.SetWebhook(registered.ID, s.webhook(), secret); err != nil {
		return nil, err
	}
	_, err = s.sim.Install(registered.ID, owner, set.name)
	return s, err
}

// pages returns the address of SIA's own pages.
func (s *demoStage) pages() string { return "http://" + s.app.Addr().String() }

// webhook returns the address for deliveries.
func (s *demoStage) webhook() string { return s.pages() + "/webhook" }

// serve runs the app until halt is called.
func (s *demoStage) serve(ctx context.Context) (err error) {
	o := app.Options{Logger: s.logger, Front: s.front, Forward: forwardCommand(), Local: s.local}
	o.Engine.OutageTries = 1 // somebody is waiting: no more tries than after other errors
	if s.app, err = app.New(ctx, s.config, o); err != nil {
		return errors.Join(err, s.front.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	ended, running := make(chan error, 1), s.app
	go func() { ended <- running.Run(ctx) }()
	s.halt = sync.OnceValue(func() error { stop(); return errors.Join(<-ended, running.Close()) })
	return nil
}

// ask makes the user login, with write access, open an issue and label it. SIA limits the number of tasks of one user.
func (s *demoStage) ask(repo, login, title, body string) (issue int, err error) {
	s.sim.CreateUser(login)
	if err = s.sim.SetPermission(repo, login, "write"); err != nil {
		return 0, err
	}
	if issue, err = s.sim.OpenIssue(repo, login, title, body); err != nil {
		return 0, err
	}
	return issue, s.sim.Label(repo, issue, login, sia.DefaultSettings().Label)
}

// taskOf returns an issue's task; the zero value if there is none yet.
func (s *demoStage) taskOf(ctx context.Context, issue int) (sia.Task, error) {
	all, err := s.app.Store.Tasks(ctx, store.Filter{Issue: issue})
	if err != nil || len(all) == 0 {
		return sia.Task{}, err
	}
	return all[0], nil
}

// restart stops the app in any state, and starts it again with the same address and database.
func (s *demoStage) restart(ctx context.Context) (err error) {
	listen := s.app.Addr().String()
	if err = s.halt(); err != nil {
		return err
	}
	again := s.config
	again.Listen, again.Private = listen, ""
	if s.front, err = app.Listen(ctx, again); err != nil {
		return err
	}
	return s.serve(ctx)
}

// models returns the scripted model, which it starts, or the user's models.
func (s *demoStage) models(set stageConfig) (app.ModelsConfig, error) {
	if set.script == nil {
		return set.models, nil
	}
	script, err := scripted.Parse(set.script)
	if err != nil {
		return app.ModelsConfig{}, err
	}
	if s.model, err = scripted.Start(script, scripted.Options{}); err != nil {
		return app.ModelsConfig{}, err
	}
	s.defers(s.model.Close)
	// Prices of a mid-sized model, so that credits mean something.
	price := llm.Price{Input: 3, CachedInput: 0.3, Output: 15}
	named := func(model string) app.ModelConfig {
		return app.ModelConfig{URL: s.model.URL, Key: "none", Model: model, Price: price}
	}
	return app.ModelsConfig{Coder: named("coder"), SIA: named("sia"), Reviewer: named("reviewer")}, nil
}

func (s *demoStage) defers(f func() error) { s.close = append(s.close, f) }

// shut closes everything in reverse order.
func (s *demoStage) shut() error {
	var all []error
	for i := len(s.close) - 1; i >= 0; i-- {
		all = append(all, s.close[i]())
	}
	return errors.Join(all...)
}
