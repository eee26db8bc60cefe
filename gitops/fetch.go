package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds of the pack of a fetch: a repository may be a stranger's, and is on the same disk as the others.
const (
	maxFetchedBytes   = 4 << 30
	maxFetchedObjects = 2 * maxTreeFiles // the index of a pack is made in memory
	maxFetchedWhole   = 2 * maxTreeBytes // unpacked: a small pack may stand for very much
)

// Head asks the server for the head of a branch; "" means that there is no such branch. It changes nothing.
func (r *Repo) Head(ctx context.Context, branch string) (string, error) {
	if r.bad != nil {
		return "", fmt.Errorf("head of %s: %w", cleanText(branch, 80), r.bad)
	}
	ref, err := branchRef(branch)
	if err != nil {
		return "", err
	}
	h, err := r.client.lsRef(ctx, "head of "+branch, ref)
	if err != nil || h.IsZero() {
		return "", err
	}
	return h.String(), nil
}

// Fetch fetches the head of a branch into the mirror, without history, and returns it. It is [ErrNoBranch] when the
// server has no such branch.
func (r *Repo) Fetch(ctx context.Context, branch string) (string, error) {
	sha, err := r.Head(ctx, branch)
	if err != nil {
		return "", err
	}
	if sha == "" {
		return "", fmt.Errorf("fetch %s from %s: %w", branch, r.client.url.String(), ErrNoBranch)
	}
	if err := r.FetchCommit(ctx, sha); err != nil {
		return "", err
	}
	return sha, nil
}

// FetchCommit makes sure that a commit and its files are in the mirror. A commit that the server lacks is a
// [*NotFoundError].
func (r *Repo) FetchCommit(ctx context.Context, sha string) error {
	h, err := r.hashes("fetch commit", sha)
	if err != nil {
		return err
	}
	return r.ensureCommit(ctx, h[0])
}

// ensureCommit makes sure that a commit is complete in the mirror. It was fetched, or it was made here on top of
// complete commits.
func (r *Repo) ensureCommit(ctx context.Context, want plumbing.Hash) error {
	for try := 1; ; try++ {
		g, again, err := r.fetchMissing(ctx, want)
		for again && err == nil {
			g, again, err = r.fetchMissing(ctx, want)
		}
		if try == 2 || !errors.Is(err, errBroken) {
			return err
		}
		if err := r.mirror.replaceBroken(ctx, g, err); err != nil {
			return err
		}
	}
}

// fetchMissing fetches the commits that want needs. A commit from [CacheOptions.Kept] may need further commits: then
// again is true.
func (r *Repo) fetchMissing(ctx context.Context, want plumbing.Hash) (g generation, again bool, err error) {
	if g, err = r.mirror.current(ctx); err != nil {
		return g, false, err
	}
	lacks, err := g.missingCommits(want)
	for i := 0; err == nil && i < len(lacks); i++ {
		var taken bool
		if taken, err = r.mirror.takeKept(ctx, lacks[i]); err == nil && !taken {
			err = r.fetchOne(ctx, lacks[i])
		}
		again = again || taken
	}
	return g, again, err
}

// fetchOne fetches one commit without its history. Servers of protocol version 2 serve any commit by its hash.
func (r *Repo) fetchOne(ctx context.Context, want plumbing.Hash) error {
	unlock, err := r.mirror.lock(ctx, fetchLock)
	if err != nil {
		return err
	}
	defer unlock()
	g, err := r.mirror.current(ctx)
	if err != nil {
		return err
	}
	if g.isMarked("fetched", want) {
		return nil // another fetch added it while this one waited
	}
	if g, err = r.mirror.compact(ctx); err != nil {
		return err
	}
	op := "fetch " + want.String()
	for try := 1; ; try++ {
		err = r.transferCommits(ctx, op, g, want, 1)
		var said *remoteError
		if err == nil || !errors.As(err, &said) || !strings.Contains(said.msg, "not our ref") {
			return err
		}
		// A replica of the server may not have the commit yet.
		if try == maxTries || r.cache.pause(ctx, maxWait/10) != nil {
			return &NotFoundError{Op: op, URL: r.client.url.String(), What: "commit " + want.String()}
		}
	}
}

