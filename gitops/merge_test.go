package gitops

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fileTree is a tree by path: the content of files, after "x:" of executable ones, "l:" and the
// target of symlinks, "m:" and the commit of submodules.
type fileTree map[string]string

// importTrees makes three commits in a bare repository for each merge, in one pack. The first is the parent of the
// others.
func importTrees(t interface{ Fatalf(string, ...any) }, bare string, merges ...[3]fileTree) [][3]string {
	var in bytes.Buffer
	for n, merge := range merges {
		for i, tree := range merge {
			fmt.Fprintf(&in, "commit refs/merge/%d/%d\nmark :%d\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\n%d\n",
				n, i, 3*n+i+1, i)
			if i > 0 {
				fmt.Fprintf(&in, "from :%d\n", 3*n+1)
			}
			in.WriteString("deleteall\n")
			for p, content := range tree {
				mode := "100644"
				for prefix, m := range map[string]string{"x:": "100755", "l:": "120000", "m:": "160000"} {
					if rest, ok := strings.CutPrefix(content, prefix); ok {
						content, mode = rest, m
					}
				}
				if mode == "160000" {
					fmt.Fprintf(&in, "M %s %s %s\n", mode, content, p)
					continue
				}
				fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, p, len(content), content)
			}
		}
	}
	for i := range 3 * len(merges) {
		fmt.Fprintf(&in, "get-mark :%d\n", i+1)
	}
	cmd := exec.Command("git", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force")
	cmd.Dir, cmd.Stdin = bare, &in
	out, err := cmd.Output()
	shas := strings.Fields(string(out))
	if err != nil || len(shas) != 3*len(merges) {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	at := make([][3]string, len(merges))
	for i := range at {
		at[i] = [3]string(shas[3*i:])
	}
	return at
}

// holdAll puts all packs of the server into the mirror, as if the commits had been fetched.
func (f *fixture) holdAll(commits [][3]string) generation {
	f.t.Helper()
	m := must[generation](f.t)(f.repo.mirror.current(f.t.Context()))
	for _, file := range must[[]string](f.t)(filepath.Glob(filepath.Join(f.bare, "objects/pack/pack-*"))) {
		must0(f.t, copyFile(file, filepath.Join(m.packsDir(), filepath.Base(file))))
	}
	for _, at := range commits {
		for _, sha := range at {
			must0(f.t, m.markCommit("fetched", sha))
		}
	}
	return m
}

// tree reads a commit's files.
func (f *fixture) tree(sha string) fileTree {
	f.t.Helper()
	tree := fileTree{}
	for _, file := range must[[]File](f.t)(f.repo.Files(f.t.Context(), sha, "")) {
		if file.Mode.IsDir() {
			m := must[generation](f.t)(f.repo.mirror.current(f.t.Context()))
			tree[file.Path] = "m:" + git(f.t, m.dir, "rev-parse", sha+":"+file.Path)
			continue
		}
		prefix := map[bool]string{true: "x:"}[file.Mode.Perm() == 0o755]
		if file.Mode&os.ModeSymlink != 0 {
			prefix = "l:"
		}
		tree[file.Path] = prefix + string(must[[]byte](f.t)(f.repo.ReadFile(f.t.Context(), sha, file.Path, 64<<20)))
	}
	return tree
}

// lines is a text of one line for each word.
func lines(words string) string { return strings.Join(strings.Fields(words), "\n") + "\n" }

const (
	subA = "m:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	subB = "m:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	subC = "m:cccccccccccccccccccccccccccccccccccccccc"
)

// Merges with expected results. The clean ones equal those of git.
//
//test:plain
func TestMergeAsGit(t *testing.T) {
	f := newFixture(t)
	text := lines("one two three four five six seven eight nine ten")
	top := strings.Replace(text, "one", "ONE", 1)
	bottom := strings.Replace(text, "ten", "TEN", 1)
	both := strings.Replace(top, "ten", "TEN", 1)
	conflict := "<<<<<<< here\na\n=======\nb\n>>>>>>> there\n"
	large := strings.Repeat("0123456789abcde\n", maxDiffFile/16+1)
	cases := map[string]struct {
		base, ours, theirs, want fileTree
		conflicts                []Conflict
		conflictInGit            bool // there only
	}{
		"different files": {
			base:   fileTree{"a": "1", "d/b": "1", "c": "1"},
			ours:   fileTree{"a": "2", "d/b": "1", "c": "1", "new": "n"},
			theirs: fileTree{"a": "1", "d/b": "2", "d/e/f": "new"},
			want:   fileTree{"a": "2", "d/b": "2", "d/e/f": "new", "new": "n"},
		},
		"different lines": {
			base: fileTree{"d/f": text}, ours: fileTree{"d/f": top}, theirs: fileTree{"d/f": bottom},
			want: fileTree{"d/f": both},
		},
		"the same line": {
			base: fileTree{"f": "0\n"}, ours: fileTree{"f": "a\n"}, theirs: fileTree{"f": "b\n"}, want: fileTree{"f": conflict},
			conflicts: []Conflict{{"f", ConflictContent}},
		},
		"all the same": {
			base: fileTree{"f": "0\n", "g": ""}, ours: fileTree{"f": "a\n", "n": "n"}, theirs: fileTree{"f": "a\n", "n": "n"},
			want: fileTree{"f": "a\n", "n": "n"},
		},
		"both added": {
			ours: fileTree{"same": "s", "f": "a\n"}, theirs: fileTree{"same": "s", "f": "b\n"},
			want: fileTree{"same": "s", "f": conflict}, conflicts: []Conflict{{"f", ConflictAdded}},
		},
		"both added, nearly alike": {
			ours: fileTree{"f": text + "a\n"}, theirs: fileTree{"f": text + "b\n"},
			want: fileTree{"f": text + conflict}, conflicts: []Conflict{{"f", ConflictAdded}},
		},
		"both added, one empty": {
			ours: fileTree{"f": ""}, theirs: fileTree{"f": "b\n"},
			want: fileTree{"f": "b\n"}, // as in git: an empty base conflicts with nothing
		},
		"both added, of another mode": {
			ours: fileTree{"f": "a\n"}, theirs: fileTree{"f": "x:a\n"}, want: fileTree{"f": "a\n"},
			conflicts: []Conflict{{"f", ConflictMode}},
		},
		"deleted and changed": {
			base: fileTree{"a": text, "b": text + "b", "c": "c", "d": "d"}, ours: fileTree{"b": top + "b", "d": "d"},
			theirs: fileTree{"a": bottom, "c": "c"}, want: fileTree{"a": bottom, "b": top + "b"},
			conflicts: []Conflict{{"a", ConflictDeletedByUs}, {"b", ConflictDeletedByThem}},
		},
		"deleted and made executable": {
			base: fileTree{"a": text}, ours: fileTree{}, theirs: fileTree{"a": "x:" + text}, want: fileTree{"a": "x:" + text},
			conflicts: []Conflict{{"a", ConflictDeletedByUs}},
		},
		"deleted by both": {
			base: fileTree{"a": "a", "d/x": "x", "k": ""}, ours: fileTree{"k": ""}, theirs: fileTree{"k": ""},
			want: fileTree{"k": ""},
		},
		"everything is deleted": {
			base: fileTree{"a": "a", "d/x": "x"}, ours: fileTree{"a": "a"}, theirs: fileTree{"d/x": "x"}, want: fileTree{},
		},
		"binary": {
			base: fileTree{"f": "\x00", "g": "\x00", "h": text}, ours: fileTree{"f": "\x001", "g": "\x00", "h": top},
			theirs: fileTree{"f": "\x002", "g": "\x002", "h": "\x00"}, want: fileTree{"f": "\x001", "g": "\x002", "h": top},
			conflicts: []Conflict{{"f", ConflictBinary}, {"h", ConflictBinary}},
		},
		"large": {
			base: fileTree{"f": large, "g": large, "h": text}, ours: fileTree{"f": large + "a", "g": large, "h": top},
			theirs:    fileTree{"f": large + "b", "g": large + "b", "h": large},
			want:      fileTree{"f": large + "a", "g": large + "b", "h": top},
			conflicts: []Conflict{{"f", ConflictTooLarge}, {"h", ConflictTooLarge}},
		},
		"mode and content": {
			base:   fileTree{"f": text, "g": "x:" + text, "h": "0\n"},
			ours:   fileTree{"f": "x:" + text, "g": "x:" + top, "h": "x:a\n"},
			theirs: fileTree{"f": top, "g": bottom, "h": "b\n"},
			want:   fileTree{"f": "x:" + top, "g": both, "h": "x:" + conflict}, conflicts: []Conflict{{"h", ConflictContent}},
		},
		"symlinks": {
			base: fileTree{"l": "l:a", "m": "l:a", "n": "l:a"}, ours: fileTree{"l": "l:b", "m": "l:b", "n": "l:a"},
			theirs: fileTree{"l": "l:c", "m": "l:b", "n": "l:c"}, want: fileTree{"l": "l:b", "m": "l:b", "n": "l:c"},
			conflicts: []Conflict{{"l", ConflictSymlink}},
		},
		"submodules": {
			base: fileTree{"s": subA, "t": subA}, ours: fileTree{"s": subB, "t": subA}, theirs: fileTree{"s": subC, "t": subC},
			want: fileTree{"s": subB, "t": subC}, conflicts: []Conflict{{"s", ConflictSubmodule}},
		},
		"another kind": {
			base: fileTree{"a": text, "b": "b", "c": "0\n"}, ours: fileTree{"a": "l:x", "b": "b", "c": subA},
			theirs: fileTree{"a": top, "b": "l:x", "c": "l:x"}, want: fileTree{"a": "l:x", "b": "l:x", "c": subA},
			conflicts: []Conflict{{"a", ConflictType}, {"c", ConflictType}},
		},
		"both made a file of a symlink": {
			base: fileTree{"f": "l:x"}, ours: fileTree{"f": "a\n"}, theirs: fileTree{"f": "b\n"}, want: fileTree{"f": conflict},
			conflicts: []Conflict{{"f", ConflictContent}},
		},
		"renamed there, changed here": {
			base: fileTree{"old": text, "k": ""}, ours: fileTree{"old": top, "k": ""}, theirs: fileTree{"d/new": text, "k": ""},
			want: fileTree{"d/new": top, "k": ""},
		},
		"renamed here, changed there": {
			base: fileTree{"old": text}, ours: fileTree{"d/new": text}, theirs: fileTree{"old": "x:" + top},
			want: fileTree{"d/new": "x:" + top},
		},
		"renamed and changed on both sides": {
			base: fileTree{"old": text}, ours: fileTree{"new": top}, theirs: fileTree{"old": bottom},
			want: fileTree{"new": both},
		},
		"renamed, and the same line changed": {
			base: fileTree{"old": text + "0\n"}, ours: fileTree{"old": text + "a\n"}, theirs: fileTree{"new": text + "b\n"},
			want: fileTree{"new": text + conflict}, conflicts: []Conflict{{"new", ConflictContent}},
		},
		"a folder renamed": {
			base: fileTree{"d/a": text, "d/b": "b", "d/l": "l:1"}, ours: fileTree{"e/a": text, "e/b": "b", "e/l": "l:1"},
			theirs: fileTree{"d/a": top, "d/b": "b", "d/l": "l:2"}, want: fileTree{"e/a": top, "e/b": "b", "e/l": "l:2"},
		},
		"renamed by both to one name": {
			base: fileTree{"old": text}, ours: fileTree{"new": text}, theirs: fileTree{"new": text}, want: fileTree{"new": text},
		},
		"renamed by both to two names": {
			base: fileTree{"old": text}, ours: fileTree{"n1": text}, theirs: fileTree{"n2": text},
			want: fileTree{"n1": text, "n2": text}, conflictInGit: true,
		},
		"renamed to where the other added": {
			base: fileTree{"old": text}, ours: fileTree{"old": top, "new": "a\n"}, theirs: fileTree{"new": text},
			want:      fileTree{"old": top, "new": "<<<<<<< here\na\n=======\n" + text + ">>>>>>> there\n"},
			conflicts: []Conflict{{"new", ConflictAdded}, {"old", ConflictDeletedByThem}},
		},
		"renamed into what is a file there": {
			base: fileTree{"old": text}, ours: fileTree{"old": top, "d": "file"}, theirs: fileTree{"d/new": text},
			want:      fileTree{"old": top, "d": "file"},
			conflicts: []Conflict{{"d", ConflictFileFolder}, {"old", ConflictDeletedByThem}},
		},
		"swapped there, changed here": {
			base: fileTree{"a": text, "b": "b\n"}, ours: fileTree{"a": top, "b": "b\n"}, theirs: fileTree{"a": "b\n", "b": text},
			want:      fileTree{"a": "<<<<<<< here\n" + top + "=======\nb\n>>>>>>> there\n", "b": text},
			conflicts: []Conflict{{"a", ConflictContent}},
		},
		"renamed into a folder of its name there": {
			base: fileTree{"old": text}, ours: fileTree{"old": top}, theirs: fileTree{"old/new": bottom},
			want: fileTree{"old/new": both},
		},
		"renamed into a folder of its name here": {
			base: fileTree{"old": text}, ours: fileTree{"old/new": bottom}, theirs: fileTree{"old": top},
			want: fileTree{"old/new": both},
		},
		"an empty file deleted and another added": {
			base: fileTree{"old": "", "k": "k"}, ours: fileTree{"old": text, "k": "k"}, theirs: fileTree{"new": "", "k": "k"},
			want: fileTree{"old": text, "new": "", "k": "k"}, conflicts: []Conflict{{"old", ConflictDeletedByThem}},
		},
		"an empty file deleted here and another added": {
			base: fileTree{"old": "", "k": "k"}, ours: fileTree{"new": "", "k": "k"}, theirs: fileTree{"old": text, "k": "k"},
			want: fileTree{"old": text, "new": "", "k": "k"}, conflicts: []Conflict{{"old", ConflictDeletedByUs}},
		},
		"renamed here, deleted there": {
			base: fileTree{"old": text, "k": ""}, ours: fileTree{"new": top, "k": ""}, theirs: fileTree{"k": ""},
			want: fileTree{"new": top, "k": ""}, conflictInGit: true,
		},
		"renamed here, a symlink there": {
			base: fileTree{"old": text}, ours: fileTree{"new": text}, theirs: fileTree{"old": "l:x"},
			want:      fileTree{"new": text, "old": "l:x"},
			conflicts: []Conflict{{"old", ConflictDeletedByUs}},
		},
		"a file became a folder": {
			base: fileTree{"a": "a", "k": "1"}, ours: fileTree{"a": "a", "k": "2"}, theirs: fileTree{"a/b": "b", "k": "1"},
			want: fileTree{"a/b": "b", "k": "2"},
		},
		"a folder became a file": {
			base: fileTree{"a/b": "b", "a/c": "c", "k": "1"}, ours: fileTree{"a/b": "b", "a/c": "c", "k": "2"},
			theirs: fileTree{"a": "a", "k": "1"}, want: fileTree{"a": "a", "k": "2"},
		},
		"both made the same folder of a file": {
			base: fileTree{"a": "a"}, ours: fileTree{"a/b": "b"}, theirs: fileTree{"a/b": "b", "a/c": "c"},
			want: fileTree{"a/b": "b", "a/c": "c"},
		},
		"a file here, a folder there": {
			ours: fileTree{"a": "a"}, theirs: fileTree{"a/b": "b", "a/c/d": "d"}, want: fileTree{"a": "a"},
			conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"a folder here, a file there": {
			ours: fileTree{"a/b": "b", "a/c/d": "d"}, theirs: fileTree{"a": "a"}, want: fileTree{"a/b": "b", "a/c/d": "d"},
			conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"a folder became a file, and its file changed": {
			base: fileTree{"a/b": text, "a/c": "c"}, ours: fileTree{"a/b": top, "a/c": "c"}, theirs: fileTree{"a": "a"},
			want:      fileTree{"a/b": top},
			conflicts: []Conflict{{"a", ConflictFileFolder}, {"a/b", ConflictDeletedByThem}},
		},
		"a folder became a file here, and its file changed": {
			base: fileTree{"a/b": text, "a/c": "c"}, ours: fileTree{"a": "a"}, theirs: fileTree{"a/b": top, "a/c": "c"},
			want: fileTree{"a": "a"}, conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"a file became a folder, and it changed": {
			base: fileTree{"a": text}, ours: fileTree{"a": top}, theirs: fileTree{"a/b": "b"}, want: fileTree{"a": top},
			conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"a file became a folder here, and it changed": {
			base: fileTree{"a": text}, ours: fileTree{"a/b": "b"}, theirs: fileTree{"a": top}, want: fileTree{"a/b": "b"},
			conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"a folder became a submodule": {
			base: fileTree{"a/b": text, "k": "1"}, ours: fileTree{"a": subA, "k": "1"}, theirs: fileTree{"a/b": top, "k": "2"},
			want: fileTree{"a": subA, "k": "2"}, conflicts: []Conflict{{"a", ConflictFileFolder}},
		},
		"CRLF": {
			base: fileTree{"f": "1\r\n2\r\n3\r\n"},
			ours: fileTree{"f": "a\r\n2\r\n3\r\n"}, theirs: fileTree{"f": "1\r\n2\r\nb\r\n"},
			want: fileTree{"f": "a\r\n2\r\nb\r\n"},
		},
		"odd names": {
			base:   fileTree{"a ": "1", ".gitmodules": "", "wörld/~": "1"},
			ours:   fileTree{"a ": "2", ".gitmodules": "", "wörld/~": "1"},
			theirs: fileTree{"a ": "1", ".gitmodules": "evil", "wörld/~": "2", "-rf": "", "a\\b": "c"},
			want:   fileTree{"a ": "2", ".gitmodules": "evil", "wörld/~": "2", "-rf": "", "a\\b": "c"},
		},
	}
	names := slices.Sorted(maps.Keys(cases))
	var merges [][3]fileTree
	for _, name := range names {
		merges = append(merges, [3]fileTree{cases[name].base, cases[name].ours, cases[name].theirs})
	}
	commits := importTrees(t, f.bare, merges...)
	dir := f.holdAll(commits).dir
	inGit := mergedByGit(t, f.bare, commits)
	var made []string
	for i, name := range names {
		c, at := cases[name], commits[i]
		t.Run(name, func(t *testing.T) {
			labels := MergeLabels{"here", "there"}
			m := must[Merged](t)(f.repo.Merge(t.Context(), at[0], at[1], at[2], testSpec("merge"), labels))
			made = append(made, m.SHA)
			if diff := cmp.Diff(c.conflicts, m.Conflicts); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, f.tree(m.SHA)); diff != "" {
				t.Errorf("files (-want +got):\n%.2000s", diff)
			}
			if clean := c.conflicts == nil && !c.conflictInGit; (inGit[i] != "") != clean {
				t.Errorf("in git the tree is %q, clean %v", inGit[i], clean)
			}
			again := must[Merged](t)(f.repo.Merge(t.Context(), at[0], at[1], at[2], testSpec("merge"), labels))
			if diff := cmp.Diff(m, again); diff != "" {
				t.Errorf("merged again:\n%s", diff)
			}
			var paths, marked []string
			for _, c := range m.Conflicts {
				paths = append(paths, c.Path)
				if c.Kind == ConflictContent || c.Kind == ConflictAdded {
					marked = append(marked, c.Path)
				}
			}
			if got := must[[]string](t)(f.repo.Unresolved(t.Context(), m.SHA, paths)); !slices.Equal(got, marked) {
				t.Errorf("Unresolved = %q, want %q", got, marked)
			}
		})
	}
	seen := git(t, dir, append([]string{"log", "--no-walk=unsorted", "--format=%T %P"}, made...)...)
	for i, line := range strings.Split(seen, "\n") {
		tree, parents, _ := strings.Cut(line, " ")
		if inGit[i] != "" && tree != inGit[i] || parents != commits[i][1]+" "+commits[i][2] {
			t.Errorf("%s: %s, in git the tree is %s", names[i], line, inGit[i])
		}
	}
	git(t, dir, "fsck", "--strict")
}

// mergedByGit returns the trees of git's merges; "" where git finds conflicts.
func mergedByGit(t interface{ Fatalf(string, ...any) }, bare string, merges [][3]string) (trees []string) {
	var in bytes.Buffer
	for _, at := range merges {
		fmt.Fprintln(&in, at[1], at[2])
	}
	cmd := exec.Command("git", "-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "--no-messages",
		"--name-only", "--stdin")
	cmd.Dir, cmd.Stdin = bare, &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git merge-tree: %v\n%s", err, out)
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00\x00"), "\x00\x00") {
		clean, tree, _ := strings.Cut(record, "\x00")
		if clean != "1" {
			tree = ""
		}
		trees = append(trees, tree)
	}
	return trees
}
