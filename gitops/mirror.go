package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// A mirror's folder holds generations and the file "current", which names the one in
// use. Each generation is a bare repository. A broken or overgrown mirror gets a new
// one. The old one is removed only an hour later, so that those who still read it can
// finish. Within a generation:
//
//	objects/pack/         packs only, no loose objects; <name>.keep marks a commit made here
//	shallow               the commits with parents that we don't have
//	refs/sia/fetched/<sha>  commits that came from the server with all their files
//	refs/sia/made/<sha>     commits made here; their packs hold all that their parents lack
//
// Files appear whole and in the order objects, index, ref; nothing is changed
// in place. So a kill at any point leaves a repository that is right.

const (
	currentFile = "current"
	// retireAfter is how long an old generation stays for those who still read it.
	retireAfter = time.Hour
	// maxPacks is when a mirror is restarted, so that finding an object and
	// making a workspace stay cheap.
	maxPacks = 48
	// keepMade is how long commits made here outlive a new generation.
	keepMade = 30 * 24 * time.Hour
)

// mirror is one generation.
type mirror struct{ dir string }

func (m mirror) packsDir() string { return filepath.Join(m.dir, "objects", "pack") }
func (m mirror) refPath(kind, sha string) string {
	return filepath.Join(m.dir, "refs", "sia", kind, sha)
}

// isMarked reports whether a commit is complete, having been "fetched" or "made".
func (m mirror) isMarked(kind string, h plumbing.Hash) bool {
	_, err := os.Lstat(m.refPath(kind, h.String()))
	return err == nil
}

// mirror returns the present generation, making the first one.
func (r *Repo) mirror(ctx context.Context) (mirror, error) {
	if m, ok := r.presentMirror(); ok {
		return m, nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return mirror{}, fmt.Errorf("make mirror: %w", err)
	}
	unlock, err := r.lockWrite(ctx)
	if err != nil {
		return mirror{}, err
	}
	defer unlock()
	if m, ok := r.presentMirror(); ok {
		return m, nil
	}
	return r.newGeneration(mirror{})
}

