package gitops

import (
	"context"
	"maps"
	"slices"
	"testing"
)

// A commit that neither a mirror nor its server has is restored from what was kept of it, with its ancestors, so that
// it can be pushed.
func TestKeptCommits(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	sha := must[string](t)(f.repo.Fetch(ctx, "main"))
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", sha))
	write(t, w.Dir(), map[string]string{"src/main.go": "package main\n", "new/a/b.txt": "b\n"})
	first := must[string](t)(w.Commit(ctx, testSpec("first")))
	w = must[*Workspace](t)(f.repo.Workspace(ctx, "", first))
	write(t, w.Dir(), map[string]string{"src/lib/lib.go": "package lib // changed\n"})
	second := must[string](t)(w.Commit(ctx, testSpec("second")))

	kept := map[string][]byte{}
	for _, c := range must[[]PackedCommit](t)(f.repo.PackMade(ctx, second, 1<<20, sha)) {
		kept[c.SHA] = c.Pack
	}
	if got, want := slices.Sorted(maps.Keys(kept)), slices.Sorted(slices.Values([]string{first, second})); !slices.Equal(
		got, want) {
		t.Fatalf("packed: %v, want %v", got, want)
	}
	if only := must[[]PackedCommit](t)(f.repo.PackMade(ctx, second, 100, first)); len(only) != 1 || only[0].Pack != nil {
		t.Errorf("of at most 100 bytes: %v", only)
	}
	if fetched := must[[]PackedCommit](t)(f.repo.PackMade(ctx, sha, 1<<20)); len(fetched) != 0 {
		t.Errorf("of what was fetched: %v", fetched)
	}

	elsewhere := func(kept map[string][]byte) *Repo {
		return openCache(t, t.TempDir(), CacheOptions{Kept: func(_ context.Context, key, sha string) ([]byte, error) {
			if key != f.repo.client.remote.Key {
				t.Errorf("asked for a commit of %q", key)
			}
			return kept[sha], nil
		}}).Repo(f.remote("app.git"))
	}
	other := elsewhere(kept)
	if err := other.Push(ctx, "sia/issue-1", second, ""); err != nil {
		t.Fatal(err)
	}
	git(t, f.bare, "fsck", "--strict", "--full")
	if got := git(t, f.bare, "show", second+":src/main.go"); got != "package main" {
		t.Errorf("pushed: %q", got)
	}
	// A damaged copy is ignored: the server's is fetched.
	damaged := slices.Clone(kept[second])
	damaged[len(damaged)/2] ^= 1
	if err := elsewhere(map[string][]byte{second: damaged}).FetchCommit(ctx, second); err != nil {
		t.Errorf("with a damaged pack: %v", err)
	}
}
