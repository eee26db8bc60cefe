package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// setUp makes the attempt's runner and runs the repository's setup commands with it. An attempt that makes a plan has
// no tool that runs anything.
func (r *builtinRun) setUp(ctx context.Context) (told string, err error) {
	if r.in.Planning {
		return "", nil
	}
	if r.runners == nil {
		if len(r.in.Setup) > 0 {
			r.addNote("setup commands did not run: there is no sandbox on this host")
		}
		return "", nil
	}
	runner, told, note, err := r.runners.openRunner(ctx, r.in)
	if err != nil {
		return "", err
	}
	r.runner, r.env.Runner = runner, runner
	r.addNote(runner.lacks)
	r.addNote(note)
	return runner.told(told), nil
}

// openRunner makes a runner for an attempt and runs the repository's setup commands with
// it. told is their result, for the agent. An attempt begins even when they fail, since
// mending them may be the task.
func (s *runnerFactory) openRunner(
	ctx context.Context, in Input,
) (runner *attemptRunner, told, note string, err error) {
	if runner, err = s.newRunner(in.Dir, in.Services); err != nil {
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
		err = runner.seed(ctx)
	}
	if err != nil {
		runner.close()
		return nil, "", "", err
	}
	if len(in.Setup) == 0 {
		return runner, "", "", nil
	}
	bounded, cancel := context.WithTimeout(ctx, s.setupWithin)
	defer cancel()
	told, note, err = runner.setUp(bounded, in, ready)
	switch {
	case errors.Is(err, sandbox.ErrDiscarded):
		runner.close()
		return nil, "", "", err
	case err == nil, ctx.Err() != nil:
	case bounded.Err() != nil:
		note = fmt.Sprintf("setup was stopped: it took more than %s", s.setupWithin)
		told = fmt.Sprintf("The setup commands took more than %s and were stopped. What they install may be missing.%s",
			s.setupWithin, told)
	default:
		s.log.WarnContext(ctx, "setup could not run", "repo", in.Repo, "issue", in.Issue, "error", err)
		note, told = "setup could not run: "+err.Error(), "The setup commands could not run on this machine. What they "+
			"install is missing."
	}
	return runner, told, note, nil
}

// told is what an agent is told of the services and of setup.
func (w *attemptRunner) told(setup string) string {
	return strings.TrimSpace(w.services.Told() + "\n" + w.lacks + "\n\n" + setup)
}

// setUp runs the commands, and adds a cache of npm that commands without a network can write.
func (w *attemptRunner) setUp(ctx context.Context, in Input, ready bool) (told, note string, err error) {
	if !ready {
		if told, note, err = w.fetchSetup(ctx, in); err != nil {
			return told, note, err
		}
		return told, note, w.addNPM(ctx)
	}
	w.deps = filepath.Join(w.kept, depsFolder)
	if err := errors.Join(w.seed(ctx), w.addNPM(ctx)); err != nil {
		return "", "", err
	}
	told, err = w.runSetup(ctx, in, false)
	return told, "setup with what was fetched before" + setupSuffix(told), err
}

// fetchSetup runs the commands the first time for a state of the lock files. They may fetch
// from the hosts that the operator allows, into a folder that is kept when the work tree is
// the base branch's. From then on they do without a network, and that folder is read-only.
// What a task's branch changed may run here, too, and then fills a folder that only this
// attempt sees: two trees with the same lock files can still set up otherwise.
func (w *attemptRunner) fetchSetup(ctx context.Context, in Input) (told, note string, err error) {
	fresh := filepath.Join(w.home, "setup")
	w.deps = filepath.Join(fresh, depsFolder)
	if err := os.MkdirAll(w.deps, 0o700); err != nil {
		return "", "", fmt.Errorf("make a folder for what setup fetches: %w", err)
	}
	network := "without network"
	if len(w.factory.hosts) > 0 {
		network = "with network to " + strings.Join(w.factory.hosts, ", ")
	}
	told, err = w.runSetup(ctx, in, true)
	if err != nil || told != "" || w.factory.cacheDir == "" || !in.OnBase {
		return told, "setup " + network + setupSuffix(told), err
	}
	if err := w.keepSetup(ctx, fresh); err != nil {
		return "", "setup " + network + ", not kept", w.notKept(ctx, err)
	}
	return "", "setup " + network + ", kept", nil
}

// findKept finds the folder of the result for the work tree's lock files, and reports whether it is there. Nothing may
// have run in the tree yet.
func (w *attemptRunner) findKept(in Input) (ready bool, err error) {
	if w.factory.cacheDir == "" {
		return false, nil
	}
	key, err := w.setupKey(in.Repo, in.Setup)
	if err != nil {
		return false, err
	}
	w.kept = filepath.Join(w.factory.cacheDir, setupsFolder, key)
	if _, err := os.Stat(filepath.Join(w.kept, readyFile)); err != nil {
		return false, nil //nolint:nilerr // it is made then
	}
	now := w.factory.now()
	_ = os.Chtimes(w.kept, now, now) // one that is pruned too early is made again
	return true, nil
}

