package testrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/gitops"
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
		mark, folder := r.fetchedMark(Node{}, suite(i), nil), suite(i).Deps
		if i == 3 {
			folder = "" // an older version wrote the mark
		}
		used := now.Add(time.Duration(i-100) * time.Hour)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, []byte(folder), 0o600),
			os.Chtimes(c.Mounts[0].From, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	for _, again := range []Suite{suite(0), {Deps: "go"}} { // the oldest is in use, and Go's is shared
		if _, err := r.command(again, t.TempDir(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if r.Prepared(t.Context(), Node{}, suite(3), nil) {
		t.Error("the mark of an older version is taken as fetched")
	}
	if err := r.TrimDeps(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range maxDeps + 2 {
		if got, want := r.Prepared(t.Context(), Node{}, suite(i), nil), i < 1 || i > 3; got != want {
			t.Errorf("%d: fetched %v, want %v", i, got, want)
		}
	}
	if !exists(r.deps("go")) {
		t.Error("Go's modules are gone")
	}
}

// TestLargeDependenciesGo tests that a shared folder of dependencies is cleared when a fetch has made it too large, and
// is filled again by the next run that lacks something, as is a folder that was removed because of its age.
func TestLargeDependenciesGo(t *testing.T) {
	now := time.Now()
	r := NewRunner(sandboxtest.New(t, sandbox.Options{}), nil, t.TempDir(), nil, 0)
	tree := Tree{At: NewWorkTree(filepath.Join(t.TempDir(), "tree"), nil), Files: Files{}}
	if err := tree.At.Set(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	fetch := func(deps, script string) {
		why, err := r.Fetch(t.Context(), Golang{}, Suite{Deps: deps, Prepare: script}, tree)
		if err != nil || why != "" {
			t.Fatal(why, err)
		}
	}
	prepared := func(deps, script string) bool {
		s := Suite{Deps: deps, Prepare: script}
		if _, err := r.command(s, tree.At.Dir, ""); err != nil { // a run begins
			t.Fatal(err)
		}
		return r.Prepared(t.Context(), Golang{}, s, tree.Files)
	}
	small, large := "true", fmt.Sprintf("truncate -s 1G %[1]s/{1..%[2]d} && echo >%[1]s/more", depsAt, maxShared>>30)
	fetch("rust", small)
	fetch("go", large)
	for i := range maxDeps + 1 {
		fetch(fmt.Sprintf("java-%d", i), small)
		used := now.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(r.deps(fmt.Sprintf("java-%d", i)), used, used); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.TrimDeps(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := []bool{prepared("rust", small), prepared("go", large), prepared("java-0", small), prepared("java-1", small)}
	if !slices.Equal(got, []bool{true, false, false, true}) {
		t.Errorf("still prepared: %v", got)
	}
}

// TestNpmRunsNoProgramOfTheTree tests that no program runs that a tree's .npmrc names.
func TestNpmRunsNoProgramOfTheTree(t *testing.T) {
	box := sandboxtest.New(t, sandbox.Options{})
	const spoil = "#!/bin/sh\necho \"$0 $NODE_OPTIONS\" >>" + depsAt + "/spoiled\nexit 1\n"
	text := map[string]string{
		"package.json": `{"scripts":{"test":"node --test"},"dependencies":{"a":"git+https://github.test/a/b.git"}}`,
		".npmrc":       "git=" + sandbox.WorkDir + "/git\nnode-options=--require " + sandbox.WorkDir + "/a.js\n",
		"git":          spoil, "a.js": "require('fs').writeFileSync('" + depsAt + "/spoiled', '')\n", "a.test.js": "",
	}
	files := Files{}
	for name := range text {
		files[name] = gitops.HistoryFile{ID: name, Executable: name == "git"}
	}
	tree := NewWorkTree(filepath.Join(t.TempDir(), "head"), nil)
	tree.blobs = func(id string) ([]byte, error) { return []byte(text[id]), nil }
	if err := tree.Set(t.Context(), files, nil, nil); err != nil {
		t.Fatal(err)
	}
	s, ok := (Node{}).Suite(files, []string{"a.test.js"}, func(p string) ([]byte, error) {
		if text[p] == "" {
			return nil, fs.ErrNotExist
		}
		return []byte(text[p]), nil
	})
	if !ok {
		t.Fatal("there is no suite")
	}
	s.Hosts = nil // there is no network
	r := NewRunner(box, nil, t.TempDir(), nil, 0)
	_, why, err := r.RunPrepared(t.Context(), Node{}, s, Tree{At: tree, Files: files})
	if err != nil || why == "" || !exists(filepath.Join(r.deps(s.Deps), "package.json")) {
		t.Errorf("%q, %v", why, err)
	}
	if ran, err := os.ReadFile(filepath.Join(r.deps(s.Deps), "spoiled")); err == nil {
		t.Errorf("it ran %s", ran)
	}
}

// TestHeadFetchesWhatBaseCannot tests that a head's own code fetches its dependencies, into a folder of its own, if the
// base's code fails to, or the base can't be laid out.
func TestHeadFetchesWhatBaseCannot(t *testing.T) {
	box := sandboxtest.New(t, sandbox.Options{})
	for name, base := range map[string]Files{"it fails": {}, "it can't be laid out": {"large": {ID: "large"}}} {
		t.Run(name, func(t *testing.T) {
			tree := func(name string) *WorkTree {
				w := NewWorkTree(filepath.Join(t.TempDir(), name), nil)
				w.blobs = func(id string) ([]byte, error) {
					if id == "large" {
						return nil, gitops.ErrTooLarge
					}
					return []byte(id), nil
				}
				return w
			}
			r := NewRunner(box, nil, t.TempDir(), nil, 0)
			r.Base, r.Head = &Tree{At: tree("base"), Files: base}, Files{"fixed": {ID: "a"}}
			head := Tree{At: tree("head"), Files: r.Head}
			if err := head.At.Set(t.Context(), head.Files, nil, nil); err != nil {
				t.Fatal(err)
			}
			s := Suite{Deps: "python", Executes: true, Eager: true, Prepare: "cp fixed " + depsAt,
				Script: "test -e " + depsAt + "/fixed || echo nothing was fetched"}
			rep, why, err := r.RunPrepared(t.Context(), Python{}, s, head)
			if err != nil || why != "" || rep.Log != "" {
				t.Errorf("%q, %q, %v", rep.Log, why, err)
			}
			if exists(filepath.Join(r.deps("python"), "fixed")) {
				t.Error("the head filled the folder that the base uses, too")
			}
		})
	}
}
