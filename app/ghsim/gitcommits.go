package ghsim

import (
	"strconv"
	"strings"
	"time"
)

// commitFacts are what git knows of a commit.
type commitFacts struct {
	sha, tree         string
	parents           []string
	author, committer ident
	message           string
}

const commitFormat = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x01"

// commitsIn lists the commits of a range, oldest first.
func (g *gitStore) commitsIn(dir string, revs ...string) ([]commitFacts, error) {
	args := append([]string{"log", "--topo-order", "--reverse", "--no-show-signature", "--max-count=1000", commitFormat}, revs...)
	out, err := g.run(dir, nil, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var cs []commitFacts
	for rec := range strings.SplitSeq(string(out), "\x01") {
		f := strings.SplitN(strings.TrimLeft(rec, "\n"), "\x00", 10)
		if len(f) != 10 {
			continue
		}
		c := commitFacts{sha: f[0], tree: f[1], parents: strings.Fields(f[2]), message: strings.TrimRight(f[9], "\n"),
			author: ident{f[3], f[4], unix(f[5])}, committer: ident{f[6], f[7], unix(f[8])}}
		cs = append(cs, c)
		g.mu.Lock()
		g.commits[dir+c.sha] = c
		g.mu.Unlock()
	}
	return cs, nil
}

func unix(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0).UTC()
}

// facts are those of one commit; unknown commits give facts with only the SHA.
func (g *gitStore) facts(dir, sha string) commitFacts {
	g.mu.Lock()
	c, ok := g.commits[dir+sha]
	g.mu.Unlock()
	if ok {
		return c
	}
	cs, err := g.commitsIn(dir, "-1", sha)
	if err != nil || len(cs) == 0 {
		return commitFacts{sha: sha}
	}
	return cs[0]
}

// known reports whether a commit was read before.
func (g *gitStore) known(dir, sha string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.commits[dir+sha]
	return ok
}

// fileChange is one changed file.
type fileChange struct {
	path, from         string // from is set for a rename
	status             string // added, removed, modified or renamed
	blob               string
	additions, deleted int
	patch              string // hunks only; empty for binary files
}

// comparison is what lies between two commits, as GitHub's three-dot compare
// shows it: commits on head and not on base, files against the merge base.
type comparison struct {
	base, head, mergeBase string
	ahead, behind         int
	commits               []commitFacts
	files                 []fileChange
}

func (c comparison) totals() (additions, deletions int) {
	for _, f := range c.files {
		additions += f.additions
		deletions += f.deleted
	}
	return additions, deletions
}

// compare compares two commits; one that is missing gives an empty comparison.
func (g *gitStore) compare(dir, base, head string) comparison {
	key := dir + base + ".." + head
	g.mu.Lock()
	c, ok := g.diffs[key]
	g.mu.Unlock()
	if ok {
		return c
	}
	c = comparison{base: base, head: head}
	mb, err := g.line(dir, "merge-base", base, head)
	if err != nil {
		return c
	}
	c.mergeBase = mb
	counts, err := g.line(dir, "rev-list", "--left-right", "--count", base+"..."+head)
	if err != nil {
		return c
	}
	behind, ahead, _ := strings.Cut(counts, "\t")
	c.behind, c.ahead = atoi(behind), atoi(ahead)
	if c.commits, err = g.commitsIn(dir, base+".."+head); err != nil {
		return c
	}
	if c.files, err = g.diff(dir, mb, head); err != nil {
		return c
	}
	g.mu.Lock()
	g.diffs[key] = c
	g.mu.Unlock()
	return c
}

// emptyTree is git's tree without entries, the parent of a first commit.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// diff lists the files changed from one commit or tree to another.
func (g *gitStore) diff(dir, from, to string) ([]fileChange, error) {
	raw, err := g.run(dir, nil, nil, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	var files []fileChange
	f := strings.Split(string(raw), "\x00")
	for i := 0; i+1 < len(f); {
		meta := strings.Fields(f[i])
		if len(meta) != 5 {
			break
		}
		ch := fileChange{path: f[i+1], blob: meta[3], status: "modified"}
		i += 2
		switch meta[4][0] {
		case 'A':
			ch.status = "added"
		case 'D':
			ch.status, ch.blob = "removed", meta[2]
		case 'R':
			ch.status, ch.from, ch.path = "renamed", ch.path, f[i]
			i++
		}
		files = append(files, ch)
	}
	if len(files) == 0 {
		return nil, nil
	}
	text, err := g.run(dir, nil, nil, "diff-tree", "-r", "-M", "-p", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", from, to)
	if err != nil {
		return nil, err
	}
	// The patch lists the same files in the same order.
	parts := strings.Split("\n"+string(text), "\ndiff --git ")[1:]
	for i := range files {
		if i < len(parts) {
			files[i].takePatch(parts[i])
		}
	}
	return files, nil
}

// takePatch sets the hunks and the line counts from one file's part of a patch.
func (f *fileChange) takePatch(part string) {
	_, hunks, ok := strings.Cut(part, "\n@@ ")
	if !ok {
		return
	}
	f.patch = strings.TrimRight("@@ "+hunks, "\n")
	for l := range strings.Lines(f.patch) {
		switch l[0] {
		case '+':
			f.additions++
		case '-':
			f.deleted++
		}
	}
}
