package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// indexedPack is a pack on disk that is complete in itself, with its index beside
// it: <base>.pack and <base>.idx.
type indexedPack struct {
	base     string
	checksum plumbing.Hash
	count    int
}

func (x indexedPack) remove() {
	os.Remove(x.base + ".pack")
	os.Remove(x.base + ".idx")
}

// indexPack checks a pack that came from outside and writes its index. A thin
// pack has deltas with bases that only we hold; it is completed from have.
// The pack's file may be replaced; base is where the result lies.
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
		err = completePack(f, base+".pack", scan.end, len(scan.entries), missing, have)
	} else if err = errors.Join(f.Sync(), os.Chmod(f.Name(), 0o444)); err == nil {
		err = os.Rename(f.Name(), base+".pack")
	}
	if err != nil {
		return x, fmt.Errorf("complete pack: %w", err)
	}
	whole, err := os.Open(base + ".pack")
	if err != nil {
		return x, err
	}
	defer whole.Close()
	if len(scan.bases) > 0 {
		if scan, err = scanPack(whole, packLimits{}); err != nil {
			return x, fmt.Errorf("completed pack: %w", err)
		}
	}
	st, err := whole.Stat()
	if err != nil {
		return x, err
	}
	w := &idxfile.Writer{}
	if err := w.OnHeader(uint32(len(scan.entries))); err != nil {
		return x, err
	}
	if err := resolveAll(&packFile{path: base, f: whole, size: st.Size(), bases: &baseCache{}}, scan, w.Add); err != nil {
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

// scannedPack is what one pass over a pack tells.
type scannedPack struct {
	entries  []scannedEntry
	bases    map[plumbing.Hash]bool // bases of REF_DELTAs, in the pack or not
	checksum plumbing.Hash
	end      int64 // where the objects end and the checksum begins
}

type scannedEntry struct {
	off  int64
	base int64 // of an OFS_DELTA, else 0
	crc  uint32
	kind plumbing.ObjectType
	id   plumbing.Hash // of what is no delta
	ref  plumbing.Hash // of a REF_DELTA, its base
}

var errClaim = errors.New("object has more bytes than it claims")

// scanPack reads a pack from start to end through go-git's scanner, hashing
// what is no delta, and verifies the checksum.
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
	p.bases = map[plumbing.Hash]bool{}
	p.entries = make([]scannedEntry, 0, min(count, 1<<16)) // the count is only claimed
	for range count {
		h, err := s.NextObjectHeader()
		if err != nil {
			return p, noEOF(err)
		}
		if err := most.admit(h.Type, h.Length); err != nil {
			return p, err
		}
		e := scannedEntry{off: h.Offset, kind: h.Type, ref: h.Reference}
		var sum idHasher
		out := io.Discard
		switch h.Type {
		case plumbing.OFSDeltaObject:
			e.base = h.OffsetReference
		case plumbing.REFDeltaObject:
			p.bases[h.Reference] = true
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
			sum = newHasher(h.Type, h.Length)
			out = sum
		default:
			return p, fmt.Errorf("object of unknown type %d", h.Type)
		}
		n, crc, err := s.NextObject(&limitedWriter{out, h.Length, errClaim})
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
	if err != nil {
		return p, err
	}
	p.end = at - int64(len(p.checksum))
	return p, nil
}

// missing lists the bases that the pack lacks and we have.
func (p scannedPack) missing(have *packedObjects) []plumbing.Hash {
	if len(p.bases) == 0 || have == nil {
		return nil
	}
	here := map[plumbing.Hash]bool{}
	for _, e := range p.entries {
		here[e.id] = true
	}
	var missing []plumbing.Hash
	for h := range p.bases {
		if !here[h] && have.hasObject(h) {
			missing = append(missing, h)
		}
	}
	return missing
}

// completePack writes f to path with the missing bases put first, so that each
// delta finds its base before itself. Relative offsets stay right.
func completePack(f *os.File, path string, end int64, count int, missing []plumbing.Hash, have *packedObjects) error {
	return writeFile(path, 0o444, func(out io.Writer) error {
		w, err := newPackWriter(out, count+len(missing))
		if err != nil {
			return err
		}
		for _, h := range missing {
			kind, b, err := have.readAnyObject(h)
			if err != nil {
				return err
			}
			if err := w.add(h, kind, int64(len(b)), bytes.NewReader(b)); err != nil {
				return err
			}
		}
		if _, err := f.Seek(12, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(w, f, end-12); err != nil {
			return err
		}
		_, err = w.finish()
		return err
	})
}

// resolveAll reports the id of every object. Each delta is applied to a base
// that is at hand, by walking down from the bases.
func resolveAll(p *packFile, scan scannedPack, add func(plumbing.Hash, uint64, uint32)) error {
	byBase, byRef := map[int64][]int{}, map[plumbing.Hash][]int{}
	for i, e := range scan.entries {
		switch e.kind {
		case plumbing.OFSDeltaObject:
			byBase[e.base] = append(byBase[e.base], i)
		case plumbing.REFDeltaObject:
			byRef[e.ref] = append(byRef[e.ref], i)
		}
	}
	done := 0
	type step struct {
		i       int
		kind    plumbing.ObjectType
		content []byte // of its base; nil for what is no delta
		depth   int
	}
	for root, e := range scan.entries {
		if e.kind.IsDelta() {
			continue
		}
		for stack := []step{{i: root, kind: e.kind}}; len(stack) > 0; {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			e := scan.entries[s.i]
			id, content := e.id, []byte(nil)
			if s.depth > maxChain {
				return errors.New("chain of deltas too long")
			}
			if e.kind.IsDelta() {
				head, err := p.readEntry(e.off)
				if err != nil {
					return err
				}
				delta, err := p.inflateWhole(head)
				if err != nil {
					return err
				}
				if content, err = packfile.PatchDelta(s.content, delta); err != nil {
					return err
				}
				id = objectID(s.kind, content)
			}
			add(id, uint64(e.off), e.crc)
			done++
			children := slices.Concat(byBase[e.off], byRef[id])
			delete(byRef, id) // an object that is there twice has its children once
			if len(children) == 0 {
				continue
			}
			if content == nil {
				head, err := p.readEntry(e.off)
				if err != nil {
					return err
				}
				if content, err = p.inflateWhole(head); err != nil {
					return err
				}
			}
			for _, c := range children {
				stack = append(stack, step{c, s.kind, content, s.depth + 1})
			}
		}
	}
	if done != len(scan.entries) {
		// The server counted on an object that we said we have.
		return fmt.Errorf("%w: a delta has no base", errBroken)
	}
	return nil
}
