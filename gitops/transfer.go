package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// WriteCommit writes a pack of a commit with all of its files and none of its history, for [Repo.TakeCommit] on a
// machine without access to the server.
func (r *Repo) WriteCommit(ctx context.Context, sha string, out io.Writer) error {
	w := &countedWriter{ctx: ctx, out: out}
	return r.viewCommit(ctx, "write commit", sha, func(o *packedObjects, h plumbing.Hash) error {
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		if _, err := o.listTree(ctx, c.TreeHash); err != nil {
			return err
		}
		objs, err := o.wholeCommits(h)
		if err != nil {
			return err
		}
		_, _, err = writePack(w, objs)
		if err != nil && w.written > 0 {
			return fmt.Errorf("after %d bytes: %s", w.written, err.Error()) // not retried: the reader has a part of it
		}
		return err
	})
}

// wholeCommits lists commits and all of their files.
func (o *packedObjects) wholeCommits(commits ...plumbing.Hash) ([]newObject, error) {
	trees, err := o.treesOf(commits)
	if err != nil {
		return nil, err
	}
	var objs []newObject
	all := newMissingObjects(nil, o.readTree)
	for i, h := range commits {
		objs = append(objs, o.packable(h, plumbing.CommitObject))
		if err := all.find(trees[i], func(id plumbing.Hash, kind plumbing.ObjectType) {
			objs = append(objs, o.packable(id, kind))
		}); err != nil {
			return nil, err
		}
	}
	return objs, nil
}

// countedWriter counts the bytes written, and fails when its context ends.
type countedWriter struct {
	ctx     context.Context
	out     io.Writer
	written int64
}

// Write writes while the context is not done.
func (w *countedWriter) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	n, err := w.out.Write(b)
	w.written += int64(n)
	return n, err
}

// HasCommit reports whether the mirror has a commit with its files, fetched or taken. It asks no server.
func (r *Repo) HasCommit(sha string) bool {
	h, err := parseSHA(sha)
	g, ok := r.mirror.present()
	return err == nil && ok && g.isMarked("fetched", h)
}

// TakeCommit adds a commit written by [Repo.WriteCommit] elsewhere to the mirror. A commit of more than most bytes is
// [ErrTooLarge].
func (r *Repo) TakeCommit(ctx context.Context, sha string, in io.Reader, most int64) error {
	if err := r.mirror.take(ctx, sha, in, most); err != nil {
		return fmt.Errorf("take commit %s: %w", cleanText(sha, 40), err)
	}
	return nil
}

func (m *mirror) take(ctx context.Context, sha string, in io.Reader, most int64) error {
	want, err := parseSHA(sha)
	if err != nil {
		return err
	}
	unlock, err := m.lock(ctx, fetchLock)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := m.compact(ctx); err != nil {
		return err
	}
	x, err := unpack(ctx, m.cache.tmp(), in, want, packLimits{size: most})
	if err != nil {
		return err
	}
	defer x.remove()
	return m.install(ctx, x, "fetched", []plumbing.Hash{want}, want)
}

// unpack writes a pack to a temporary file in dir and indexes it. The pack must contain want and be within limits.
func unpack(
	ctx context.Context, dir string, in io.Reader, want plumbing.Hash, limits packLimits,
) (x indexedPack, err error) {
	f, err := os.CreateTemp(dir, "taken-*.pack")
	if err != nil {
		return x, fmt.Errorf("write pack: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if limits.size > 0 {
		in = io.LimitReader(in, limits.size+1)
	}
	n, err := io.Copy(f, cancelled{ctx, in})
	switch {
	case err != nil:
		return x, fmt.Errorf("write pack: %w", err)
	case limits.size > 0 && n > limits.size:
		return x, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limits.size)
	}
	whole := strings.TrimSuffix(f.Name(), ".pack") + "-whole"
	if x, err = indexPack(ctx, f, whole, &packedObjects{}, limits); err != nil {
		return x, err
	}
	if err = x.holds(want); err != nil {
		x.remove()
	}
	return x, err
}

// holds returns [errNoObject] if the pack lacks an object.
func (x indexedPack) holds(want plumbing.Hash) error {
	p, err := openPack(x.base, &baseCache{})
	if err != nil {
		return err
	}
	defer p.f.Close()
	if _, found := p.findObject(want); !found {
		return errNoObject
	}
	return nil
}

// packLimits bound a pack from an untrusted source; the zero value bounds nothing.
type packLimits struct {
	size    int64 // of the pack, in bytes; 0: any
	whole   bool  // no object is a delta
	objects int   // 0: any number
	bytes   int64 // of all objects and deltas, inflated, and of what deltas make; 0: any number
	held    int   // bytes of the bases of deltas that are in memory at the same time; 0: [maxHeld]
}

// errDelta reports a delta in a pack that may have none: a delta may expand to any size.
var errDelta = errors.New("pack with a delta, where only whole objects are taken")

// admit checks the next object of a pack against the limits, and counts it.
func (l *packLimits) admit(kind plumbing.ObjectType, size int64) error {
	if l.whole && kind.IsDelta() {
		return errDelta
	}
	return l.count(size)
}

// count counts unpacked bytes.
func (l *packLimits) count(size int64) error {
	if l.bytes > 0 {
		if l.bytes -= size; size < 0 || l.bytes <= 0 {
			return fmt.Errorf("%w: the objects of the pack are larger than is taken", ErrTooLarge)
		}
	}
	return nil
}

// limitedWriter accepts at most so many bytes.
type limitedWriter struct {
	out  io.Writer
	left int64
}

// Write is [ErrTooLarge] beyond the limit.
func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.left -= int64(len(b)); w.left < 0 {
		return 0, ErrTooLarge
	}
	return w.out.Write(b)
}
