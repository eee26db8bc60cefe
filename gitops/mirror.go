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

// A mirror's folder holds generations and the file "current", which names the present one. Each generation is a bare
// repository. A broken or overgrown generation is replaced. The old one is removed an hour later, so that its readers
// can finish. Within a generation:
//
//	objects/pack/         packs only, no loose objects
//	shallow               the commits with parents that we don't have
//	refs/sia/fetched/<sha>  commits that came from the server with all their files
//	refs/sia/made/<sha>     commits made here; their packs hold all that their parents lack
//
// Files appear complete and in the order objects, index, ref; nothing is changed in place. So a kill at any point
// leaves a valid repository.

const (
	currentFile = "current"
	// retireAfter is how long an old generation is kept for its readers.
	retireAfter = time.Hour
	// maxPacks is the number of packs at which a mirror is replaced, so that finding an object and making a workspace
	// stay cheap.
	maxPacks = 48
	// keepMade is how long commits made here are carried over to new generations.
	keepMade = 30 * 24 * time.Hour
)

// mirror is one generation.
type mirror struct{ dir string }

func (m mirror) packsDir() string { return filepath.Join(m.dir, "objects", "pack") }
func (m mirror) refPath(kind, sha string) string {
	return filepath.Join(m.dir, "refs", "sia", kind, sha)
}

// isMarked reports whether a commit is complete and has the mark kind, "fetched" or "made".
func (m mirror) isMarked(kind string, h plumbing.Hash) bool {
	_, err := os.Lstat(m.refPath(kind, h.String()))
	return err == nil
}

// mirror returns the present generation, and makes the first one.
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
	return r.newGeneration(ctx, mirror{})
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

// lockWrite locks the mirror for a change.
func (r *Repo) lockWrite(ctx context.Context) (func(), error) {
	return lock(ctx, filepath.Join(r.dir, "write.lock"))
}

// lockFetch locks the mirror for a transfer, so that nothing is fetched twice.
func (r *Repo) lockFetch(ctx context.Context) (func(), error) {
	return lock(ctx, filepath.Join(r.dir, "fetch.lock"))
}

// renewMirror replaces a generation by one with only the commits made here. From a broken one nothing is carried over:
// [CacheOptions.Kept] has what must not be lost. It does nothing if the generation was already replaced.
func (r *Repo) renewMirror(ctx context.Context, old mirror) error {
	unlock, err := r.lockWrite(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m, ok := r.presentMirror(); ok && m != old {
		return nil
	}
	_, err = r.newGeneration(ctx, old)
	return err
}

// newGeneration requires the write lock.
func (r *Repo) newGeneration(ctx context.Context, old mirror) (mirror, error) {
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
		if err = r.carryOver(ctx, old, m); errors.Is(err, errBroken) || errors.Is(err, errNoObject) {
			r.cache.log.WarnContext(ctx, "commits made in a broken mirror are not carried over", "mirror", r.remote.Key,
				"error", err)
			err = nil
		}
	}
	if err == nil {
		err = writeFile(filepath.Join(r.dir, currentFile), 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, filepath.Base(dir))
			return err
		})
	}
	if err != nil {
		_ = r.cache.remove(dir)
		return mirror{}, fmt.Errorf("make mirror: %w", err)
	}
	r.retireOld(old, m)
	return m, nil
}

