package failure

import (
	"hash/maphash"
	"io"
)

// fingerprints is the set of lines of a green log, without digits, as a Bloom filter of fixed size. The rate of false
// positives is below one in a thousand for 200,000 different lines.
type fingerprints struct {
	seed maphash.Seed
	bits []uint64
}

const filterBits = 1 << 23 // 1 MiB

// readGreen returns the fingerprints of a passing run's log, up to its end or an error.
func readGreen(r io.Reader) *fingerprints {
	f := &fingerprints{seed: maphash.MakeSeed(), bits: make([]uint64, filterBits/64)}
	lines := newLineReader(r)
	var c lineCleaner
	for {
		raw, n, err := lines.next()
		if err != nil {
			return f
		}
		l := c.clean(raw, n)
		a, b := f.bitsOf(l.text)
		f.bits[a/64] |= 1 << (a % 64)
		f.bits[b/64] |= 1 << (b % 64)
	}
}

// has reports whether the green log contains text, digits aside.
func (f *fingerprints) has(text []byte) bool {
	a, b := f.bitsOf(text)
	return f.bits[a/64]&(1<<(a%64)) != 0 && f.bits[b/64]&(1<<(b%64)) != 0
}

// bitsOf returns the two bits that represent a line.
func (f *fingerprints) bitsOf(text []byte) (a, b uint64) {
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
