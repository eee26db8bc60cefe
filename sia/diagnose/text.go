package diagnose

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// clean is a text as a person sees it; see [visible.Text].
func clean(s string) string { return strings.TrimSpace(visible.Text(s)) }

// fence puts a text into a code fence that nothing in it can close.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "text\n" + text + "\n" + mark
}

// part says which end of a text matters.
type part int

const (
	head part = iota // a task's text: what comes first
	tail             // a transcript or a log: what came last
)

// fit cuts a text to n bytes at the end that matters less, at a line's border
// where there is one near, and says what was cut.
func fit(s string, n int, keep part) string {
	if len(s) <= n {
		return s
	}
	const room = 60 // for the note
	n = max(0, n-room)
	if keep == head {
		kept := clip(s, n)
		kept = strings.TrimSuffix(kept, "…")
		if i := strings.LastIndexByte(kept, '\n'); i > len(kept)*3/4 {
			kept = kept[:i]
		}
		return kept + fmt.Sprintf("\n[… %d bytes after this were cut]", len(s)-len(kept))
	}
	start := len(s) - n
	for start < len(s) && s[start]&0xc0 == 0x80 { // within a character
		start++
	}
	kept := s[start:]
	if i := strings.IndexByte(kept, '\n'); i >= 0 && i < len(kept)/4 {
		kept = kept[i+1:]
	}
	return fmt.Sprintf("[… %d bytes before this were cut]\n", len(s)-len(kept)) + kept
}
