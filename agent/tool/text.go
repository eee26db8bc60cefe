package tool

import (
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// clipLine returns s on one line, cut to at most 200 characters.
func clipLine(s string) string { return text.Clip(text.OneLine(s), 200) }

// allCRLF reports whether a text has lines and all end in CRLF.
func allCRLF(s string) bool {
	n := strings.Count(s, "\n")
	return n > 0 && n == strings.Count(s, "\r\n")
}

// crlf returns s with all line ends converted to CRLF.
func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// inFileForm returns a model's text s in the form of a file that contains text: with its line ends and hidden
// characters, which the model does not see.
func inFileForm(text, s string) string {
	if s = hiddenRestorer(text)(s); allCRLF(text) {
		return crlf(s)
	}
	return s
}

// cutLine returns the first maxLine bytes of a line, with a mark if it was cut.
func cutLine(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + " […]"
}

// cutResult cuts s to at most n bytes, with a note.
func cutResult(s string, n int) string { return text.Fit(s, n, text.Head) }

// cutMiddle cuts s to at most n bytes by leaving out its middle, which is the least informative part of an output.
func cutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const room = 60 // for the note about the middle
	return text.Ends(s, (n-room)/2, (n-room)/2)
}