func (r *Repo) presentMirror() (mirror, bool) {
	name, err := os.ReadFile(filepath.Join(r.dir, currentFile))
	if err != nil || !strings.HasPrefix(string(name), "g-") || strings.ContainsAny(string(name), `/\`) {
		return mirror{}, false
	}
	m := mirror{filepath.Join(r.dir, string(name))}
	st, err := os.Stat(m.packsDir())
	return m, err == nil && st.IsDir()
}

// lockWrite is held for the moment in which a mirror changes.
func (r *Repo) lockWrite(ctx context.Context) (func(), error) {
	return r.cache.locks.lock(ctx, filepath.Join(r.dir, "write.lock"))
}

// lockFetch is held for a transfer, so that nothing is fetched twice.
func (r *Repo) lockFetch(ctx context.Context) (func(), error) {
	return r.cache.locks.lock(ctx, filepath.Join(r.dir, "fetch.lock"))
}

// renewMirror replaces a generation by one that holds only the commits made here,
// which exist nowhere else. When it has been replaced already, nothing is done.
func (r *Repo) renewMirror(ctx context.Context, old mirror) error {
	unlock, err := r.lockWrite(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m, ok := r.presentMirror(); ok && m != old {
		return nil
	}
	_, err = r.newGeneration(old)
	return err
}

// newGeneration is called with the write lock held.
func (r *Repo) newGeneration(old mirror) (mirror, error) {
	dir, err := os.MkdirTemp(r.dir, "g-*")
	if err != nil {
		return mirror{}, fmt.Errorf("make mirror: %w", err)
	}
	m := mirror{dir}
	err = errors.Join(os.MkdirAll(m.packsDir(), 0o700), os.MkdirAll(m.refPath("fetched", ""), 0o700),
		os.MkdirAll(m.refPath("made", ""), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = true\n"), 0o600))
	if err == nil && old.dir != "" {
		r.carryOver(old, m)
	}
	if err == nil {
		err = writeFile(filepath.Join(r.dir, currentFile), 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, filepath.Base(dir))
			return err
		})
	}
	if err != nil {
		_ = removeTree(dir)
		return mirror{}, fmt.Errorf("make mirror: %w", err)
	}
	r.retireOld(old, m)
	return m, nil
}

// carryOver copies the commits made here, as far as they are readable.
func (r *Repo) carryOver(old, to mirror) {
	keeps, _ := fs.Glob(os.DirFS(old.packsDir()), "*.keep") // the folder's own name is no pattern
	for _, name := range keeps {
		keep := filepath.Join(old.packsDir(), name)
		sha, err := os.ReadFile(keep)
		st, serr := os.Stat(keep)
		if err != nil || serr != nil || r.cache.now().Sub(st.ModTime()) > keepMade || !shaPattern.Match(sha) {
			continue
		}
		base := strings.TrimSuffix(keep, ".keep")
		p, err := openPack(base, &baseCache{})
		if err != nil {
			r.cache.log.Warn("commit in broken mirror is lost", "mirror", r.remote.Key, "commit", string(sha), "error", err)
			continue
		}
		p.f.Close()
		dst := filepath.Join(to.packsDir(), filepath.Base(base))
		if err := errors.Join(copyFile(base+".pack", dst+".pack"), copyFile(base+".idx", dst+".idx"),
			copyFile(keep, dst+".keep"),
			os.Chtimes(dst+".keep", st.ModTime(), st.ModTime()), to.markCommit("made", string(sha))); err != nil {
			r.cache.log.Warn("commit could not be carried over", "mirror", r.remote.Key, "commit", string(sha), "error", err)
		}
	}
}

// retireOld removes generations that nobody can still be reading.
func (r *Repo) retireOld(old, now mirror) {
	if old.dir != "" {
		t := r.cache.now()
		_ = os.Chtimes(old.dir, t, t)
	}
	dirs, _ := fs.Glob(os.DirFS(r.dir), "g-*")
	for _, name := range dirs {
		d := filepath.Join(r.dir, name)
		if st, err := os.Stat(d); err == nil && d != now.dir && d != old.dir &&
			r.cache.now().Sub(st.ModTime()) > retireAfter {
			_ = removeTree(d) // tried again the next time
		}
	}
}

// markCommit notes a commit as complete. Its objects must be in place.
func (m mirror) markCommit(kind, sha string) error {
	return writeFile(m.refPath(kind, sha), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, sha+"\n")
		return err
	})
}

// installPack moves a pack into the present generation and marks its commit. Shallow
// commits are noted first: saying too often that parents are missing is harmless.
func (r *Repo) installPack(
	ctx context.Context, x indexedPack, kind string, commit plumbing.Hash, shallow []plumbing.Hash,
) error {
	unlock, err := r.lockWrite(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	m, ok := r.presentMirror()
	if !ok {
		return fmt.Errorf("%w: it vanished", errBroken)
	}
	if err := m.addShallow(shallow); err != nil {
		return err
	}
	if x.count > 0 {
		dst := filepath.Join(m.packsDir(), "pack-"+x.checksum.String())
		if kind == "made" {
			if err := os.WriteFile(dst+".keep", []byte(commit.String()), 0o600); err != nil {
				return fmt.Errorf("install pack: %w", err)
			}
		}
		if err := errors.Join(os.Rename(x.base+".pack", dst+".pack"), os.Rename(x.base+".idx", dst+".idx")); err != nil {
			return fmt.Errorf("install pack: %w", err)
		}
		syncDir(m.packsDir())
	}
	return m.markCommit(kind, commit.String())
}

func (m mirror) shallowCommits() ([]plumbing.Hash, error) {
	b, err := os.ReadFile(filepath.Join(m.dir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	var out []plumbing.Hash
	for _, line := range strings.Fields(string(b)) {
		h, err := parseSHA(line)
		if err != nil {
			return nil, fmt.Errorf("%w: file shallow: %w", errBroken, err)
		}
		out = append(out, h)
	}
	return out, nil
}

func (m mirror) addShallow(more []plumbing.Hash) error {
	have, err := m.shallowCommits()
	if err != nil {
		return err
	}
	n := len(have)
	for _, h := range more {
		if !slices.Contains(have, h) {
			have = append(have, h)
		}
	}
	if len(have) == n {
		return nil
	}
	return writeFile(filepath.Join(m.dir, "shallow"), 0o600, func(w io.Writer) error {
		for _, h := range have {
			if _, err := io.WriteString(w, h.String()+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// fetchedCommits lists the commits that came from the server, newest first.
func (m mirror) fetchedCommits() ([]plumbing.Hash, error) {
	entries, err := os.ReadDir(m.refPath("fetched", ""))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	made := map[plumbing.Hash]time.Time{}
	for _, e := range entries {
		h, err := parseSHA(e.Name())
		st, serr := e.Info()
		if err == nil && serr == nil {
			made[h] = st.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(made), func(a, b plumbing.Hash) int { return made[b].Compare(made[a]) }), nil
}
