// Package text shortens texts and joins several lines to one, for places where a
// text only has to be recognised: a title, a list, an error, a log. It also formats
// counts and lists for people, computes edit distances, and parses Retry-After.
//
// It does not depend on the source or destination of a text: the code that shows it
// must escape untrusted text and mask secrets. The functions are pure and linear, and
// idempotent unless documented otherwise.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark replaces text that was cut off.
const mark = "…"

// Clip returns s with at most runes characters. A longer text is cut, and ends in "…",
// which counts as one of them; white space before it is removed. A byte of invalid
// UTF-8 counts as a character and stays.
func Clip(s string, runes int) string {
	if len(s) <= runes {
		return s // a text has at most as many characters as bytes
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

// Sentence returns s without surrounding space, and with a full stop unless it ends like a sentence. "" stays "".
func Sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// OneLine returns s with every run of white space as one space, and none around it.
// Invalid UTF-8 becomes U+FFFD.
func OneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// FirstSentence returns the first sentence of s, in one line.
func FirstSentence(s string) string {
	first, _, more := strings.Cut(OneLine(s), ". ")
	if more {
		first += "."
	}
	return first
}

// Count formats a number of things for people: "1 task", "2 tasks". Without many the plural is one with an s.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Numbered formats the names of numbered things: "part 2", "parts 2 and 3".
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

// List joins words as in "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Capital returns s with its first letter in upper case.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Unspaced reports whether a character belongs to a script without spaces between words. A word in such a script has
// about two characters.
func Unspaced(r rune) bool {
	return r >= '\u0e00' && !unicode.IsPunct(r) && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}
