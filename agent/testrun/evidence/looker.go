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

// Looker looks at changes of many repositories. Each has a folder of its own, so that nothing of one reaches another,
// and one look at a time. Safe for concurrent use.
type Looker struct {
	box   *sandbox.Sandbox
	dir   string
	hosts []string
	now   func() time.Time

	mu    sync.Mutex
	turns map[string]chan struct{} // by folder; one that has a value is taken
}

// NewLooker returns one that keeps what it fetches and builds below dir. Without a sandbox it runs nothing. hosts may
// be reached while what tests depend on is fetched, beside the registries.
func NewLooker(box *sandbox.Sandbox, dir string, hosts []string, now func() time.Time) *Looker {
	return &Looker{box: box, dir: dir, hosts: hosts, now: now, turns: map[string]chan struct{}{}}
}

// Runs reports whether anything can be run.
func (l *Looker) Runs() bool { return l.box != nil }

// Wanted is a change that is to be looked at.
type Wanted struct {
	Repository string // owner/name, in any case
	Base, Head string // commits
	// images of services that its tests need beside those that its workflow files name
	Services []string
	Hosts    []string // that may be reached while what tests depend on is fetched, beside the looker's
	Within   time.Duration
	Open     func(ctx context.Context, commits ...string) (*gitops.History, error) // it is closed here
	// Begins is called with each step, in words for people, before it starts; it may be nil.
	Begins func(step string)
}

// Look looks at a change.
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

// with looks with a repository's own folder and runner, in its turn.
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

// begin waits for a repository's turn. done ends it.
func (l *Looker) begin(ctx context.Context, dir string) (done func(), err error) {
	turn := l.turn(dir)
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// turn is taken by who puts a value into it.
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

// unusedFor is how long a repository's folder stays without a look.
const unusedFor = 30 * 24 * time.Hour

// use makes a repository's folder. Its time is that of its use.
func (l *Looker) use(dir string) error {
	now := l.now()
	return errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now))
}

// Tidy removes the folders of repositories that nobody looked at for long: one that is gone never says so. What can't
// be removed is tried again by the next look, and does not stand in the way of this one.
func (l *Looker) Tidy() {
	entries, _ := os.ReadDir(l.dir)
	for _, e := range entries {
		// A person may have given a folder of their own, with other things in it.
		if !e.IsDir() || !strings.Contains(e.Name(), url.PathEscape("/")) {
			continue
		}
		dir := filepath.Join(l.dir, e.Name())
		turn := l.turn(dir)
		select {
		case turn <- struct{}{}:
			if st, err := os.Stat(dir); err == nil && l.now().Sub(st.ModTime()) > unusedFor {
				_ = sandbox.RemoveAll(dir)
			}
			<-turn
		default: // it is being used
		}
	}
}
