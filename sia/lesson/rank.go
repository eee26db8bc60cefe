package lesson

import (
	"cmp"
	"math"
)

// SearchHit is a lesson that a search found.
type SearchHit struct {
	Lesson
	Rank   float64 // how well it fits what was searched for; above 0, and comparable within one search
	Shared int     // how many of the words that were searched for it has
}

// maxTerms bounds the terms of one lesson.
const maxTerms = 2 * maxWords

// Terms are the distinct words that a search finds the lesson by: the words of its texts, and its
// Words, Tags and Tools.
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

// SharedWords counts the words of a text that the lesson has too: how well it fits, where there is nothing to
// weigh words by.
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

// WordWeights are how much each word of a search tells. A word that few lessons have tells more.
type WordWeights map[string]float64

// WeighWords makes the weights of words from how many of all lessons have each. It is
// the inverse document frequency of BM25 in the form that is above 0 however
// common a word is (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009; the 1+ is Lucene's). Words that no lesson has weigh nothing.
func WeighWords(words []string, have map[string]int, all int) WordWeights {
	w := WordWeights{}
	for _, word := range words {
		if n := float64(have[word]); n > 0 {
			w[word] = math.Log1p((max(float64(all), n) - n + .5) / (n + .5))
		}
	}
	return w
}

// Rank is how well a lesson with these [Lesson.Terms] fits the search. rank is the weight of the
// words that both share, shared is their number. A lesson of many words shares some by chance, so
// its length counts against it, as in BM25 for words that each occur once.
func (w WordWeights) Rank(terms []string) (rank float64, shared int) {
	const (
		usual  = 40.0 // terms of a lesson
		length = 0.5  // how much a length other than that counts: BM25's b, 0–1
	)
	for _, t := range terms {
		if x, ok := w[t]; ok {
			rank += x
			shared++
		}
	}
	return rank / (1 - length + length*float64(len(terms))/usual), shared
}

// ByRank orders what was found, best first.
func ByRank(a, b SearchHit) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.ID, b.ID)) }
