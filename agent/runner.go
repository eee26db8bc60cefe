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

// PrepareTimeout limits the setup and the first start of services before commands.
const PrepareTimeout = setupTimeout + servicesTimeout

// Limits of the data that is kept between setups.
const (
	setupTimeout = 10 * time.Minute // for all setup commands of an attempt

	servicesTimeout = 3 * time.Minute // for the first start of all services
	maxSetups       = 32              // maximum number of kept results
	setupMinAge     = 24 * time.Hour  // since their last use
	setupMaxAge     = 30 * 24 * time.Hour
	buildMaxAge     = 48 * time.Hour // longer than an attempt; older folders were left by a killed process
	maxLockFile     = 32 << 20       // bytes of a lock file
	maxBuildCopy    = 2 << 30        // bytes of build results that are copied
	readyFile       = "ready"        // marks a complete result
	depsFolder      = "deps"         // in a result: downloads; read-only after setup
	seedFolder      = "seed"         // in a result: what setup built; copied for each attempt
	depsAt          = sandbox.CacheDir + "/deps"
	builtFolder     = "built" // in a result: that and what Commands built on the base; copied instead
	buildAt         = sandbox.BuildDir
	setupsFolder    = "setups"
	buildsFolder    = "builds"
)

// lockFiles pin the dependencies of a repository: the downloads of setup can be reused while these files and the setup
// commands are unchanged.
var lockFiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
	"Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock",
	"composer.lock",
	"gradle.lockfile", "pom.xml", "go.mod", "package.json", "pyproject.toml",
}

// requirements matches pip's requirements files, which have no standard name.
var requirements = lazyregexp.New(`(?:^|/)requirements(?:[^/]*|/[^/]+)\.(?:txt|in)$`)

// findLockFiles returns the paths of the lock files in a tree, in order, except those in installed packages.
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

// attemptRunner runs the commands of one attempt in the sandbox, on its work tree, with caches of its own. It is a
// [tool.CommandRunner].
type attemptRunner struct {
	commands *Commands
	tree     string
	home     string // folder of this attempt, removed at the end
	build    string // in home; writable: build caches
	stdlib   string // compiled standard library that was copied into build; "": none
	deps     string // downloads of setup; "": none
	npm      string // writable npm cache for commands without a network; "": the one in deps
	kept     string // folder of the result for the tree's lock files, which may not exist yet; "": nothing is kept

	services        service.Set // of its tree at the start
	missingServices string      // unavailable services, with reasons; empty: none
}

// newRunner returns a runner for a work tree, with images of services in addition to those in its workflow files.
func (c *Commands) newRunner(tree string, services []string) (*attemptRunner, error) {
	in := ""
	if c.cacheDir != "" {
		in = filepath.Join(c.cacheDir, buildsFolder)
		if err := os.MkdirAll(in, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for builds: %w", err)
		}
		c.pruneBuilds()
	}
	home, err := os.MkdirTemp(in, "build-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for builds: %w", err)
	}
	w := &attemptRunner{commands: c, tree: tree, home: home, build: filepath.Join(home, "build"),
		services: service.Find(c.sandbox, tree, services)}
	w.missingServices = strings.Join(w.services.Missing, "\n")
	for _, dir := range []string{w.build, w.servicesDir()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make a folder for builds: %w", err), os.RemoveAll(home))
		}
	}
	return w, nil
}

// servicesDir returns the folder of the services' data, which all commands of the attempt share.
func (w *attemptRunner) servicesDir() string { return filepath.Join(w.home, "services") }

// startServices starts the services once, to create their data and to detect those that don't start. The attempt begins
// even if some don't. The only error is [sandbox.ErrDiscarded].
func (w *attemptRunner) startServices(ctx context.Context) error {
	if !w.services.Any() {
		return nil
	}
	c := sandbox.Command{Dir: w.tree, Argv: []string{"/bin/true"}, Limits: sandbox.Limits{Time: servicesTimeout}}
	w.services.Join(&c, w.servicesDir(), true)
	res, err := w.commands.sandbox.Run(ctx, c)
	output := string(res.Output)
	switch {
	case errors.Is(err, sandbox.ErrDiscarded):
		return err
	case err != nil:
		output = "The services could not be started: " + err.Error()
	case res.Ended != "":
		output += "\nThe services did not start: " + res.Why
	}
	output = middleOut(secret.Mask(strings.ToValidUTF8(output, "\uFFFD")), 4000)
	w.missingServices = strings.TrimSpace(w.missingServices + "\n" + output)
	return nil
}

