package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fence is s in a code fence that nothing in it can close.
func Fence(s string) string {
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	return mark + "text\n" + s + "\n" + mark
}

// End says which end of a text is kept when the text is cut.
type End int

// The ends of a text.
const (
	Head End = iota // what comes first: of a task's text, or a file
	Tail            // what came last: of a transcript, or a log
)

// Fit cuts s to n bytes at the end that matters less, at a line's border where there is one
// near, and says in a line of its own how much was cut. Unlike the others it is not
// idempotent, since what it says may be cut in its turn.
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

// HeadOf is the beginning of s, at most n bytes, cut at a line's border where there is one
// near the end, and at a character's otherwise. A line's border is before its newline.
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

// tailOf is the end of s, at most n bytes, as of [HeadOf]. A line's border is behind its newline.
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

// Ends is the first head and the last tail bytes of s, cut as [Fit] cuts, with a line between them that says how much
// was left out. That line is no longer than 60 bytes. What is not longer than both together stays.
func Ends(s string, head, tail int) string {
	if len(s) <= head+tail {
		return s
	}
	first, last := HeadOf(s, head), tailOf(s, tail)
	return first + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-len(first)-len(last)) + last
}
