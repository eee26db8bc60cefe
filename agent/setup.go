package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// setUp creates the attempt's runner and runs the repository's setup commands. An attempt that makes a plan has no
// runner.
func (r *builtinRun) setUp(ctx context.Context) (message string, err error) {
	if r.in.Planning {
		return "", nil
	}
	if !r.commands.Runs() {
		if len(r.in.Setup) > 0 {
			r.addNote("setup commands did not run: there is no sandbox on this host")
		}
		return "", nil
	}
	runner, message, note, err := r.commands.openRunner(ctx, r.in)
	if err != nil {
		return "", err
	}
	r.runner, r.env.Runner = runner, runner
	r.addNote(runner.missingServices)
	r.addNote(note)
	return runner.setupMessage(message), nil
}

// openRunner creates a runner for an attempt and runs the repository's setup commands. message is their result, for the
// agent. If they fail, the attempt still begins, since the task may be to fix them.
func (c *Commands) openRunner(
	ctx context.Context, in Input,
) (runner *attemptRunner, message, note string, err error) {
	if runner, err = c.newRunner(in.Dir, in.Services); err != nil {
		return nil, "", "", err
	}
	if err := runner.startServices(ctx); err != nil {
		runner.close()
		return nil, "", "", err
	}
	ready, err := runner.findKept(in)
	if err == nil {
		err = runner.addStdlib(ctx)
	}
	if err == nil && ready && len(in.Setup) == 0 {
		err = runner.seedBuild(ctx)
	}
	if err != nil {
		runner.close()
		return nil, "", "", err
	}
	if len(in.Setup) == 0 {
		return runner, "", "", nil
	}
	bounded, cancel := context.WithTimeout(ctx, c.setupTimeout)
	defer cancel()
	message, note, err = runner.setUp(bounded, in, ready)
	switch {
	case errors.Is(err, sandbox.ErrDiscarded):
		runner.close()
		return nil, "", "", err
	case err == nil, ctx.Err() != nil:
	case bounded.Err() != nil:
		note = fmt.Sprintf("setup was stopped: it took more than %s", c.setupTimeout)
		message = fmt.Sprintf("The setup commands took more than %s and were stopped. What they install may be missing.%s",
			c.setupTimeout, message)
	default:
		c.log.WarnContext(ctx, "setup could not run", "task", in.Task, "error", err)
		note, message = "setup could not run: "+err.Error(), "The setup commands could not run on this machine. What they "+
			"install is missing."
	}
	c.notifyPrepared(ctx, in)
	return runner, message, note, nil
}

// preparedTimeout limits the call of [Input.Prepared].
const preparedTimeout = 20 * time.Second

// notifyPrepared calls in.Prepared, even if ctx ended during the setup: the work of a stopped attempt is committed.
func (c *Commands) notifyPrepared(ctx context.Context, in Input) {
	if in.Prepared == nil {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), preparedTimeout)
	defer cancel()
	if err := in.Prepared(bounded); err != nil {
		c.log.WarnContext(ctx, "files that setup left are taken for the attempt's", "task", in.Task, "error", err)
	}
}

// setupMessage returns the text for the agent about the services and the setup.
func (w *attemptRunner) setupMessage(setup string) string {
	return strings.TrimSpace(w.services.Told() + "\n" + w.missingServices + "\n\n" + setup)
}

// setUp runs the commands, and adds an npm cache for commands without a network.
func (w *attemptRunner) setUp(ctx context.Context, in Input, ready bool) (message, note string, err error) {
	if !ready {
		if message, note, err = w.fetchSetup(ctx, in); err != nil {
			return message, note, err
		}
		return message, note, w.addNPMCache(ctx)
	}
	w.deps = filepath.Join(w.kept, depsFolder)
	if err := errors.Join(w.seedBuild(ctx), w.addNPMCache(ctx)); err != nil {
		return "", "", err
	}
	message, err = w.runSetup(ctx, in, false)
	return message, "setup with what was fetched before" + setupSuffix(message), err
}

