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

// Bounds of the names of a history.
const (
	mostNamedCommits = 3000
	mostNamedFiles   = 60        // of one commit; what changed more says little of each
	maxNamesPack     = 128 << 20 // bytes of commits and trees
	namesWithin      = 2 * time.Minute
	namesFor         = 24 * time.Hour // for which what was fetched is good enough
	namesFile        = "names.json"   // in the mirror's folder
)

// keptNames is what a mirror's folder keeps of the names of its history.
type keptNames struct {
	At      time.Time
	Tip     string // the commit that they are behind
	Commits []HistoryNames
}

// FetchNames lists which files the newest commits behind a commit changed, that one's too, newest first: at most 3,000
// commits, none with more than 60 files. Commits and trees are fetched, no file's content, and only the names are kept,
// for a day: until then they are those behind a commit that was newest then. A server that refuses to leave contents
// out, or that has more than 128 MiB of trees, has no names, which is no error; it is asked again after a day.
func (r *Repo) FetchNames(ctx context.Context, sha string) ([]HistoryNames, error) {
	return r.fetchNames(ctx, sha, false)
}

// FetchNamesOf is FetchNames behind this very commit: what is kept of another is fetched anew.
func (r *Repo) FetchNamesOf(ctx context.Context, sha string) ([]HistoryNames, error) {
	return r.fetchNames(ctx, sha, true)
}

func (r *Repo) fetchNames(ctx context.Context, sha string, exactly bool) ([]HistoryNames, error) {
	if r.bad != nil {
		return nil, fmt.Errorf("fetch the names of a history: %w", r.bad)
	}
	tip, err := parseSHA(sha)
	if err != nil {
		return nil, fmt.Errorf("fetch the names of a history: %w", err)
	}
	if _, err := r.mirror(ctx); err != nil { // it makes the folder
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	// A lock of its own: attempts that need files don't wait for names.
	unlock, err := r.cache.locks.lock(ctx, filepath.Join(r.dir, "names.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	file := filepath.Join(r.dir, namesFile)
	var kept keptNames
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &kept) == nil {
		if age := r.cache.now().Sub(kept.At); age >= 0 && age < namesFor && (!exactly || kept.Tip == sha) {
			return kept.Commits, nil
		}
	}
	kept = keptNames{At: r.cache.now(), Tip: sha}
	kept.Commits, err = r.downloadNames(ctx, "fetch the names behind "+sha, tip)
	var refused *remoteError
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge), errors.Is(err, errNoFilter), errors.As(err, &refused):
		r.cache.log.InfoContext(ctx, "no names of a history", "mirror", r.remote.Key, "error", err)
	default:
		return nil, err
	}
	return kept.Commits, writeFile(file, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) })
}

var errNoFilter = errors.New("the server can't leave contents out")

// downloadNames fetches commits and trees into a folder that is removed again, and reads the names.
func (r *Repo) downloadNames(ctx context.Context, op string, tip plumbing.Hash) ([]HistoryNames, error) {
	at, err := r.handshake(ctx, op)
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
	defer func() { _ = r.cache.remove(dir) }() // what stays is removed as a leftover
	m := mirror{dir}
	if err := os.MkdirAll(m.packsDir(), 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	d, err := r.download(ctx, op,
		fetchRequest{want: tip, depth: mostNamedCommits, filter: "blob:none", most: maxNamesPack})
	if err != nil {
		return nil, err
	}
	defer d.close()
	x, err := indexPack(d.pack, filepath.Join(dir, "whole"), &packedObjects{}, packLimits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	name := filepath.Join(m.packsDir(), "pack-"+x.checksum.String())
	if err := errors.Join(os.Rename(x.base+".pack", name+".pack"), os.Rename(x.base+".idx", name+".idx")); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := m.addShallow(d.shallow); err != nil {
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
