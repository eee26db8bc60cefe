package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fence returns s in a code fence that no text in s can close.
func Fence(s string) string {
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	return mark + "text\n" + s + "\n" + mark
}

// End is the end of a text that is kept when the text is cut.
type End int

// The ends of a text.
const (
	Head End = iota // the beginning, for a task's text or a file
	Tail            // the end, for a transcript or a log
)

// Fit cuts s to n bytes and keeps the given end. It cuts at a line break if there is one
// near, and adds a line with the number of bytes cut. Unlike the others it is not
// idempotent, because that line may be cut in turn.
func Fit(s string, n int, keep End) string {
	if len(s) <= n {
		return s
	}
	const room = 60 // for the note
	n = max(0, n-room)
	if keep == Head {
		kept := HeadOf(s, n)
		return kept + fmt.Sprintf("\n[… %d bytes after this were cut]", len(s)-len(kept))
	}
	kept := tailOf(s, n)
	return fmt.Sprintf("[… %d bytes before this were cut]\n", len(s)-len(kept)) + kept
}

// HeadOf returns the beginning of s, at most n bytes, cut before a newline if there is one
// near the end, and between characters otherwise.
func HeadOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := max(0, n)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	kept := s[:end]
	if i := strings.LastIndexByte(kept, '\n'); i > len(kept)*3/4 {
		kept = kept[:i]
	}
	return kept
}

// tailOf returns the end of s, at most n bytes, cut like [HeadOf] but after a newline.
func tailOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	start := len(s) - max(0, n)
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	kept := s[start:]
	if i := strings.IndexByte(kept, '\n'); i >= 0 && i < len(kept)/4 {
		kept = kept[i+1:]
	}
	return kept
}

// Ends returns the first head and the last tail bytes of s, cut as by [Fit], with a line between them that contains the
// number of bytes left out. That line is at most 60 bytes long. A text that is not longer than both is unchanged.
func Ends(s string, head, tail int) string {
	if len(s) <= head+tail {
		return s
	}
	first, last := HeadOf(s, head), tailOf(s, tail)
	return first + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-len(first)-len(last)) + last
}
