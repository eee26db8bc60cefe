package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Git stores a push of fewer than a hundred objects as loose ones. A loose object is read here, without a process, and
// a packed one by git.

// maxLoose bounds an object that is read here, in bytes.
const maxLoose = 8 << 20

func loosePath(dir, sha string) string { return filepath.Join(dir, "objects", sha[:2], sha[2:]) }

// inflaters are pooled: one takes some 40 KiB.
var inflaters sync.Pool

// loose reads an object of a repository; false where it is not loose, or too large.
func (g *Store) loose(dir, sha string) (kind string, content []byte, ok bool) {
	if g.asks || !wholeSHA.MatchString(sha) {
		return "", nil, false
	}
	f, err := os.Open(loosePath(dir, sha))
	if err != nil {
		return "", nil, false
	}
	defer f.Close()
	z, kept := inflaters.Get().(io.ReadCloser)
	if kept {
		err = z.(zlib.Resetter).Reset(f, nil)
	} else {
		z, err = zlib.NewReader(f)
	}
	if err != nil {
		return "", nil, false
	}
	defer inflaters.Put(z)
	r := bufio.NewReader(z)
	head, err := r.ReadString(0)
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, errSize := strconv.Atoi(length)
	if err != nil || errSize != nil || size < 0 || size > maxLoose {
		return "", nil, false
	}
	content = make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return "", nil, false
	}
	g.known.there.put(dir+sha, true)
	return kind, content, true
}

// looseTree are the entries of a tree that is loose.
func (g *Store) looseTree(dir, sha string) (nodes []node, ok bool) {
	kind, content, ok := g.loose(dir, sha)
	if !ok || kind != "tree" {
		return nil, false
	}
	for len(content) > 0 {
		head, rest, found := bytes.Cut(content, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !found || !spaced || len(rest) < len(sha)/2 {
			return nil, false
		}
		nodes = append(nodes, node{mode, name, hex.EncodeToString(rest[:len(sha)/2])})
		content = rest[len(sha)/2:]
	}
	return nodes, true
}

// blobHere is the content of a file that is in memory or loose. The caller does not change it.
func (g *Store) blobHere(dir, sha string) ([]byte, bool) {
	text, kept := g.known.blobs.get(sha)
	if kept {
		return text, true
	}
	kind, text, ok := g.loose(dir, sha)
	if !ok || kind != "blob" {
		return nil, false
	}
	if len(text) <= maxKept {
		g.known.blobs.put(sha, text)
	}
	return text, true
}

// commitHere is a commit that is in memory, or loose and in the simple format that the simulator writes.
func (g *Store) commitHere(dir, sha string) (Commit, bool) {
	c, known := g.commits.get(dir + sha)
	if known {
		return c, true
	}
	kind, content, ok := g.loose(dir, sha)
	if !ok || kind != "commit" {
		return Commit{}, false
	}
	if c, ok = parseCommit(string(content)); !ok {
		return Commit{}, false
	}
	c.SHA = sha
	g.commits.put(dir+sha, c)
	return c, true
}

// parseCommit reads a commit; false if it has more than a tree, parents and people, or a format that only git reads.
func parseCommit(content string) (c Commit, ok bool) {
	head, message, ok := strings.Cut(content, "\n\n")
	if !ok || strings.ContainsAny(message, "\x00\x01") || strings.HasPrefix(message, "\n") {
		return c, false
	}
	c.Message, c.Parents = strings.TrimRight(message, "\n"), []string{}
	lines := strings.Split(head, "\n")
	field := func(name string) (value string) {
		if len(lines) > 0 && strings.HasPrefix(lines[0], name+" ") {
			value, lines = lines[0][len(name)+1:], lines[1:]
		}
		return value
	}
	c.Tree = field("tree")
	for p := field("parent"); p != ""; p = field("parent") {
		c.Parents = append(c.Parents, p)
	}
	var author, committer bool
	c.Author, author = parseSignature(field("author"))
	c.Committer, committer = parseSignature(field("committer"))
	return c, author && committer && len(lines) == 0
}

// parseSignature reads "name <email> seconds zone".
func parseSignature(text string) (s Signature, ok bool) {
	name, rest, _ := strings.Cut(text, " <")
	email, at, _ := strings.Cut(rest, "> ")
	seconds, _, _ := strings.Cut(at, " ")
	if _, err := strconv.ParseInt(seconds, 10, 64); err != nil || !plainName.MatchString(name) ||
		!plainName.MatchString(email) {
		return s, false
	}
	return Signature{name, email, unix(seconds)}, true
}