// close removes the attempt's folder. It does nothing on a nil runner.
func (w *attemptRunner) close() {
	if w == nil {
		return
	}
	if err := sandbox.RemoveAll(w.home); err != nil {
		w.commands.log.Warn("build folder left behind", "error", err)
	}
}

// Run runs a command of the agent, without a network and with the downloads read-only.
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
		c.Hosts = w.commands.hosts
	}
	return w.commands.sandbox.Run(ctx, c)
}

// newCommand returns a command with the work tree and the caches mounted. Only setup may write the cached downloads.
func (w *attemptRunner) newCommand(fetch bool) sandbox.Command {
	c := sandbox.Command{Dir: w.tree, Env: w.toolEnv(fetch),
		Mounts: []sandbox.Mount{{From: w.build, To: buildAt, Writable: true}}}
	if w.deps != "" {
		c.Mounts = append(c.Mounts, sandbox.Mount{From: w.deps, To: depsAt, Writable: fetch})
	}
	if w.npm != "" && !fetch {
		c.Mounts = append(c.Mounts, sandbox.Mount{From: w.npm, To: npmAt, Writable: true})
	}
	w.services.Join(&c, w.servicesDir(), false)
	return c
}

// toolEnv returns the environment variables that set the cache folders of common tools.
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
		"PYTHONDONTWRITEBYTECODE=1", // its files must not be committed
		"GOMODCACHE=" + deps + "/go", "npm_config_cache=" + npm, "npm_config_prefix=" + deps + "/node",
		"YARN_CACHE_FOLDER=" + deps + "/yarn", "YARN_GLOBAL_FOLDER=" + deps + "/yarn/berry",
		"CARGO_HOME=" + deps + "/cargo",
		// pip installs for the user if the system's Python is read-only. On Debian that requires PIP_BREAK_SYSTEM_PACKAGES.
		"PIP_CACHE_DIR=" + deps + "/pip", "PYTHONUSERBASE=" + deps + "/python", "PIP_BREAK_SYSTEM_PACKAGES=1",
		"PATH=" + w.commands.pathWith(deps),
		"CARGO_TARGET_DIR=" + buildAt + "/cargo",
		"GRADLE_USER_HOME=" + deps + "/gradle", "MAVEN_USER_HOME=" + deps + "/m2", // of Maven's wrapper
		"MAVEN_OPTS=-Dmaven.repo.local=" + deps + "/maven",
		"BUNDLE_PATH=" + deps + "/bundle", "COMPOSER_CACHE_DIR=" + deps + "/composer",
		"NUGET_PACKAGES=" + deps + "/nuget", "PUB_CACHE=" + deps + "/pub",
	}
}

// pathWith returns the PATH of commands. What setup installs with npm comes first, such as the version of pnpm that the
// repository needs.
func (c *Commands) pathWith(deps string) string {
	return deps + "/node/bin:" + c.sandbox.Path() + ":" + deps + "/python/bin"
}

// setupKey returns a hash of the repository, the commands and every lock file of the work tree. It identifies a result
// of setup.
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

// Tidy removes outdated results of setup and builds from the cache folder of agents: they contain code of repositories.
func Tidy(cache string, now func() time.Time, log *slog.Logger) {
	s := &Commands{cacheDir: cache, now: now, log: log}
	s.pruneSetups()
	s.pruneBuilds()
}

// pruneSetups removes results of setup that are unused for 30 days, and the least recently used beyond maxSetups.
func (c *Commands) pruneSetups() {
	dir := filepath.Join(c.cacheDir, setupsFolder)
	err := sandbox.Prune(dir, "*", c.now(), func(newer int, unused time.Duration) bool {
		return unused >= setupMaxAge || newer >= maxSetups && unused >= setupMinAge
	})
	if err != nil {
		c.log.Warn("setup left behind", "error", err)
	}
}

// pruneBuilds removes the folders of attempts with a process that ended early.
func (c *Commands) pruneBuilds() {
	err := sandbox.Prune(filepath.Join(c.cacheDir, buildsFolder), "build-*", c.now(),
		func(_ int, unused time.Duration) bool { return unused >= buildMaxAge })
	if err != nil {
		c.log.Warn("old build folder left behind", "error", err)
	}
}
