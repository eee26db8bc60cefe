package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/service"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
)

// Bounds of what is kept from setup to setup.
const (
	setupWithin = 10 * time.Minute // for all setup commands of an attempt

	servicesWithin = 3 * time.Minute // for all services to start the first time
	keepSetups     = 32              // results that are kept
	keepAtLeast    = 24 * time.Hour  // after they were last used
	keepAtMost     = 30 * 24 * time.Hour
	buildsWithin   = 48 * time.Hour // for an attempt, and more; what is older was left by a process that was killed
	maxLockFile    = 32 << 20       // bytes of a lock file
	maxSeed        = 2 << 30        // bytes of build results that the next attempt begins with
	readyFile      = "ready"        // marks a complete result
	depsFolder     = "deps"         // of a result: what was fetched; read-only later
	seedFolder     = "seed"         // of a result: what setup built; copied for each attempt
	depsAt         = sandbox.CacheDir + "/deps"
	builtFolder    = "built" // of a result: that and what Commands built on the base; copied in its place
	buildAt        = sandbox.BuildDir
	setupsFolder   = "setups"
	buildsFolder   = "builds"
)

// lockFiles say exactly what a repository depends on: while they and the commands
// stay the same, what setup fetched can be used again.
var lockFiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
	"Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock",
	"composer.lock",
	"gradle.lockfile", "pom.xml", "go.mod", "package.json", "pyproject.toml",
}

// requirements are pip's files, which have no one name.
var requirements = lazyregexp.New(`(?:^|/)requirements(?:[^/]*|/[^/]+)\.(?:txt|in)$`)

// findLockFiles are the lock files of a tree, wherever they lie, in order. What package managers installed is not
// looked at.
func findLockFiles(root *os.Root) (found []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular() && (slices.Contains(lockFiles, d.Name()) || requirements.MatchString(p)):
			found = append(found, p)
		}
		return nil
	})
	return found, err
}

// runnerFactory makes the runners of attempts. What setup commands fetch is kept for
// later attempts. Only setup can write it, and only that of a base branch's tree, so that
// an attempt can't poison another.
type runnerFactory struct {
	sandbox  *sandbox.Sandbox
	cacheDir string // "": nothing is kept
	hosts    []string
	now      func() time.Time
	log      *slog.Logger

	setupWithin time.Duration // for all setup commands of an attempt
}

// newRunnerFactory makes a factory that keeps in cache what setup fetches; "" keeps
// nothing. Without a sandbox there is none.
func newRunnerFactory(
	box *sandbox.Sandbox, cache string, hosts []string, now func() time.Time, log *slog.Logger,
) (*runnerFactory, error) {
	if box == nil {
		return nil, nil
	}
	s := &runnerFactory{sandbox: box, hosts: hosts, now: now, log: log, setupWithin: setupWithin}
	if cache != "" {
		dir, err := filepath.Abs(cache)
		if err != nil {
			return nil, fmt.Errorf("find the cache of the sandbox: %w", err)
		}
		s.cacheDir = dir
	}
	return s, nil
}

// attemptRunner runs the commands of one attempt: in the sandbox, on its work tree, with
// caches of its own. It is a [tool.CommandRunner].
type attemptRunner struct {
	factory *runnerFactory
	tree    string
	home    string // folder of this attempt, removed at the end
	build   string // in home; writable: build caches
	stdlib  string // the compiled standard library that build began with a copy of; "": with none
	deps    string // what setup fetched; "": nothing
	npm     string // npm's cache for commands without a network, writable; "": that of deps
	kept    string // folder of the result for the tree's lock files, whether it is there or not; "": nothing is kept

	services service.Set // of its tree as it was at the start
	lacks    string      // which of them are not to be had, and why; empty: none
}

// newRunner makes the runner for a work tree, with images of services beside those that its workflows name.
func (s *runnerFactory) newRunner(tree string, services []string) (*attemptRunner, error) {
	in := ""
	if s.cacheDir != "" {
		in = filepath.Join(s.cacheDir, buildsFolder)
		if err := os.MkdirAll(in, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for builds: %w", err)
		}
		s.pruneBuilds()
	}
	home, err := os.MkdirTemp(in, "build-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for builds: %w", err)
	}
	w := &attemptRunner{factory: s, tree: tree, home: home, build: filepath.Join(home, "build"),
		services: service.Find(s.sandbox, tree, services)}
	w.lacks = strings.Join(w.services.Missing, "\n")
	for _, dir := range []string{w.build, w.servers()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make a folder for builds: %w", err), os.RemoveAll(home))
		}
	}
	return w, nil
}

// servers is the folder of the services' data, which commands of the attempt find as the one before left it.
func (w *attemptRunner) servers() string { return filepath.Join(w.home, "services") }

// startServices starts the services once, so that their data is made and what does not start is known. An attempt
// begins even then. The error is [sandbox.ErrDiscarded].
func (w *attemptRunner) startServices(ctx context.Context) error {
	if !w.services.Any() {
		return nil
	}
	c := sandbox.Command{Dir: w.tree, Argv: []string{"/bin/true"}, Limits: sandbox.Limits{Time: servicesWithin}}
	w.services.Join(&c, w.servers(), true)
	res, err := w.factory.sandbox.Run(ctx, c)
	said := string(res.Output)
	switch {
	case errors.Is(err, sandbox.ErrDiscarded):
		return err
	case err != nil:
		said = "The services could not be started: " + err.Error()
	case res.Ended != "":
		said += "\nThe services did not start: " + res.Why
	}
	w.lacks = strings.TrimSpace(w.lacks + "\n" + middleOut(secret.Mask(strings.ToValidUTF8(said, "\uFFFD")), 4000))
	return nil
}

