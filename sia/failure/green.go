package failure

import (
	"errors"
	"hash/maphash"
	"io"
)

// fingerprints holds what the lines of a green log say, without digits, as a
// Bloom filter of fixed size: it may take a new line for a known one (below one
// in a thousand for 200,000 different lines), never the other way round.
type fingerprints struct {
	seed maphash.Seed
	bits []uint64
}

const filterBits = 1 << 23 // 1 MiB

// readGreen reads a log that passed.
func readGreen(r io.Reader) (*fingerprints, error) {
	f := &fingerprints{seed: maphash.MakeSeed(), bits: make([]uint64, filterBits/64)}
	lines := newLineReader(r)
	var c lineCleaner
	for {
		raw, n, err := lines.next()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		l := c.clean(raw, n)
		a, b := f.places(l.text)
		f.bits[a/64] |= 1 << (a % 64)
		f.bits[b/64] |= 1 << (b % 64)
	}
}

// has reports whether a line like text is in the green log.
func (f *fingerprints) has(text []byte) bool {
	a, b := f.places(text)
	return f.bits[a/64]&(1<<(a%64)) != 0 && f.bits[b/64]&(1<<(b%64)) != 0
}

// places are the two bits that stand for a line.
func (f *fingerprints) places(text []byte) (a, b uint64) {
	var h maphash.Hash
	h.SetSeed(f.seed)
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && (text[j] < '0' || text[j] > '9') {
			j++
		}
		h.Write(text[i:j])
		for j < len(text) && text[j] >= '0' && text[j] <= '9' {
			j++
		}
		h.WriteByte('#')
		i = j
	}
	s := h.Sum64()
	return s % filterBits, (s >> 32) % filterBits
}
