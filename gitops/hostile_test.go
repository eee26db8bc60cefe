package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A repository asks git to run something, in every possible way. Nothing runs at checkout, commit or push, and the
// files are committed as they are.
func TestNothingOfARepositoryRuns(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	ran := filepath.Join(t.TempDir(), "ran")
	evil := "#!/bin/sh\ntouch " + ran + "\ncat\n"
	write(t, f.work, map[string]string{
		".gitattributes": "* filter=evil diff=evil merge=evil\nnote.txt text eol=crlf ident\nnew.txt !filter\n",
		".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = ext::sh -c touch% " + ran + "\n\tupdate = !touch " + ran +
			"\n[submodule \"b\"]\n\tpath = ../../b\n\turl = file:///\n",
		".lfsconfig":       "[lfs]\n\turl = file:///\n",
		".githooks/commit": evil,
		"note.txt":         "one $Id$\ntwo\n",
	})
	git(t, f.work, "update-index", "--add", "--cacheinfo", "160000,"+f.main+",a")
	head := commitAll(t, f.work, "hostile")
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", head))
	if b, err := os.ReadFile(filepath.Join(w.Dir(), "note.txt")); err != nil || string(b) != "one $Id$\ntwo\n" {
		t.Errorf("checked out: %q, %v", b, err)
	}

	// A configuration that code in the work tree could have written, had .git not been read-only.
	config := "[core]\n\trepositoryformatversion = 0\n\thooksPath = .githooks\n\tfsmonitor = " + ran +
		".sh\n\tsshCommand = " + ran + ".sh\n\teditor = " + ran + ".sh\n" +
		"[filter \"evil\"]\n\tclean = " + ran + ".sh\n\tsmudge = " + ran + ".sh\n\tprocess = " + ran +
		".sh\n\trequired = true\n[diff \"evil\"]\n\tcommand = " + ran + ".sh\n\ttextconv = " + ran + ".sh\n" +
		"[credential]\n\thelper = !touch " + ran + "\n[gpg]\n\tprogram = " + ran +
		".sh\n[commit]\n\tgpgSign = true\n[url \"ext::sh -c touch% " + ran + "\"]\n\tinsteadOf = " + f.url +
		"\n[include]\n\tpath = ../.lfsconfig\n"
	files := map[string]string{".git/config": config, "new.txt": "new\n", "filtered.txt": "left out\n"}
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "pre-push", "post-checkout",
		"reference-transaction", "fsmonitor-watchman"} {
		files[".git/hooks/"+hook] = evil
	}
	write(t, w.Dir(), files)
	write(t, filepath.Dir(ran), map[string]string{"ran.sh": evil})
	for _, p := range []string{ran + ".sh", filepath.Join(w.Dir(), ".git/hooks/pre-commit"),
		filepath.Join(w.Dir(), ".git/hooks/pre-push"), filepath.Join(w.Dir(), ".githooks/commit")} {
		must0(t, os.Chmod(p, 0o755))
	}
	if d := must[Diff](t)(w.Diff(ctx)); !strings.Contains(d.Patch, "+new") {
		t.Errorf("Diff:\n%s", d.Patch)
	}
	sha := must[string](t)(w.Commit(ctx, testSpec("c")))
	write(t, f.work, map[string]string{"note.txt": "one $Id$\n2\n"})
	merged := must[Merged](t)(f.repo.Merge(ctx, head, sha, commitAll(t, f.work, "theirs"), testSpec("m"), MergeLabels{}))
	if got := must[[]byte](t)(f.repo.ReadFile(ctx, merged.SHA, "note.txt", 100)); string(got) != "one $Id$\n2\n" {
		t.Errorf("merged: %q", got)
	}
	must0(t, f.repo.Push(ctx, "b", sha, ""))
	if got := git(t, f.bare, "cat-file", "-p", sha+":new.txt"); got != "new" {
		t.Errorf("committed: %q", got)
	}
	must0(t, w.Remove())
	if _, err := os.Lstat(ran); err == nil {
		t.Error("something of the repository ran on this host")
	}
}

