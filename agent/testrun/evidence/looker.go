package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Looker checks changes of many repositories. Each has its own folder, so that repositories can't affect each other,
// and one check at a time, of all processes that share the folder. It is safe for concurrent use.
type Looker struct {
	box   *sandbox.Sandbox
	dir   string
	hosts []string
	now   func() time.Time
}

// NewLooker returns a Looker that keeps downloads and builds below dir. If box is nil, it runs no tests. While fetching
// dependencies, hosts may be reached in addition to the registries.
func NewLooker(box *sandbox.Sandbox, dir string, hosts []string, now func() time.Time) *Looker {
	return &Looker{box: box, dir: dir, hosts: hosts, now: now}
}

// Runs reports whether tests can be run.
func (l *Looker) Runs() bool { return l.box != nil }

// Wanted describes a change to check.
type Wanted struct {
	Repository string // a key of it, case-insensitive, with a slash; no other repository may ever have the same one
	Base, Head string // commits
	// images of services that its tests need, in addition to those in its workflow files
	Services []string
	Hosts    []string // hosts allowed while fetching dependencies, in addition to the Looker's
	Within   time.Duration
	Open     func(ctx context.Context, commits ...string) (*gitops.History, error) // the result is closed by the Looker
	// Begins is called before each step with a description for users; it may be nil.
	Begins func(step string)
}

// Look checks a change.
func (l *Looker) Look(ctx context.Context, w Wanted) (sia.TestEvidence, error) {
	out := sia.TestEvidence{Head: sia.SHA(w.Head), Base: sia.SHA(w.Base)}
	if !l.Runs() {
		out.NotRun = "there is no sandbox on this server to run tests in"
		return out, nil
	}
	err := l.with(ctx, w, func(s Spec) (err error) {
		out, err = Look(ctx, s)
		return err
	})
	return out, err
}

// with calls look with the repository's folder and runner, one call at a time.
func (l *Looker) with(ctx context.Context, w Wanted, look func(Spec) error) error {
	dir := filepath.Join(l.dir, url.PathEscape(strings.ToLower(w.Repository)))
	done, err := l.begin(ctx, dir)
	if err != nil {
		return fmt.Errorf("look at tests: %w", err)
	}
	defer done()
	l.Tidy()
	h, err := w.Open(ctx, w.Base, w.Head)
	if err != nil {
		return fmt.Errorf("look at tests: %w", err)
	}
	defer h.Close()
	r := testrun.NewRunner(l.box, h, dir, slices.Concat(l.hosts, w.Hosts), 0)
	r.Want, r.Now = w.Services, l.now
	s := Spec{History: h, Runner: r, Dir: dir, Base: w.Base, Head: w.Head, Within: w.Within, Now: l.now,
		Begins: w.Begins}
	if err := look(s); err != nil {
		return err
	}
	return errors.Join(r.TrimDeps(ctx), r.TrimCache(ctx))
}

// maxUnused is the time after which an unused repository's folder is removed.
const maxUnused = 30 * 24 * time.Hour

// removedSuffix is the suffix of a folder that is being removed.
const removedSuffix = "~"

// begin creates a repository's folder, locks it, and sets its modification time to now. done releases it.
func (l *Looker) begin(ctx context.Context, dir string) (done func(), err error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		done, err := lock(ctx, dir)
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, fmt.Errorf("wait for other tests of the repository: %w", context.Cause(ctx))
		case errors.Is(err, fs.ErrNotExist):
			continue // Tidy removed it meanwhile
		case err != nil:
			return nil, err
		}
		now := l.now()
		if err := os.Chtimes(dir, now, now); err != nil {
			done()
			return nil, err
		}
		return done, nil
	}
}

// lock locks a repository's folder; see [gitops.Lock].
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	return gitops.Lock(ctx, filepath.Join(dir, "lock"))
}

// Tidy removes the folders of repositories that were unused for maxUnused, since there is no notice when a repository
// is removed. It ignores errors; the next call tries again.
func (l *Looker) Tidy() {
	ended, end := context.WithCancel(context.Background())
	end() // a lock is only tried
	entries, _ := os.ReadDir(l.dir)
	// The operator's folder may contain other files.
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() || !strings.Contains(e.Name(), url.PathEscape("/"))
	})
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), removedSuffix) { // an earlier call could not remove it
			_ = sandbox.RemoveAll(filepath.Join(l.dir, e.Name()))
		}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), removedSuffix) {
			continue
		}
		dir := filepath.Join(l.dir, e.Name())
		st, err := e.Info()
		if err != nil || l.now().Sub(st.ModTime()) <= maxUnused {
			continue
		}
		if unlock, err := lock(ended, dir); err == nil { // otherwise it is in use
			// It is moved first, so that nobody begins to use it meanwhile.
			if gone := dir + removedSuffix; os.Rename(dir, gone) == nil {
				_ = sandbox.RemoveAll(gone)
			}
			unlock()
		}
	}
}
