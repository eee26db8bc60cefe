package git

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The simulator's answers without git equal git's.
func TestSameAsGit(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sameAsGit(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

var paths = []string{"a", "b/c", "b/d", "b.d", "b/e/f", "g.sh", ".github/w.yml"}

func sameAsGit(t *testing.T, r *rand.Rand) {
	var stores []*Store
	for range 2 {
		g, err := New(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, g)
	}
	stores[1].asks = true
	by := Signature{Name: "ada", Email: "1+ada@users.noreply.github.com", At: time.Unix(1700000000, 0)}
	both(t, "create", stores, func(g *Store) (any, error) {
		return g.Create(1, Spec{Files: map[string]string{"a": "1\n", "b/c": "2\n", "b.d": "3"}}, by)
	})
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	refs, err := stores[0].Refs(stores[0].Path(1))
	if err != nil {
		t.Fatal(err)
	}
	shas := []string{refs["refs/heads/main"]}
	for n := range 1 + r.IntN(8) {
		by.At = by.At.Add(time.Second)
		parents := []string{one(shas...)}
		if other := one(shas...); r.IntN(4) == 0 && other != parents[0] {
			parents = append(parents, other)
		}
		files := map[string]string{}
		for range 1 + r.IntN(2) {
			files[one(paths...)] = one("1\n", "2\n", "x", "", "one\ntwo\nthree\n", Deleted)
		}
		made := both(t, "commit", stores, func(g *Store) (any, error) {
			return g.CommitFiles(g.Path(1), parents, files, fmt.Sprint("commit ", n), by)
		})
		if made == nil {
			continue
		}
		shas = append(shas, made.(string))
		ref := "refs/heads/" + one("main", "other", "deep/er", "deep")
		both(t, "ref", stores, func(g *Store) (any, error) {
			now, err := g.Refs(g.Path(1))
			if err != nil {
				return nil, err
			}
			return nil, g.SetRef(g.Path(1), ref, made.(string), now[ref])
		})
	}
	same(t, r, stores, shas)
	// What git wrote is read without it, too.
	read, err := New(t.Context(), stores[1].root)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r, []*Store{read, stores[1]}, shas)
	if c, ok := read.commitHere(read.Path(1), shas[len(shas)-1]); !ok {
		t.Errorf("git was asked for the last commit: %+v", c)
	}
}

// same compares the results of two stores for a repository with some commits.
func same(t *testing.T, r *rand.Rand, stores []*Store, shas []string) {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	both(t, "refs", stores, func(g *Store) (any, error) { return g.Refs(g.Path(1)) })
	for range 3 {
		a, b := one(shas...), one(shas...)
		both(t, "compare", stores, func(g *Store) (any, error) { return g.Compare(g.Path(1), a, b), nil })
		both(t, "commits", stores, func(g *Store) (any, error) { return g.CommitsIn(g.Path(1), a, "^"+b) })
		both(t, "facts", stores, func(g *Store) (any, error) { return g.Facts(g.Path(1), a), nil })
		both(t, "between", stores, func(g *Store) (any, error) { return g.Between(g.Path(1), a, b), nil })
		both(t, "ancestor", stores, func(g *Store) (any, error) { return g.IsAncestor(g.Path(1), a, b), nil })
		both(t, "merge", stores, func(g *Store) (any, error) {
			tree, clean := g.MergeTree(g.Path(1), a, b)
			return fmt.Sprint(tree, clean), nil
		})
		folder, file := one("", "b", "b/e", "none"), one(paths...)
		both(t, "list "+folder, stores, func(g *Store) (any, error) {
			flat, err := g.List(g.Path(1), a, folder, false)
			if err != nil {
				return nil, err
			}
			deep, err := g.List(g.Path(1), a, folder, true)
			return [][]Entry{flat, deep}, err
		})
		both(t, "file "+file, stores, func(g *Store) (any, error) { return g.BlobAt(g.Path(1), a, file) })
	}
}

// both does the same in two stores, and returns the result; nil if it failed.
func both(t *testing.T, what string, stores []*Store, do func(*Store) (any, error)) any {
	t.Helper()
	got, err := do(stores[0])
	want, wantErr := do(stores[1])
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, and git says %v", what, err, wantErr)
	}
	if err != nil {
		return nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s differs from git's (-git +here):\n%s", what, diff)
	}
	return got
}