// hostileCommit makes a commit of a tree, on top of base, that git would not make.
func hostileCommit(t *testing.T, bare, base string, tree []treeEntry) string {
	t.Helper()
	return git(t, bare, "commit-tree", "-p", base, "-m", "hostile", hostileTree(t, bare, tree))
}

func hostileTree(t *testing.T, bare string, tree []treeEntry) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tree")
	must0(t, os.WriteFile(file, encodeTree(tree), 0o600))
	return git(t, bare, "hash-object", "-t", "tree", "--literally", "-w", file)
}

// Trees that are malformed, or that describe more files than there are atoms: merging or comparing them soon ends with
// an error, and a successful merge makes a valid tree.
//
//test:plain
//test:thorough
func TestMergeOfHostileTrees(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	hash := func(rev string) plumbing.Hash { return plumbing.NewHash(git(t, f.bare, "rev-parse", rev)) }
	file, folder := hash("main:README.md"), hash("main:src/lib")
	deep := treeEntry{"d", filemode.Dir, folder}
	for range maxDepth + 5 {
		deep.id = plumbing.NewHash(hostileTree(t, f.bare, []treeEntry{deep}))
	}
	var bomb plumbing.Hash
	leaf := []treeEntry{{"f", filemode.Regular, file}}
	for range 30 {
		bomb = plumbing.NewHash(hostileTree(t, f.bare, leaf))
		leaf = nil
		for i := range 10 {
			leaf = append(leaf, treeEntry{string(rune('a' + i)), filemode.Dir, bomb})
		}
	}
	for name, c := range map[string]struct {
		tree  []treeEntry
		fails bool
	}{
		"dot git":        {[]treeEntry{{".GIT", filemode.Dir, folder}}, true},
		"dot dot":        {[]treeEntry{{"..", filemode.Dir, folder}}, true},
		"a slash":        {[]treeEntry{{"a/../../b", filemode.Regular, file}}, true},
		"no name":        {[]treeEntry{{"", filemode.Regular, file}}, true},
		"a mode":         {[]treeEntry{{"x", 0o104755, file}}, true},
		"too deep":       {[]treeEntry{deep}, true},
		"without end":    {[]treeEntry{{"b", filemode.Dir, bomb}}, true},
		"a file twice":   {[]treeEntry{{"x", filemode.Regular, file}, {"x", filemode.Executable, file}}, false},
		"file or folder": {[]treeEntry{{"x", filemode.Regular, file}, {"x", filemode.Dir, folder}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			hostile := hostileCommit(t, f.bare, f.main, c.tree)
			ours := hostileCommit(t, f.bare, f.main, []treeEntry{{"x", filemode.Symlink, file}, {"y", filemode.Regular, file}})
			merges := [][3]string{{f.main, ours, hostile}, {f.main, hostile, ours}, {hostile, ours, f.main}}
			if name == "without end" { // each reaches the limit
				merges = merges[:1]
			}
			for i, at := range merges {
				m, err := f.repo.Merge(ctx, at[0], at[1], at[2], testSpec("m"), MergeLabels{})
				if c.fails {
					if err == nil {
						t.Errorf("merge %d: %v", i, m)
					}
					continue
				}
				must0(t, err)
				dir := must[generation](t)(f.repo.mirror.current(ctx)).dir
				git(t, dir, "-c", "fsck.multipleAuthors=ignore", "fsck", "--strict", "--connectivity-only", m.SHA)
				if out := git(t, dir, "ls-tree", "-r", "--name-only", m.SHA); strings.Count("\n"+out+"\n", "\nx\n") > 1 {
					t.Errorf("merge %d has\n%s", i, out)
				}
			}
			if _, err := f.repo.Diff(ctx, f.main, hostile); (err != nil) != c.fails {
				t.Errorf("Diff: %v", err)
			}
		})
	}
}
