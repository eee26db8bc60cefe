package gitops

import (
	"bytes"
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
func indexPack(f *os.File, base string, have *packedObjects, limits packLimits) (x indexedPack, err error) {
	defer func() {
		if err != nil {
			x.remove()
		}
	}()
	x.base = base
	scan, err := scanPack(f, limits)
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
		if scan, err = scanPack(f, packLimits{}); err != nil {
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
	if err := resolveAll(p, scan, w.Add); err != nil {
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
func scanPack(f *os.File, most packLimits) (scannedPack, error) {
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

// resolveAll reports the id of every object. It applies each delta to its base, from the bases outward.
func resolveAll(p *packFile, scan scannedPack, add func(plumbing.Hash, uint64, uint32)) error {
	byBase, byRef := map[int64][]int{}, map[plumbing.Hash][]int{}
	for i, e := range scan.entries {
		switch e.Type {
		case plumbing.OFSDeltaObject:
			byBase[e.OffsetReference] = append(byBase[e.OffsetReference], i)
		case plumbing.REFDeltaObject:
			byRef[e.Reference] = append(byRef[e.Reference], i)
		}
	}
	done := 0
	type step struct {
		i       int
		kind    plumbing.ObjectType
		content []byte // of the base; nil for an object that is no delta
		depth   int
	}
	for root, e := range scan.entries {
		if e.Type.IsDelta() {
			continue
		}
		for stack := []step{{i: root, kind: e.Type}}; len(stack) > 0; {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			e := scan.entries[s.i]
			id, content := e.id, []byte(nil)
			if s.depth > maxChain {
				return errors.New("chain of deltas too long")
			}
			if e.Type.IsDelta() {
				_, delta, err := p.readEntry(e.Offset, maxInMemory)
				if err != nil {
					return err
				}
				if content, err = packfile.PatchDelta(s.content, delta); err != nil {
					return err
				}
				id = objectID(s.kind, content)
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
			for _, c := range children {
				stack = append(stack, step{c, s.kind, content, s.depth + 1})
			}
		}
	}
	if done != len(scan.entries) {
		// The server relied on an object that we claimed to have.
		return fmt.Errorf("%w: a delta has no base", errBroken)
	}
	return nil
}
