package located

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/lab/replay"
)

// Limits of mining.
const (
	maxChanged  = 60   // files of a commit
	mostCommits = 6000 // of a history
	maxBlob     = 2 << 20
)

// Task is a commit with known tests. A ranker should find the code that it changed.
type Task struct {
	Repo, Commit, Parent string
	Language             string        // its name in testrun
	Tests                []locate.Test // that fail on the parent
	Output               []string      // of them there; none if they did not run
	Message              string
	Want                 []string // changed code files that the parent has, in order
	over                 testrun.Files
	past                 int // index in the repository's history of the first commit before it
}

// Repository is a clone with its history.
type Repository struct {
	Name    string
	History *gitops.History
	names   []gitops.HistoryNames // newest first
	blobs   blobCache
}

// OpenRepository opens a clone, bare or not, and reads which files its commits changed.
func OpenRepository(ctx context.Context, dir string) (*Repository, error) {
	h, err := gitops.OpenHistory(dir)
	if err != nil {
		return nil, err
	}
	head, err := h.Head()
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	names, err := h.Names(ctx, head, mostCommits, maxChanged)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &Repository{Name: repositoryName(h), History: h, names: names}, nil
}

// Close closes the clone.
func (r *Repository) Close() error { return r.History.Close() }

// repositoryName returns the folder's name, or its parent's if that is more specific.
func repositoryName(h *gitops.History) string {
	dir := h.Dir()
	name := strings.TrimSuffix(filepath.Base(dir), ".git")
	if name == "repo" || name == "" {
		name = filepath.Base(filepath.Dir(dir))
	}
	return name
}