// addStdlib gives the runner the compiled standard library of Go, where the tree has a module. It is a copy: nothing
// that an attempt writes reaches another.
func (w *attemptRunner) addStdlib(ctx context.Context) error {
	tree := os.DirFS(w.tree)              // the folder's own name is no pattern
	modules, _ := fs.Glob(tree, "go.mod") // the patterns are valid
	below, _ := fs.Glob(tree, "*/go.mod")
	if len(modules)+len(below) == 0 {
		return nil
	}
	from, err := w.factory.sandbox.Stdlib(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		w.factory.log.WarnContext(ctx, "attempts compile the standard library", "error", err)
		return nil // it takes longer, no more
	case from == "":
		return nil
	}
	w.stdlib = from
	return w.copyTree(ctx, from, w.build)
}

// seed gives the runner what was built before. No result is changed while it is there, so this needs no lock.
func (w *attemptRunner) seed(ctx context.Context) error {
	from := filepath.Join(w.kept, builtFolder)
	if _, err := os.Stat(from); err != nil {
		from = filepath.Join(w.kept, seedFolder)
	}
	return w.copyTree(ctx, from, w.build)
}

// notKept logs that what an attempt has can't be kept for others. That ends it only when ctx has ended.
func (w *attemptRunner) notKept(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	w.factory.log.WarnContext(ctx, "what setup made is not kept; the next attempt makes it anew", "error", err)
	return nil
}

// keepBuilt adds to the result what commands on the base built, the first time.
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

func setupSuffix(told string) string {
	if told == "" {
		return ""
	}
	return ", failed"
}

var (
	// pipAlone is a command that does nothing but have pip install something.
	pipAlone = lazyregexp.New(`^\s*(?:python3?\s+-m\s+)?pip3?\s+install\s[^\n;&|<>$\x60]*$`)
	// pipElsewhere is an option of pip that names another place than the user base.
	pipElsewhere = lazyregexp.New(`\s(?:-t|--target|--prefix|--root)\b`)
)

// runSetup runs the commands until one fails, and tells of that one. What pip installed in the user base is kept;
// without an index pip could not install it again. With an error it tells of the hosts that a command was refused.
func (w *attemptRunner) runSetup(ctx context.Context, in Input, fetch bool) (told string, err error) {
	for _, command := range in.Setup {
		if !fetch && pipAlone.MatchString(command) && !pipElsewhere.MatchString(command) {
			continue
		}
		in.begins(command)
		res, err := w.run(ctx, command, w.factory.setupWithin, nil, fetch)
		refused := ""
		for _, r := range res.Refused {
			refused += "\nSIA refused a connection to " + text.OneLine(r)
		}
		if err != nil || ctx.Err() != nil {
			return refused, errors.Join(err, ctx.Err())
		}
		if !res.OK() {
			told := fmt.Sprintf("%s\n%s\n%s", command, res.Ending(),
				middleOut(secret.Mask(strings.ToValidUTF8(string(res.Output), "\uFFFD")), 4000))
			return strings.TrimRight(told, "\n") + refused, nil
		}
	}
	return "", nil
}

// keepSetup makes what setup fetched and built the result for its key. When another
// attempt was faster, its result stays.
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
			return nil // this attempt goes on with its own
		}
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	w.deps = filepath.Join(w.kept, depsFolder)
	w.factory.pruneSetups()
	return nil
}

// errSeed says that a build is too large to be copied for each attempt.
var errSeed = errors.New("too large")

// copyTree copies folders and regular files, and nothing else, from a tree that
// strangers wrote. More than maxSeed bytes are not copied: building again is
// slower, and right. Files of the standard library come from nowhere else.
func (w *attemptRunner) copyTree(ctx context.Context, from, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("copy build results: %w", err)
	}
	defer src.Close()
	return w.copyRoot(ctx, src, from != w.stdlib, to)
}

// copyRoot is [attemptRunner.copyTree] of an open folder. withoutStdlib leaves out the files of the compiled standard
// library.
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
		case withoutStdlib && w.ofStdlib(p):
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); total > maxSeed {
			return errSeed
		}
		return copyFile(src, dst, p, info)
	})
	if err != nil && !errors.Is(err, errSeed) {
		return fmt.Errorf("copy build results: %w", err)
	}
	return nil
}

// ofStdlib reports whether the compiled standard library has a file of the build caches.
func (w *attemptRunner) ofStdlib(p string) bool {
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
