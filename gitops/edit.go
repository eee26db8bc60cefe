package gitops

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// treeEdits are changes to a tree by path: a new entry, or the zero entry to remove the path.
type treeEdits map[string]treeEntry

// editTree applies edits to a tree and returns the new one. Each new tree is passed to add. Only folders with an edit
// in them are read; a folder without files disappears.
func (o *packedObjects) editTree(
	base plumbing.Hash, changes treeEdits, add func(plumbing.Hash, []byte),
) (plumbing.Hash, error) {
	id, n, err := o.editDir(base, changes, add)
	if err == nil && n == 0 {
		return putTree(nil, add), nil
	}
	return id, err
}

func (o *packedObjects) editDir(
	base plumbing.Hash, changes treeEdits, add func(plumbing.Hash, []byte),
) (plumbing.Hash, int, error) {
	entries, err := o.readTree(base)
	if err != nil {
		return plumbing.ZeroHash, 0, err
	}
	here := make(map[string]treeEntry, len(entries))
	for _, e := range entries {
		here[e.name] = e
	}
	below := map[string]treeEdits{}
	for p, e := range changes {
		name, rest, deeper := strings.Cut(p, "/")
		if deeper {
			if below[name] == nil {
				below[name] = treeEdits{}
			}
			below[name][rest] = e
			continue
		}
		if e.mode == filemode.Empty {
			delete(here, name)
			continue
		}
		e.name = name
		here[name] = e
	}
	for name, sub := range below {
		old := here[name]
		if _, replaced := changes[name]; replaced && old.mode != filemode.Empty {
			continue // a file replaced the folder
		}
		var from plumbing.Hash
		if old.isDir() {
			from = old.id
		} else if !sub.sets() {
			continue // there is nothing to remove
		}
		id, n, err := o.editDir(from, sub, add)
		if err != nil {
			return plumbing.ZeroHash, 0, err
		}
		delete(here, name)
		if n > 0 {
			here[name] = treeEntry{name, filemode.Dir, id}
		}
	}
	entries = entries[:0]
	for _, e := range here {
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, 0, nil
	}
	return putTree(entries, add), len(entries), nil
}

// sets reports whether an edit adds an entry.
func (e treeEdits) sets() bool {
	for _, v := range e {
		if v.mode != filemode.Empty {
			return true
		}
	}
	return false
}

func putTree(entries []treeEntry, add func(plumbing.Hash, []byte)) plumbing.Hash {
	b := encodeTree(entries)
	id := objectID(plumbing.TreeObject, b)
	add(id, b)
	return id
}
