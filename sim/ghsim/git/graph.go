package git

import (
	"bytes"
	"slices"
	"strings"
)

// maxWalk bounds how many commits are walked through in memory.
const maxWalk = 1000

// ancestors are a commit and all before it, parents last; false if some are not known.
func (g *Store) ancestors(dir, sha string) (all []string, known bool) {
	seen := map[string]bool{sha: true}
	for queue := []string{sha}; len(queue) > 0; queue = queue[1:] {
		c, ok := g.commitHere(dir, queue[0])
		if !ok || len(all) == maxWalk {
			return nil, false
		}
		all = append(all, queue[0])
		for _, p := range c.Parents {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return all, true
}

// mergeBase is the one best common ancestor of two commits; false if it is unknown or not unique.
func (g *Store) mergeBase(dir, a, b string) (base string, before, after []string, known bool) {
	ofA, okA := g.ancestors(dir, a)
	ofB, okB := g.ancestors(dir, b)
	if !okA || !okB {
		return "", nil, nil, false
	}
	var common []string
	for _, c := range ofB {
		if slices.Contains(ofA, c) {
			common = append(common, c)
		} else {
			after = append(after, c)
		}
	}
	for _, c := range ofA {
		if !slices.Contains(common, c) {
			before = append(before, c)
		}
	}
	best := slices.Clone(common)
	for _, c := range common { // an ancestor of a common ancestor is a worse one
		older := g.Facts(dir, c).Parents
		best = slices.DeleteFunc(best, func(o string) bool { return slices.Contains(older, o) })
	}
	if len(best) != 1 {
		return "", nil, nil, false
	}
	return best[0], before, after, true
}

// compareHere is Compare without git; false if git is needed.
func (g *Store) compareHere(dir, base, head string) (c Comparison, ok bool) {
	mb, behind, ahead, ok := g.mergeBase(dir, base, head)
	if !ok {
		return c, false
	}
	c.MergeBase, c.Behind, c.Ahead = mb, len(behind), len(ahead)
	if c.Commits, ok = g.inOrder(dir, ahead); !ok {
		return Comparison{}, false
	}
	files, err := g.diff(dir, mb, head)
	c.Files = files
	return c, err == nil
}

// commitsHere is CommitsIn without git, for the ancestors of a commit without those of others ("^SHA"); false if git is
// needed.
func (g *Store) commitsHere(dir string, revs []string) ([]Commit, bool) {
	all, ok := g.ancestors(dir, revs[0])
	for _, rev := range revs[1:] {
		sha, without := strings.CutPrefix(rev, "^")
		older, known := g.ancestors(dir, sha)
		if ok = ok && without && known; !ok {
			break
		}
		all = slices.DeleteFunc(all, func(c string) bool { return slices.Contains(older, c) })
	}
	if !ok {
		return nil, false
	}
	return g.inOrder(dir, all)
}

// inOrder sorts commits found newest first to oldest first; false if only git knows their order.
func (g *Store) inOrder(dir string, newest []string) (cs []Commit, ok bool) {
	for i, sha := range slices.Backward(newest) {
		f := g.Facts(dir, sha)
		if last := i == len(newest)-1; !last && (len(f.Parents) != 1 || f.Parents[0] != newest[i+1]) {
			return nil, false
		}
		cs = append(cs, f)
	}
	return cs, true
}

// diffHere is diff without git, for added or removed files; false if git is needed.
func (g *Store) diffHere(dir, from, to string) (files []FileChange, ok bool) {
	before, okB := g.filesAt(dir, from)
	after, okA := g.filesAt(dir, to)
	if !okA || !okB {
		return nil, false
	}
	added, removed := false, false
	for path, n := range after {
		was, both := before[path]
		switch {
		case !both:
			patch, ok := g.wholePatch(dir, n.sha, "+")
			if !ok || n.mode != modeFile && n.mode != modeExec {
				return nil, false
			}
			added = true
			files = append(files, FileChange{Path: path, Status: "added", Blob: n.sha, Patch: patch,
				Additions: strings.Count("\n"+patch, "\n+")})
		case was.sha != n.sha || was.mode != n.mode:
			return nil, false
		}
	}
	for path, n := range before {
		if _, both := after[path]; !both {
			patch, ok := g.wholePatch(dir, n.sha, "-")
			if !ok {
				return nil, false
			}
			removed = true
			files = append(files, FileChange{Path: path, Status: "removed", Blob: n.sha, Patch: patch,
				Deleted: strings.Count("\n"+patch, "\n-")})
		}
	}
	if added && removed {
		return nil, false // it may be a rename
	}
	slices.SortFunc(files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return files, true
}

// filesAt are the files of a commit or of the empty tree; false when the commit or its tree is not known here.
func (g *Store) filesAt(dir, sha string) (map[string]node, bool) {
	tree := sha
	if sha != emptyTree {
		c, ok := g.commitHere(dir, sha)
		if !ok {
			return nil, false
		}
		tree = c.Tree
	}
	files, err := g.flat(dir, tree)
	return files, err == nil
}

// wholePatch is the hunk of an added or removed file; false if its content is unknown, or no text.
func (g *Store) wholePatch(dir, blob, sign string) (string, bool) {
	text, ok := g.blobHere(dir, blob)
	if !ok || bytes.IndexByte(text, 0) >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return "", false
	}
	if len(text) == 0 {
		return "", true
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	span := "1"
	if len(lines) > 1 {
		span = "1," + itoa(len(lines))
	}
	head := "@@ -0,0 +" + span + " @@\n"
	if sign == "-" {
		head = "@@ -" + span + " +0,0 @@\n"
	}
	patch := head + sign + strings.Join(lines, "\n"+sign)
	if text[len(text)-1] != '\n' {
		patch += "\n\\ No newline at end of file"
	}
	return strings.TrimRight(patch, "\n"), true
}

// mergeHere is MergeTree without git; false if git is needed, as when both sides changed a file.
func (g *Store) mergeHere(dir, base, head string) (tree string, ok bool) {
	from, _, _, ok := g.mergeBase(dir, base, head)
	if !ok {
		return "", false
	}
	old, okO := g.filesAt(dir, from)
	ours, okB := g.filesAt(dir, base)
	theirs, okH := g.filesAt(dir, head)
	if !okO || !okB || !okH || renames(old, ours) || renames(old, theirs) {
		return "", false
	}
	changes := map[string]node{}
	for path, n := range theirs {
		if old[path] != n {
			changes[path] = n
		}
	}
	for path := range old {
		if _, kept := theirs[path]; !kept {
			changes[path] = node{}
		}
	}
	for path, n := range changes {
		is, has := ours[path]
		was, had := old[path]
		if has != had || is != was || n.sha != "" && !has && clashes(ours, path) {
			return "", false
		}
	}
	tree, _, err := g.changedTree(dir, g.Facts(dir, base).Tree, changes)
	return tree, err == nil
}

// renames reports whether files were both added and removed, which git may treat as a rename.
func renames(before, after map[string]node) bool {
	came, went := false, false
	for path := range after {
		_, was := before[path]
		came = came || !was
	}
	for path := range before {
		_, is := after[path]
		went = went || !is
	}
	return came && went
}

// clashes reports whether a new path needs a folder where there is a file, or the reverse.
func clashes(files map[string]node, path string) bool {
	for other := range files {
		if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
			return true
		}
	}
	return false
}
