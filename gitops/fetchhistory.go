package gitops

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// FetchHistory fetches the head of a branch and its nearest ancestors, depth commits in all, and opens them for
// reading. It is [ErrNoBranch] when the server has no such branch. A mirror with history is large: give the remote a
// separate key, so that attempts use another mirror. The caller closes the result.
func (r *Repo) FetchHistory(ctx context.Context, branch string, depth int) (*History, error) {
	op := "fetch the history of " + cleanText(branch, 80)
	sha, err := r.Head(ctx, branch)
	if err != nil {
		return nil, err
	}
	if sha == "" {
		return nil, fmt.Errorf("%s from %s: %w", op, r.shownURL(), ErrNoBranch)
	}
	tip := plumbing.NewHash(sha)
	m, err := r.historyMirror(ctx, op, tip, depth)
	if err != nil {
		return nil, err
	}
	repo, err := openGitFolder(m.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return &History{repo: repo, dir: m.dir, head: tip, origin: r.shownURL()}, nil
}

// historyMirror returns the mirror with the commit and its ancestors. A mirror with many packs is replaced first.
func (r *Repo) historyMirror(ctx context.Context, op string, tip plumbing.Hash, depth int) (mirror, error) {
	if _, err := r.mirror(ctx); err != nil { // it makes the folder of the lock
		return mirror{}, err
	}
	unlock, err := r.lockFetch(ctx)
	if err != nil {
		return mirror{}, err
	}
	defer unlock()
	m, err := r.mirror(ctx)
	if err != nil || m.isMarked("fetched", tip) {
		return m, err
	}
	if tips, _, err := m.markedCommits("fetched"); err != nil || len(tips) >= maxHistories {
		if err := r.renewMirror(ctx, m); err != nil {
			return m, err
		}
		if m, err = r.mirror(ctx); err != nil {
			return m, err
		}
	}
	return m, r.transferCommits(ctx, op, m, tip, max(depth, 2))
}

// maxHistories is how many complete histories a mirror holds before it is replaced.
const maxHistories = 3

// OpenCommits opens commits for reading, and fetches those that the mirror lacks. Their ancestors are not available.
// The caller closes the result. When the mirror is replaced meanwhile, reads may return [ErrMissing].
func (r *Repo) OpenCommits(ctx context.Context, shas ...string) (*History, error) {
	if r.bad != nil {
		return nil, fmt.Errorf("open commits: %w", r.bad)
	}
	commits, err := parseSHAs(shas)
	if err != nil {
		return nil, fmt.Errorf("open commits: %w", err)
	}
	m, err := r.ensureCommits(ctx, commits)
	if err != nil {
		return nil, fmt.Errorf("open commits: %w", err)
	}
	repo, err := openGitFolder(m.dir)
	if err != nil {
		return nil, fmt.Errorf("open commits: %w", err)
	}
	return &History{repo: repo, dir: m.dir, origin: r.shownURL()}, nil
}
