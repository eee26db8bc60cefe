package lesson

import (
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// Text of an issue and its comments is kept out of lessons: a user who can make a test print such text must not be able
// to write into the next attempt's prompt.

const (
	maxGist  = 120 // characters
	longWord = 6   // minimum length of a word that is also matched when it is split in the issue
)

// strangerWords are the words of an issue and its comments, which untrusted users may have written.
type strangerWords struct {
	words   map[string]bool
	joined  string // all letters and digits without separators, to match split words
	letters string // all letters, likewise
}

func newStrangerWords(texts ...string) strangerWords {
	s := strangerWords{words: map[string]bool{}}
	add := func(text string) {
		for w := range splitWords(text) {
			if w = stemWord(w); len(w) > 1 && !stopWords[w] { // of any length: a log may repeat it
				s.words[w] = true
			}
		}
	}
	var joined, letters strings.Builder
	for _, t := range texts {
		add(t)
		add(strings.Map(func(r rune) rune { // splitWords joins don't, and keeps digits in a word
			if unicode.IsLetter(r) {
				return r
			}
			return ' '
		}, t))
		for _, r := range t {
			letter := unicode.IsLetter(r)
			if letter {
				letters.WriteRune(unicode.ToLower(r))
			}
			if letter || unicode.IsDigit(r) {
				joined.WriteRune(unicode.ToLower(r))
			}
		}
	}
	s.joined, s.letters = joined.String(), letters.String()
	return s
}

// has reports whether a word of a log occurs in the issue.
func (s strangerWords) has(word string) bool {
	return s.words[stemWord(word)] ||
		len(word) >= longWord && (strings.Contains(s.joined, word) || strings.Contains(s.letters, word))
}

// bestLine returns the best line of an excerpt of a log, without the untrusted words. It is "" when no line has
// enough other words.
func (s strangerWords) bestLine(excerpt string) string {
	var lines []string
	for line := range strings.Lines(excerpt) {
		lines = append(lines, s.redactLine(line))
	}
	return text.MostTelling(strings.Join(lines, "\n"))
}

// formalWords are common in logs of failures.
var formalWords = wordSet("fail failed failure error test tests testing line exit code status process completed " +
	"command run check go py js ts rb rs java job step")

// redactLine returns a line of a log with an ellipsis in place of every untrusted word. It is "" when fewer than two
// words are left, formal words not counted, when more words were removed than are left, as in an echo of an issue, and
// when the line contains a URL.
func (s strangerWords) redactLine(line string) string {
	if strings.Contains(line, "://") {
		return ""
	}
	var b strings.Builder
	kept, left := 0, 0
	var name []rune
	end := func() {
		if len(name) == 0 {
			return
		}
		n, out := string(name), 0
		name = name[:0]
		in := 0
		for w := range splitWords(n) {
			switch {
			case s.has(w):
				out++
			case len(w) > 1 && !stopWords[stemWord(w)] && !formalWords[w]:
				in++
			}
		}
		if out > 0 {
			left++
			n = "…"
		} else {
			kept += in
		}
		b.WriteString(n)
	}
	for _, r := range line {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			name = append(name, r)
		default:
			end()
			if !strings.ContainsRune(".,:-/()[]='\"+#%", r) {
				r = ' ' // nothing that a shell or Markdown interprets
			}
			b.WriteRune(r)
		}
	}
	end()
	if kept < 2 || left > kept {
		return ""
	}
	return text.Clip(text.OneLine(ellipsisRun.ReplaceAllString(b.String(), "…")), maxGist)
}

var ellipsisRun = lazyregexp.New(`…(?:[^\pL\pN]*…)+`)

// checkName returns a check's name if a lesson may contain it: up to three words that are not untrusted or are common
// in such names. It is "" for any other name.
func (s strangerWords) checkName(name string) string {
	n := 0
	for w := range splitWords(name) {
		if n++; s.has(w) && !formalWords[w] && !checkWords[w] {
			return ""
		}
	}
	if n > 3 || !simpleName.MatchString(name) {
		return ""
	}
	return name
}

var simpleName = lazyregexp.New(`^[\pL\pN_./ ()-]{1,40}$`)

// checkWords are common in the names of checks.
var checkWords = wordSet("build lint vet ci unit integration e2e format types typecheck compile package docs " +
	"coverage windows linux macos ubuntu")
