package git

import (
	"regexp"
	"strconv"
	"strings"
)

// FileChange is one changed file.
type FileChange struct {
	Path, From         string // from is set for a rename
	Status             string // added, removed, modified or renamed
	Blob               string
	Additions, Deleted int
	Patch              string // hunks only; empty for binary files
}

// Comparison is the difference of two commits, as in GitHub's three-dot compare: commits on head and not on base, files
// against the merge base.
type Comparison struct {
	MergeBase     string
	Ahead, Behind int
	Commits       []Commit
	Files         []FileChange
}

// Totals are the lines added and deleted in all files.
func (c Comparison) Totals() (additions, deletions int) {
	for _, f := range c.Files {
		additions += f.Additions
		deletions += f.Deleted
	}
	return additions, deletions
}

// Compare compares two commits; a missing commit gives an empty comparison.
func (g *Store) Compare(dir, base, head string) Comparison {
	key := dir + base + ".." + head
	c, ok := g.diffs.get(key)
	if ok {
		return c
	}
	if !g.asks {
		if c, ok = g.compareHere(dir, base, head); ok {
			g.diffs.put(key, c)
			return c
		}
	}
	c = Comparison{}
	mb, err := g.line(dir, "merge-base", base, head)
	if err != nil {
		return c
	}
	c.MergeBase = mb
	counts, err := g.line(dir, "rev-list", "--left-right", "--count", base+"..."+head)
	if err != nil {
		return c
	}
	behind, ahead, _ := strings.Cut(counts, "\t")
	if c.Behind, err = strconv.Atoi(behind); err != nil {
		return c
	}
	if c.Ahead, err = strconv.Atoi(ahead); err != nil {
		return c
	}
	if c.Commits, err = g.CommitsIn(dir, base+".."+head); err != nil {
		return c
	}
	if c.Files, err = g.diff(dir, mb, head); err != nil {
		return c
	}
	g.diffs.put(key, c)
	return c
}

// emptyTree is git's tree without entries, the parent of a first commit.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Changes lists the files that a commit changed against its first parent.
func (g *Store) Changes(dir string, c Commit) ([]FileChange, error) {
	from := emptyTree
	if len(c.Parents) > 0 {
		from = c.Parents[0]
	}
	return g.diff(dir, from, c.SHA)
}

// Between lists the files changed from one commit to another, whatever their relation.
func (g *Store) Between(dir, from, to string) []FileChange {
	files, err := g.diff(dir, from, to)
	if err != nil {
		return nil
	}
	return files
}

// diff lists the files changed from one commit or tree to another.
func (g *Store) diff(dir, from, to string) ([]FileChange, error) {
	if files, ok := g.diffHere(dir, from, to); ok && !g.asks {
		return files, nil
	}
	out, err := g.about(dir, []string{from, to}, "diff-tree", "-r", "-z", "-M", "--patch-with-raw", "--no-abbrev",
		"--no-color", "--src-prefix=a/", "--dst-prefix=b/", from, to)
	if err != nil {
		return nil, err
	}
	raw, text, _ := strings.Cut(string(out), "\x00\x00") // a patch follows an empty entry
	var files []FileChange
	f := strings.Split(raw, "\x00")
	for i := 0; i+1 < len(f); {
		meta := strings.Fields(f[i])
		if len(meta) != 5 {
			break
		}
		ch := FileChange{Path: f[i+1], Blob: meta[3], Status: "modified"}
		i += 2
		switch meta[4][0] {
		case 'A':
			ch.Status = "added"
		case 'D':
			ch.Status, ch.Blob = "removed", meta[2]
		case 'R':
			ch.Status, ch.From, ch.Path = "renamed", ch.Path, f[i]
			i++
		}
		files = append(files, ch)
	}
	// The patch lists the same files in the same order.
	parts := strings.Split("\n"+text, "\ndiff --git ")[1:]
	for i := range files {
		if i < len(parts) {
			files[i].takePatch(parts[i])
		}
	}
	return files, nil
}

// takePatch sets the hunks and the line counts from one file's part of a patch.
func (f *FileChange) takePatch(part string) {
	_, hunks, ok := strings.Cut(part, "\n@@ ")
	if !ok {
		return
	}
	f.Patch = strings.TrimRight("@@ "+hunks, "\n")
	for l := range strings.Lines(f.Patch) {
		switch l[0] {
		case '+':
			f.Additions++
		case '-':
			f.Deleted++
		}
	}
}

// hunkHead is where a hunk of a patch begins on either side.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// patchLine is one line of a patch: before and after are its numbers on the two sides, 0 if it is only on the other
// side.
type patchLine struct {
	before, after int
	text          string // with its sign
	hunk          string // the head of its hunk
}

func (f FileChange) lines() (all []patchLine) {
	before, after, hunk := 0, 0, ""
	for l := range strings.Lines(f.Patch) {
		l = strings.TrimSuffix(l, "\n")
		if m := hunkHead.FindStringSubmatch(l); m != nil {
			before, _ = strconv.Atoi(m[1]) // the pattern matches only digits
			after, _ = strconv.Atoi(m[2])
			hunk = l
			continue
		}
		if l == "" || l[0] == '\\' {
			continue
		}
		at := patchLine{text: l, hunk: hunk}
		if l[0] != '+' {
			at.before = before
			before++
		}
		if l[0] != '-' {
			at.after = after
			after++
		}
		all = append(all, at)
	}
	return all
}

func (l patchLine) is(line int, old bool) bool {
	return old && l.before == line || !old && l.after == line
}

// Shows reports whether the patch contains a line, changed or not, of the old or the new side.
func (f FileChange) Shows(line int, old bool) bool {
	for _, l := range f.lines() {
		if l.is(line, old) {
			return line > 0
		}
	}
	return false
}

// HunkTo is the hunk with a line, down to that line; empty if there is none.
func (f FileChange) HunkTo(line int, old bool) string {
	var lines []string
	for _, l := range f.lines() {
		if len(lines) == 0 || lines[0] != l.hunk {
			lines = []string{l.hunk}
		}
		if lines = append(lines, l.text); l.is(line, old) {
			return strings.Join(lines, "\n")
		}
	}
	return ""
}

// MovedTo is the line on the new side of a line of the old side; 0: it was changed or deleted.
func (f FileChange) MovedTo(line int) int {
	if line == 0 {
		return 0
	}
	shift := 0
	for _, l := range f.lines() {
		switch {
		case l.before == line:
			return l.after
		case l.before > line:
			return line + shift
		case l.before == 0:
			shift++
		case l.after == 0:
			shift--
		}
	}
	return line + shift
}
