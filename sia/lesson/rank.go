package lesson

import (
	"cmp"
	"math"
)

// SearchHit is a lesson found by a search.
type SearchHit struct {
	Lesson
	Rank   float64 // relevance; above 0, comparable within one search
	Shared int     // number of searched words that it has
}

// maxTerms is the maximum number of terms of one lesson.
const maxTerms = 2 * maxWords

// Terms returns the distinct words by which a search finds the lesson: the words of its texts, and its Words, Tags and
// Tools.
func (l Lesson) Terms() []string {
	b := wordBag{most: maxTerms}
	for _, text := range []string{l.Text, l.Context, l.Correction} {
		b.add(text)
	}
	for _, list := range [][]string{l.Words, l.Tags, l.Tools} {
		for _, w := range list {
			b.add(w)
		}
	}
	return b.words
}

// SharedWords returns the number of words of a text that the lesson has too: its relevance when there are no word
// weights.
func (l Lesson) SharedWords(text string) (n int) {
	has := map[string]bool{}
	for _, t := range l.Terms() {
		has[t] = true
	}
	for _, w := range Words(text, maxTerms) {
		if has[w] {
			n++
		}
	}
	return n
}

// WordWeights maps each word of a search to its weight. Words that few lessons have weigh more.
type WordWeights map[string]float64

// WeighWords returns the weights of words, given the number of lessons that have each and the number of all lessons. It
// is the inverse document frequency of BM25 in the form that is above 0 even for common words (Robertson and Zaragoza,
// The Probabilistic Relevance Framework, 2009; the 1+ is Lucene's). Words that no lesson has get no weight.
func WeighWords(words []string, have map[string]int, all int) WordWeights {
	w := WordWeights{}
	for _, word := range words {
		if n := float64(have[word]); n > 0 {
			w[word] = math.Log1p((max(float64(all), n) - n + .5) / (n + .5))
		}
	}
	return w
}

// Rank returns the relevance of a lesson with these [Lesson.Terms] to the search. rank is the weight of the shared
// words, shared their number. A long lesson shares some words by chance, so its length counts against it, as in BM25
// for words that each occur once.
func (w WordWeights) Rank(terms []string) (rank float64, shared int) {
	const (
		usual  = 40.0 // typical number of terms of a lesson
		length = 0.5  // strength of the length normalisation: BM25's b, 0–1
	)
	for _, t := range terms {
		if x, ok := w[t]; ok {
			rank += x
			shared++
		}
	}
	return rank / (1 - length + length*float64(len(terms))/usual), shared
}

// ByRank compares hits for sorting, best first.
func ByRank(a, b SearchHit) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.ID, b.ID)) }
