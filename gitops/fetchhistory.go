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
		return nil, fmt.Errorf("%s from %s: %w", op, r.client.url.String(), ErrNoBranch)
	}
	tip := plumbing.NewHash(sha)
	g, err := r.fetchAncestors(ctx, op, tip, depth)
	if err != nil {
		return nil, err
	}
	repo, err := openGitFolder(g.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return &History{repo: repo, dir: g.dir, head: tip, origin: r.client.url.String()}, nil
}

// fetchAncestors returns the generation with the commit and its ancestors. A mirror with many packs is replaced first.
func (r *Repo) fetchAncestors(ctx context.Context, op string, tip plumbing.Hash, depth int) (generation, error) {
	unlock, err := r.mirror.lock(ctx, fetchLock)
	if err != nil {
		return generation{}, err
	}
	defer unlock()
	g, err := r.mirror.current(ctx)
	if err != nil || g.isMarked("fetched", tip) {
		return g, err
	}
	if tips, _, err := g.markedCommits("fetched"); err != nil || len(tips) >= maxHistories {
		if err := r.mirror.renew(ctx, g); err != nil {
			return g, err
		}
		if g, err = r.mirror.current(ctx); err != nil {
			return g, err
		}
	}
	return g, r.transferCommits(ctx, op, g, tip, max(depth, 2))
}

// maxHistories is how many complete histories a mirror holds before it is replaced.
const maxHistories = 3

// OpenCommits opens commits for reading, and fetches those that the mirror lacks. Their ancestors are not available.
// The caller closes the result. When the mirror is replaced meanwhile, reads may return [ErrMissing].
func (r *Repo) OpenCommits(ctx context.Context, shas ...string) (*History, error) {
	commits, err := r.hashes("open commits", shas...)
	if err != nil {
		return nil, err
	}
	g, err := r.ensureCommits(ctx, commits)
	if err != nil {
		return nil, fmt.Errorf("open commits: %w", err)
	}
	repo, err := openGitFolder(g.dir)
	if err != nil {
		return nil, fmt.Errorf("open commits: %w", err)
	}
	return &History{repo: repo, dir: g.dir, origin: r.client.url.String()}, nil
}
