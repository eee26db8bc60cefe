package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// Workspace is a checkout of one commit. Anybody may change its files, and its methods trust nothing that they find in
// it. Safe for concurrent use: a Commit while files change commits what it read in between, or fails.
type Workspace struct {
	repo *Repo
	dir  string
	base plumbing.Hash
	// state is the folder with the workspace's state, outside the workspace.
	state   string
	reused  bool                            // it existed already
	leftOut atomic.Pointer[LeftOut]         // of the last scan
	written atomic.Pointer[map[string]bool] // files of KeepWritten; nil: none
}

// workspaceState is stored in workspace.json, so that a workspace is recognized after a crash. The index with the files
// as checked out is next to it.
type workspaceState struct {
	Dir   string `json:"dir"`
	Key   string `json:"key"`
	Base  string `json:"base"`
	Ready bool   `json:"ready"` // the checkout is complete
	Inode uint32 `json:"inode"` // of the directory, if the system has inodes
}

// Workspace checks out a commit, which is fetched when the mirror lacks it, in dir; "" is a new directory in the cache.
// If dir already is this workspace, it is opened as it is; an interrupted checkout is repeated. Any other directory
// with content is [ErrNotWorkspace].
//
// The workspace has a .git with copies of the packs, for the tools that need one. Programs in the workspace may write
// to them; through links they would write to the mirror.
func (r *Repo) Workspace(ctx context.Context, dir, sha string) (*Workspace, error) {
	base, err := r.hashes("make workspace", sha)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp(filepath.Join(r.cache.dir, workspacesDir), "w-*"); err != nil {
			return nil, fmt.Errorf("make workspace: %w", err)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	sum := sha256.Sum256([]byte(dir))
	id := hex.EncodeToString(sum[:16])
	w := &Workspace{repo: r, dir: dir, base: base[0], state: filepath.Join(r.cache.dir, statesDir, id)}
	// All directories share a few locks, so that no lock files need to be removed.
	unlock, err := lock(ctx, filepath.Join(r.cache.dir, locksDir, id[:3]))
	if err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	defer unlock()
	if w.reused, err = w.reopen(); err != nil || w.reused {
		return w, err
	}
	if err := w.create(ctx, sha); err != nil {
		return nil, err
	}
	return w, nil
}

// reopen reports whether the directory is this workspace, complete. If it returns false and no error, the directory can
// be filled.
func (w *Workspace) reopen() (bool, error) {
	s, known := w.known()
	st, err := os.Lstat(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open workspace: %w", err)
	}
	if !st.IsDir() {
		return false, fmt.Errorf("open workspace %s: %w: it is not a directory", w.dir, ErrNotWorkspace)
	}
	same := known && s.Inode == statOf(st).Inode
	if same && s.Ready && s.Key == w.repo.mirror.key && s.Base == w.base.String() {
		return true, nil
	}
	entries, err := os.ReadDir(w.dir)
	switch {
	case err != nil:
		return false, fmt.Errorf("open workspace: %w", err)
	case len(entries) == 0:
		return false, nil
	case same && !s.Ready: // ours, interrupted
		return false, w.empty()
	case same:
		return false, fmt.Errorf("open workspace %s: %w: it holds commit %s", w.dir, ErrNotWorkspace, s.Base)
	default:
		return false, fmt.Errorf("open workspace %s: %w: something else is in it", w.dir, ErrNotWorkspace)
	}
}

// known returns the stored state of the directory, if any.
func (w *Workspace) known() (s workspaceState, known bool) {
	b, err := os.ReadFile(filepath.Join(w.state, "workspace.json"))
	return s, err == nil && json.Unmarshal(b, &s) == nil && s.Dir == w.dir
}

// create fills an empty or absent directory.
func (w *Workspace) create(ctx context.Context, sha string) (err error) {
	if err := errors.Join(os.MkdirAll(w.dir, 0o755), os.MkdirAll(w.state, 0o700)); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	defer func() {
		if err != nil {
			_ = w.Remove()
		}
	}()
	if err := os.Remove(filepath.Join(w.state, leftFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make workspace: %w", err)
	}
	if err := w.note(false); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	err = w.repo.viewCommit(ctx, "make workspace", sha, func(o *packedObjects, h plumbing.Hash) error {
		if err := w.empty(); err != nil { // the remains of a first try on a broken mirror
			return err
		}
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		entries, err := checkoutTree(ctx, o, c.TreeHash, w.dir)
		if err != nil {
			return err
		}
		encoded, err := encodeIndex(entries)
		if err != nil {
			return err
		}
		dotGit := filepath.Join(w.dir, ".git")
		if err := writeDotGit(dotGit, o, sha, encoded); err != nil {
			return err
		}
		info := filepath.Join(dotGit, "info") // for programs that need it
		if err := errors.Join(os.Mkdir(info, 0o755),
			os.WriteFile(filepath.Join(info, "exclude"), w.repo.cache.ignored, 0o644)); err != nil {
			return err
		}
		return writeFile(filepath.Join(w.state, "index"), 0o600, func(out io.Writer) error {
			_, err := out.Write(encoded)
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := w.note(true); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	return nil
}

// note writes workspace.json.
func (w *Workspace) note(ready bool) error {
	st, err := os.Lstat(w.dir)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(w.state, "workspace.json"), 0o600, func(out io.Writer) error {
		return json.NewEncoder(out).Encode(workspaceState{
			Dir: w.dir, Key: w.repo.mirror.key, Base: w.base.String(), Ready: ready, Inode: statOf(st).Inode,
		})
	})
}

// writeDotGit makes a repository with the commit as HEAD and no remote.
func writeDotGit(dir string, o *packedObjects, sha string, index []byte) error {
	packs := filepath.Join(dir, "objects", "pack")
	err := errors.Join(os.MkdirAll(packs, 0o755), os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o755),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte(sha+"\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "index"), index, 0o644))
	if err != nil {
		return err
	}
	for _, p := range o.packs {
		dst := filepath.Join(packs, filepath.Base(p.path))
		if err := errors.Join(copyFile(p.path+".pack", dst+".pack"), copyFile(p.path+".idx", dst+".idx")); err != nil {
			return err
		}
	}
	err = copyFile(filepath.Join(o.from.dir, "shallow"), filepath.Join(dir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// WorkspaceDir is a directory in the cache for the workspace of a key, always the same for the same key. It is removed
// when it was not touched for two days, as those without a key are.
func (c *Cache) WorkspaceDir(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, workspacesDir, "k-"+hex.EncodeToString(sum[:16]))
}

// Reused reports whether the workspace already existed, with changes from earlier use, and was not just made.
func (w *Workspace) Reused() bool { return w.reused }

// Dir is the workspace's absolute path.
func (w *Workspace) Dir() string { return w.dir }

// Base is the commit that was checked out. It stays the same after a Commit.
func (w *Workspace) Base() string { return w.base.String() }

// empty removes the content of the directory.
func (w *Workspace) empty() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return fmt.Errorf("empty workspace: %w", err)
	}
	for _, e := range entries {
		if err := w.repo.cache.remove(filepath.Join(w.dir, e.Name())); err != nil {
			return fmt.Errorf("empty workspace: %w", err)
		}
	}
	return nil
}

// Remove removes the workspace and its state. Commits made in it stay.
func (w *Workspace) Remove() error {
	if err := errors.Join(w.repo.cache.remove(w.dir), os.RemoveAll(w.state)); err != nil {
		return fmt.Errorf("remove workspace: %w", err)
	}
	return nil
}

// knownWorkspaces returns the state of all workspaces, by the file that holds it.
func (c *Cache) knownWorkspaces() map[string]workspaceState {
	names, _ := fs.Glob(os.DirFS(c.dir), statesDir+"/*/workspace.json") // the folder's own name is no pattern
	known := map[string]workspaceState{}
	for _, name := range names {
		file := filepath.Join(c.dir, name)
		var s workspaceState
		b, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(b, &s) == nil { // else another process may be removing it
			known[file] = s
		}
	}
	return known
}

// forgetWorkspaces removes the state of workspaces without a directory.
func (c *Cache) forgetWorkspaces() {
	for file, s := range c.knownWorkspaces() {
		st, serr := os.Stat(file)
		_, err := os.Lstat(s.Dir)
		if errors.Is(err, fs.ErrNotExist) && serr == nil && c.now().Sub(st.ModTime()) > leftoverAge {
			_ = os.RemoveAll(filepath.Dir(file))
		}
	}
}
