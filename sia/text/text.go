// Package text makes long texts short and texts of several lines one line, for
// wherever a text is only to be recognised: a title, a list, an error, a log. It
// also counts and lists things for people, tells how far two words are apart, and reads how long a server asks to wait.
//
// It knows nothing of where a text comes from or goes to: what strangers wrote is
// made harmless, and secrets are masked, by who shows it. Its functions are pure and
// linear, and those that say nothing else are idempotent. The package imports nothing of ours.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark stands where something was cut off.
const mark = "…"

// Clip is s with at most runes characters. What is longer is cut, and ends in "…",
// which counts as one of them; white space before it goes. A byte that is no UTF-8
// counts as a character and stays.
func Clip(s string, runes int) string {
	if len(s) <= runes {
		return s // no text has more characters than bytes
	}
	if runes <= 0 {
		return ""
	}
	kept, n := 0, 0
	for i := range s {
		if n == runes-1 {
			kept = i
		}
		if n == runes {
			return strings.TrimRightFunc(s[:kept], unicode.IsSpace) + mark
		}
		n++
	}
	return s
}

// Sentence is s without space around it, and with a full stop where it does not end like a sentence already. "" stays
// "".
func Sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// OneLine is s with every run of white space as one space, and none around it.
// Bytes that are no UTF-8 become U+FFFD.
func OneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// Count is a number of things for people: "1 task", "2 tasks". The plural is made with an s where none is given.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Numbered names things by their numbers: "part 2", "parts 2 and 3".
func Numbered(noun string, numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	if len(words) != 1 {
		noun += "s"
	}
	return noun + " " + List(words)
}

// List is words as in "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Capital is s with a capital letter at its beginning.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Unspaced reports whether a character is of a script that has no spaces between words. A word of one has about two
// characters.
func Unspaced(r rune) bool {
	return r >= '\u0e00' && !unicode.IsPunct(r) && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}
