package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// leftFile is the file of a workspace's state with the changes that LeaveChanges found, in the index's format. Earlier
// versions recorded untracked files only.
const leftFile = "untracked"

// LeaveChanges leaves the changes that there are now out of Diff and Commit, for as long as the files keep their
// content and nobody names them with KeepWritten. It is called before anybody makes the change that is committed later,
// and holds after a crash.
func (w *Workspace) LeaveChanges(ctx context.Context) error {
	changes, err := w.scan(ctx)
	if err != nil {
		return fmt.Errorf("look for changes: %w", err)
	}
	var left []*index.Entry
	for _, c := range changes { // a deleted file has no mode and no hash
		left = append(left, &index.Entry{Name: c.path, Mode: c.new.mode, Hash: c.new.id})
	}
	named := w.LeftOut()
	for _, p := range slices.Concat(named.Built, named.Repositories, named.Misnamed) { // unnamed later; without a hash
		left = append(left, &index.Entry{Name: p, Mode: filemode.Submodule})
	}
	encoded, err := encodeIndex(left)
	if err != nil {
		return fmt.Errorf("record changes: %w", err)
	}
	return writeFile(filepath.Join(w.state, leftFile), 0o600, func(out io.Writer) error {
		_, err := out.Write(encoded)
		return err
	})
}

// withoutLeft removes what LeaveChanges leaves out from changes, and what setup made from what is named.
func (w *Workspace) withoutLeft(changes []treeChange, named *LeftOut) ([]treeChange, error) {
	b, err := os.ReadFile(filepath.Join(w.state, leftFile))
	if errors.Is(err, fs.ErrNotExist) {
		return changes, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read left changes: %w", err)
	}
	entries, err := decodeIndex(b)
	if err != nil {
		return nil, fmt.Errorf("read left changes: %w", err)
	}
	left := make(map[string]*index.Entry, len(entries))
	for _, e := range entries {
		left[e.Name] = e
	}
	for _, paths := range []*[]string{&named.Built, &named.Repositories, &named.Misnamed} {
		*paths = slices.DeleteFunc(*paths, func(p string) bool {
			return left[p] != nil && left[p].Mode == filemode.Submodule
		})
	}
	var written map[string]bool
	if w := w.written.Load(); w != nil {
		written = *w
	}
	return slices.DeleteFunc(changes, func(c treeChange) bool {
		e := left[c.path]
		if e == nil || e.Mode != c.new.mode || e.Hash != c.new.id || written[c.path] {
			return false
		}
		if c.old.mode != filemode.Empty {
			named.Before = append(named.Before, c.path)
		}
		return true
	}), nil
}
