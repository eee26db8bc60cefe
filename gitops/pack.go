package gitops

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	gosync "github.com/go-git/go-git/v5/utils/sync"
)

var (
	// errBroken reports that files of a mirror contradict themselves or each other.
	errBroken = errors.New("mirror is broken")
	// errNoObject reports that an object is not in the mirror.
	errNoObject = errors.New("object is not in the mirror")
)

const (
	// maxInMemory bounds an object that must be held in memory: a delta or its
	// base. git itself makes no deltas of files beyond 512 MiB
	// (core.bigFileThreshold).
	maxInMemory = 512<<20 + 1
	// maxHeld bounds the bases that are held at the same time while a pack is
	// indexed.
	maxHeld = 3 * maxInMemory
	// maxComparedDelta bounds such an object if it is read for a comparison.
	maxComparedDelta = 32 << 20
	// maxChain bounds a chain of deltas, as git does.
	maxChain = 4095
)

// packFile is one pack file with its index, opened for reading. Safe for concurrent use.
// https://git-scm.com/docs/gitformat-pack
type packFile struct {
	path  string
	f     *os.File
	size  int64
	idx   *idxfile.MemoryIndex
	bases *baseCache
}

// openPack opens <base>.pack and <base>.idx, and makes sure that they belong together.
func openPack(base string, bases *baseCache) (*packFile, error) {
	idx, err := readIndex(base + ".idx")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	f, err := os.Open(base + ".pack")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	p, err := newPackFile(f, base, bases)
	if err == nil {
		p.idx, err = idx, p.belongsTo(idx)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s: %w", errBroken, base, err)
	}
	return p, nil
}

func newPackFile(f *os.File, base string, bases *baseCache) (*packFile, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &packFile{path: base, f: f, size: st.Size(), bases: bases}, nil
}

// indexFile reads an index through a buffer. go-git calls Stat for its size, and allocates no more than that.
type indexFile struct {
	*bufio.Reader
	f *os.File
}

func (f indexFile) Stat() (os.FileInfo, error) { return f.f.Stat() }

func readIndex(name string) (*idxfile.MemoryIndex, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	idx := idxfile.NewMemoryIndex()
	return idx, idxfile.NewDecoder(indexFile{bufio.NewReader(f), f}).Decode(idx)
}

// belongsTo checks that the pack and its index match. The pack may have more objects than the index: one may be there
// twice.
func (p *packFile) belongsTo(idx *idxfile.MemoryIndex) error {
	_, count, err := packfile.NewScanner(io.NewSectionReader(p.f, 0, p.size)).Header()
	if err != nil {
		return err
	}
	var sum [20]byte
	if _, err := p.f.ReadAt(sum[:], max(0, p.size-int64(len(sum)))); err != nil {
		return err
	}
	if n, _ := idx.Count(); int64(count) < n || sum != idx.PackfileChecksum {
		return errors.New("pack and index are not of each other")
	}
	return nil
}

// findObject returns the offset of an object in the pack.
func (p *packFile) findObject(h plumbing.Hash) (int64, bool) {
	off, err := p.idx.FindOffset(h)
	if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
		return -1, true // reading there fails as broken
	}
	return off, err == nil
}

// scanners caches go-git's scanners: creating one costs more than reading a small object.
var scanners = sync.Pool{New: func() any { return packfile.NewScanner(nil) }}

// packEntry is an object in a pack after its header. Reading returns its bytes, at most as many as the header claims.
type packEntry struct {
	packfile.ObjectHeader // Length is the inflated size; of the delta if it is one
	io.ReadCloser
}

// openEntry reads the header of an object. The content is read without the scanner, which would compute a checksum of
// every byte.
func (p *packFile) openEntry(off int64) (packEntry, error) {
	broken := func(err error) error { return fmt.Errorf("%w: %s: offset %d: %w", errBroken, p.path, off, err) }
	h, from, err := p.readHeader(off)
	if err != nil {
		return packEntry{}, broken(err)
	}
	in := gosync.GetBufioReader(io.NewSectionReader(p.f, from, p.size-20-from))
	z, err := gosync.GetZlibReader(in)
	letGo := func() error {
		gosync.PutZlibReader(z)
		gosync.PutBufioReader(in)
		return nil
	}
	if err != nil {
		return packEntry{}, errors.Join(broken(err), letGo())
	}
	return packEntry{*h, closingReader{brokenReader{&claimedReader{z.Reader, h.Length}}, letGo}}, nil
}

