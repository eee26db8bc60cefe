package gitops

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// indexedPack is a self-contained pack on disk, with its index next to it: <base>.pack and <base>.idx.
type indexedPack struct {
	base     string
	checksum plumbing.Hash
	count    int
}

func (x indexedPack) remove() {
	os.Remove(x.base + ".pack")
	os.Remove(x.base + ".idx")
}

// indexPack checks a pack from outside and writes its index; base is the path of both without extension. A thin pack
// has deltas with bases that only we hold; they are added from have.
func indexPack(
	ctx context.Context, f *os.File, base string, have *packedObjects, limits packLimits,
) (x indexedPack, err error) {
	defer func() {
		if err != nil {
			x.remove()
		}
	}()
	x.base = base
	scan, err := scanPack(ctx, f, &limits)
	if err != nil {
		return x, fmt.Errorf("received pack: %w", err)
	}
	if missing := scan.missing(have); len(missing) > 0 {
		if err := completePack(f, base+".pack", scan, missing, have); err != nil {
			return x, fmt.Errorf("complete pack: %w", err)
		}
		if f, err = os.Open(base + ".pack"); err != nil {
			return x, err
		}
		defer f.Close()
		if scan, err = scanPack(ctx, f, &packLimits{}); err != nil {
			return x, fmt.Errorf("completed pack: %w", err)
		}
	} else if err := errors.Join(f.Sync(), f.Chmod(0o444), os.Rename(f.Name(), base+".pack")); err != nil {
		return x, fmt.Errorf("move pack: %w", err)
	}
	p, err := newPackFile(f, base, &baseCache{})
	if err != nil {
		return x, err
	}
	w := &idxfile.Writer{}
	if err := w.OnHeader(uint32(len(scan.entries))); err != nil {
		return x, err
	}
	if err := resolveAll(ctx, p, scan, &limits, w.Add); err != nil {
		return x, fmt.Errorf("received pack: %w", err)
	}
	if err := w.OnFooter(scan.checksum); err != nil {
		return x, fmt.Errorf("index pack: %w", err)
	}
	x.checksum, x.count = scan.checksum, len(scan.entries)
	return x, writeIndex(base+".idx", w)
}

func writeIndex(path string, w *idxfile.Writer) error {
	idx, err := w.Index()
	if err != nil {
		return fmt.Errorf("index pack: %w", err)
	}
	return writeFile(path, 0o444, func(out io.Writer) error {
		_, err := idxfile.NewEncoder(out).Encode(idx)
		return err
	})
}

// scannedPack is the result of one pass over a pack.
type scannedPack struct {
	entries  []scannedEntry
	checksum plumbing.Hash
	end      int64 // offset of the checksum
}

type scannedEntry struct {
	packfile.ObjectHeader
	crc uint32
	id  plumbing.Hash // zero for a delta
}

// scanPack reads a pack from start to end through go-git's scanner, hashes the objects that are no deltas, and verifies
// the checksum. No object is inflated beyond its claimed size.
func scanPack(ctx context.Context, f *os.File, most *packLimits) (scannedPack, error) {
	var p scannedPack
	if err := seekStart(f); err != nil {
		return p, err
	}
	s := packfile.NewScanner(f)
	_, count, err := s.Header()
	if err != nil {
		return p, noEOF(err)
	}
	if most.objects > 0 && int64(count) > int64(most.objects) {
		return p, fmt.Errorf("%w: %d objects in the pack, and at most %d are taken", ErrTooLarge, count, most.objects)
	}
	p.entries = make([]scannedEntry, 0, min(count, 1<<16)) // the count is only claimed
	for range count {
		if ctx.Err() != nil {
			return p, context.Cause(ctx)
		}
		h, err := s.NextObjectHeader()
		if err != nil {
			return p, noEOF(err)
		}
		if err := most.admit(h.Type, h.Length); err != nil {
			return p, err
		}
		e := scannedEntry{ObjectHeader: *h}
		var sum idHasher
		out := io.Discard
		switch h.Type {
		case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
			sum = newHasher(h.Type, h.Length)
			out = sum
		default:
			return p, fmt.Errorf("object of unknown type %d", h.Type)
		}
		n, crc, err := s.NextObject(out)
		if err != nil {
			return p, noEOF(err)
		}
		if n != h.Length {
			return p, fmt.Errorf("object has %d bytes and claims %d", n, h.Length)
		}
		e.crc = crc
		if sum.Hash != nil {
			e.id = sum.sum()
		}
		p.entries = append(p.entries, e)
	}
	if p.checksum, err = s.Checksum(); err != nil {
		return p, noEOF(err)
	}
	at, err := s.SeekFromStart(0)
	p.end = at - int64(len(p.checksum))
	return p, err
}

// missing lists the bases of deltas that are in have and not in the pack.
func (p scannedPack) missing(have *packedObjects) []plumbing.Hash {
	here, missing := map[plumbing.Hash]bool{}, map[plumbing.Hash]bool{}
	for _, e := range p.entries {
		here[e.id] = true
	}
	for _, e := range p.entries {
		if e.Type == plumbing.REFDeltaObject && !here[e.Reference] && have.hasObject(e.Reference) {
			missing[e.Reference] = true
		}
	}
	return slices.Collect(maps.Keys(missing))
}

