package git

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Entry is one entry of a directory.
type Entry struct {
	Mode, Kind, SHA, Path string // kind: blob, tree or commit
	Size                  int64
}

// List lists a directory ("" is the root) of a commit; recursive lists files only.
func (g *Store) List(dir, sha, path string, recursive bool) ([]Entry, error) {
	if es, ok := g.listHere(dir, sha, path, recursive); ok && !g.asks {
		return es, nil
	}
	args := []string{"ls-tree", "-z", "-l"}
	if recursive {
		args = append(args, "-r")
	}
	args = append(args, sha)
	if path != "" {
		args = append(args, "--", strings.TrimSuffix(path, "/")+"/")
	}
	out, err := g.about(dir, []string{sha}, args...)
	if err != nil {
		return nil, err
	}
	var es []Entry
	for l := range strings.SplitSeq(string(out), "\x00") {
		meta, name, ok := strings.Cut(l, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(f[3], 10, 64)
		es = append(es, Entry{Mode: f[0], Kind: f[1], SHA: f[2], Size: size, Path: name})
	}
	return es, nil
}

// folderOf is the directory of a path; empty: the root.
func folderOf(path string) string {
	path = strings.Trim(path, "/")
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// listHere is List without git; false if some part is unknown.
func (g *Store) listHere(dir, sha, path string, recursive bool) (es []Entry, ok bool) {
	c, known := g.commitHere(dir, sha)
	if !known {
		return nil, false
	}
	tree, prefix := c.Tree, ""
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		nodes, err := g.tree(dir, tree)
		i := slices.IndexFunc(nodes, func(n node) bool { return n.name == name && n.mode == modeTree })
		if err != nil || i < 0 {
			return nil, err == nil
		}
		tree, prefix = nodes[i].sha, prefix+name+"/"
	}
	return g.entries(dir, tree, prefix, recursive)
}

func (g *Store) entries(dir, tree, prefix string, recursive bool) (es []Entry, ok bool) {
	nodes, err := g.tree(dir, tree)
	if err != nil {
		return nil, false
	}
	for _, n := range nodes {
		if n.mode == modeTree {
			if !recursive {
				es = append(es, Entry{Mode: "040000", Kind: "tree", SHA: n.sha, Path: prefix + n.name})
				continue
			}
			inside, ok := g.entries(dir, n.sha, prefix+n.name+"/", true)
			if !ok {
				return nil, false
			}
			es = append(es, inside...)
			continue
		}
		text, ok := g.blobHere(dir, n.sha)
		if !ok {
			return nil, false
		}
		es = append(es, Entry{Mode: n.mode, Kind: "blob", SHA: n.sha, Size: int64(len(text)), Path: prefix + n.name})
	}
	return es, true
}

// Paths are the files of a commit, sorted.
func (g *Store) Paths(dir, sha string) ([]string, error) {
	es, err := g.List(dir, sha, "", true)
	var ps []string
	for _, e := range es {
		ps = append(ps, e.Path)
	}
	slices.Sort(ps)
	return ps, err
}

// errNoFile is wrapped by BlobAt's error for a missing path.
var errNoFile = errors.New("no such file")

// EntryAt is the entry of a path in a commit.
func (g *Store) EntryAt(dir, sha, path string) (Entry, error) {
	if es, ok := g.listHere(dir, sha, folderOf(path), false); ok && !g.asks {
		i := slices.IndexFunc(es, func(e Entry) bool { return e.Path == strings.Trim(path, "/") })
		if i < 0 {
			return Entry{}, fmt.Errorf("%s at %.7s: %w", path, sha, errNoFile)
		}
		return es[i], nil
	}
	out, err := g.about(dir, []string{sha}, "ls-tree", "-z", "-l", sha, "--", strings.Trim(path, "/"))
	if err != nil {
		return Entry{}, err
	}
	meta, name, ok := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	f := strings.Fields(meta)
	if !ok || len(f) != 4 {
		return Entry{}, fmt.Errorf("%s at %.7s: %w", path, sha, errNoFile)
	}
	size, _ := strconv.ParseInt(f[3], 10, 64)
	return Entry{Mode: f[0], Kind: f[1], SHA: f[2], Size: size, Path: name}, nil
}

// BlobAt is the content of a file in a commit.
func (g *Store) BlobAt(dir, sha, path string) ([]byte, error) {
	e, err := g.EntryAt(dir, sha, path)
	if err != nil {
		return nil, err
	}
	if e.Kind != "blob" {
		return nil, fmt.Errorf("%s at %.7s is a directory: %w", path, sha, errNoFile)
	}
	return g.Blob(dir, e.SHA)
}

// Blob is the content of a blob.
func (g *Store) Blob(dir, sha string) ([]byte, error) {
	if !g.asks && g.there(dir, sha) {
		if text, ok := g.blobHere(dir, sha); ok {
			return bytes.Clone(text), nil
		}
	}
	out, err := g.about(dir, []string{sha}, "cat-file", "blob", sha)
	return bytes.Clone(out), err
}

// Dir reports whether an entry is a directory.
func (e Entry) Dir() bool { return e.Kind == "tree" }