// carryOver packs the commits made here into one pack: with a pack each, they would fill the next generation, too.
func (r *Repo) carryOver(ctx context.Context, old, to mirror) error {
	made, at, err := old.markedCommits("made")
	if err != nil {
		return err
	}
	made = slices.DeleteFunc(made, func(h plumbing.Hash) bool { return r.cache.now().Sub(at[h]) > keepMade })
	if len(made) == 0 {
		return nil
	}
	o, err := openObjects(old.dir)
	if err != nil {
		return err
	}
	defer o.close()
	var objs []newObject
	var carried []plumbing.Hash
	packed := map[plumbing.Hash]bool{}
	for _, h := range made {
		own, err := o.ownObjects(h)
		if errors.Is(err, errNoObject) { // a parent was not fetched since the last renewal
			own, err = o.presentObjects(h)
		}
		if errors.Is(err, errNoObject) {
			r.cache.log.WarnContext(ctx, "a commit made here is not in its mirror any more", "mirror", r.remote.Key,
				"error", err)
			continue
		}
		if err != nil {
			return err
		}
		carried = append(carried, h)
		for _, obj := range own {
			if !packed[obj.id] {
				packed[obj.id], objs = true, append(objs, obj)
			}
		}
	}
	if len(carried) == 0 {
		return nil
	}
	x, err := r.packNew(ctx, objs)
	if err != nil {
		return err
	}
	defer x.remove()
	if err := to.addPack(x); err != nil {
		return err
	}
	for _, h := range carried {
		if err := errors.Join(to.markCommit("made", h.String()),
			os.Chtimes(to.refPath("made", h.String()), at[h], at[h])); err != nil {
			return err
		}
	}
	return nil
}

// retireOld removes generations without readers.
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
			_ = r.cache.remove(d) // retried next time
		}
	}
}

// lastAdded is when a pack was last added to the mirror.
func (r *Repo) lastAdded() (last time.Time) {
	put := []string{filepath.Join(r.dir, currentFile), filepath.Join(r.dir, namesFile)}
	if m, ok := r.presentMirror(); ok {
		put = append(put, m.refPath("fetched", ""), m.refPath("made", ""))
	}
	for _, name := range put {
		if st, err := os.Stat(name); err == nil && st.ModTime().After(last) {
			last = st.ModTime()
		}
	}
	return last
}

// clearUnused removes the content of a mirror to which nothing was added for the duration after. The locks stay, for
// those who wait for them.
func (r *Repo) clearUnused(ctx context.Context, after time.Duration) error {
	if r.cache.now().Sub(r.lastAdded()) <= after {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second) // a locked mirror is in use
	defer cancel()
	unlockFetch, err := r.lockFetch(ctx)
	if err != nil {
		return err
	}
	defer unlockFetch()
	unlock, err := r.lockWrite(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if r.cache.now().Sub(r.lastAdded()) <= after {
		return nil // it was used meanwhile
	}
	var all []error
	for _, name := range []string{currentFile, namesFile} {
		if err := os.Remove(filepath.Join(r.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	generations, _ := fs.Glob(os.DirFS(r.dir), "g-*")
	for _, name := range generations {
		all = append(all, r.cache.remove(filepath.Join(r.dir, name)))
	}
	return errors.Join(all...)
}

// markCommit marks a commit as complete. Its objects must be in place.
func (m mirror) markCommit(kind, sha string) error {
	return writeFile(m.refPath(kind, sha), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, sha+"\n")
		return err
	})
}

// installPack moves a pack into the present generation and marks its commits. Shallow commits are recorded first: a
// needless record is harmless.
func (r *Repo) installPack(
	ctx context.Context, x indexedPack, kind string, shallow []plumbing.Hash, commits ...plumbing.Hash,
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
		if err := m.addPack(x); err != nil {
			return fmt.Errorf("install pack: %w", err)
		}
	}
	for _, h := range commits {
		if err := m.markCommit(kind, h.String()); err != nil {
			return err
		}
	}
	return nil
}

// addPack moves a pack into the mirror.
func (m mirror) addPack(x indexedPack) error {
	dst := filepath.Join(m.packsDir(), "pack-"+x.checksum.String())
	if err := errors.Join(os.Rename(x.base+".pack", dst+".pack"), os.Rename(x.base+".idx", dst+".idx")); err != nil {
		return err
	}
	syncDir(m.packsDir())
	return nil
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

// markedCommits lists the commits that were "fetched" or "made", newest first, and when each was marked.
func (m mirror) markedCommits(kind string) ([]plumbing.Hash, map[plumbing.Hash]time.Time, error) {
	entries, err := os.ReadDir(m.refPath(kind, ""))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	at := map[plumbing.Hash]time.Time{}
	for _, e := range entries {
		h, err := parseSHA(e.Name())
		st, serr := e.Info()
		if err == nil && serr == nil {
			at[h] = st.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(at), func(a, b plumbing.Hash) int { return at[b].Compare(at[a]) }), at, nil
}
