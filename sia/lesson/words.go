package lesson

import (
	"iter"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/text"
)

// Limits on the words by which a lesson is found.
const (
	maxWords = 80
	maxWord  = 40 // bytes; longer ones are hashes and paths
)

// Words returns the words by which a text is found: its distinct words in order, in lower case, at most most of them.
// Stop words are left out, and most English endings are cut off. Names such as MAIL_API_KEY and sendMail are split. In
// a script without spaces between words, each pair of characters is a word.
func Words(text string, most int) []string {
	b := wordBag{most: most}
	b.add(text)
	return b.words
}

// wordBag collects the distinct words of texts, at most most of them.
type wordBag struct {
	most  int
	words []string
	seen  map[string]bool
}

func (b *wordBag) add(text string) {
	if b.seen == nil {
		b.seen = make(map[string]bool, min(b.most, maxWords))
	}
	for w := range splitWords(text) {
		w = stemWord(w)
		if len(w) < 2 || len(w) > maxWord || stopWords[w] || b.seen[w] {
			continue
		}
		if len(b.words) == b.most {
			return
		}
		b.seen[w] = true
		b.words = append(b.words, w)
	}
}

// splitWords splits a text into words of letters and digits, in lower case, without numbers.
func splitWords(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var w []rune
		letters, lower := false, false // w has letters; the last one is in lower case
		unspaced, before := 0, rune(0) // number of consecutive characters of such a script, and the last one
		end := func() bool {
			more := (!letters || yield(string(w))) && (unspaced != 1 || yield(string(before)))
			w, letters, lower, unspaced = w[:0], false, false, 0
			return more
		}
		for _, r := range s {
			if text.Unspaced(r) {
				if unspaced == 0 && !end() || unspaced > 0 && !yield(string([]rune{before, r})) {
					return
				}
				unspaced, before = unspaced+1, r
				continue
			}
			if unspaced > 0 && !end() {
				return
			}
			letter := unicode.IsLetter(r)
			switch {
			case !letter && !unicode.IsDigit(r):
				if r != '\'' && r != '’' && !end() { // don't is dont
					return
				}
				continue
			case lower && unicode.IsUpper(r): // sendMail
				if !end() {
					return
				}
			}
			letters = letters || letter
			lower = unicode.IsLower(r)
			w = append(w, unicode.ToLower(r))
		}
		end()
	}
}

// stemWord removes the most common endings of a word, those of the plural first. It need not be correct, only
// deterministic.
func stemWord(w string) string {
	for _, endings := range [][]struct{ suffix, with string }{
		{{"ies", "y"}, {"sses", "ss"}, {"ss", "ss"}, {"s", ""}},
		{{"ing", ""}, {"ed", ""}},
	} {
		for _, e := range endings {
			root, ok := strings.CutSuffix(w, e.suffix)
			if ok && len(root) >= 3 {
				w = root + e.with
			}
			if ok {
				break
			}
		}
	}
	return w
}

// stopWords are the stems of words that carry no meaning in a search.
var stopWords = wordSet(`a about above add after again all also an and ani any are as at be becaus been befor being
below between both but by call came can cannot come could day did do doe done dont down each else end etc even every
few first for from get give go good had ha has have he her here hers him his how i if im in into is issue it its
itself just keep let like look made make makes mani many may me might more most much must my need needs new no nor not
now of off often on onc once one only or other our out over own please put rather same say see shall she should show
so some someth still such sure take than that the their them then there these they thing this those though through to
too two under until up upon us use user using ver veri very wa want was way we well were what when where whether which
while who whom whose why will with within without work would yes yet you your thi hi`)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
		m[stemWord(w)] = true
	}
	return m
}
