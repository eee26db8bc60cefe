package tool

import (
	"strings"

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

// cutResult cuts s to at most n bytes, and says that it did.
func cutResult(s string, n int) string { return text.Fit(s, n, text.Head) }

// cutMiddle cuts s to at most n bytes by leaving out its middle. Its beginning tells what happened, and its end how it
// ended.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const room = 60 // for what is said of the middle
	return text.Ends(s, (n-room)/2, (n-room)/2)
}