// fetchSetup runs the commands for the first time with these lock files. They may download from the allowed hosts. If
// the tree is the base branch's, their downloads are kept; later runs have no network and read-only downloads. On a
// task's branch, the downloads go to a folder of this attempt only, since the branch's code may run here: two trees
// with the same lock files can have different setups.
func (w *attemptRunner) fetchSetup(ctx context.Context, in Input) (message, note string, err error) {
	fresh := filepath.Join(w.home, "setup")
	w.deps = filepath.Join(fresh, depsFolder)
	if err := os.MkdirAll(w.deps, 0o700); err != nil {
		return "", "", fmt.Errorf("make a folder for what setup fetches: %w", err)
	}
	network := "without network"
	if len(w.commands.hosts) > 0 {
		network = "with network to " + strings.Join(w.commands.hosts, ", ")
	}
	message, err = w.runSetup(ctx, in, true)
	if err != nil || message != "" || w.commands.cacheDir == "" || !in.OnBase {
		return message, "setup " + network + setupSuffix(message), err
	}
	if err := w.keepSetup(ctx, fresh); err != nil {
		return "", "setup " + network + ", not kept", w.logNotKept(ctx, err)
	}
	return "", "setup " + network + ", kept", nil
}

// findKept sets the folder of the result for the work tree's lock files, and reports whether it exists. It must be
// called before any command runs in the tree.
func (w *attemptRunner) findKept(in Input) (ready bool, err error) {
	if w.commands.cacheDir == "" {
		return false, nil
	}
	key, err := w.setupKey(cmp.Or(in.Key, in.Repo), in.Setup)
	if err != nil {
		return false, err
	}
	w.kept = filepath.Join(w.commands.cacheDir, setupsFolder, key)
	if _, err := os.Stat(filepath.Join(w.kept, readyFile)); err != nil {
		return false, nil //nolint:nilerr // it is made then
	}
	now := w.commands.now()
	_ = os.Chtimes(w.kept, now, now) // if it is pruned too early, it is created again
	return true, nil
}

// addStdlib copies Go's compiled standard library into the runner's cache if the tree has a module. A copy keeps
// attempts from writing to each other's files.
func (w *attemptRunner) addStdlib(ctx context.Context) error {
	tree := os.DirFS(w.tree)              // not part of the pattern
	modules, _ := fs.Glob(tree, "go.mod") // the patterns are valid
	below, _ := fs.Glob(tree, "*/go.mod")
	if len(modules)+len(below) == 0 {
		return nil
	}
	from, err := w.commands.sandbox.Stdlib(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		w.commands.log.WarnContext(ctx, "attempts compile the standard library", "error", err)
		return nil // only slower
	case from == "":
		return nil
	}
	w.stdlib = from
	return w.copyTree(ctx, from, w.build)
}

// seedBuild copies earlier build results into the runner's cache. Results are never changed, so this needs no lock.
func (w *attemptRunner) seedBuild(ctx context.Context) error {
	from := filepath.Join(w.kept, builtFolder)
	if _, err := os.Stat(from); err != nil {
		from = filepath.Join(w.kept, seedFolder)
	}
	return w.copyTree(ctx, from, w.build)
}

// logNotKept logs that an attempt's results can't be kept. It returns err only if ctx has ended.
func (w *attemptRunner) logNotKept(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	w.commands.log.WarnContext(ctx, "what setup made is not kept; the next attempt makes it anew", "error", err)
	return nil
}

// keepBuilt adds the build results of commands on the base to the kept result, the first time.
func (w *attemptRunner) keepBuilt(ctx context.Context) error {
	if w.kept == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(w.kept, readyFile)); err != nil {
		fresh := filepath.Join(w.home, "setup")
		if err := os.MkdirAll(filepath.Join(fresh, depsFolder), 0o700); err != nil {
			return fmt.Errorf("keep what was built: %w", err)
		}
		return w.keepSetup(ctx, fresh)
	}
	built, fresh := filepath.Join(w.kept, builtFolder), filepath.Join(w.home, builtFolder)
	if _, err := os.Stat(built); err == nil {
		return nil
	}
	if err := w.copyTree(ctx, w.build, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, built); err != nil {
		if _, there := os.Stat(built); there != nil {
			return fmt.Errorf("keep what was built: %w", err)
		}
	}
	return nil
}

func setupSuffix(message string) string {
	if message == "" {
		return ""
	}
	return ", failed"
}