// readHeader reads the header of an object and returns the offset of its content.
func (p *packFile) readHeader(off int64) (h *packfile.ObjectHeader, from int64, err error) {
	s := scanners.Get().(*packfile.Scanner) //nolint:forcetypeassert // nothing else is in the pool
	defer func() {
		s.Reset(bytes.NewReader(nil))
		scanners.Put(s)
	}()
	s.Reset(io.NewSectionReader(p.f, 0, p.size-20))
	if h, err = s.SeekObjectHeader(off); err == nil {
		from, err = s.SeekFromStart(0)
	}
	return h, from, err
}

// claimedReader fails when there are more bytes than claimed.
type claimedReader struct {
	in   io.Reader
	left int64
}

// Read implements io.Reader.
func (r *claimedReader) Read(b []byte) (int, error) {
	if int64(len(b)) > r.left+1 {
		b = b[:r.left+1]
	}
	n, err := r.in.Read(b)
	if int64(n) > r.left {
		n, err = int(r.left), packfile.ErrInflatedSizeMismatch
	}
	r.left -= int64(n)
	return n, err
}

// readEntry reads an object into memory. An object of more than most bytes is [ErrTooLarge].
func (p *packFile) readEntry(off, most int64) (h packfile.ObjectHeader, content []byte, err error) {
	e, err := p.openEntry(off)
	if err != nil {
		return h, nil, err
	}
	defer e.Close()
	if e.Length > most {
		why := ErrTooLarge
		if most >= maxInMemory {
			why = errBroken
		}
		return h, nil, fmt.Errorf("%w: %d bytes in a chain of deltas, limit %d", why, e.Length, most)
	}
	// A damaged header may claim any size: memory is allocated as bytes arrive.
	buf := bytes.NewBuffer(make([]byte, 0, min(e.Length+bytes.MinRead, 8<<20)))
	if n, err := buf.ReadFrom(e); err != nil {
		return h, nil, err
	} else if n != e.Length {
		return h, nil, fmt.Errorf("%w: %s: object has %d bytes and claims %d", errBroken, p.path, n, e.Length)
	}
	return e.ObjectHeader, buf.Bytes(), nil
}

// resolveObject reads the object at off, following its chain of deltas. If the object, a base or a delta has more than
// most bytes, it is [ErrTooLarge] and is not read into memory.
func (p *packFile) resolveObject(off, most int64) (plumbing.ObjectType, []byte, error) {
	type link struct {
		off   int64
		delta []byte
	}
	var chain []link
	var kind plumbing.ObjectType
	var content []byte
	for at := off; ; {
		if k, b, ok := p.bases.get(p, at); ok {
			kind, content = k, b
			break
		}
		e, b, err := p.readEntry(at, most)
		if err != nil {
			return 0, nil, err
		}
		if !e.Type.IsDelta() {
			kind, content = e.Type, b
			if len(chain) > 0 {
				p.bases.put(p, at, kind, b)
			}
			break
		}
		if len(chain) == maxChain {
			return 0, nil, fmt.Errorf("%w: %s: chain of deltas too long", errBroken, p.path)
		}
		// A malformed delta is an error when it is applied.
		if size, err := deltaSize(bytes.NewReader(b)); err == nil && size > uint64(most) {
			return 0, nil, fmt.Errorf("%w: %d bytes made by a delta, limit %d", ErrTooLarge, size, most)
		}
		chain = append(chain, link{at, b})
		at = e.OffsetReference
		if e.Type == plumbing.REFDeltaObject {
			base, ok := p.findObject(e.Reference)
			if !ok {
				return 0, nil, fmt.Errorf("%w: %s: base %s of a delta is missing", errBroken, p.path, e.Reference)
			}
			at = base
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		next, err := packfile.PatchDelta(content, chain[i].delta)
		if err != nil {
			return 0, nil, fmt.Errorf("%w: %s: %w", errBroken, p.path, err)
		}
		content = next
		if i > 0 {
			p.bases.put(p, chain[i].off, kind, content)
		}
	}
	return kind, content, nil
}

// brokenReader turns read errors of a pack into errBroken.
type brokenReader struct{ in io.Reader }

// Read implements io.Reader.
func (r brokenReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	return n, err
}

// closingReader is a reader that calls end on Close.
type closingReader struct {
	io.Reader
	end func() error
}

// Close implements io.Closer.
func (c closingReader) Close() error { return c.end() }
