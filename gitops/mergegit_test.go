package gitops

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"
)

// A merge of trees without renames is clean when git's is, and then equals it.
func TestMergeEqualsGit(t *testing.T) {
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	paths := []string{"a", "a/b", "a/b/c", "d", "d/e", "f"}
	tree := rapid.Custom(func(t *rapid.T) fileTree {
		out := fileTree{}
		for _, p := range paths {
			blocked := false
			for q := range out {
				blocked = blocked || strings.HasPrefix(p, q+"/")
			}
			if blocked || !rapid.Bool().Draw(t, "present") {
				continue
			}
			content := ""
			for i := range 5 {
				content += fmt.Sprint(p, i, rapid.SampledFrom([]string{"", "", "", "x"}).Draw(t, "line"), "\n")
			}
			kind := rapid.SampledFrom([]string{"", "", "", "", "x:", "l:to ", "m:"}).Draw(t, "kind")
			if kind == "m:" {
				content = fmt.Sprintf("%0*x", 40, p+rapid.SampledFrom([]string{"1", "2"}).Draw(t, "commit"))
			}
			out[p] = kind + content
		}
		return out
	})
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		if count++; count > 8 {
			return // each input runs git, for five merges
		}
		var merges [][3]fileTree
		for range 5 {
			base := tree.Draw(rt, "base")
			side := func(name string) fileTree { // mostly the same as base
				out, other := maps.Clone(base), tree.Draw(rt, name)
				for _, top := range []string{"a", "d", "f"} {
					if rapid.IntRange(0, 2).Draw(rt, name) > 0 {
						continue
					}
					below := func(p, _ string) bool { return p == top || strings.HasPrefix(p, top+"/") }
					maps.DeleteFunc(out, below)
					for p, content := range other {
						if below(p, "") {
							out[p] = content
						}
					}
				}
				return out
			}
			merges = append(merges, [3]fileTree{base, side("ours"), side("theirs")})
		}
		commits := importTrees(rt, bare, merges...)
		inGit := mergedByGit(rt, bare, commits)
		o, err := openObjects(bare)
		if err != nil {
			rt.Fatal(err)
		}
		defer o.close()
		for i, at := range commits {
			trees, err := o.treesOf([]plumbing.Hash{plumbing.NewHash(at[0]), plumbing.NewHash(at[1]), plumbing.NewHash(at[2])})
			if err != nil {
				rt.Fatal(err)
			}
			m, err := mergeTrees(context.Background(), o, trees[0], trees[1], trees[2], MergeLabels{})
			if err != nil {
				rt.Fatal(err)
			}
			merged, err := o.editTree(trees[1], m.edits, func(plumbing.Hash, []byte) {})
			clean := len(m.conflicts) == 0
			if err != nil || clean != (inGit[i] != "") || clean && merged.String() != inGit[i] {
				rt.Fatalf("tree %s, %v, conflicts %v; in git %q", merged, err, m.conflicts, inGit[i])
			}
		}
	})
}

// Properties of every merge of trees, with files that were moved, copied and swapped: a side without changes has no
// effect, both sides are treated alike, and no path is both a file and a folder.
func TestMergeTreesProperty(t *testing.T) {
	bare := t.TempDir()
	git(t, bare, "init", "-q", "--bare")
	contents := []string{"l:a", ""}
	for _, c := range []string{"one", "two"} {
		text := lines(strings.Repeat(c+" ", 3) + c + "4 " + c + "5 " + c + "6")
		contents = append(contents, text, text+"end\n", "start\n"+text, "x:"+text)
	}
	tree := rapid.Custom(func(t *rapid.T) fileTree {
		out := fileTree{}
		for _, p := range []string{"a", "b", "a/b", "a/b/c", "d", "d/a", "d/b", "e/f"} {
			blocked := false
			for q := range out {
				blocked = blocked || strings.HasPrefix(p, q+"/")
			}
			if !blocked && rapid.Bool().Draw(t, "present") {
				out[p] = rapid.SampledFrom(contents).Draw(t, "content")
			}
		}
		return out
	})
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		if count++; count > 8 {
			return // each input runs git, for five merges
		}
		var merges [][3]fileTree
		for range 5 {
			merges = append(merges, [3]fileTree{tree.Draw(rt, "base"), tree.Draw(rt, "ours"), tree.Draw(rt, "theirs")})
		}
		commits := importTrees(rt, bare, merges...)
		o, err := openObjects(bare)
		if err != nil {
			rt.Fatal(err)
		}
		defer o.close()
		for _, at := range commits {
			trees, err := o.treesOf([]plumbing.Hash{plumbing.NewHash(at[0]), plumbing.NewHash(at[1]), plumbing.NewHash(at[2])})
			if err != nil {
				rt.Fatal(err)
			}
			merge := func(base, ours, theirs plumbing.Hash) (plumbing.Hash, bool) {
				m, err := mergeTrees(context.Background(), o, base, ours, theirs, MergeLabels{})
				if err != nil {
					rt.Fatal(err)
				}
				made := map[plumbing.Hash][]byte{}
				merged, err := o.editTree(ours, m.edits, func(h plumbing.Hash, b []byte) { made[h] = b })
				if err != nil {
					rt.Fatal(err)
				}
				paths := map[string]bool{}
				var walk func(dir string, tree plumbing.Hash)
				walk = func(dir string, tree plumbing.Hash) {
					entries, err := parseTree(made[tree])
					if made[tree] == nil {
						entries, err = o.readTree(tree)
					}
					if err != nil {
						rt.Fatal(err)
					}
					for _, e := range entries {
						p := path.Join(dir, e.name)
						if paths[p] {
							rt.Fatalf("%s is there twice", p)
						}
						paths[p] = true
						if e.isDir() {
							walk(p, e.id)
						}
					}
				}
				walk("", merged)
				for p, kind := range m.conflicts {
					if !paths[p] {
						rt.Fatalf("%s where nothing is: %v", p, kind)
					}
				}
				return merged, len(m.conflicts) == 0
			}
			base, ours, theirs := trees[0], trees[1], trees[2]
			for _, c := range [][4]plumbing.Hash{{base, ours, base, ours}, {base, base, theirs, theirs},
				{base, ours, ours, ours}} {
				if got, clean := merge(c[0], c[1], c[2]); !clean || got != c[3] {
					rt.Fatalf("merge of %v: %v, clean %v", c, got, clean)
				}
			}
			one, clean := merge(base, ours, theirs)
			two, alsoClean := merge(base, theirs, ours)
			if clean != alsoClean || clean && one != two {
				rt.Fatalf("the sides are not treated alike: %s, clean %v; %s, clean %v", one, clean, two, alsoClean)
			}
		}
	})
}
