package evidence

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Looker checks changes of many repositories. Each has its own folder, so that repositories can't affect each other,
// and one check at a time. It is safe for concurrent use.
type Looker struct {
	box   *sandbox.Sandbox
	dir   string
	hosts []string
	now   func() time.Time

	mu    sync.Mutex
	turns map[string]chan struct{} // semaphores by folder
}

// NewLooker returns a Looker that keeps downloads and builds below dir. If box is nil, it runs no tests. While fetching
// dependencies, hosts may be reached in addition to the registries.
func NewLooker(box *sandbox.Sandbox, dir string, hosts []string, now func() time.Time) *Looker {
	return &Looker{box: box, dir: dir, hosts: hosts, now: now, turns: map[string]chan struct{}{}}
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
		return err
	}
	defer done()
	if err := l.use(dir); err != nil {
		return fmt.Errorf("look at tests: %w", err)
	}
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
	return errors.Join(r.TrimDeps(), r.TrimCache(ctx))
}

// begin waits for a repository's semaphore. done releases it.
func (l *Looker) begin(ctx context.Context, dir string) (done func(), err error) {
	turn := l.turn(dir)
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// turn returns the semaphore of a folder.
func (l *Looker) turn(dir string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := l.turns[dir]
	if turn == nil {
		turn = make(chan struct{}, 1)
		l.turns[dir] = turn
	}
	return turn
}

// maxUnused is the time after which an unused repository's folder is removed.
const maxUnused = 30 * 24 * time.Hour

// use creates a repository's folder and sets its modification time to now.
func (l *Looker) use(dir string) error {
	now := l.now()
	return errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now))
}

// Tidy removes the folders of repositories that were unused for maxUnused, since there is no notice when a repository
// is removed. It ignores errors; the next call tries again.
func (l *Looker) Tidy() {
	entries, _ := os.ReadDir(l.dir)
	for _, e := range entries {
		// The operator's folder may contain other files.
		if !e.IsDir() || !strings.Contains(e.Name(), url.PathEscape("/")) {
			continue
		}
		dir := filepath.Join(l.dir, e.Name())
		turn := l.turn(dir)
		select {
		case turn <- struct{}{}:
			if st, err := os.Stat(dir); err == nil && l.now().Sub(st.ModTime()) > maxUnused {
				_ = sandbox.RemoveAll(dir)
			}
			<-turn
		default: // in use
		}
	}
}
