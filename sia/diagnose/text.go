package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var htmlComment = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)

// clean takes out of a text what a person would not see: control characters
// that are no white space, terminal colours, zero-width, bidirectional and tag
// characters, blank fillers. What a chat template would take for the beginning of
// a turn loses its bracket. Line ends become newlines.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = terminal.ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u034f', r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(turn.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == '<' {
			return "‹" + m[1:]
		}
		return "⟦" + m[1:]
	}))
}

// turn is what chat templates begin and end turns with: an endpoint that does not
// escape them takes them for its own (ChatML, Llama 2 and 3, Gemma).
var turn = regexp.MustCompile(`(?i)<(\|[a-z0-9_]{1,40}\|>|/?(?:start|end)_of_turn>|</?SYS>>)|\[(/?INST\])`)

// terminal matches ANSI escape sequences (ECMA-48).
var terminal = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-_])`)

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
