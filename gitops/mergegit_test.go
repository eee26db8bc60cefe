package gitops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"
)

// Of trees without renames, a merge is clean when git's is, and then the same.
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
	rapid.Check(t, func(rt *rapid.T) {
		base := tree.Draw(rt, "base")
		side := func(name string) fileTree { // mostly as base
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
		at := importTrees(rt, bare, [3]fileTree{base, side("ours"), side("theirs")})[0]
		out, err := gitTry(bare, "-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", at[1], at[2])
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			rt.Fatalf("git merge-tree: %v\n%s", err, out)
		}
		o, err := openObjects(bare)
		if err != nil {
			rt.Fatal(err)
		}
		defer o.close()
		trees, err := o.treesOf([]plumbing.Hash{plumbing.NewHash(at[0]), plumbing.NewHash(at[1]), plumbing.NewHash(at[2])})
		if err != nil {
			rt.Fatal(err)
		}
		m, err := mergeTrees(context.Background(), o, trees[0], trees[1], trees[2], MergeLabels{})
		if err != nil {
			rt.Fatal(err)
		}
		merged, err2 := o.editTree(trees[1], m.edits, func(plumbing.Hash, []byte) {})
		clean := len(m.conflicts) == 0
		if err2 != nil || clean != (err == nil && exit == nil) || clean && merged.String() != strings.TrimSpace(out) {
			rt.Fatalf("tree %s, %v, conflicts %v; in git %v:\n%s", merged, err2, m.conflicts, exit, out)
		}
	})
}
