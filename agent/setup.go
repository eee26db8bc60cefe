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
	"github.com/sia-bot/sia/sia/secret"
)

// setUp makes the attempt's workbench and runs the repository's setup commands on
// it.
func (r *run) setUp(ctx context.Context) (told string, err error) {
	if r.shop == nil {
		if len(r.in.Setup) > 0 {
			r.note("setup commands did not run: there is no sandbox on this host")
		}
		return "", nil
	}
	bench, told, note, err := r.shop.open(ctx, r.in)
	if err != nil {
		return "", err
	}
	r.bench, r.env.Runner = bench, bench
	r.note(note)
	return told, nil
}

// open makes a workbench for an attempt and runs the repository's setup commands
// on it. It returns what they came to, for the agent: that they failed is no
// reason not to begin, since mending them may be the task.
func (s *workshop) open(ctx context.Context, in Input) (bench *workbench, told, note string, err error) {
	if bench, err = s.workbench(in.Dir); err != nil {
		return nil, "", "", err
	}
	if len(in.Setup) == 0 {
		return bench, "", "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, setupWithin)
	defer cancel()
	told, note, err = bench.setUp(ctx, in.Repo, in.Setup)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "setup could not run", "repo", in.Repo, "issue", in.Issue, "error", err)
		note, told = "setup could not run: "+err.Error(), "The setup commands could not run on this machine. What they install is missing."
	}
	return bench, told, note, nil
}

// setUp runs the commands. The first time for a state of the lock files, they may
// fetch from the hosts that the operator allows, into a folder that is kept; from
// then on they do without a network, with that folder read-only.
func (w *workbench) setUp(ctx context.Context, repo string, setup []string) (told, note string, err error) {
	key, err := w.key(repo, setup)
	if err != nil {
		return "", "", err
	}
	kept := filepath.Join(w.shop.dir, setupsFolder, key)
	mark := filepath.Join(kept, readyFile)
	if w.shop.dir != "" {
		if _, err := os.Stat(mark); err == nil {
			now := w.shop.now()
			_ = os.Chtimes(mark, now, now) // a result that is pruned too early is made again
			w.deps = filepath.Join(kept, depsFolder)
			if err := copyTree(filepath.Join(kept, seedFolder), w.build); err != nil {
				return "", "", err
			}
			told, err = w.commands(ctx, setup, false)
			return told, "setup with what was fetched before" + failed(told), err
		}
	}
	fresh := filepath.Join(w.home, "setup")
	w.deps = filepath.Join(fresh, depsFolder)
	if err := os.MkdirAll(w.deps, 0o700); err != nil {
		return "", "", fmt.Errorf("make a folder for what setup fetches: %w", err)
	}
	network := "without network"
	if len(w.shop.hosts) > 0 {
		network = "with network to " + strings.Join(w.shop.hosts, ", ")
	}
	told, err = w.commands(ctx, setup, true)
	if err != nil || told != "" || w.shop.dir == "" {
		return told, "setup " + network + failed(told), err
	}
	return "", "setup " + network + ", kept", w.keep(fresh, kept, mark)
}

func failed(told string) string {
	if told == "" {
		return ""
	}
	return ", failed"
}

// commands runs the commands until one fails, and tells of that one.
func (w *workbench) commands(ctx context.Context, setup []string, fetch bool) (told string, err error) {
	for _, command := range setup {
		res, err := w.run(ctx, command, setupWithin, nil, fetch)
		if err != nil || ctx.Err() != nil {
			return "", errors.Join(err, ctx.Err())
		}
		if !res.OK() {
			return fmt.Sprintf("%s\n%s\n%s", command, ending(res), middleOut(secret.Mask(strings.ToValidUTF8(string(res.Output), "\uFFFD")), 4000)), nil
		}
	}
	return "", nil
}

// ending is how a command ended, without how long it took.
func ending(r sandbox.Result) string {
	s, _, _ := strings.Cut(r.String(), " after ")
	if r.Ended != "" {
		s += ": " + r.Why
	}
	return s
}

// keep makes what setup fetched and built the result for its key. When another
// attempt was faster, its result stays.
func (w *workbench) keep(fresh, kept, mark string) error {
	if err := copyTree(w.build, filepath.Join(fresh, seedFolder)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	if err := os.WriteFile(filepath.Join(fresh, readyFile), nil, 0o600); err != nil {
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	if err := os.Rename(fresh, kept); err != nil {
		if _, there := os.Stat(mark); there == nil {
			return nil // this attempt goes on with its own
		}
		return fmt.Errorf("keep what setup fetched: %w", err)
	}
	w.deps = filepath.Join(kept, depsFolder)
	w.shop.prune()
	return nil
}

// errSeed: what was built is too much to copy for each attempt.
var errSeed = errors.New("too large")

// copyTree copies folders and regular files, and nothing else, from a tree that
// strangers wrote. More than maxSeed bytes are not copied: building again is
// slower, and right.
func copyTree(from, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("copy build results: %w", err)
	}
	defer src.Close()
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
		case err != nil || p == ".":
			return err
		case d.IsDir():
			return dst.Mkdir(p, 0o700)
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
