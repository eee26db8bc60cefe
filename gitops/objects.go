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

// objects reads the objects of a mirror as it was when opened. Whatever it
// returns has been checked against its hash. Safe for concurrent use.
type objects struct {
	from  mirror
	packs []*pack
	bases baseCache
}

// openObjects opens all packs of a bare repository.
func openObjects(dir string) (*objects, error) {
	names, err := os.ReadDir(filepath.Join(dir, "objects", "pack"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	o := &objects{from: mirror{dir}}
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

func (o *objects) close() {
	for _, p := range o.packs {
		p.f.Close()
	}
}

func (o *objects) find(h plumbing.Hash) (*pack, int64, error) {
	for _, p := range o.packs {
		if off, ok := p.find(h); ok {
			return p, off, nil
		}
	}
	return nil, 0, fmt.Errorf("%w: %s", errNoObject, h)
}

func (o *objects) has(h plumbing.Hash) bool {
	_, _, err := o.find(h)
	return err == nil
}

// read returns a whole object of the kind.
func (o *objects) read(h plumbing.Hash, kind plumbing.ObjectType) ([]byte, error) {
	p, off, err := o.find(h)
	if err != nil {
		return nil, err
	}
	k, content, err := p.resolve(off)
	if err != nil {
		return nil, err
	}
	sum := newHasher(k, int64(len(content)))
	sum.Write(content)
	if k != kind || sum.sum() != h {
		return nil, fmt.Errorf("%w: object %s is not what its hash says", errBroken, h)
	}
	return content, nil
}

// stat returns the kind and size of an object without reading it whole when
// that is possible.
func (o *objects) stat(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	p, off, err := o.find(h)
	if err != nil {
		return 0, 0, err
	}
	e, err := p.entry(off)
	if err != nil {
		return 0, 0, err
	}
	if !e.kind.IsDelta() {
		return e.kind, e.size, nil
	}
	in, err := p.inflate(e)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	head := bufio.NewReader(in)
	if _, err := binary.ReadUvarint(head); err != nil { // the size of its base
		return 0, 0, fmt.Errorf("%w: %s: delta: %w", errBroken, h, err)
	}
	size, err := binary.ReadUvarint(head)
	if err != nil || size > maxInMemory {
		return 0, 0, fmt.Errorf("%w: %s: delta: size %d: %w", errBroken, h, size, err)
	}
	for n := 0; e.kind.IsDelta(); n++ {
		if e.kind == plumbing.REFDeltaObject {
			e.base, _ = p.find(e.ref) // 0, when missing, is no entry
		}
		if e, err = p.entry(e.base); err != nil || n > maxChain {
			return 0, 0, fmt.Errorf("%w: %s: chain of deltas: %w", errBroken, h, err)
		}
	}
	return e.kind, int64(size), nil
}

// open streams a blob, so that a large one needs no memory. Reading to the end
// checks the hash.
func (o *objects) open(h plumbing.Hash) (io.ReadCloser, int64, error) {
	p, off, err := o.find(h)
	if err != nil {
		return nil, 0, err
	}
	e, err := p.entry(off)
	if err != nil {
		return nil, 0, err
	}
	if e.kind.IsDelta() || e.size < 1<<20 {
		b, err := o.read(h, plumbing.BlobObject)
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
	}
	if e.kind != plumbing.BlobObject {
		return nil, 0, fmt.Errorf("%w: object %s is a %s", errBroken, h, e.kind)
	}
	in, err := p.inflate(e)
	if err != nil {
		return nil, 0, err
	}
	return &checkedReader{ReadCloser: in, sum: newHasher(e.kind, e.size), want: h, left: e.size}, e.size, nil
}

// checkedReader fails at the end when what went by has another hash or length.
type checkedReader struct {
	io.ReadCloser
	sum  hasher
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

// hasher computes an object's id.
type hasher struct{ hash.Hash }

func newHasher(kind plumbing.ObjectType, size int64) hasher {
	h := hasher{sha1.New()}
	h.Write([]byte(kind.String() + " " + strconv.FormatInt(size, 10) + "\x00"))
	return h
}

func (h hasher) sum() (id plumbing.Hash) {
	h.Hash.Sum(id[:0])
	return id
}

// commit reads and decodes a commit.
func (o *objects) commit(h plumbing.Hash) (*object.Commit, error) {
	b, err := o.read(h, plumbing.CommitObject)
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