var (
	// pipInstallOnly matches a command that only installs something with pip.
	pipInstallOnly = lazyregexp.New(`^\s*(?:python3?\s+-m\s+)?pip3?\s+install\s[^\n;&|<>$\x60]*$`)
	// pipOtherTarget matches an option of pip that sets a target other than the user base.
	pipOtherTarget = lazyregexp.New(`\s(?:-t|--target|--prefix|--root)\b`)
)

// RefusedPrefix begins each line about a connection that setup was refused.
const RefusedPrefix = "SIA refused a connection to "

// runSetup runs the commands until one fails, and returns a description of the failure. It skips pip installs into the
// user base if that was kept, since pip can't install without an index. With an error, it returns the refused hosts.
func (w *attemptRunner) runSetup(ctx context.Context, in Input, fetch bool) (message string, err error) {
	refused := "" // by any command: pip goes on with old versions if it can't reach its index
	for _, command := range in.Setup {
		if !fetch && pipInstallOnly.MatchString(command) && !pipOtherTarget.MatchString(command) {
			continue
		}
		in.notifyBegin(command)
		res, err := w.run(ctx, command, w.commands.setupTimeout, nil, fetch)
		for _, r := range res.Refused {
			if line := "\n" + RefusedPrefix + text.OneLine(r); !strings.Contains(refused+"\n", line+"\n") {
				refused += line
			}
		}
		if err != nil || ctx.Err() != nil {
			return refused, errors.Join(err, ctx.Err())
		}
		if !res.OK() {
			message := fmt.Sprintf("%s\n%s\n%s", command, res.Ending(),
				middleOut(secret.Mask(strings.ToValidUTF8(string(res.Output), "\uFFFD")), 4000))
			return strings.TrimRight(message, "\n") + refused, nil
		}
	}
	return "", nil
}

// keepSetup moves the downloads and build results of setup to the folder for their key. If another attempt was faster,
// its result is kept.
func (w *attemptRunner) keepSetup(ctx context.Context, fresh string) error {
	if err := w.copyTree(ctx, w.build, filepath.Join(fresh, seedFolder)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.kept), 0o700); err != nil {
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	if err := os.WriteFile(filepath.Join(fresh, readyFile), nil, 0o600); err != nil {
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	if err := os.Rename(fresh, w.kept); err != nil {
		if _, there := os.Stat(filepath.Join(w.kept, readyFile)); there == nil {
			return nil // this attempt uses its own
		}
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	w.deps = filepath.Join(w.kept, depsFolder)
	w.commands.pruneSetups()
	return nil
}

// errBuildTooLarge means that a build is too large to copy for each attempt.
var errBuildTooLarge = errors.New("too large")

// copyTree copies folders and regular files only, from a tree that untrusted code wrote. It stops after maxBuildCopy
// bytes: the rest is rebuilt. Files of the standard library are copied only from the trusted copy.
func (w *attemptRunner) copyTree(ctx context.Context, from, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("copy build results: %w", err)
	}
	defer src.Close()
	return w.copyRoot(ctx, src, from != w.stdlib, to)
}

// copyRoot is [attemptRunner.copyTree] for an open folder. withoutStdlib excludes the files of the standard library.
func (w *attemptRunner) copyRoot(ctx context.Context, src *os.Root, withoutStdlib bool, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("copy build results: %w", err)
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return fmt.Errorf("copy build results: %w", err)
	}
	defer dst.Close()
	var total int64
	err = fs.WalkDir(src.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || p == ".":
			return err
		case d.IsDir():
			if err := dst.Mkdir(p, 0o700); !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		case withoutStdlib && w.inStdlib(p):
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); total > maxBuildCopy {
			return errBuildTooLarge
		}
		return copyFile(src, dst, p, info)
	})
	if err != nil && !errors.Is(err, errBuildTooLarge) {
		return fmt.Errorf("copy build results: %w", err)
	}
	return nil
}

// inStdlib reports whether the compiled standard library contains a file of the build caches.
func (w *attemptRunner) inStdlib(p string) bool {
	if w.stdlib == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(w.stdlib, filepath.FromSlash(p)))
	return err == nil
}

func copyFile(src, dst *os.Root, p string, info fs.FileInfo) error {
	in, err := src.Open(p)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := dst.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return dst.Chtimes(p, info.ModTime(), info.ModTime())
}
