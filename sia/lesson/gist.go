package lesson

import (
	"regexp"
	"strings"
	"unicode"
)

// What an issue and its comments say is kept out of lessons: whoever can make a
// test print their text must not thereby write what the next attempt is told.

const (
	maxGist   = 120 // bytes
	longWord  = 6   // letters from which a word counts as said also when it was said in pieces
	saidWords = 20_000
)

// said are the words that strangers may have written.
type said struct {
	words  map[string]bool
	joined string // all letters in a row: words that were said in pieces
}

func newSaid(texts ...string) said {
	s := said{words: map[string]bool{}}
	var joined strings.Builder
	for _, t := range texts {
		for _, w := range Words(t, saidWords) {
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
func (s said) has(word string) bool {
	return s.words[stem(word)] || len(word) >= longWord && strings.Contains(s.joined, word)
}

var errorWords = regexp.MustCompile(`(?i)\b(error|panic|exception|undefined|missing|cannot|can't|not (set|found|defined|allowed)|no such|refused|denied|expected|want|got|invalid|fail(ed|ure)?)\b`)

// gist is the telling line of an excerpt of a log, without what was said; "" when
// no line tells anything else.
func (s said) gist(excerpt string) string {
	first := ""
	for line := range strings.Lines(excerpt) {
		g := s.unsaid(line)
		switch {
		case g == "":
		case errorWords.MatchString(g):
			return g
		case first == "":
			first = g
		}
	}
	return first
}

// unsaid is a line of a log in which every word that was said is an ellipsis. It
// is "" when fewer than two words are left or more were said than not, when it
// holds an address, and so for an echo of an issue.
func (s said) unsaid(line string) string {
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
		for w := range split(n) {
			switch {
			case s.has(w):
				out++
			case len(w) > 1 && !stop[stem(w)]:
				in++
			}
		}
		if out > 0 {
			left += out
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
	return oneLine(ellipses.ReplaceAllString(b.String(), "…"), maxGist)
}

var ellipses = regexp.MustCompile(`…(?:[^\pL\pN]*…)+`)

// checkName is a check's name as a lesson may say it: a word or two that can't
// instruct anybody, or what of it nobody said.
func (s said) checkName(name string) string {
	if simpleName.MatchString(name) && len(Words(name, 4)) <= 2 {
		return name
	}
	return s.unsaid(name)
}

var simpleName = regexp.MustCompile(`^[\pL\pN_./-]{1,30}$`)
