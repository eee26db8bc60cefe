package gitops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fillMirror adds packs to a mirror until it has n.
func fillMirror(t *testing.T, r *Repo, n int) generation {
	t.Helper()
	m := must[generation](t)(r.mirror.current(t.Context()))
	for i := len(must[[]string](t)(filepath.Glob(filepath.Join(m.packsDir(), "*.pack")))); i < n; i++ {
		content := []byte(fmt.Sprint("filling ", i))
		objs := []newObject{inMemory(3, content)}
		x := must[indexedPack](t)(packNew(t.Context(), r.cache.tmp(), objs))
		must0(t, r.mirror.install(t.Context(), x, "fetched", nil, blobID("x")))
	}
	return m
}

// A commit made here has in its own pack also the objects of fetched commits other than its parents: the mirror may
// lose those.
func TestCommitIsWhole(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	files := map[string]string{"new/folder/x": "x\n", "y": "y\n"}
	git(t, f.work, "checkout", "-q", "-b", "other")
	write(t, f.work, files)
	other := commitAll(t, f.work, "other")
	must0(t, f.repo.FetchCommit(ctx, other))
	w := f.workspace()
	write(t, w.Dir(), files)
	fromWorkspace := must[string](t)(w.Commit(ctx, testSpec("mine")))
	git(t, f.bare, "branch", "-D", "other")
	git(t, f.bare, "gc", "-q", "--prune=now")
	must0(t, f.repo.mirror.renew(ctx, must[generation](t)(f.repo.mirror.current(ctx))))
	must0(t, f.repo.Push(ctx, "b", fromWorkspace, ""))
	git(t, f.bare, "fsck", "--strict", "--full")
}

// The mirror is replaced while the second of two compared commits is fetched.
func TestDiffInOvergrownMirror(t *testing.T) {
	f := newFixture(t)
	write(t, f.work, map[string]string{"new": "1"})
	next := commitAll(t, f.work, "next")
	m := fillMirror(t, f.repo, maxPacks-1)
	if d := must[Diff](t)(f.repo.Diff(t.Context(), f.main, next)); len(d.Files) != 1 {
		t.Errorf("Diff = %+v", d)
	}
	if now := must[generation](t)(f.repo.mirror.current(t.Context())); now == m {
		t.Error("the mirror was not renewed")
	}
}

// Commits in the mirror are compared without the server; missing ones are not fetched.
func TestDiffHere(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	w := f.workspace()
	write(t, w.Dir(), map[string]string{"a": "1\n", "b": "2\n", "c": "3\n"})
	made := must[string](t)(w.Commit(ctx, testSpec("mine")))
	write(t, f.work, map[string]string{"new": "1"})
	next := commitAll(t, f.work, "next")
	f.repo.client.url.Host = "127.0.0.1:1" // nothing listens there
	d, more, err := f.repo.DiffHere(ctx, f.main, made, 100)
	if err != nil || len(d.Files) != 3 || more != 0 || d.Added != 3 {
		t.Errorf("%+v, %d more, %v", d, more, err)
	}
	if d, more, err = f.repo.DiffHere(ctx, f.main, made, 2); err != nil || len(d.Files) != 2 || more != 1 {
		t.Errorf("two of them: %+v, %d more, %v", d, more, err)
	}
	for _, sha := range []string{next, strings.Repeat("0", 40)} {
		if _, _, err := f.repo.DiffHere(ctx, f.main, sha, 100); !errors.Is(err, ErrNotHere) {
			t.Errorf("%s, which is not here: %v", sha, err)
		}
	}
	if _, _, err := f.repo.DiffHere(ctx, "main", made, 100); err == nil || errors.Is(err, ErrNotHere) {
		t.Errorf("a name for a commit: %v", err)
	}
	must0(t, os.RemoveAll(must[generation](t)(f.repo.mirror.current(ctx)).packsDir()))
	if _, _, err := f.repo.DiffHere(ctx, f.main, made, 100); !errors.Is(err, ErrNotHere) {
		t.Errorf("a broken mirror: %v", err)
	}
}

// A large file is stored as a delta of another. A comparison would need both in memory: neither is read.
func TestDiffOfLargeDeltas(t *testing.T) {
	f := newFixture(t)
	large := strings.Repeat("0123456789abcdef", (maxComparedDelta+1<<20)/16)
	edited := large[:1000] + "x" + large[1000:]
	write(t, f.work, map[string]string{"large": large, "small": "a\n"})
	was := commitAll(t, f.work, "large")
	write(t, f.work, map[string]string{"large": edited, "small": "b\n"})
	now := commitAll(t, f.work, "edited")
	git(t, f.bare, "repack", "-q", "-a", "-d", "-f")
	must0(t, errors.Join(f.repo.FetchCommit(t.Context(), was), f.repo.FetchCommit(t.Context(), now)))
	o := must[*packedObjects](t)(openObjects(must[generation](t)(f.repo.mirror.current(t.Context())).dir))
	defer o.close()
	deltas := 0
	for _, content := range []string{large, edited} {
		p, off, err := o.findObject(blobID(content))
		must0(t, err)
		e := must[packEntry](t)(p.openEntry(off))
		if e.Type.IsDelta() {
			deltas++
		}
		must0(t, e.Close())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := must[Diff](t)(f.repo.Diff(t.Context(), was, now))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; deltas != 1 || took >= maxComparedDelta {
		t.Errorf("%d MiB for %d deltas", took>>20, deltas)
	}
	if !d.Truncated || len(d.Files) != 2 || d.Added != 1 || d.Files[0].Hunks != nil || d.Files[0].Binary {
		t.Errorf("%+v", d)
	}
}

// Files and folders that were only moved are not sent again.
func TestPushOfMoves(t *testing.T) {
	f := newFixture(t)
	w := f.workspace()
	must0(t, os.Rename(filepath.Join(w.Dir(), "src"), filepath.Join(w.Dir(), "source")))
	must0(t, os.Rename(filepath.Join(w.Dir(), "run.sh"), filepath.Join(w.Dir(), "source/run.sh")))
	must0(t, os.Rename(filepath.Join(w.Dir(), "source/lib/data.in"), filepath.Join(w.Dir(), "data")))
	sha := must[string](t)(w.Commit(t.Context(), testSpec("moves")))
	sent := f.sentObjects("b", sha, "")
	if want := f.lackedObjects(sha, f.main); len(sent) != len(want) {
		t.Errorf("sent %q, the server lacked %q", sent, want)
	}
}
