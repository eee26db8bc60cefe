package lesson

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// signatureSize is the number of hashes in a signature. The estimate of a similarity of .7 has a standard error of
// √(.7·.3/128) ≈ .04.
const signatureSize = 128

// Signature is the MinHash of a set of words (Broder, On the resemblance and
// containment of documents, 1997): the share of places in which two signatures
// agree estimates the Jaccard similarity of the sets. Nil for the empty set.
type Signature []uint32

// NewSignature returns the signature of words.
func NewSignature(words []string) Signature {
	if len(words) == 0 {
		return nil
	}
	sig := make(Signature, signatureSize)
	for i := range sig {
		sig[i] = math.MaxUint32
	}
	for _, w := range words {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w))
		x := h.Sum64()
		for i := range sig {
			x = mixHash(x)
			sig[i] = min(sig[i], uint32(x>>32)) //nolint:gosec // the upper half fits
		}
	}
	return sig
}

// mixHash is a step of SplitMix64 (Steele, Lea and Flood, 2014).
func mixHash(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Similarity estimates the Jaccard similarity of the sets of two signatures: 0–1.
func (s Signature) Similarity(o Signature) float64 {
	if len(s) == 0 || len(s) != len(o) {
		return 0
	}
	same := 0
	for i := range s {
		if s[i] == o[i] {
			same++
		}
	}
	return float64(same) / float64(len(s))
}

// bands returns the parts of a signature. Two sets that are similar enough to merge share at least one band with near
// certainty: 1−(1−.7⁴)³² > .999.
func (s Signature) bands() []string {
	const rows = 4
	var all []string
	for i := 0; i+rows <= len(s); i += rows {
		b := make([]byte, 0, 1+4*rows)
		b = append(b, byte(i/rows))
		for _, x := range s[i : i+rows] {
			b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
		}
		all = append(all, string(b))
	}
	return all
}

// countOverlap returns the number of words that two lists of distinct words share.
func countOverlap(a, b []string) int {
	in := make(map[string]bool, len(a))
	for _, w := range a {
		in[w] = true
	}
	n := 0
	for _, w := range b {
		if in[w] {
			n++
		}
	}
	return n
}

// jaccardIndex returns the Jaccard similarity of two lists of distinct words: 0–1.
func jaccardIndex(a, b []string) float64 {
	n := countOverlap(a, b)
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// sameAdvice is the minimum similarity of two lessons that are equivalent or opposite.
const sameAdvice = 0.7

// adviceWords returns the words of a lesson's text and context. They decide whether two lessons are equivalent.
func (l Lesson) adviceWords() []string { return Words(l.Text+" "+l.Context, maxWords) }

// unspaced returns the text of a lesson in scripts without spaces between words. Negations in these scripts are not
// recognised, so lessons are equivalent only when all of this text is equal.
func (l Lesson) unspaced() string {
	return strings.Map(func(r rune) rune {
		if text.Unspaced(r) {
			return r
		}
		return -1
	}, l.Text)
}

// negationWords turn advice into its opposite.
var negationWords = wordSet("not never dont avoid stop without no cannot cant refrain skip instead disable")

// splitNegation returns the words of a text's subject, and reports whether the text advises against it.
func splitNegation(s string) (about []string, against bool) {
	for w := range splitWords(s) {
		if w = stemWord(w); negationWords[w] {
			against = !against
		} else if len(w) > 1 && !slices.Contains(about, w) && !politeWords[w] {
			about = append(about, w)
		}
	}
	return about, against
}

// politeWords do not change the advice.
var politeWords = wordSet("always please do should must to a an the be is are you it")

// Opposed reports whether two lessons have opposite advice: nearly the same words, and one of them negated.
func Opposed(a, b Lesson) bool {
	x, againstX := splitNegation(a.Text)
	y, againstY := splitNegation(b.Text)
	return againstX != againstY && jaccardIndex(x, y) >= sameAdvice
}

// MatchShare returns the share of words that occur in the lesson's own texts, 0–1. It indicates how likely a user means
// the lesson with these words.
func MatchShare(words string, l Lesson) float64 {
	want := Words(words, maxTerms)
	if len(want) == 0 {
		return 0
	}
	return float64(countOverlap(want, Words(l.Told(), maxTerms))) / float64(len(want))
}
