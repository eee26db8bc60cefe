package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

const (
	currentFile = "current" // names the present generation
	// retireAfter is how long an old generation is kept for its readers.
	retireAfter = time.Hour
	// maxPacks is the number of packs at which a mirror is replaced, so that finding an object and making a workspace
	// stay cheap.
	maxPacks = 48
	// keepMade is how long commits made here are carried over to new generations.
	keepMade = 30 * 24 * time.Hour
)

// mirror is the copy of one remote on this disk. It knows nothing of the server: what it lacks, [Repo] fetches. Its
// folder holds generations and the file "current". A broken or overgrown generation is replaced. The old one is removed
// an hour later, so that its readers can finish. Safe for concurrent use, also by several processes.
type mirror struct {
	cache *Cache
	key   string // of the remote
	dir   string
}

// The locks of a mirror.
const (
	writeLock = "write.lock" // held for a change
	fetchLock = "fetch.lock" // held for a transfer, so that nothing is fetched twice
	namesLock = "names.lock" // a separate one: attempts that need files don't wait for names
)

// lock waits for one of the mirror's locks and returns the function that releases it.
func (m *mirror) lock(ctx context.Context, name string) (func(), error) {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make mirror: %w", err)
	}
	return Lock(ctx, filepath.Join(m.dir, name))
}

// current returns the present generation, and makes the first one.
func (m *mirror) current(ctx context.Context) (generation, error) {
	if g, ok := m.present(); ok {
		return g, nil
	}
	unlock, err := m.lock(ctx, writeLock)
	if err != nil {
		return generation{}, err
	}
	defer unlock()
	if g, ok := m.present(); ok {
		return g, nil
	}
	return m.newGeneration(ctx, generation{})
}

