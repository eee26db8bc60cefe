package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // git names objects so
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Objects that the simulator made itself are cached, so that most reads of a repository need no process. For anything
// unknown, or that git decides (renames, conflicts), git is asked.

// objects are trees and files that were written or read. They don't change.
type objects struct {
	trees cache[[]node] // by SHA
	blobs cache[[]byte]
	there cache[bool] // objects in a repository, by directory and SHA
}

// cache is a cache by name. It is safe for concurrent use.
type cache[T any] struct {
	mu sync.Mutex
	of map[string]T
}

func (k *cache[T]) get(name string) (T, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x, ok := k.of[name]
	return x, ok
}

func (k *cache[T]) put(name string, x T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]T{}
	}
	k.of[name] = x
}

// node is one entry of a tree as git writes it.
type node struct{ mode, name, sha string }

const (
	modeFile = "100644"
	modeExec = "100755"
	modeTree = "40000"
)

// maxKept bounds a cached file, in bytes.
const maxKept = 64 << 10

// writeObject writes a loose object, unless it exists, and returns its name.
// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
func (g *Store) writeObject(dir, kind string, content []byte) (string, error) {
	head := fmt.Sprintf("%s %d\x00", kind, len(content))
	h := sha1.New() //nolint:gosec // git names objects so
	h.Write([]byte(head))
	h.Write(content)
	sha := hex.EncodeToString(h.Sum(nil))
	if there, _ := g.known.there.get(dir + sha); there {
		return sha, nil
	}
	var b bytes.Buffer
	if err := deflate(&b, []byte(head), content); err != nil {
		return "", err
	}
	if err := writeAtomically(loosePath(dir, sha), b.Bytes(), 0o444); err != nil {
		return "", fmt.Errorf("git object %s: %w", sha, err)
	}
	g.known.there.put(dir+sha, true)
	if kind == "blob" && len(content) <= maxKept {
		g.known.blobs.put(sha, bytes.Clone(content))
	}
	return sha, nil
}

// there reports whether an object is certainly in a repository, without asking git.
func (g *Store) there(dir, sha string) bool {
	if there, _ := g.known.there.get(dir + sha); there {
		return true
	}
	_, err := os.Stat(loosePath(dir, sha))
	return err == nil
}

// deflaters are pooled: one takes more than a megabyte, and objects are small.
var deflaters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return z
}}

// deflate compresses parts as git does.
func deflate(to io.Writer, parts ...[]byte) error {
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(to)
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeAtomically makes a file that is always complete for readers.
func writeAtomically(path string, content []byte, mode os.FileMode) error {
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), "tmp_obj_"+hex.EncodeToString(id[:]))
	err := os.WriteFile(tmp, content, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		err = os.WriteFile(tmp, content, mode)
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// tree are the entries of a tree; git is asked for an unknown one.
func (g *Store) tree(dir, sha string) ([]node, error) {
	if sha == emptyTree {
		return nil, nil
	}
	nodes, known := g.known.trees.get(sha)
	if known {
		return nodes, nil
	}
	nodes, known = g.looseTree(dir, sha)
	if !known {
		out, err := g.run(dir, nil, nil, "ls-tree", "-z", sha)
		if err != nil {
			return nil, err
		}
		for l := range strings.SplitSeq(string(out), "\x00") {
			meta, name, ok := strings.Cut(l, "\t")
			f := strings.Fields(meta)
			if ok && len(f) == 3 {
				nodes = append(nodes, node{strings.TrimPrefix(f[0], "0"), name, f[2]})
			}
		}
	}
	g.known.trees.put(sha, nodes)
	return nodes, nil
}

// writeNodes writes a tree.
func (g *Store) writeNodes(dir string, nodes []node) (string, error) {
	order := func(n node) string {
		if n.mode == modeTree {
			return n.name + "/"
		}
		return n.name
	}
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(order(a), order(b)) })
	var b bytes.Buffer
	for _, n := range nodes {
		raw, err := hex.DecodeString(n.sha)
		if err != nil {
			return "", fmt.Errorf("git tree: %w", err)
		}
		fmt.Fprintf(&b, "%s %s\x00", n.mode, n.name)
		b.Write(raw)
	}
	sha, err := g.writeObject(dir, "tree", b.Bytes())
	if err == nil {
		g.known.trees.put(sha, slices.Clone(nodes))
	}
	return sha, err
}

// changedTree writes a tree with some paths changed. An entry without a SHA is removed.
func (g *Store) changedTree(dir, base string, files map[string]node) (sha string, empty bool, err error) {
	var nodes []node
	if base != "" {
		if nodes, err = g.tree(dir, base); err != nil {
			return "", false, err
		}
	}
	nodes = slices.Clone(nodes)
	below := map[string]map[string]node{}
	for path, n := range files {
		if first, rest, deep := strings.Cut(path, "/"); deep {
			if below[first] == nil {
				below[first] = map[string]node{}
			}
			below[first][rest] = n
			continue
		}
		nodes = slices.DeleteFunc(nodes, func(o node) bool { return o.name == path && (n.sha != "" || o.mode != modeTree) })
		if n.sha != "" {
			nodes = append(nodes, node{n.mode, path, n.sha})
		}
	}
	for name, inside := range below {
		was := ""
		nodes = slices.DeleteFunc(nodes, func(o node) bool {
			if o.name == name && o.mode == modeTree {
				was = o.sha
			}
			return o.name == name
		})
		sub, none, err := g.changedTree(dir, was, inside)
		if err != nil {
			return "", false, err
		}
		if !none {
			nodes = append(nodes, node{modeTree, name, sub})
		}
	}
	sha, err = g.writeNodes(dir, nodes)
	return sha, len(nodes) == 0, err
}

// flat are the files of a tree by their paths.
func (g *Store) flat(dir, tree string) (map[string]node, error) {
	all := map[string]node{}
	var walk func(sha, prefix string) error
	walk = func(sha, prefix string) error {
		nodes, err := g.tree(dir, sha)
		for _, n := range nodes {
			if n.mode != modeTree {
				all[prefix+n.name] = n
			} else if err = walk(n.sha, prefix+n.name+"/"); err != nil {
				break
			}
		}
		return err
	}
	return all, walk(tree, "")
}

// plainName matches a name or an address that git writes into a commit unchanged.
var plainName = regexp.MustCompile(`^[A-Za-z0-9\[][A-Za-z0-9 @+_\[\].-]*[A-Za-z0-9\]]$`)

// plainCommit writes a commit, if git would not change its text; ok is false if it might.
func (g *Store) plainCommit(dir, tree string, parents []string, message string, by Signature) (
	sha string, ok bool, err error,
) {
	if !wholeSHA.MatchString(tree) || !plainName.MatchString(by.Name) || !plainName.MatchString(by.Email) ||
		strings.Contains(message, "\x00") || message != strings.TrimSpace(message) || message == "" {
		return "", false, nil
	}
	there := g.there(dir, tree)
	for i, p := range parents {
		there = there && g.Known(dir, p) && !slices.Contains(parents[:i], p)
	}
	if !there {
		return "", false, nil
	}
	at := by.At.Unix()
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s <%s> %d +0000\ncommitter %s <%s> %d +0000\n\n%s\n", by.Name, by.Email, at, by.Name,
		by.Email, at, message)
	if sha, err = g.writeObject(dir, "commit", b.Bytes()); err != nil {
		return "", false, err
	}
	by.At = time.Unix(at, 0).UTC()
	g.commits.put(dir+sha, Commit{SHA: sha, Tree: tree, Parents: append([]string{}, parents...), Author: by,
		Committer: by, Message: message})
	return sha, true, nil
}
