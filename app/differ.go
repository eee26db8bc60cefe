package app

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Limits of a diff on a page: the time, including the wait for another diff, and the number of compared files.
const (
	diffTimeout  = 3 * time.Second
	maxDiffFiles = 200
)

// differ compares commits for pages, using only the mirrors, one pair at a time, so that work has priority.
type differ struct {
	github *github.App
	git    *gitops.Cache
	turn   chan struct{} // capacity 1
}

func newDiffer(g *deps) differ {
	return differ{github: g.github, git: g.git, turn: make(chan struct{}, 1)}
}

// Diff implements [web.Differ].
func (d differ) Diff(
	ctx context.Context, installation int64, repo sia.Repo, from, to sia.SHA,
) (found gitops.Diff, more int, err error) {
	ctx, cancel := context.WithTimeout(ctx, diffTimeout)
	defer cancel()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return found, 0, ctx.Err()
	}
	return d.git.Repo(d.github.Repo(installation, repo).Remote()).DiffHere(ctx, string(from), string(to), maxDiffFiles)
}
