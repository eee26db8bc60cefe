package gitops

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A mirror damaged in any way is replaced, and the commit made in it that the server lacks can still be pushed, since
// it was kept elsewhere.
//
//test:thorough
func TestBrokenMirror(t *testing.T) {
	damage := map[string]func(t *testing.T, m generation, pack string){
		"pack cut short": func(t *testing.T, _ generation, pack string) { must0(t, os.Truncate(pack, 40)) },
		"index is gone": func(t *testing.T, _ generation,
			pack string) {
			must0(t, os.Remove(strings.TrimSuffix(pack, "pack")+"idx"))
		},
		"index is rubbish": func(t *testing.T, _ generation, pack string) {
			overwrite(t, strings.TrimSuffix(pack, "pack")+"idx", 0, "x")
		},
		"offset is rubbish": func(t *testing.T, _ generation,
			pack string) {
			spoilOffsets(t, strings.TrimSuffix(pack, "pack")+"idx")
		},
		"pack is gone": func(t *testing.T, _ generation, pack string) { must0(t, os.Remove(pack)) },
		"bytes flipped": func(t *testing.T, _ generation,
			pack string) {
			overwrite(t, pack, 30, strings.Repeat("\xff", 200))
		},
		"shallow rubbish": func(t *testing.T, m generation, _ string) {
			must0(t, os.WriteFile(filepath.Join(m.dir, "shallow"), []byte("???\n"), 0o600))
			must0(t, os.RemoveAll(m.refPath("fetched", "")))
		},
		"all gone":    func(t *testing.T, m generation, _ string) { must0(t, os.RemoveAll(m.packsDir())) },
		"mirror gone": func(t *testing.T, m generation, _ string) { must0(t, os.RemoveAll(m.dir)) },
		"name rubbish": func(t *testing.T, m generation, _ string) {
			must0(t, os.WriteFile(filepath.Join(m.dir, "..", currentFile), []byte("../x"), 0o600))
		},
	}
	for name, spoil := range damage {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ctx := t.Context()
			must[string](t)(f.repo.Fetch(ctx, "main"))
			m := must[generation](t)(f.repo.mirror.current(ctx))
			packs := must[[]string](t)(filepath.Glob(filepath.Join(m.packsDir(), "*.pack")))
			sha := ""
			lost := strings.HasPrefix(name, "all") || strings.HasPrefix(name, "mirror") || strings.HasPrefix(name, "name")
			if !lost {
				sha = f.change(f.main, "mine")
				f.keep(sha)
			}
			spoil(t, m, packs[0])
			if got := must[[]byte](t)(f.repo.ReadFile(ctx, f.main, "README.md", 100)); string(got) != "# App\n\nHello.\n" {
				t.Errorf("README.md = %q", got)
			}
			w := must[*Workspace](t)(f.repo.Workspace(ctx, "", f.main))
			if got := git(t, w.Dir(), "status", "--porcelain"); got != "" {
				t.Errorf("git status: %s", got)
			}
			git(t, w.Dir(), "fsck")
			if lost {
				return
			}
			if err := f.repo.Push(ctx, "b", sha, ""); err != nil {
				t.Errorf("Push of what was made before: %v", err)
			}
			if d := must[Diff](t)(f.repo.Diff(ctx, f.main, sha)); len(d.Files) != 1 {
				t.Errorf("Diff = %+v", d)
			}
		})
	}
}

// keep makes the cache find what a commit is made of elsewhere; see [CacheOptions.Kept].
func (f *fixture) keep(sha string) {
	f.t.Helper()
	made := must[[]PackedCommit](f.t)(f.repo.PackMade(f.t.Context(), sha, 1<<20))
	f.cache.kept = func(_ context.Context, _, sha string) ([]byte, error) {
		for _, c := range made {
			if c.SHA == sha {
				return c.Pack, nil
			}
		}
		return nil, nil
	}
}

