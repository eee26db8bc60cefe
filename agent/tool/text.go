package tool

import (
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/text"
)

// clipLine is s on one line, with at most 200 characters.
func clipLine(s string) string { return text.Clip(text.OneLine(s), 200) }

// allCRLF reports whether a text has lines, and each ends in CRLF.
func allCRLF(s string) bool {
	n := strings.Count(s, "\n")
	return n > 0 && n == strings.Count(s, "\r\n")
}

// crlf is s with every line ended by CRLF.
func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// inFormOf is s, which a model wrote for a file that holds text, in the form of that file: how lines end, and which
// characters can't be seen, is not what a model is shown.
func inFormOf(text, s string) string {
	if s = unhidden(text)(s); allCRLF(text) {
		return crlf(s)
	}
	return s
}

// cutLine is the first maxLine bytes of a line, with a mark where more is left out.
func cutLine(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + " […]"
}

// cutResult cuts text to at most n bytes, between characters, and says that it did.
func cutResult(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "\n[cut here: the result is too long]"
	end := max(0, n-len(mark))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// cutMiddle cuts text to at most n bytes by leaving out lines from its middle. Its
// beginning tells what happened, and its end how it ended.
func cutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "[lines left out]\n"
	half := (n - len(mark)) / 2
	head, tail := text[:half], text[len(text)-half:]
	if i := strings.LastIndexByte(head, '\n'); i > half/2 {
		head = head[:i+1]
	} else {
		head = strings.ToValidUTF8(head, "") + "\n"
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < half/2 {
		tail = tail[i+1:]
	}
	return cutResult(head+mark+strings.ToValidUTF8(tail, ""), n)
}
