package testrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCachesAreFilledOnce tests that other runs wait while one run fills empty build caches, until they are canceled.
//
//test:race
func TestCachesAreFilledOnce(t *testing.T) {
	b := &Runner{dir: t.TempDir(), filling: make(chan struct{}, 1)}
	done, err := b.begin(t.Context(), Suite{})
	if err != nil {
		t.Fatal(err)
	}
	errNeedless := errors.New("needless")
	unwanted, cancel := context.WithCancelCause(t.Context())
	cancel(errNeedless)
	if _, err := b.begin(unwanted, Suite{}); !errors.Is(err, errNeedless) {
		t.Errorf("began beside the first: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(b.build(), "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	done()
	for range 2 { // concurrently
		done, err := b.begin(t.Context(), Suite{})
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
}

// TestOldDependenciesGo tests that unused dependencies folders are removed, and then count as not fetched.
func TestOldDependenciesGo(t *testing.T) {
	r := &Runner{dir: t.TempDir(), Now: time.Now, filling: make(chan struct{}, 1)}
	suite := func(i int) Suite { return Suite{Deps: fmt.Sprintf("node-%d", i), Prepare: "npm ci", Eager: true} }
	now := time.Now()
	for i := range maxDeps + 2 {
		c, err := r.command(suite(i), t.TempDir(), "")
		mark := r.fetchedMark(Node{}, suite(i), nil)
		used := now.Add(time.Duration(i-100) * time.Hour)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, nil, 0o600),
			os.Chtimes(c.Mounts[0].From, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	for _, again := range []Suite{suite(0), {Deps: "go"}} { // the oldest is in use, and Go's is shared
		if _, err := r.command(again, t.TempDir(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.TrimDeps(); err != nil {
		t.Fatal(err)
	}
	for i := range maxDeps + 2 {
		if got, want := r.Prepared(t.Context(), Node{}, suite(i), nil), i != 1 && i != 2; got != want {
			t.Errorf("%d: fetched %v, want %v", i, got, want)
		}
	}
	if !exists(r.deps("go")) {
		t.Error("Go's modules are gone")
	}
}
