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

// What a line that tells of a cause says, and what one that tells of a symptom does.
var telling = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(panic|exception|undefined|missing|cannot|can't|(is )?not (set|found|defined|allowed|exist|implemented)|no such|refused|denied|invalid|unknown|unexpected|timed? ?out)\b`),
	regexp.MustCompile(`(?i)\b(error|expected|want|got|must|should)\b`),
	regexp.MustCompile(``),
}

// gist is the most telling line of an excerpt of a log, without what was said; ""
// when no line tells anything else.
func (s said) gist(excerpt string) string {
	var lines []string
	for line := range strings.Lines(excerpt) {
		if g := s.unsaid(line); g != "" {
			lines = append(lines, g)
		}
	}
	for _, tells := range telling {
		for _, g := range lines {
			if tells.MatchString(g) {
				return g
			}
		}
	}
	return ""
}

// formal are words that stand in any log of a failure.
var formal = set("fail failed failure error test tests testing line exit code status process completed command run check go py js ts rb rs java job step")

// unsaid is a line of a log in which every word that was said is an ellipsis. It
// is "" when fewer than two words are left that don't stand in any log, when more
// names were said than words are left, as in an echo of an issue, and when it
// holds an address.
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
			case len(w) > 1 && !stop[stem(w)] && !formal[w]:
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
	return oneLine(ellipses.ReplaceAllString(b.String(), "…"), maxGist)
}

var ellipses = regexp.MustCompile(`…(?:[^\pL\pN]*…)+`)

// checkName is a check's name as a lesson may say it: a word or two that nobody
// said or that checks are commonly called; "" for any other.
func (s said) checkName(name string) string {
	n := 0
	for w := range split(name) {
		if n++; s.has(w) && !formal[w] && !usual[w] {
			return ""
		}
	}
	if n > 3 || !simpleName.MatchString(name) {
		return ""
	}
	return name
}

var simpleName = regexp.MustCompile(`^[\pL\pN_./ ()-]{1,40}$`)

// usual are words in the names of checks.
var usual = set("build lint vet ci unit integration e2e format types typecheck compile package docs coverage windows linux macos ubuntu")