// close removes what only this attempt had. A nil runner has nothing.
func (w *attemptRunner) close() {
	if w == nil {
		return
	}
	if err := sandbox.RemoveAll(w.home); err != nil {
		w.factory.log.Warn("build folder left behind", "error", err)
	}
}

// Run runs a command of the agent: without a network, with what was fetched
// read-only.
func (w *attemptRunner) Run(
	ctx context.Context, command string, within time.Duration, out io.Writer,
) (sandbox.Result, error) {
	return w.run(ctx, command, within, out, false)
}

func (w *attemptRunner) run(
	ctx context.Context, command string, within time.Duration, out io.Writer, fetch bool,
) (sandbox.Result, error) {
	c := w.newCommand(fetch)
	c.Shell, c.Output, c.Limits = command, out, sandbox.Limits{Time: within, Output: 48 << 10}
	if fetch {
		c.Hosts = w.factory.hosts
	}
	return w.factory.sandbox.Run(ctx, c)
}

// newCommand is what every command begins with: the work tree and the caches. Only
// setup may write the caches that it fills.
func (w *attemptRunner) newCommand(fetch bool) sandbox.Command {
	c := sandbox.Command{Dir: w.tree, Env: w.toolEnv(fetch),
		Mounts: []sandbox.Mount{{From: w.build, To: buildAt, Writable: true}}}
	if w.deps != "" {
		c.Mounts = append(c.Mounts, sandbox.Mount{From: w.deps, To: depsAt, Writable: fetch})
	}
	if w.npm != "" && !fetch {
		c.Mounts = append(c.Mounts, sandbox.Mount{From: w.npm, To: npmAt, Writable: true})
	}
	w.services.Join(&c, w.servers(), false)
	return c
}

// toolEnv tells the usual tools where to keep what they fetch and build.
func (w *attemptRunner) toolEnv(fetch bool) []string {
	deps := depsAt
	if w.deps == "" {
		deps = buildAt + "/deps"
	}
	npm := deps + "/npm"
	if w.npm != "" && !fetch {
		npm = npmAt
	}
	return []string{
		"XDG_CACHE_HOME=" + buildAt, "GOCACHE=" + buildAt + "/go", "GOFLAGS=-buildvcs=false -modcacherw",
		"PYTHONDONTWRITEBYTECODE=1", // nothing of it is to be committed
		"GOMODCACHE=" + deps + "/go", "npm_config_cache=" + npm,
		"YARN_CACHE_FOLDER=" + deps + "/yarn", "CARGO_HOME=" + deps + "/cargo",
		// Where a system's Python can't be written, pip installs for the user. Debian's has to be told that it may.
		"PIP_CACHE_DIR=" + deps + "/pip", "PYTHONUSERBASE=" + deps + "/python", "PIP_BREAK_SYSTEM_PACKAGES=1",
		"PATH=" + w.factory.sandbox.Path() + ":" + deps + "/python/bin",
		"CARGO_TARGET_DIR=" + buildAt + "/cargo",
		"GRADLE_USER_HOME=" + deps + "/gradle", "MAVEN_OPTS=-Dmaven.repo.local=" + deps + "/maven",
		"BUNDLE_PATH=" + deps + "/bundle", "COMPOSER_CACHE_DIR=" + deps + "/composer",
	}
}

// setupKey identifies a result of setup. It is made of the repository, the commands and
// every lock file of the work tree.
func (w *attemptRunner) setupKey(repo string, setup []string) (string, error) {
	root, err := os.OpenRoot(w.tree)
	if err != nil {
		return "", fmt.Errorf("read lock files: %w", err)
	}
	defer root.Close()
	h := sha256.New()
	fmt.Fprintf(h, "of base trees, with the user base of pip: %q %q\n", repo, setup)
	names, err := findLockFiles(root)
	if err != nil {
		return "", fmt.Errorf("read lock files: %w", err)
	}
	for _, name := range names {
		st, err := root.Lstat(name)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		f, err := root.Open(name)
		if err != nil {
			return "", fmt.Errorf("read lock files: %w", err)
		}
		fmt.Fprintf(h, "%q %d\n", name, st.Size())
		_, err = io.Copy(h, io.LimitReader(f, maxLockFile))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("read lock files: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// Tidy removes what nobody needs any more in the folder that agents keep results of setup and builds in: they hold what
// was built from a repository's code.
func Tidy(cache string, now func() time.Time, log *slog.Logger) {
	s := &runnerFactory{cacheDir: cache, now: now, log: log}
	s.pruneSetups()
	s.pruneBuilds()
}

// pruneSetups removes the results of setup that were not used for longest, and those that were not used for 30 days.
func (s *runnerFactory) pruneSetups() {
	dir := filepath.Join(s.cacheDir, setupsFolder)
	err := sandbox.Prune(dir, "*", s.now(), func(newer int, unused time.Duration) bool {
		return unused >= keepAtMost || newer >= keepSetups && unused >= keepAtLeast
	})
	if err != nil {
		s.log.Warn("setup left behind", "error", err)
	}
}

// pruneBuilds removes the folders of attempts that ended with their process: nobody else does.
func (s *runnerFactory) pruneBuilds() {
	err := sandbox.Prune(filepath.Join(s.cacheDir, buildsFolder), "build-*", s.now(),
		func(_ int, unused time.Duration) bool { return unused >= buildsWithin })
	if err != nil {
		s.log.Warn("old build folder left behind", "error", err)
	}
}