func (m *mirror) present() (generation, bool) {
	name, err := os.ReadFile(filepath.Join(m.dir, currentFile))
	if err != nil || !strings.HasPrefix(string(name), "g-") || strings.ContainsAny(string(name), `/\`) {
		return generation{}, false
	}
	g := generation{filepath.Join(m.dir, string(name))}
	st, err := os.Stat(g.packsDir())
	return g, err == nil && st.IsDir()
}

// renew replaces a generation by one with only the commits made here. From a broken one nothing is carried over:
// [CacheOptions.Kept] has what must not be lost. It does nothing if the generation was already replaced.
func (m *mirror) renew(ctx context.Context, old generation) error {
	unlock, err := m.lock(ctx, writeLock)
	if err != nil {
		return err
	}
	defer unlock()
	if g, ok := m.present(); ok && g != old {
		return nil
	}
	_, err = m.newGeneration(ctx, old)
	return err
}

// newGeneration requires the write lock.
func (m *mirror) newGeneration(ctx context.Context, old generation) (generation, error) {
	dir, err := os.MkdirTemp(m.dir, "g-*")
	if err != nil {
		return generation{}, fmt.Errorf("make mirror: %w", err)
	}
	g := generation{dir}
	err = errors.Join(os.MkdirAll(g.packsDir(), 0o700), os.MkdirAll(g.refPath("fetched", ""), 0o700),
		os.MkdirAll(g.refPath("made", ""), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = true\n"), 0o600))
	if err == nil && old.dir != "" {
		if err = m.carryOver(ctx, old, g); errors.Is(err, errBroken) || errors.Is(err, errNoObject) {
			m.cache.log.WarnContext(ctx, "commits made in a broken mirror are not carried over", "mirror", m.key,
				"error", err)
			err = nil
		}
	}
	if err == nil {
		err = writeFile(filepath.Join(m.dir, currentFile), 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, filepath.Base(dir))
			return err
		})
	}
	if err != nil {
		_ = m.cache.remove(dir)
		return generation{}, fmt.Errorf("make mirror: %w", err)
	}
	m.retireOld(old, g)
	return g, nil
}

// carryOver packs the commits made here into one pack: with a pack each, they would fill the next generation, too.
func (m *mirror) carryOver(ctx context.Context, old, to generation) error {
	made, at, err := old.markedCommits("made")
	if err != nil {
		return err
	}
	made = slices.DeleteFunc(made, func(h plumbing.Hash) bool { return m.cache.now().Sub(at[h]) > keepMade })
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
			m.cache.log.WarnContext(ctx, "a commit made here is not in its mirror any more", "mirror", m.key,
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
	x, err := packNew(ctx, m.cache.tmp(), objs)
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
func (m *mirror) retireOld(old, now generation) {
	if old.dir != "" {
		t := m.cache.now()
		_ = os.Chtimes(old.dir, t, t)
	}
	dirs, _ := fs.Glob(os.DirFS(m.dir), "g-*")
	for _, name := range dirs {
		d := filepath.Join(m.dir, name)
		if st, err := os.Stat(d); err == nil && d != now.dir && d != old.dir &&
			m.cache.now().Sub(st.ModTime()) > retireAfter {
			_ = m.cache.remove(d) // retried next time
		}
	}
}

// lastAdded is when a pack was last added to the mirror.
func (m *mirror) lastAdded() (last time.Time) {
	put := []string{filepath.Join(m.dir, currentFile), filepath.Join(m.dir, namesFile)}
	if g, ok := m.present(); ok {
		put = append(put, g.refPath("fetched", ""), g.refPath("made", ""))
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
func (m *mirror) clearUnused(ctx context.Context, after time.Duration) error {
	if m.cache.now().Sub(m.lastAdded()) <= after {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second) // a locked mirror is in use
	defer cancel()
	unlockFetch, err := m.lock(ctx, fetchLock)
	if err != nil {
		return err
	}
	defer unlockFetch()
	unlock, err := m.lock(ctx, writeLock)
	if err != nil {
		return err
	}
	defer unlock()
	if m.cache.now().Sub(m.lastAdded()) <= after {
		return nil // it was used meanwhile
	}
	var all []error
	for _, name := range []string{currentFile, namesFile} {
		if err := os.Remove(filepath.Join(m.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	generations, _ := fs.Glob(os.DirFS(m.dir), "g-*")
	for _, name := range generations {
		all = append(all, m.cache.remove(filepath.Join(m.dir, name)))
	}
	return errors.Join(all...)
}

// install moves a pack into the present generation and marks its commits. Shallow commits are recorded first: a
// needless record is harmless.
func (m *mirror) install(
	ctx context.Context, x indexedPack, kind string, shallow []plumbing.Hash, commits ...plumbing.Hash,
) error {
	unlock, err := m.lock(ctx, writeLock)
	if err != nil {
		return err
	}
	defer unlock()
	g, ok := m.present()
	if !ok {
		return fmt.Errorf("%w: it vanished", errBroken)
	}
	if err := g.addShallow(shallow); err != nil {
		return err
	}
	if x.count > 0 {
		if err := g.addPack(x); err != nil {
			return fmt.Errorf("install pack: %w", err)
		}
	}
	for _, h := range commits {
		if err := g.markCommit(kind, h.String()); err != nil {
			return err
		}
	}
	return nil
}

// replaceBroken replaces a broken generation.
func (m *mirror) replaceBroken(ctx context.Context, g generation, why error) error {
	m.cache.log.WarnContext(ctx, "git mirror is broken, making it anew", "mirror", m.key, "error", why)
	return m.renew(ctx, g)
}

// compact returns the present generation; one with too many packs is replaced first. The caller holds the fetch
// lock.
func (m *mirror) compact(ctx context.Context) (generation, error) {
	g, err := m.current(ctx)
	if err != nil {
		return g, err
	}
	packs, err := fs.Glob(os.DirFS(g.packsDir()), "*.idx")
	if err != nil || len(packs) < maxPacks {
		return g, err
	}
	if err := m.renew(ctx, g); err != nil {
		return g, err
	}
	if err := m.keepBases(ctx, g); err != nil { // they are fetched when needed, if possible
		m.cache.log.WarnContext(ctx, "commits of workspaces are not in the new mirror", "mirror", m.key, "error", err)
	}
	return m.current(ctx)
}

// keepBases copies the fetched base commits of workspaces from the previous generation to the present one: a runner
// can't fetch them again. Whoever needs one meanwhile waits for the fetch lock.
func (m *mirror) keepBases(ctx context.Context, old generation) error {
	var bases []plumbing.Hash
	for _, s := range m.cache.knownWorkspaces() {
		h, err := parseSHA(s.Base)
		if err == nil && s.Key == m.key && old.isMarked("fetched", h) && !slices.Contains(bases, h) {
			bases = append(bases, h)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	o, err := openObjects(old.dir)
	if err != nil {
		return err
	}
	defer o.close()
	objs, err := o.wholeCommits(bases...)
	if err != nil {
		return err
	}
	x, err := packNew(ctx, m.cache.tmp(), objs)
	if err != nil {
		return err
	}
	defer x.remove()
	return m.install(ctx, x, "fetched", bases, bases...)
}