// Mine finds at most most tasks, newest first, without running anything. It leaves out commits that changed no
// test declaration, and commits with only new code.
func (r *Repository) Mine(ctx context.Context, most int) ([]Task, error) {
	var out []Task
	for i, c := range r.names {
		if len(out) == most {
			break
		}
		if !mayBeTask(c.Paths) {
			continue
		}
		full, err := r.History.Commit(c.SHA)
		if err != nil {
			return nil, err
		}
		t, ok, err := r.taskOf(ctx, full, i)
		if errors.Is(err, gitops.ErrMissing) || errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("mine %s: %w", r.Name, err)
		}
		if ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// Verified returns the tasks of the repository's history that lab/replay verified and stored below the folder data,
// newest first, with the tests that fail on the parent and their output.
func (r *Repository) Verified(ctx context.Context, data string) ([]Task, error) {
	places := map[string]int{}
	for i, c := range r.names {
		places[c.SHA] = i
	}
	dirs, err := os.ReadDir(filepath.Join(data, "replay"))
	if err != nil {
		return nil, fmt.Errorf("read verified tasks: %w", err)
	}
	var out []Task
	for _, d := range dirs {
		name, err := url.PathUnescape(d.Name())
		if err != nil {
			continue
		}
		folder, err := replay.OpenFolder(data, name)
		if err != nil {
			return nil, err
		}
		tasks, _, err := folder.Tasks()
		if err != nil {
			return nil, err
		}
		for _, kept := range tasks {
			at, known := places[kept.Commit]
			if !known {
				continue
			}
			t, ok, err := r.verified(ctx, folder, kept, at)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, func(a, b Task) int { return cmp.Compare(a.past, b.past) })
	return out, nil
}

// verified returns a stored task as a Task.
func (r *Repository) verified(ctx context.Context, f *replay.Folder, kept replay.Task, at int) (Task, bool, error) {
	c, err := r.History.Commit(kept.Commit)
	if err != nil {
		return Task{}, false, err
	}
	t, _, err := r.taskOf(ctx, c, at)
	if err != nil || len(t.Want) == 0 {
		return Task{}, false, err
	}
	t.Message, t.Tests = kept.Title+"\n"+kept.Text, nil
	for _, name := range kept.Failing {
		group, test, _ := strings.Cut(name, "::")
		found := locate.Test{Name: test, File: group}
		if path.Ext(group) == "" || !slices.Contains(kept.Tests, group) {
			found.File = r.definedIn(t, kept.Tests, group, test)
		}
		t.Tests = append(t.Tests, found)
	}
	output, err := f.Output(kept.ID)
	if output != "" {
		t.Output = []string{output}
	}
	return t, true, err
}

// definedIn returns the changed test file of a folder that defines a Go test; "" if none does.
func (r *Repository) definedIn(t Task, tests []string, folder, name string) string {
	top, _, _ := strings.Cut(name, "/")
	for _, p := range tests {
		if path.Dir(p) != path.Clean(folder) {
			continue
		}
		b, err := r.blobs.read(r.History, t.over[p].ID)
		if err == nil && slices.ContainsFunc(goFuncs(b), func(f goFunc) bool { return f.name == top }) {
			return p
		}
	}
	return ""
}

// mayBeTask reports whether changed files contain a test and code, by their names.
func mayBeTask(paths []string) bool {
	for _, l := range testrun.Languages() {
		if slices.ContainsFunc(paths, l.Runs) && slices.ContainsFunc(paths, l.IsCode) {
			return true
		}
	}
	return false
}

// taskOf returns the task of the commit at an index of the history.
func (r *Repository) taskOf(ctx context.Context, c gitops.HistoryCommit, at int) (Task, bool, error) {
	changes, err := r.History.Changes(ctx, c.Parent, c.SHA, maxChanged)
	if err != nil || len(changes) > maxChanged {
		return Task{}, false, err
	}
	t := Task{Repo: r.Name, Commit: c.SHA, Parent: c.Parent, Message: c.Message, over: testrun.Files{}, past: at + 1}
	for _, l := range testrun.Languages() {
		if !slices.ContainsFunc(changes, func(f gitops.HistoryChange) bool { return f.Now.ID != "" && l.Runs(f.Path) }) {
			continue
		}
		t.Language = l.Name()
		for _, f := range changes {
			switch {
			case l.IsTest(f.Path) && f.Now.ID != "":
				t.over[f.Path] = f.Now
				if l.Runs(f.Path) {
					names, err := r.changedTests(f)
					if err != nil {
						return Task{}, false, err
					}
					for _, n := range names {
						t.Tests = append(t.Tests, locate.Test{File: f.Path, Name: n})
					}
				}
			case l.IsCode(f.Path) && f.Was.ID != "" && locate.IsCandidate(f.Path):
				t.Want = append(t.Want, f.Path)
			}
		}
		return t, len(t.Tests) > 0 && len(t.Want) > 0, nil
	}
	return Task{}, false, nil
}

// changedTests returns the tests of a changed file that are new or differ.
func (r *Repository) changedTests(f gitops.HistoryChange) ([]string, error) {
	now, err := r.blobs.read(r.History, f.Now.ID)
	if err != nil {
		return nil, err
	}
	var was []byte
	if f.Was.ID != "" {
		if was, err = r.blobs.read(r.History, f.Was.ID); err != nil {
			return nil, err
		}
	}
	if path.Ext(f.Path) == ".go" {
		return changedGoTests(was, now), nil
	}
	return changedLineTests(was, now), nil
}

// tree returns the parent's tree with the task's tests.
func (r *Repository) tree(ctx context.Context, t Task) (*overlaidTree, error) {
	files, err := r.History.Files(ctx, t.Parent)
	if err != nil {
		return nil, err
	}
	for p, f := range t.over {
		files[p] = f
	}
	return &overlaidTree{repo: r, files: files}, nil
}

// past returns the commits before a task.
func (r *Repository) past(t Task) (out []locate.Commit) {
	for _, c := range r.names[t.past:] {
		out = append(out, locate.Commit{Paths: c.Paths})
	}
	return out
}

// overlaidTree is a [locate.Tree] of a commit.
type overlaidTree struct {
	repo  *Repository
	files testrun.Files
}

// Files lists the files. Their sizes are not known.
func (t *overlaidTree) Files(context.Context) ([]locate.File, error) {
	var out []locate.File
	for p, f := range t.files {
		if !f.Link {
			out = append(out, locate.File{Path: p})
		}
	}
	return out, nil
}

// Read reads a file.
func (t *overlaidTree) Read(_ context.Context, p string, most int64) ([]byte, error) {
	b, err := t.repo.blobs.read(t.repo.History, t.files[p].ID)
	return b[:min(int64(len(b)), most)], err
}
