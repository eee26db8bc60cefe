package lesson

import (
	"iter"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/text"
)

// Bounds of the words that a lesson is found by.
const (
	maxWords = 80
	maxWord  = 40 // bytes; longer ones are hashes and paths
)

// Words are the words that a text is found by: its distinct words in their order, in lower case, at
// most so many. Words that stand in every text are left out, and most English endings are cut off.
// Names such as MAIL_API_KEY and sendMail come apart. Where a script has no spaces between words, each
// pair of characters is one.
func Words(text string, most int) []string {
	b := wordBag{most: most}
	b.add(text)
	return b.words
}

// wordBag gathers the distinct words of texts, at most so many.
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

// splitWords takes a text apart into words of letters and digits, in lower case,
// numbers left out.
func splitWords(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var w []rune
		letters, lower := false, false // seen in w; the last of w was in lower case
		unspaced, before := 0, rune(0) // how many characters without spaces there were in a row, and the last
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

// stemWord takes the commonest endings off a word, those of the plural first. It need
// not be right, only the same for the same word.
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

// stopWords are the stems of words that say nothing about what a text is about.
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
