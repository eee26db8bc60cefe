package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// ErrMissing reports that a clone lacks an object: it is a partial clone, or damaged.
var ErrMissing = errors.New("the clone lacks an object")

// History reads a clone on this machine, with its history. The clone may be bare, shallow, on a detached head, a linked
// work tree, and read-only: History writes nothing, runs nothing that the clone's configuration names, and uses no
// network. Safe for concurrent use.
type History struct {
	mu   sync.Mutex // go-git's storage keeps open packs
	repo *filesystem.Storage
	dir  string
	// the fetched head; zero: the clone's own head
	head   plumbing.Hash
	origin string
}

// HistoryCommit is a commit with one parent.
type HistoryCommit struct {
	SHA, Parent string
	Message     string
	Time        time.Time // when it was committed
}

// HistoryFile is a file of a commit: a regular one or a symbolic link.
type HistoryFile struct {
	ID         string // of the content, 40 hexadecimal digits
	Executable bool
	Link       bool // a symbolic link; its content is the target
}

// HistoryChange is a file that differs between two commits. A rename is a removed file and an added one.
type HistoryChange struct {
	Path     string
	Was, Now HistoryFile // the zero value: absent
}

// OpenHistory opens the clone that a folder is or lies in.
func OpenHistory(dir string) (*History, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open clone: %w", err)
	}
	repo, root, err := openClone(abs)
	if err != nil {
		return nil, fmt.Errorf("open clone: %w", err)
	}
	return &History{repo: repo, dir: root}, nil
}

// Origin is the address that the clone was made from; "" when unknown.
func (h *History) Origin() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.origin != "" {
		return h.origin
	}
	c, err := h.repo.Config()
	if err != nil || c.Remotes["origin"] == nil || len(c.Remotes["origin"].URLs) == 0 {
		return ""
	}
	return c.Remotes["origin"].URLs[0]
}

// Close closes the clone's files.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repo.Close()
}

// Dir is the folder of the clone's work tree, or the bare repository's, absolute.
func (h *History) Dir() string { return h.dir }

// Commits calls visit for the commits reachable from the head, newest first, until it returns false. Merges, root
// commits and the boundary of a shallow clone are left out.
func (h *History) Commits(ctx context.Context, visit func(HistoryCommit) (more bool, err error)) error {
	sha, err := h.Head()
	if err != nil {
		return err
	}
	next, err := h.newestFirst(sha)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read history: %w", missingObject(err))
		}
		if len(c.ParentHashes) != 1 || !h.has(c.ParentHashes[0]) {
			continue
		}
		more, err := visit(HistoryCommit{SHA: c.Hash.String(), Parent: c.ParentHashes[0].String(),
			Message: strings.ToValidUTF8(c.Message, "\uFFFD"), Time: c.Committer.When})
		if err != nil || !more {
			return err
		}
	}
}

// Head is the clone's head commit; "" when there is no commit yet.
func (h *History) Head() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.head.IsZero() {
		return h.head.String(), nil
	}
	ref, err := storer.ResolveReference(h.repo, plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read head of clone: %w", err)
	}
	return ref.Hash().String(), nil
}

// newestFirst walks from a commit by commit time; "" has no commits.
func (h *History) newestFirst(sha string) (next func() (*object.Commit, error), err error) {
	if sha == "" {
		return func() (*object.Commit, error) { return nil, io.EOF }, nil
	}
	head, err := parseSHA(sha)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	from, err := object.GetCommit(h.repo, head)
	if err != nil {
		return nil, missingObject(err)
	}
	ends, err := h.repo.Shallow()
	if err != nil {
		return nil, err
	}
	var missingObjects []plumbing.Hash
	for _, end := range ends {
		if c, err := object.GetCommit(h.repo, end); err == nil {
			missingObjects = append(missingObjects, c.ParentHashes...)
		}
	}
	walk := object.NewCommitIterCTime(from, nil, missingObjects)
	return func() (*object.Commit, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return walk.Next()
	}, nil
}

// Commit reads one commit.
func (h *History) Commit(sha string) (HistoryCommit, error) {
	at, err := parseSHA(sha)
	if err != nil {
		return HistoryCommit{}, fmt.Errorf("read commit: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c, err := object.GetCommit(h.repo, at)
	if err != nil {
		return HistoryCommit{}, fmt.Errorf("read commit %s: %w", sha, missingObject(err))
	}
	out := HistoryCommit{SHA: sha, Message: strings.ToValidUTF8(c.Message, "\uFFFD"), Time: c.Committer.When}
	if len(c.ParentHashes) > 0 {
		out.Parent = c.ParentHashes[0].String()
	}
	return out, nil
}

// Branch is the head of a branch of the clone, or else of its last known remote branch; "" when there is no such
// branch.
func (h *History) Branch(name string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ref := range []string{"refs/heads/" + name, "refs/remotes/origin/" + name} {
		found, err := storer.ResolveReference(h.repo, plumbing.ReferenceName(ref))
		if err == nil {
			return found.Hash().String(), nil
		}
		if !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return "", fmt.Errorf("find branch %s: %w", cleanText(name, 80), err)
		}
	}
	return "", nil
}

func (h *History) has(id plumbing.Hash) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.repo.EncodedObject(plumbing.CommitObject, id) // its quick lookup ignores alternates
	return err == nil
}