// completePack writes f to path with the missing bases first, so that each base precedes its deltas. Relative offsets
// stay valid.
func completePack(f *os.File, path string, scan scannedPack, missing []plumbing.Hash, have *packedObjects) error {
	return writeFile(path, 0o444, func(out io.Writer) error {
		w, err := newPackWriter(out, len(scan.entries)+len(missing))
		if err != nil {
			return err
		}
		for _, h := range missing {
			kind, b, err := have.readAny(h, maxInMemory)
			if err != nil {
				return err
			}
			if err := w.add(h, kind, int64(len(b)), bytes.NewReader(b)); err != nil {
				return err
			}
		}
		const header = 12
		if _, err := io.Copy(w, io.NewSectionReader(f, header, scan.end-header)); err != nil {
			return err
		}
		_, err = w.finish()
		return err
	})
}

// resolveAll reports the id of every object. It applies each delta to its base, from the bases outward. It holds the
// content of a base until its last delta is resolved, and takes the deltas with the fewest descendants first: of a
// chain of any length it holds one base, whatever else is made from those in between.
func resolveAll(
	ctx context.Context, p *packFile, scan scannedPack, limits *packLimits, add func(plumbing.Hash, uint64, uint32),
) error {
	byBase, byRef := map[int64][]int{}, map[plumbing.Hash][]int{}
	for i, e := range scan.entries {
		switch e.Type {
		case plumbing.OFSDeltaObject:
			byBase[e.OffsetReference] = append(byBase[e.OffsetReference], i)
		case plumbing.REFDeltaObject:
			byRef[e.Reference] = append(byRef[e.Reference], i)
		}
	}
	weight, done := scan.descendants(), 0
	type base struct {
		kind    plumbing.ObjectType
		content []byte
		waiting int // deltas that are not resolved
	}
	type step struct {
		i     int
		of    *base // nil for an object that is no delta
		depth int
	}
	held := 0 // bytes of all bases
	for root, e := range scan.entries {
		if e.Type.IsDelta() {
			continue
		}
		for stack := []step{{i: root}}; len(stack) > 0; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			e := scan.entries[s.i]
			id, kind, content := e.id, e.Type, []byte(nil)
			if s.depth > maxChain {
				return errors.New("chain of deltas too long")
			}
			if s.of != nil {
				var err error
				if content, err = p.applyEntry(e.Offset, s.of.content, limits); err != nil {
					return err
				}
				kind = s.of.kind
				id = objectID(kind, content)
				if s.of.waiting--; s.of.waiting == 0 {
					held -= len(s.of.content)
					s.of.content = nil
				}
			}
			add(id, uint64(e.Offset), e.crc)
			done++
			children := slices.Concat(byBase[e.Offset], byRef[id])
			delete(byRef, id) // the deltas of a duplicate object are resolved once
			if len(children) == 0 {
				continue
			}
			if content == nil {
				var err error
				if _, content, err = p.readEntry(e.Offset, maxInMemory); err != nil {
					return err
				}
			}
			if held += len(content); held > cmp.Or(limits.held, maxHeld) {
				return fmt.Errorf("%w: the bases of deltas need more memory than there may be", ErrTooLarge)
			}
			slices.SortStableFunc(children, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
			of := &base{kind, content, len(children)}
			for _, c := range children {
				stack = append(stack, step{c, of, s.depth + 1})
			}
		}
	}
	if done != len(scan.entries) {
		// The server relied on an object that we claimed to have.
		return fmt.Errorf("%w: a delta has no base", errBroken)
	}
	return nil
}

// descendants returns how many objects are made from each entry, itself included, as far as deltas name their bases by
// offset.
func (p scannedPack) descendants() []int32 {
	count := make([]int32, len(p.entries))
	for i, e := range slices.Backward(p.entries) { // a base is before its deltas
		count[i]++
		if e.Type != plumbing.OFSDeltaObject {
			continue
		}
		of, found := slices.BinarySearchFunc(p.entries, e.OffsetReference, func(e scannedEntry, offset int64) int {
			return cmp.Compare(e.Offset, offset)
		})
		if found && of < i {
			count[of] += count[i]
		}
	}
	return count
}

// applyEntry applies the delta at an offset to its base. The result counts for the limits before it is made.
func (p *packFile) applyEntry(off int64, base []byte, limits *packLimits) ([]byte, error) {
	_, delta, err := p.readEntry(off, maxInMemory)
	if err != nil {
		return nil, err
	}
	size, err := deltaSize(bytes.NewReader(delta))
	switch {
	case err != nil: // malformed, as PatchDelta tells
	case size > maxInMemory:
		return nil, fmt.Errorf("%w: %d bytes made by a delta, limit %d", ErrTooLarge, size, int64(maxInMemory))
	default:
		if err := limits.count(int64(size)); err != nil {
			return nil, err
		}
	}
	return packfile.PatchDelta(base, delta)
}
