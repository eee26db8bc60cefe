package gitops

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

var (
	// errBroken says that files of a mirror contradict themselves or each other.
	errBroken = errors.New("mirror is broken")
	// errNoObject says that an object is not in the mirror.
	errNoObject = errors.New("object is not in the mirror")
)

const (
	// maxInMemory bounds an object that must be held in memory: a delta or its
	// base. git itself makes no deltas of files beyond 512 MiB
	// (core.bigFileThreshold).
	maxInMemory = 512<<20 + 1
	// maxComparedDelta bounds such an object, where it is read to be compared.
	maxComparedDelta = 32 << 20
	// maxChain bounds a chain of deltas, as git does.
	maxChain = 4095
)

// packFile is one pack file with its index (version 2), opened for reading.
// https://git-scm.com/docs/gitformat-pack. Safe for concurrent use.
type packFile struct {
	path  string
	f     *os.File
	size  int64
	idx   []byte // the whole index file
	count int
	bases *baseCache
}

// The layout of an index, in bytes from its start; n is the number of objects.
const (
	idxFanout  = 8
	idxNames   = idxFanout + 256*4 // then n hashes, n checksums, n offsets, large offsets, two hashes
	idxTrailer = 2 * 20
)

// openPack opens <base>.pack and <base>.idx, and makes sure that they belong together.
func openPack(base string, bases *baseCache) (*packFile, error) {
	idx, err := os.ReadFile(base + ".idx")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	f, err := os.Open(base + ".pack")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	p := &packFile{path: base, f: f, idx: idx, bases: bases}
	if err := p.checkHeads(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s: %w", errBroken, base, err)
	}
	return p, nil
}

func (p *packFile) checkHeads() error {
	if len(p.idx) < idxNames+idxTrailer || !bytes.HasPrefix(p.idx, []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return errors.New("not a pack index of version 2")
	}
	st, err := p.f.Stat()
	if err != nil {
		return err
	}
	p.size = st.Size()
	p.count = int(binary.BigEndian.Uint32(p.idx[idxNames-4:]))
	var head [12]byte
	var sum [20]byte
	if p.size < int64(len(head)+len(sum)) {
		return errors.New("pack is too short")
	}
	if _, err := p.f.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := p.f.ReadAt(sum[:], p.size-20); err != nil {
		return err
	}
	switch {
	case int64(len(p.idx)) < int64(idxNames+idxTrailer)+28*int64(p.count):
		return errors.New("index is too short")
	case !bytes.Equal(head[:8], []byte("PACK\x00\x00\x00\x02")) || int(binary.BigEndian.Uint32(head[8:])) < p.count:
		// More objects than index entries are right: one may be there twice.
		return errors.New("pack and index differ in the number of objects")
	case !bytes.Equal(sum[:], p.idx[len(p.idx)-idxTrailer:len(p.idx)-20]):
		return errors.New("pack and index are not of each other")
	}
	return nil
}

// findObject returns where in the pack an object begins.
func (p *packFile) findObject(h plumbing.Hash) (int64, bool) {
	fan := func(i int) int {
		return min(int(binary.BigEndian.Uint32(p.idx[idxFanout+4*i:])), p.count)
	}
	lo, hi := 0, fan(int(h[0]))
	if h[0] > 0 {
		lo = min(fan(int(h[0])-1), hi)
	}
	name := func(i int) []byte { return p.idx[idxNames+20*i:][:20] }
	i := lo + sort.Search(hi-lo, func(i int) bool { return bytes.Compare(name(lo+i), h[:]) >= 0 })
	if i == hi || !bytes.Equal(name(i), h[:]) {
		return 0, false
	}
	off := binary.BigEndian.Uint32(p.idx[idxNames+24*p.count+4*i:])
	if off < 1<<31 {
		return int64(off), true
	}
	large := idxNames + 28*p.count + 8*int(off-1<<31)
	if large+8 > len(p.idx)-idxTrailer {
		return -1, true // reading there fails as broken
	}
	return int64(binary.BigEndian.Uint64(p.idx[large:])), true
}

// packEntry is the header of an object in a pack.
type packEntry struct {
	kind plumbing.ObjectType
	size int64 // inflated; of the delta when it is one
	data int64 // where the deflated bytes begin
	base int64 // of an OFS_DELTA, the offset of its base
	ref  plumbing.Hash
}