// Files returns all files of a commit, by path. Submodules are left out.
func (h *History) Files(ctx context.Context, sha string) (map[string]HistoryFile, error) {
	tree, err := h.treeOf(sha)
	if err != nil {
		return nil, err
	}
	files := map[string]HistoryFile{}
	err = walkTree(ctx, h.readTree, tree, "", func(p string, e treeEntry) error {
		if e.mode != filemode.Submodule {
			files[p] = historyFile(e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read files of %s: %w", sha, err)
	}
	return files, nil
}

// Changes returns the files that differ between two commits, sorted by path. When there are more than most, it stops
// and returns most+1 of them.
func (h *History) Changes(ctx context.Context, was, now string, most int) ([]HistoryChange, error) {
	from, err := h.treeOf(was)
	if err != nil {
		return nil, err
	}
	to, err := h.treeOf(now)
	if err != nil {
		return nil, err
	}
	var out []HistoryChange
	err = h.compareTrees(ctx, h.readTree, from, to, func(c HistoryChange) error {
		if out = append(out, c); len(out) > most {
			return errMore
		}
		return nil
	})
	if err != nil && !errors.Is(err, errMore) {
		return nil, fmt.Errorf("compare %s with %s: %w", now, was, err)
	}
	slices.SortFunc(out, func(a, b HistoryChange) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// Diff compares two commits, as [Repo.Diff] does.
func (h *History) Diff(ctx context.Context, was, now string) (Diff, error) {
	from, err := h.treeOf(was)
	if err != nil {
		return Diff{}, err
	}
	to, err := h.treeOf(now)
	if err != nil {
		return Diff{}, err
	}
	changes, err := listChanges(ctx, h.readTree, from, to)
	if err != nil {
		return Diff{}, fmt.Errorf("compare %s with %s: %w", now, was, err)
	}
	open := func(id plumbing.Hash) (io.ReadCloser, int64, error) {
		b, err := h.readObject(plumbing.BlobObject, id, maxDiffFile)
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
	}
	return makeDiff(ctx, changes, open, open)
}

// compareTrees visits the files that differ between two trees.
func (h *History) compareTrees(
	ctx context.Context, read func(plumbing.Hash) ([]treeEntry, error), was, now plumbing.Hash,
	visit func(HistoryChange) error,
) error {
	return compareTrees(ctx, read, was, now, func(c treeChange) error {
		change := HistoryChange{Path: c.path, Was: historyFile(c.old), Now: historyFile(c.new)}
		if change.Was == change.Now { // submodules
			return nil
		}
		return visit(change)
	})
}

// historyFile converts an entry to a file; it is the zero value for anything else.
func historyFile(e treeEntry) HistoryFile {
	switch e.mode {
	case filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Deprecated:
		return HistoryFile{ID: e.id.String(), Executable: e.mode == filemode.Executable, Link: e.mode == filemode.Symlink}
	}
	return HistoryFile{}
}

// maxTreeObject bounds one folder's tree object, in bytes.
const maxTreeObject = 64 << 20

func (h *History) readTree(id plumbing.Hash) ([]treeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	b, err := h.readObject(plumbing.TreeObject, id, maxTreeObject)
	if err != nil {
		return nil, err
	}
	return parseTree(b)
}

// Blob reads the content of a file; more than most bytes are [ErrTooLarge].
func (h *History) Blob(id string, most int64) ([]byte, error) {
	return h.readObject(plumbing.BlobObject, plumbing.NewHash(id), most)
}

func (h *History) readObject(kind plumbing.ObjectType, id plumbing.Hash, most int64) (b []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o, err := h.repo.EncodedObject(kind, id)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", id, missingObject(err))
	}
	if o.Size() > most {
		return nil, fmt.Errorf("read %s: %w", id, ErrTooLarge)
	}
	in, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", id, missingObject(err))
	}
	defer in.Close()
	if b, err = io.ReadAll(io.LimitReader(in, most+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	return b, nil
}

// missingObject turns the error of an absent object into [ErrMissing].
func missingObject(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return ErrMissing
	}
	return err
}

func (h *History) treeOf(sha string) (plumbing.Hash, error) {
	at, err := parseSHA(sha)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read commit: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c, err := object.GetCommit(h.repo, at)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read commit %s: %w", sha, missingObject(err))
	}
	return c.TreeHash, nil
}
