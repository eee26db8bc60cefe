package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Bounds for the names of a history.
const (
	mostNamedCommits = 3000
	mostNamedFiles   = 60        // per commit; a larger change says little about each file
	maxNamesPack     = 128 << 20 // bytes of commits and trees
	namesWithin      = 2 * time.Minute
	namesFor         = 24 * time.Hour // how long fetched names are used
	namesFile        = "names.json"   // in the mirror's folder
)

// keptNames is the content of namesFile.
type keptNames struct {
	At      time.Time
	Tip     string // the newest commit of the history
	Commits []HistoryNames
}

// FetchNames lists the files changed by a commit and by the newest commits behind it, newest first: at most 3,000
// commits, none with more than 60 files. It fetches commits and trees, no file's content. It stores only the names, and
// returns them for a day, even if the requested commit is newer. For a server that refuses to omit contents, or that
// has more than 128 MiB of trees, it returns no names and no error, and asks again after a day.
func (r *Repo) FetchNames(ctx context.Context, sha string) ([]HistoryNames, error) {
	return r.fetchNames(ctx, sha, false)
}

// FetchNamesOf is FetchNames for exactly this commit: stored names of another commit are not used.
func (r *Repo) FetchNamesOf(ctx context.Context, sha string) ([]HistoryNames, error) {
	return r.fetchNames(ctx, sha, true)
}

func (r *Repo) fetchNames(ctx context.Context, sha string, exactly bool) ([]HistoryNames, error) {
	tip, err := r.hashes("fetch the names of a history", sha)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	unlock, err := r.mirror.lock(ctx, namesLock)
	if err != nil {
		return nil, err
	}
	defer unlock()
	file := filepath.Join(r.mirror.dir, namesFile)
	var kept keptNames
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &kept) == nil {
		if age := r.cache.now().Sub(kept.At); age >= 0 && age < namesFor && (!exactly || kept.Tip == sha) {
			return kept.Commits, nil
		}
	}
	kept = keptNames{At: r.cache.now(), Tip: sha}
	kept.Commits, err = r.downloadNames(ctx, "fetch the names behind "+sha, tip[0])
	var refused *remoteError
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge), errors.Is(err, errNoFilter), errors.As(err, &refused):
		r.cache.log.InfoContext(ctx, "no names of a history", "mirror", r.mirror.key, "error", err)
	default:
		return nil, err
	}
	return kept.Commits, writeFile(file, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) })
}

var errNoFilter = errors.New("the server can't leave contents out")

// downloadNames fetches commits and trees into a temporary folder and reads the names.
func (r *Repo) downloadNames(ctx context.Context, op string, tip plumbing.Hash) ([]HistoryNames, error) {
	at, err := r.client.handshake(ctx, op)
	if err != nil {
		return nil, err
	}
	if !at.filters {
		return nil, errNoFilter
	}
	dir, err := os.MkdirTemp(r.cache.tmp(), "names-*")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	defer func() { _ = r.cache.remove(dir) }() // a remainder is removed as a leftover
	g := generation{dir}
	if err := os.MkdirAll(g.packsDir(), 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	d, err := r.client.download(ctx, op,
		fetchRequest{want: tip, depth: mostNamedCommits, filter: "blob:none", most: maxNamesPack})
	if err != nil {
		return nil, err
	}
	defer d.close()
	x, err := indexPack(ctx, d.pack, filepath.Join(dir, "whole"), &packedObjects{}, r.cache.fetched)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := g.addPack(x); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := g.addShallow(d.shallow); err != nil {
		return nil, err
	}
	repo, err := openGitFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	h := &History{repo: repo, dir: dir, head: tip}
	names, err := h.Names(ctx, tip.String(), mostNamedCommits, mostNamedFiles)
	return names, errors.Join(err, h.Close())
}