func must0(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func overwrite(t testing.TB, path string, at int64, s string) {
	t.Helper()
	must0(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must0(t, err)
	_, err = f.WriteAt([]byte(s), at)
	must0(t, err)
	must0(t, f.Close())
}

func spoilOffsets(t testing.TB, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must0(t, err)
	const names, trailer = 8 + 256*4, 2 * 20 // before the names of the objects, and after all records
	n := (len(b) - names - trailer) / 28
	overwrite(t, path, int64(names+24*n), string(bytes.Repeat([]byte{0xfe}, 4*n)))
	b, err = os.ReadFile(path)
	must0(t, err)
	sum := sha1.Sum(b[:len(b)-20])
	overwrite(t, path, int64(len(b)-20), string(sum[:]))
}

// A mirror with many packs is replaced, with the commits made here.
func TestOvergrownMirror(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	must[string](t)(f.repo.Fetch(ctx, "main"))
	mine := f.change(f.main, "mine")
	m := must[generation](t)(f.repo.mirror.current(ctx))
	for i := range maxPacks {
		objs := []newObject{inMemory(3, []byte(fmt.Sprint(i)))}
		x := must[indexedPack](t)(packNew(ctx, f.cache.tmp(), objs))
		must0(t, f.repo.mirror.install(ctx, x, "fetched", nil, blobID("x")))
	}
	write(t, f.work, map[string]string{"new": "1"})
	next := commitAll(t, f.work, "next")
	if got := must[string](t)(f.repo.Fetch(ctx, "main")); got != next {
		t.Fatalf("Fetch = %s", got)
	}
	now := must[generation](t)(f.repo.mirror.current(ctx))
	if now == m {
		t.Error("the mirror was not renewed")
	}
	if packs := must[[]string](t)(filepath.Glob(filepath.Join(now.packsDir(), "*.pack"))); len(packs) != 2 {
		t.Errorf("%d packs", len(packs))
	}
	must0(t, f.repo.Push(ctx, "b", mine, ""))
}

// Commits made here don't fill the mirror permanently: the next generation has them in one pack, except those that are
// too old. If one is damaged, the next generation is empty, and they are restored from where they were kept.
func TestMirrorFullOfMadeCommits(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	must[string](t)(f.repo.Fetch(ctx, "main"))
	m := must[generation](t)(f.repo.mirror.current(ctx))
	old := f.change(f.main, "old")
	long := time.Now().Add(-keepMade - time.Hour)
	must0(t, os.Chtimes(m.refPath("made", old), long, long))
	var made []string
	for i := range maxPacks {
		made = append(made, f.change(f.main, fmt.Sprint(i)))
	}
	on := f.change(made[0], "more")
	write(t, f.work, map[string]string{"new": "1"})
	next := commitAll(t, f.work, "next")
	if d := must[Diff](t)(f.repo.Diff(ctx, f.main, next)); len(d.Files) != 1 {
		t.Errorf("Diff = %+v", d)
	}
	now := must[generation](t)(f.repo.mirror.current(ctx))
	if packs := must[[]string](t)(filepath.Glob(filepath.Join(now.packsDir(), "*.pack"))); now == m || len(packs) > 3 {
		t.Errorf("%d packs", len(packs))
	}
	if err := f.repo.FetchCommit(ctx, old); err == nil {
		t.Errorf("%s was carried over", old)
	}
	must0(t, f.repo.mirror.renew(ctx, now))
	now = must[generation](t)(f.repo.mirror.current(ctx))
	f.keep(on)
	for _, pack := range must[[]string](t)(filepath.Glob(filepath.Join(now.packsDir(), "*.pack"))) {
		overwrite(t, pack, 30, "\xff\xff\xff\xff")
	}
	must0(t, f.repo.mirror.renew(ctx, now))
	now = must[generation](t)(f.repo.mirror.current(ctx))
	if packs := must[[]string](t)(filepath.Glob(filepath.Join(now.packsDir(), "*.pack"))); len(packs) != 0 {
		t.Errorf("%d packs of a damaged mirror were carried over", len(packs))
	}
	for i, sha := range []string{made[0], on} {
		must0(t, f.repo.Push(ctx, branchName(i), sha, ""))
	}
	git(t, f.bare, "fsck", "--strict", "--full")
}

// Commits made here outlive renewals of a readable mirror, although their parents, which were fetched, don't. Only one
// that lost its pack is lost.
func TestMirrorRenewedAgain(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base, ours, theirs := f.merges()
	must0(t, f.repo.FetchCommit(ctx, base))
	m := must[generation](t)(f.repo.mirror.current(ctx))
	fetched := must[[]string](t)(filepath.Glob(filepath.Join(m.packsDir(), "*")))
	lost := f.change(base, "lost")
	for _, name := range must[[]string](t)(filepath.Glob(filepath.Join(m.packsDir(), "*"))) {
		if !slices.Contains(fetched, name) {
			must0(t, os.Remove(name))
		}
	}
	on := f.change(f.change(base, "mine"), "more")
	merged := must[Merged](t)(f.repo.Merge(ctx, base, ours, theirs, testSpec("merge"), MergeLabels{"ours", "theirs"})).SHA
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", on))
	write(t, w.Dir(), map[string]string{"dir/sub/k": "other", "dir/new": "new"})
	on = must[string](t)(w.Commit(ctx, testSpec("in a folder")))
	must0(t, w.Remove())
	for range 3 {
		must0(t, f.repo.mirror.renew(ctx, must[generation](t)(f.repo.mirror.current(ctx))))
	}
	for i, sha := range []string{on, merged} {
		must0(t, f.repo.Push(ctx, branchName(i), sha, ""))
	}
	if err := f.repo.FetchCommit(ctx, lost); err == nil {
		t.Errorf("%s was carried over", lost)
	}
	git(t, f.bare, "fsck", "--strict", "--full")
}

func blobID(s string) [20]byte { return objectID(3, []byte(s)) }

// TestMain runs the test binary as a process that will be killed.
func TestMain(m *testing.M) {
	if url := os.Getenv("GITOPS_TEST_URL"); url != "" {
		c, err := OpenCache(os.Getenv("GITOPS_TEST_DIR"), CacheOptions{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		r := c.Repo(Remote{Key: "1/app.git", URL: url,
			Token: func(context.Context) (string, error) { return testToken, nil }})
		w, err := r.Workspace(context.Background(), os.Getenv("GITOPS_TEST_WORK"), os.Getenv("GITOPS_TEST_SHA"))
		fmt.Fprintln(os.Stderr, w, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(template.dir)
	os.Exit(code)
}

// A process killed during a fetch leaves no lock and no partial mirror.
func TestKilledFetch(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	work := filepath.Join(t.TempDir(), "w")
	started := make(chan struct{})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GITOPS_TEST_URL="+f.url+"/app.git", "GITOPS_TEST_DIR="+f.cache.dir,
		"GITOPS_TEST_WORK="+work, "GITOPS_TEST_SHA="+f.main)
	f.on(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			w.Write([]byte("000dpackfile\n0010\x01PACK\x00\x00\x00"))
			w.(http.Flusher).Flush()
			<-started
			cmd.Process.Kill()
			<-r.Context().Done() // the process has ended
			return true
		}
		return false
	})
	must0(t, cmd.Start())
	close(started)
	_ = cmd.Wait()
	f.on(nil)
	w := must[*Workspace](t)(f.repo.Workspace(ctx, work, f.main))
	if got := git(t, w.Dir(), "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
}

// The token is in no file.
func TestTokenNotOnDisk(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	write(t, w.Dir(), map[string]string{"x": "y"})
	must0(t, f.repo.Push(t.Context(), "b", must[string](t)(w.Commit(t.Context(), testSpec("x"))), ""))
	err := filepath.WalkDir(f.cache.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte(testToken)) {
			t.Errorf("%s holds the token", p)
		}
		return err
	})
	must0(t, err)
}

// Only the app can push from a workspace: it has no remote and no credentials.
func TestWorkspaceCannotPush(t *testing.T) {
	f := newFixture(t)
	w := must[*Workspace](t)(f.repo.Workspace(t.Context(), "", f.main))
	if got := git(t, w.Dir(), "remote"); got != "" {
		t.Errorf("it has remotes: %s", got)
	}
	for _, to := range []string{"origin", f.url + "/app.git"} {
		cmd := exec.CommandContext(t.Context(), "git", "push", to, "HEAD:refs/heads/agent")
		cmd.Dir = w.Dir()
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("git push %s: %s", to, out)
		}
	}
	write(t, w.Dir(), map[string]string{"x": "y"})
	must0(t, f.repo.Push(t.Context(), "app", must[string](t)(w.Commit(t.Context(), testSpec("x"))), ""))
	pushed := git(t, f.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads/app", "refs/heads/agent")
	if pushed != "app" {
		t.Errorf("branches that were pushed: %q, want the app's", pushed)
	}
}
