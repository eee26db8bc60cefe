package lesson

import (
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// What an issue and its comments say is kept out of lessons: whoever can make a
// test print their text must not thereby write what the next attempt gets.

const (
	maxGist      = 120 // characters
	longWord     = 6   // letters from which a word counts as said also when it was said in pieces
	maxSaidWords = 20_000
)

// strangerWords are the words of an issue and its comments, which strangers may have written.
type strangerWords struct {
	words  map[string]bool
	joined string // all letters in a row: words that were said in pieces
}

func newStrangerWords(texts ...string) strangerWords {
	s := strangerWords{words: map[string]bool{}}
	var joined strings.Builder
	for _, t := range texts {
		for _, w := range Words(t, maxSaidWords) {
			s.words[w] = true
		}
		for _, r := range t {
			if unicode.IsLetter(r) {
				joined.WriteRune(unicode.ToLower(r))
			}
		}
	}
	s.joined = joined.String()
	return s
}

// has reports whether a word of a log was said.
func (s strangerWords) has(word string) bool {
	return s.words[stemWord(word)] || len(word) >= longWord && strings.Contains(s.joined, word)
}

// tellingLine is the most telling line of an excerpt of a log, without the strangers' words. It is
// "" when no line says anything else.
func (s strangerWords) tellingLine(excerpt string) string {
	var lines []string
	for line := range strings.Lines(excerpt) {
		lines = append(lines, s.unsaidLine(line))
	}
	return text.MostTelling(strings.Join(lines, "\n"))
}

// formalWords stand in any log of a failure.
var formalWords = wordSet("fail failed failure error test tests testing line exit code status process completed " +
	"command run check go py js ts rb rs java job step")

// unsaidLine is a line of a log with an ellipsis in the place of every word of strangers. It is ""
// when fewer than two words are left that don't stand in any log, when more words were taken out
// than are left, as in an echo of an issue, and when the line holds an address.
func (s strangerWords) unsaidLine(line string) string {
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
				r = ' ' // no sign that a shell or Markdown reads
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

// checkName is a check's name as a lesson may say it: up to three words that no stranger said or
// that are common in such names. It is "" for any other name.
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
