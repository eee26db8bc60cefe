package git

import (
	"strconv"
	"strings"
	"time"
)

// Commit is a git commit.
type Commit struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer Signature
	Message           string
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	first, _, _ := strings.Cut(c.Message, "\n")
	return first
}

// commitFormat prints what CommitsIn reads.
const commitFormat = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x01"

// CommitsIn lists the commits of a range, oldest first.
func (g *Store) CommitsIn(dir string, revs ...string) ([]Commit, error) {
	if cs, ok := g.commitsHere(dir, revs); ok && !g.asks {
		return cs, nil
	}
	args := append([]string{"log", "--topo-order", "--reverse", "--no-show-signature", "--max-count=1000", commitFormat},
		revs...)
	out, err := g.run(dir, nil, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var cs []Commit
	for rec := range strings.SplitSeq(string(out), "\x01") {
		f := strings.SplitN(strings.TrimLeft(rec, "\n"), "\x00", 10)
		if len(f) != 10 {
			continue
		}
		c := Commit{SHA: f[0], Tree: f[1], Parents: strings.Fields(f[2]), Message: strings.TrimRight(f[9], "\n"),
			Author: Signature{f[3], f[4], unix(f[5])}, Committer: Signature{f[6], f[7], unix(f[8])}}
		cs = append(cs, c)
		g.commits.put(dir+c.SHA, c)
	}
	return cs, nil
}

func unix(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0).UTC()
}

// Facts reads one commit; an unknown commit has only the SHA.
func (g *Store) Facts(dir, sha string) Commit {
	if c, ok := g.commitHere(dir, sha); ok {
		return c
	}
	cs, err := g.CommitsIn(dir, "-1", sha)
	if err != nil || len(cs) == 0 {
		return Commit{SHA: sha}
	}
	return cs[0]
}

// Known reports whether a commit is certainly in a repository, without asking git.
func (g *Store) Known(dir, sha string) bool {
	_, ok := g.commitHere(dir, sha)
	return ok
}