func (p *packFile) readEntry(off int64) (packEntry, error) {
	var buf [64]byte // type and size take 10 bytes at most, a base 20
	if off < 12 || off >= p.size-20 {
		return packEntry{}, fmt.Errorf("%w: %s: offset %d", errBroken, p.path, off)
	}
	n, err := p.f.ReadAt(buf[:], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return packEntry{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	e, used, err := parseEntry(buf[:n])
	if err != nil {
		return packEntry{}, fmt.Errorf("%w: %s: offset %d: %w", errBroken, p.path, off, err)
	}
	e.data = off + int64(used)
	if e.kind == plumbing.OFSDeltaObject {
		if e.base <= 0 || e.base > off-12 {
			return packEntry{}, fmt.Errorf("%w: %s: offset %d: base out of range", errBroken, p.path, off)
		}
		e.base = off - e.base
	}
	return e, nil
}

var errEntry = errors.New("malformed object header")

// parseEntry reads an object's header; base is still relative.
func parseEntry(b []byte) (packEntry, int, error) {
	if len(b) == 0 {
		return packEntry{}, 0, errEntry
	}
	e := packEntry{kind: plumbing.ObjectType(b[0] >> 4 & 7), size: int64(b[0] & 15)}
	i, shift := 1, 4
	for c := b[0]; c&0x80 != 0; i++ {
		if i == len(b) || shift > 56 {
			return packEntry{}, 0, errEntry
		}
		c = b[i]
		e.size |= int64(c&0x7f) << shift
		shift += 7
	}
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		for n := 0; ; n++ {
			if i == len(b) || n > 8 {
				return packEntry{}, 0, errEntry
			}
			c := b[i]
			i++
			e.base = e.base<<7 | int64(c&0x7f)
			if c&0x80 == 0 {
				break
			}
			e.base++
		}
	case plumbing.REFDeltaObject:
		if len(b) < i+20 {
			return packEntry{}, 0, errEntry
		}
		copy(e.ref[:], b[i:])
		i += 20
	default:
		return packEntry{}, 0, errEntry
	}
	return e, i, nil
}

// objectInflater is a zlib reader with its buffer, kept for the next object: setting
// one up costs more than inflating a small file.
type objectInflater struct {
	section io.SectionReader
	buf     *bufio.Reader
	z       io.ReadCloser
}

var inflaterPool = sync.Pool{New: func() any { return &objectInflater{buf: bufio.NewReaderSize(nil, 8<<10)} }}

// inflate returns a reader of the object's bytes. Close gives its buffers back.
func (p *packFile) inflate(e packEntry) (io.ReadCloser, error) {
	in := inflaterPool.Get().(*objectInflater)
	in.section = *io.NewSectionReader(p.f, e.data, p.size-20-e.data)
	in.buf.Reset(&in.section)
	var err error
	if in.z == nil {
		in.z, err = zlib.NewReader(in.buf)
	} else {
		err = in.z.(zlib.Resetter).Reset(in.buf, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errBroken, p.path, err)
	}
	return in, nil
}

func (in *objectInflater) Read(b []byte) (int, error) {
	n, err := in.z.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	return n, err
}

func (in *objectInflater) Close() error {
	in.section = io.SectionReader{}
	in.buf.Reset(nil)
	inflaterPool.Put(in)
	return nil
}

// inflateWhole inflates an object that has to be in memory.
func (p *packFile) inflateWhole(e packEntry) ([]byte, error) {
	if e.size > maxInMemory {
		return nil, fmt.Errorf("%w: %s: object of %d bytes in a chain of deltas", errBroken, p.path, e.size)
	}
	in, err := p.inflate(e)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	// A damaged header may claim any size: memory is taken as bytes arrive.
	buf := bytes.NewBuffer(make([]byte, 0, min(e.size+bytes.MinRead, 8<<20)))
	if n, err := io.Copy(buf, io.LimitReader(in, e.size+1)); err != nil {
		return nil, err
	} else if n != e.size {
		return nil, fmt.Errorf("%w: %s: object has %d bytes and claims %d", errBroken, p.path, n, e.size)
	}
	return buf.Bytes(), nil
}

// resolveObject reads the object at off, following its chain of deltas. Where the object, a base or a delta has more
// than most bytes it is [ErrTooLarge], and none of that size is in memory.
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
		e, err := p.readEntry(at)
		if err != nil {
			return 0, nil, err
		}
		if e.kind == plumbing.REFDeltaObject {
			base, ok := p.findObject(e.ref)
			if !ok || len(chain) == maxChain {
				return 0, nil, fmt.Errorf("%w: %s: base %s of a delta is missing", errBroken, p.path, e.ref)
			}
			e.base = base
		}
		if most < min(e.size, maxInMemory) { // what is beyond the second bound is broken
			return 0, nil, fmt.Errorf("%w: %d bytes in a chain of deltas, limit %d", ErrTooLarge, e.size, most)
		}
		b, err := p.inflateWhole(e)
		if err != nil {
			return 0, nil, err
		}
		if !e.kind.IsDelta() {
			kind, content = e.kind, b
			if len(chain) > 0 {
				p.bases.put(p, at, kind, b)
			}
			break
		}
		if len(chain) == maxChain {
			return 0, nil, fmt.Errorf("%w: %s: chain of deltas too long", errBroken, p.path)
		}
		// What is malformed is found where it is applied.
		if size, err := deltaSize(bytes.NewReader(b)); err == nil && size > uint64(most) {
			return 0, nil, fmt.Errorf("%w: %d bytes made by a delta, limit %d", ErrTooLarge, size, most)
		}
		chain = append(chain, link{at, b})
		at = e.base
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
