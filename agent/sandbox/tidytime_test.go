//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Tidying up may outlast the caller's context by ten seconds, and takes a minute at most.
func TestTidyingEnds(t *testing.T) {
	for name, c := range map[string]struct{ cancelled, want time.Duration }{
		"at once":     {0, tidyGrace},
		"later":       {20 * time.Second, 20*time.Second + tidyGrace},
		"much later":  {55 * time.Second, tidyTimeout},
		"not at all":  {time.Hour, tidyTimeout},
		"when it was": {tidyTimeout, tidyTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), c.cancelled)
			defer cancel()
			late, done := withTimeToTidy(ctx)
			defer done()
			<-late.Done()
			if took := time.Since(began); took != c.want || !errors.Is(context.Cause(late), errUntidy) {
				t.Errorf("cancelled %s: after %s, %v; want %s", name, took, context.Cause(late), c.want)
			}
		})
	}
}

// A walk ends with its context, at any point.
func TestWalkIsCancelled(t *testing.T) {
	tree := t.TempDir()
	if err := os.MkdirAll(filepath.Join(tree, "a", "b", "c", "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over, met := errors.New("over"), 0
	err := walkTree(ctx, tree, func(walkedEntry) error {
		if met++; met == 2 {
			cancel(over)
		}
		return nil
	}, nil)
	if !errors.Is(err, over) || met != 2 {
		t.Errorf("%d were met: %v", met, err)
	}
}

// A tree is either tidied or discarded as a whole: if tidying up takes too long, nothing of it remains.
func TestUntidyTreesAreDiscarded(t *testing.T) {
	tidied, discarded := 0, 0
	for _, entries := range []int{0, 1, 10, 100, 5000} { // visited before the time is over
		in := t.TempDir()
		c := Command{Dir: filepath.Join(in, "tree"), Mounts: []Mount{{From: filepath.Join(in, "cache"), Writable: true},
			{From: filepath.Join(in, "kept")}}}
		deep := filepath.Join(c.Dir, "a", strings.Repeat("d/", maxDepth+50))
		if err := errors.Join(os.MkdirAll(deep, 0o755), os.Mkdir(c.Mounts[0].From, 0o755),
			os.Mkdir(c.Mounts[1].From, 0o755)); err != nil {
			t.Fatal(err)
		}
		for _, tree := range []string{c.Dir, c.Mounts[0].From, c.Mounts[1].From} {
			for i := range 30 {
				name := filepath.Join(tree, fmt.Sprint("f", i))
				if err := errors.Join(os.WriteFile(name, nil, 0o755), os.Chmod(name, 0o755|fs.ModeSetuid)); err != nil {
					t.Fatal(err)
				}
			}
		}
		_, err := tidyTrees(&endsAfter{Context: t.Context(), left: entries}, c)
		if err != nil != errors.Is(err, ErrDiscarded) {
			t.Fatalf("after %d entries: %v", entries, err)
		}
		for _, tree := range []string{c.Dir, c.Mounts[0].From} {
			there, deepest := 0, 0
			if err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				there++
				deepest = max(deepest, strings.Count(p[len(tree):], "/"))
				if st, err := d.Info(); err != nil || st.Mode()&fs.ModeSetuid != 0 {
					t.Errorf("after %d entries %s has %s: %v", entries, p, st.Mode(), err)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			if deepest > maxDepth+1 || (err != nil) != (there == 1) {
				t.Errorf("after %d entries %s has %d, %d deep (%v)", entries, tree, there, deepest, err)
			}
		}
		if left, err := os.ReadDir(c.Mounts[1].From); err != nil || len(left) != 30 {
			t.Errorf("of what can only be read, %d files are left: %v", len(left), err)
		}
		if left, err := os.ReadDir(in); err != nil || len(left) != 3 {
			t.Errorf("beside the trees lie %v: %v", left, err)
		}
		if err != nil {
			discarded++
		} else {
			tidied++
		}
	}
	if tidied == 0 || discarded < 3 {
		t.Errorf("%d trees were tidied, %d discarded", tidied, discarded)
	}
}

// endsAfter is a context that ends after a number of calls to Err.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}
