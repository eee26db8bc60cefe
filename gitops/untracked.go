package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// untrackedFile is the file of a workspace's state with the files that LeaveUntracked found, in the index's format.
const untrackedFile = "untracked"

// LeaveUntracked leaves the files that are untracked now out of Diff and Commit, for as long as they keep their
// content. It is called before anybody makes the change that is committed later, and holds after a crash.
func (w *Workspace) LeaveUntracked(ctx context.Context) error {
	changes, err := w.scan(ctx)
	if err != nil {
		return fmt.Errorf("look for untracked files: %w", err)
	}
	var left []*index.Entry
	for _, c := range changes {
		if c.old.mode == filemode.Empty {
			left = append(left, &index.Entry{Name: c.path, Mode: c.new.mode, Hash: c.new.id})
		}
	}
	named := w.LeftOut()
	for _, p := range slices.Concat(named.Built, named.Repositories, named.Misnamed) { // unnamed later; without a hash
		left = append(left, &index.Entry{Name: p, Mode: filemode.Submodule})
	}
	encoded, err := encodeIndex(left)
	if err != nil {
		return fmt.Errorf("record untracked files: %w", err)
	}
	return writeFile(filepath.Join(w.state, untrackedFile), 0o600, func(out io.Writer) error {
		_, err := out.Write(encoded)
		return err
	})
}

// withoutLeft removes what LeaveUntracked leaves out from changes, and what setup made from what is named.
func (w *Workspace) withoutLeft(changes []treeChange, named *LeftOut) ([]treeChange, error) {
	b, err := os.ReadFile(filepath.Join(w.state, untrackedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return changes, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read untracked files: %w", err)
	}
	entries, err := decodeIndex(b)
	if err != nil {
		return nil, fmt.Errorf("read untracked files: %w", err)
	}
	left := make(map[string]treeEntry, len(entries))
	for _, e := range entries {
		left[e.Name] = treeEntry{path.Base(e.Name), e.Mode, e.Hash}
	}
	for _, paths := range []*[]string{&named.Built, &named.Repositories, &named.Misnamed} {
		*paths = slices.DeleteFunc(*paths, func(p string) bool { return left[p].mode == filemode.Submodule })
	}
	return slices.DeleteFunc(changes, func(c treeChange) bool {
		return c.old.mode == filemode.Empty && left[c.path] == c.new
	}), nil
}
