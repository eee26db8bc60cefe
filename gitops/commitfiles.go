package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

const (
	// pushRetries is how often CommitFiles tries again when others push.
	pushRetries = 5
	// maxUpdateFile bounds a file that Update reads, in bytes.
	maxUpdateFile = 64 << 20
)

// FilesSpec says how to change files of a branch.
type FilesSpec struct {
	Branch  string
	Base    string // fetched commit on which an absent branch is created; "" creates it without a parent
	Message string
	// Author is also the committer.
	Author Signature
	// Holds are paths of which the branch must have one already, and nothing outside of the folders that they begin with
	// but texts in .md and what begins with .git, unless it is empty or absent; otherwise the error wraps
	// [ErrOtherContent]. None: any branch will do.
	Holds []string
	// Update returns the files to write, by path; nil content removes a file. read returns the present content of a file
	// of the branch, or [fs.ErrNotExist]. Update is called again with the new state when somebody else pushed in between,
	// so its result must depend only on what it reads.
	Update func(read func(path string) ([]byte, error)) (map[string][]byte, error)
}

// CommitFiles changes files of a branch without a work tree, by compare and swap. It retries five times when somebody
// else pushed. An absent branch is created at Base, or with a commit that has no parent. When Update changes nothing,
// no commit is made and the branch's head, "" when absent, is returned.
func (r *Repo) CommitFiles(ctx context.Context, s FilesSpec) (sha string, changed bool, err error) {
	op := "commit to " + cleanText(s.Branch, 80)
	if s.Update == nil {
		return "", false, fmt.Errorf("%s: no Update given", op)
	}
	for try := 0; ; try++ {
		sha, changed, err = r.commitFilesOnce(ctx, op, s)
		var moved *LeaseError
		if !errors.As(err, &moved) || try >= pushRetries {
			return sha, changed, err
		}
		wait := time.Duration(rand.Int64N(int64(50*time.Millisecond) << min(try, 5)))
		if perr := r.cache.pause(ctx, wait); perr != nil {
			return "", false, fmt.Errorf("%s: %w", op, perr)
		}
	}
}

func (r *Repo) commitFilesOnce(ctx context.Context, op string, s FilesSpec) (string, bool, error) {
	head, err := r.Fetch(ctx, s.Branch)
	if err != nil && !errors.Is(err, ErrNoBranch) {
		return "", false, err
	}
	var sha string
	var from []string // none: there is no commit yet
	if at := cmp.Or(head, s.Base); at != "" {
		from = []string{at}
	}
	err = r.viewCommits(ctx, op, from, func(o *packedObjects, at []plumbing.Hash) error {
		var parent plumbing.Hash
		if len(at) > 0 {
			parent = at[0]
		}
		sha, err = r.editFiles(ctx, o, parent, s)
		return err
	})
	if errors.Is(err, ErrEmpty) {
		return head, false, nil
	}
	if err != nil {
		return "", false, err
	}
	if err := r.Push(ctx, s.Branch, sha, head); err != nil {
		return "", false, err
	}
	return sha, true, nil
}

// editFiles makes the commit with the result of Update.
func (r *Repo) editFiles(ctx context.Context, o *packedObjects, parent plumbing.Hash, s FilesSpec) (string, error) {
	trees, err := o.treesOf([]plumbing.Hash{parent})
	if err != nil {
		return "", err
	}
	tree := trees[0]
	now := newTreeFolders(o, tree)
	if err := now.holds(s.Holds); err != nil {
		return "", err
	}
	files, err := s.Update(func(name string) ([]byte, error) {
		b, err := o.readFile(tree, name, maxUpdateFile)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", cleanText(name, 200), err)
		}
		return b, nil
	})
	if err != nil {
		return "", fmt.Errorf("update files: %w", err)
	}
	e := treeEdits{}
	var blobs []newObject
	for name, content := range files {
		if err := checkPath(name); err != nil {
			return "", err
		}
		old, err := now.entry(name)
		if err != nil {
			return "", err
		}
		switch {
		case old.isDir():
			return "", fmt.Errorf("change %s: it is a folder", cleanText(name, 200))
		case content == nil:
			e[name] = treeEntry{}
			continue
		}
		mode := filemode.Regular
		if old.mode == filemode.Executable {
			mode = filemode.Executable
		}
		blob := inMemory(plumbing.BlobObject, content)
		e[name] = treeEntry{mode: mode, id: blob.id}
		blobs = append(blobs, blob)
	}
	for name, entry := range e {
		if entry.mode == filemode.Empty {
			continue
		}
		if file, err := now.blockedBy(name, e); err != nil || file != "" {
			return "", errors.Join(err, fmt.Errorf("write %s: %s is a file, not a folder", cleanText(name, 200),
				cleanText(file, 200)))
		}
	}
	return r.mirror.makeCommit(ctx, o, parent, e, blobs, CommitSpec{Message: s.Message, Author: s.Author})
}

// CheckHolds returns an error that wraps [ErrOtherContent] if a fetched commit has other content than a branch must
// have; see [FilesSpec].
func (r *Repo) CheckHolds(ctx context.Context, sha string, paths []string) error {
	op := "look what is in " + cleanText(sha, 40)
	return r.viewCommits(ctx, op, []string{sha}, func(o *packedObjects, at []plumbing.Hash) error {
		trees, err := o.treesOf(at)
		if err != nil {
			return err
		}
		return newTreeFolders(o, trees[0]).holds(paths)
	})
}

// checkPath accepts paths that a tree may have.
func checkPath(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") >= maxDepth {
		return fmt.Errorf("path %q: %w", cleanText(name, 200), fs.ErrInvalid)
	}
	for part := range strings.SplitSeq(name, "/") {
		if !safeName(part) {
			return fmt.Errorf("path %q: %w", cleanText(name, 200), fs.ErrInvalid)
		}
	}
	return nil
}