// transferCommits fetches a commit and its nearest ancestors, depth commits in all, and marks it.
func (r *Repo) transferCommits(ctx context.Context, op string, g generation, want plumbing.Hash, depth int) error {
	haves, _, err := g.markedCommits("fetched")
	if err != nil {
		return err
	}
	shallow, err := g.shallowCommits()
	if err != nil {
		return err
	}
	objs, err := openObjects(g.dir)
	if err != nil {
		return err
	}
	defer objs.close()
	if depth > 1 {
		haves = nil // otherwise the server may omit a commit in between, and we lack its files
	}
	limits := r.cache.fetched
	d, err := r.client.download(ctx, op,
		fetchRequest{want: want, depth: depth, haves: haves, shallow: shallow, most: limits.size})
	if err != nil {
		return fetchError(op, err)
	}
	defer d.close()
	x, err := indexPack(ctx, d.pack, strings.TrimSuffix(d.pack.Name(), ".pack")+"-whole", objs, limits)
	if err != nil {
		return fetchError(op, fmt.Errorf("%s: %w", op, err))
	}
	defer x.remove()
	return r.mirror.install(ctx, x, "fetched", d.shallow, want)
}

// fetchError makes [ErrTooLarge] of a pack an [ErrFetchTooLarge]: it is no file that is too large.
func fetchError(op string, err error) error {
	if errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%s: %w: more than %d GiB packed, %d GiB unpacked, or %d objects", op, ErrFetchTooLarge,
			maxFetchedBytes>>30, maxFetchedWhole>>30, maxFetchedObjects)
	}
	return err
}

// viewCommit calls read on the mirror with the commit in it. When the mirror is broken, it is replaced and read is
// called once more.
func (r *Repo) viewCommit(ctx context.Context, op, sha string, read func(*packedObjects, plumbing.Hash) error) error {
	return r.viewCommits(ctx, op, []string{sha}, func(o *packedObjects, at []plumbing.Hash) error {
		return read(o, at[0])
	})
}

// viewCommits is viewCommit of several commits.
func (r *Repo) viewCommits(
	ctx context.Context, op string, shas []string, read func(*packedObjects, []plumbing.Hash) error,
) error {
	commits, err := r.hashes(op, shas...)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		g, err := r.ensureCommits(ctx, commits)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		objs, err := openObjects(g.dir)
		if err == nil {
			err = read(objs, commits)
			objs.close()
		}
		if err == nil {
			return nil
		}
		if try == 2 || !errors.Is(err, errBroken) && !errors.Is(err, errNoObject) {
			return fmt.Errorf("%s: %w", op, err)
		}
		if err := r.mirror.replaceBroken(ctx, g, err); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
}

// ensureCommits makes sure that commits are complete in one generation of the mirror. A mirror that is replaced on the
// way has lost the commits checked before.
func (r *Repo) ensureCommits(ctx context.Context, commits []plumbing.Hash) (generation, error) {
	for try := 1; ; try++ {
		before, err := r.mirror.current(ctx)
		if err != nil {
			return generation{}, err
		}
		for _, h := range commits {
			if err := r.ensureCommit(ctx, h); err != nil {
				return generation{}, err
			}
		}
		g, err := r.mirror.current(ctx)
		if err != nil || g == before || try == maxTries {
			return g, err
		}
	}
}

// hashes parses ids of commits, if the remote can be used.
func (r *Repo) hashes(op string, shas ...string) ([]plumbing.Hash, error) {
	out, err := parseSHAs(shas)
	if err = cmp.Or(r.bad, err); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

func parseSHAs(shas []string) ([]plumbing.Hash, error) {
	out := make([]plumbing.Hash, len(shas))
	for i, sha := range shas {
		h, err := parseSHA(sha)
		if err != nil {
			return nil, err
		}
		out[i] = h
	}
	return out, nil
}
