package tool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Hidden reports whether a person who reads text does not see r, while a model
// does: control characters other than tab and newline, zero-width and
// bidirectional ones, variation selectors, blank fillers, and tag characters,
// with which whole sentences can be written invisibly
// (https://www.unicode.org/reports/tr36/, https://trojansource.codes).
func Hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f: // controls
	case r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x180e: // soft hyphen, grapheme joiner, Arabic letter mark, Mongolian separator
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // zero width, separators, bidirectional
	case r == 0xfeff, r >= 0xfff9 && r <= 0xfffb: // byte order mark, interlinear annotation
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r >= 0x180b && r <= 0x180d: // variation selectors
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers
	case r >= 0xe0000 && r <= 0xe007f: // tags
	case r >= 0x1d173 && r <= 0x1d17a: // musical formatting
	default:
		return false
	}
	return true
}

// show makes hidden characters visible, as ⟦U+200B⟧, and reports whether there were any.
func show(s string) (string, bool) {
	if strings.IndexFunc(s, Hidden) < 0 {
		return s, false
	}
	var b strings.Builder
	for _, r := range s {
		if Hidden(r) {
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), true
}

var shown = regexp.MustCompile(`⟦U\+([0-9A-F]{4,6})⟧`)

// unshow turns what show made visible back.
func unshow(s string) string {
	return shown.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseInt(shown.FindStringSubmatch(m)[1], 16, 32)
		if err != nil || !Hidden(rune(n)) {
			return m
		}
		return string(rune(n))
	})
}
