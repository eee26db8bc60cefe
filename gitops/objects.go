package gitops

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// packedObjects reads the objects of a mirror in the state in which it was opened. Every result has been checked
// against its hash. Safe for concurrent use.
type packedObjects struct {
	from  generation
	packs []*packFile
	bases baseCache
}

// openObjects opens all packs of a bare repository.
func openObjects(dir string) (*packedObjects, error) {
	names, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	o := &packedObjects{from: generation{dir}}
	for _, n := range names {
		base, ok := strings.CutSuffix(n.Name(), ".idx")
		if !ok {
			continue
		}
		p, err := openPack(filepath.Join(dir, "objects", "pack", base), &o.bases)
		if err != nil {
			o.close()
			return nil, err
		}
		o.packs = append(o.packs, p)
	}
	return o, nil
}

func (o *packedObjects) close() {
	for _, p := range o.packs {
		p.f.Close()
	}
}

func (o *packedObjects) findObject(h plumbing.Hash) (*packFile, int64, error) {
	for _, p := range o.packs {
		if off, ok := p.findObject(h); ok {
			return p, off, nil
		}
	}
	return nil, 0, fmt.Errorf("%w: %s", errNoObject, h)
}

func (o *packedObjects) hasObject(h plumbing.Hash) bool {
	_, _, err := o.findObject(h)
	return err == nil
}

// readObject returns an object of the kind.
func (o *packedObjects) readObject(h plumbing.Hash, kind plumbing.ObjectType) ([]byte, error) {
	return o.readWithin(h, kind, maxInMemory)
}

// readWithin is readObject with a limit: it is [ErrTooLarge] if one object needs more than most bytes in memory.
func (o *packedObjects) readWithin(h plumbing.Hash, kind plumbing.ObjectType, most int64) ([]byte, error) {
	k, content, err := o.readAny(h, most)
	if err == nil && k != kind {
		return nil, fmt.Errorf("%w: object %s is a %s", errBroken, h, k)
	}
	return content, err
}

// readAny is readWithin for an object of any kind.
func (o *packedObjects) readAny(h plumbing.Hash, most int64) (plumbing.ObjectType, []byte, error) {
	p, off, err := o.findObject(h)
	if err != nil {
		return 0, nil, err
	}
	kind, content, err := p.resolveObject(off, most)
	if err == nil && objectID(kind, content) != h {
		err = fmt.Errorf("%w: object %s is not what its hash says", errBroken, h)
	}
	return kind, content, err
}

// blobSize returns the size of a blob in bytes, without reading it.
func (o *packedObjects) blobSize(h plumbing.Hash) (int64, error) {
	p, off, err := o.findObject(h)
	if err != nil {
		return 0, err
	}
	e, err := p.openEntry(off)
	if err != nil {
		return 0, err
	}
	defer e.Close()
	if !e.Type.IsDelta() {
		return e.Length, nil
	}
	size, err := deltaSize(e)
	if err != nil || size > maxTreeBytes {
		return maxTreeBytes + 1, nil // larger than any limit
	}
	return int64(size), nil
}

// deltaSize returns the size of a delta's result. A delta begins with the size of its base, then that of its result
// (https://git-scm.com/docs/pack-format#_deltified_representation).
func deltaSize(delta io.Reader) (uint64, error) {
	head := bufio.NewReaderSize(io.LimitReader(delta, 2*binary.MaxVarintLen64), 2*binary.MaxVarintLen64)
	_, err := binary.ReadUvarint(head)
	size, err2 := binary.ReadUvarint(head)
	return size, errors.Join(err, err2)
}

// openBlob streams a blob, so that a large one needs little memory. Reading to the end checks the hash.
func (o *packedObjects) openBlob(h plumbing.Hash) (io.ReadCloser, int64, error) {
	return o.openWithin(h, maxInMemory)
}

// openToCompare is openBlob for a comparison: it is [ErrTooLarge] for a delta that needs much memory to read.
func (o *packedObjects) openToCompare(h plumbing.Hash) (io.ReadCloser, int64, error) {
	return o.openWithin(h, maxComparedDelta)
}

func (o *packedObjects) openWithin(h plumbing.Hash, most int64) (io.ReadCloser, int64, error) {
	p, off, err := o.findObject(h)
	if err != nil {
		return nil, 0, err
	}
	e, err := p.openEntry(off)
	switch {
	case err != nil:
		return nil, 0, err
	case e.Type.IsDelta() || e.Length < 1<<20:
		e.Close()
		b, err := o.readWithin(h, plumbing.BlobObject, most)
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
	case e.Type != plumbing.BlobObject:
		e.Close()
		return nil, 0, fmt.Errorf("%w: object %s is a %s", errBroken, h, e.Type)
	}
	return &checkedReader{ReadCloser: e, sum: newHasher(e.Type, e.Length), want: h, left: e.Length}, e.Length, nil
}

// checkedReader fails at the end when the content has another hash or length.
type checkedReader struct {
	io.ReadCloser
	sum  idHasher
	want plumbing.Hash
	left int64
}

func (r *checkedReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.sum.Write(b[:n])
	r.left -= int64(n)
	if r.left < 0 || errors.Is(err, io.EOF) && (r.left != 0 || r.sum.sum() != r.want) {
		return n, fmt.Errorf("%w: object %s is not what its hash says", errBroken, r.want)
	}
	return n, err
}

// idHasher computes an object's id.
type idHasher struct{ hash.Hash }

func newHasher(kind plumbing.ObjectType, size int64) idHasher {
	h := idHasher{sha1.New()}
	h.Write([]byte(kind.String() + " " + strconv.FormatInt(size, 10) + "\x00"))
	return h
}

func (h idHasher) sum() (id plumbing.Hash) {
	h.Hash.Sum(id[:0])
	return id
}

// objectID is the id of an object in memory.
func objectID(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	sum := newHasher(kind, int64(len(content)))
	sum.Write(content)
	return sum.sum()
}

// BlobID returns git's ID of a file's content; "" if it can't be read.
func BlobID(size int64, content io.Reader) string {
	sum := newHasher(plumbing.BlobObject, size)
	if _, err := io.Copy(sum, content); err != nil {
		return ""
	}
	return sum.sum().String()
}

// readCommit reads and decodes a commit.
func (o *packedObjects) readCommit(h plumbing.Hash) (*object.Commit, error) {
	b, err := o.readObject(h, plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	m := &plumbing.MemoryObject{}
	m.SetType(plumbing.CommitObject)
	if _, err := m.Write(b); err != nil {
		return nil, fmt.Errorf("decode commit %s: %w", h, err)
	}
	c := &object.Commit{}
	if err := c.Decode(m); err != nil {
		return nil, fmt.Errorf("decode commit %s: %w", h, err)
	}
	c.Hash = h
	return c, nil
}

// treesOf returns the trees of commits; a zero hash has none.
func (o *packedObjects) treesOf(commits []plumbing.Hash) ([]plumbing.Hash, error) {
	trees := make([]plumbing.Hash, len(commits))
	for i, h := range commits {
		if h.IsZero() {
			continue
		}
		c, err := o.readCommit(h)
		if err != nil {
			return nil, err
		}
		trees[i] = c.TreeHash
	}
	return trees, nil
}
