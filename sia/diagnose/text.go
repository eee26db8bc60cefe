package diagnose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/visible"
)

// cleanText is a text as a person sees it; see [visible.Text].
func cleanText(s string) string { return strings.TrimSpace(visible.Text(s)) }

// fenceText puts a text into a code fence that nothing in it can close.
func fenceText(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "text\n" + text + "\n" + mark
}

// keptEnd says which end of a text is kept when the text is cut.
type keptEnd int

const (
	keepHead keptEnd = iota // a task's text: what comes first
	keepTail                // a transcript or a log: what came last
)

// fitText cuts a text to n bytes at the end that matters less, at a line's border
// where there is one near, and says what was cut.
func fitText(s string, n int, keep keptEnd) string {
	if len(s) <= n {
		return s
	}
	const room = 60 // for the note
	n = max(0, n-room)
	if keep == keepHead {
		end := n
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		kept := s[:end]
		if i := strings.LastIndexByte(kept, '\n'); i > len(kept)*3/4 {
			kept = kept[:i]
		}
		return kept + fmt.Sprintf("\n[… %d bytes after this were cut]", len(s)-len(kept))
	}
	start := len(s) - n
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	kept := s[start:]
	if i := strings.IndexByte(kept, '\n'); i >= 0 && i < len(kept)/4 {
		kept = kept[i+1:]
	}
	return fmt.Sprintf("[… %d bytes before this were cut]\n", len(s)-len(kept)) + kept
}
