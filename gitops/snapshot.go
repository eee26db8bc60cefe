package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// Snapshot makes a .git in a folder that holds the files of a commit, and returns its only commit: it has these files
// and no parent. Earlier and later commits are absent, so that nobody who works in the folder can read them. A killed
// call leaves a .git that git does not accept; remove it with the folder.
func (h *History) Snapshot(ctx context.Context, dir, sha string) (string, error) {
	made, err := h.snapshot(ctx, filepath.Join(dir, ".git"), sha)
	if err != nil {
		return "", fmt.Errorf("make a repository of %s: %w", sha, err)
	}
	return made, nil
}

// snapshotPack is the name of the only pack, without extension.
const snapshotPack = "pack-snapshot"

func (h *History) snapshot(ctx context.Context, git, sha string) (string, error) {
	tree, err := h.treeOf(sha)
	if err != nil {
		return "", err
	}
	var entries []*index.Entry
	if err := walkTree(ctx, h.readTree, tree, "", func(p string, e treeEntry) error {
		entries = append(entries, &index.Entry{Name: p, Mode: sameKind(e.mode), Hash: e.id})
		return nil
	}); err != nil {
		return "", err
	}
	encoded, err := encodeIndex(entries)
	if err != nil {
		return "", err
	}
	of := Signature{Name: "sia", Email: "sia@localhost", When: time.Unix(0, 0).UTC()}
	commit, err := CommitSpec{Message: "The repository as it is", Author: of}.encode(tree, nil)
	if err != nil {
		return "", err
	}
	objs := []newObject{commit}
	if err := newMissingObjects(nil, h.readTree).find(tree, func(id plumbing.Hash, kind plumbing.ObjectType) {
		objs = append(objs, newObject{id, kind, func() (io.ReadCloser, int64, error) {
			b, err := h.readObject(kind, id, maxSnapshotBlob)
			return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
		}})
	}); err != nil {
		return "", err
	}
	packs := filepath.Join(git, "objects", "pack")
	if err := errors.Join(os.MkdirAll(packs, 0o755), os.MkdirAll(filepath.Join(git, "refs", "heads"), 0o755)); err != nil {
		return "", err
	}
	pack := filepath.Join(packs, snapshotPack)
	out, err := os.OpenFile(pack+".pack", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", err
	}
	w, sum, err := writePack(out, objs)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	if err := errors.Join(w.idx.OnFooter(sum), writeIndex(pack+".idx", &w.idx)); err != nil {
		return "", err
	}
	for name, content := range map[string]string{"index": string(encoded),
		"refs/heads/main": commit.id.String() + "\n",
		"config":          "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
	} {
		if err := os.WriteFile(filepath.Join(git, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return commit.id.String(), os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
}

// maxSnapshotBlob bounds a file of a snapshot, in bytes.
const maxSnapshotBlob = 256 << 20
