package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// CacheOptions configures a [Cache]. The zero value works.
type CacheOptions struct {
	// Logger logs problems that are not returned as errors; nil logs nothing.
	Logger *slog.Logger
	// MayPush is called right before a push is sent, with its caller's context; an error prevents the push. Nil allows
	// every push that the lease allows.
	MayPush func(ctx context.Context) error
	// Kept returns a commit that the mirror of a remote lacks. It is called before the server is asked: another machine
	// may have made the commit without pushing it, or the mirror in which it was made was broken. It returns what
	// [Repo.PackMade] returned there, or nil if it has none.
	Kept func(ctx context.Context, key, sha string) ([]byte, error)
	// Keys returns the keys of the remotes that may still be read. Nil allows all.
	Keys func(ctx context.Context) ([]string, error)
	// Remove removes a tree or a file that programs may have written. They make folders read-only, as Go's module cache
	// does, or nest them deeper than can be open at a time. Nil is [os.RemoveAll], for caches in which no program runs in
	// workspaces.
	Remove func(name string) error
	// Ignored has the format of a .gitignore. Its patterns apply in every workspace, before those of its own files.
	Ignored []byte
}

// Cache is a directory of mirrors and of the state of workspaces. Safe for
// concurrent use, also by several processes on one directory.
type Cache struct {
	dir      string
	http     *http.Client
	log      *slog.Logger
	mayPush  func(context.Context) error
	kept     func(ctx context.Context, key, sha string) ([]byte, error)
	keys     func(context.Context) ([]string, error)
	remove   func(name string) error
	ignored  []byte
	question time.Duration // bounds an exchange without a pack
	fetched  packLimits    // of the pack of a fetch
	now      func() time.Time
	pause    func(context.Context, time.Duration) error
	servers  sync.Map // results of handshakes, by [client.serverKey]
}

// The folders of a cache directory.
const (
	mirrorsDir    = "mirrors"    // one folder per remote
	statesDir     = "states"     // the state of each workspace
	workspacesDir = "workspaces" // workspaces without a directory of their own
	locksDir      = "locks"      // held while a workspace is made
	tmpDir        = "tmp"        // transfers; on the same file system, so that they can be renamed
)

const (
	// leftoverAge is how old a file of a killed process is when it is removed.
	leftoverAge = 48 * time.Hour
	// unusedAfter is how long an unused mirror is kept. A commit made here is not kept longer either.
	unusedAfter = keepMade
)

// OpenCache opens a cache directory, creating it if needed, and calls [Cache.Tidy].
func OpenCache(dir string, opts CacheOptions) (*Cache, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open git cache: %w", err)
	}
	c := &Cache{dir: abs, log: opts.Logger, mayPush: opts.MayPush, kept: opts.Kept, keys: opts.Keys,
		remove: opts.Remove, ignored: opts.Ignored, question: questionTimeout,
		fetched: packLimits{size: maxFetchedBytes, objects: maxFetchedObjects, bytes: maxFetchedWhole},
		now:     time.Now, pause: pauseFor}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.mayPush == nil {
		c.mayPush = func(context.Context) error { return nil }
	}
	if c.remove == nil {
		c.remove = os.RemoveAll
	}
	c.http = &http.Client{CheckRedirect: followRename} // each exchange has its own time limit
	for _, d := range []string{mirrorsDir, statesDir, workspacesDir, locksDir, tmpDir} {
		// Mirrors hold private code: nobody else on the machine reads them.
		if err := os.MkdirAll(filepath.Join(abs, d), 0o700); err != nil {
			return nil, fmt.Errorf("open git cache: %w", err)
		}
	}
	c.Tidy(context.Background())
	return c, nil
}

// Tidy removes files left by processes that were killed more than two days ago, and the content of mirrors to which
// nothing was added for 30 days or of remotes that may not be read any more: no code of an unused repository is kept. A
// mirror is kept while a workspace uses it.
func (c *Cache) Tidy(ctx context.Context) {
	c.sweep(c.tmp())
	c.sweep(filepath.Join(c.dir, workspacesDir))
	c.forgetWorkspaces()
	stoodOn := map[string]bool{}
	for _, s := range c.knownWorkspaces() {
		stoodOn[folderName(s.Key)] = true
	}
	var readable map[string]bool // nil: all
	if c.keys != nil {
		keys, err := c.keys(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil { // the keys may be incomplete
			c.log.WarnContext(ctx, "git mirrors that may not be read any more were not removed", "error", err)
		} else {
			readable = map[string]bool{}
			for _, key := range keys {
				readable[folderName(key)] = true
			}
		}
	}
	mirrors, _ := os.ReadDir(filepath.Join(c.dir, mirrorsDir)) // retried the next day
	for _, e := range mirrors {
		if stoodOn[e.Name()] {
			continue
		}
		after := unusedAfter
		if readable != nil && !readable[e.Name()] {
			after = retireAfter
		}
		m := &mirror{cache: c, dir: filepath.Join(c.dir, mirrorsDir, e.Name())}
		if err := m.clearUnused(ctx, after); err != nil {
			c.log.WarnContext(ctx, "unused git mirror was not removed", "folder", m.dir, "error", err)
		}
	}
}

func (c *Cache) tmp() string { return filepath.Join(c.dir, tmpDir) }

// sweep removes files that have not been touched for leftoverAge.
func (c *Cache) sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && c.now().Sub(st.ModTime()) > leftoverAge {
			_ = c.remove(filepath.Join(dir, e.Name())) // retried at the next start
		}
	}
}

// Repo is a remote repository and its mirror: it fetches what the mirror lacks, and pushes what was made in it. Safe
// for concurrent use; two Repos of one remote share the mirror.
type Repo struct {
	cache  *Cache
	client *client
	mirror *mirror
	bad    error // why the remote cannot be used; each call returns it
}

// Repo returns the repository of a remote. It makes no request: the first call reports an invalid remote.
func (c *Cache) Repo(r Remote) *Repo {
	at, err := repositoryURL(r)
	return &Repo{cache: c, client: &client{cache: c, remote: r, url: at}, bad: err,
		mirror: &mirror{cache: c, key: r.Key, dir: filepath.Join(c.dir, mirrorsDir, folderName(r.Key))}}
}

// folderName turns any key into a folder name.
func folderName(key string) string {
	name := "r-" + url.PathEscape(key)
	if len(name) > 120 {
		sum := sha256.Sum256([]byte(key))
		name = "h-" + hex.EncodeToString(sum[:])
	}
	return name
}
