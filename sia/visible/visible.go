// Package visible separates what a person sees of a text from what only a model would read.
// Otherwise instructions could be hidden from the person who has to approve them.
//
// [Hidden] is the one list of characters that are not seen. [Text] takes them out of any text.
// [Markdown] also takes out what GitHub does not show of an issue or a comment. All of them are
// pure, linear and idempotent. They know nothing of where a text comes from: the caller delimits
// and labels it.
//
// The package imports nothing of ours.
package visible

import (
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// htmlComment is what GitHub's Markdown does not show: a comment, closed or not
	// (https://spec.commonmark.org/0.31.2/#html-comment).
	htmlComment   = lazyregexp.New(`(?s)<!--.*?(?:-->|--!>|$)`)
	closedComment = lazyregexp.New(`(?s)<!--.*?(?:-->|--!>)`)
	// chatTurn is what chat templates begin and end turns with: an endpoint that does
	// not escape them takes them for its own (ChatML, Llama 2 and 3, Gemma).
	chatTurn = lazyregexp.New(`(?i)<(\|[a-z0-9_]{1,40}\|>|/?(?:start|end)_of_turn>|</?SYS>>)|\[(/?INST\])`)
	// terminalSequence are the sequences that colour text and move the cursor (ECMA-48 §5.4).
	terminalSequence = lazyregexp.New("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])")
	lineEnds         = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

// Hidden reports whether a person who reads text does not see r, while a model
// does: control characters other than tab and newline, zero-width and
// bidirectional ones, separators, variation selectors, blank fillers, and tag
// characters, with which whole sentences can be written invisibly
// (https://www.unicode.org/reports/tr36/, https://trojansource.codes).
func Hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		// Arabic number signs and the like are seen.
	case unicode.Is(unicode.Variation_Selector, r), r == 0x034f: // and the grapheme joiner
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and what Unicode keeps for the like
	default:
		return false
	}
	return true
}

// Text is s as a person sees it: without terminal sequences and characters that
// [Hidden] names. What a chat template would take for the beginning of a turn
// loses its bracket. Line ends become newlines, bytes that are no UTF-8 become
// U+FFFD.
func Text(s string) string { return withoutTurns(withoutHidden(s)) }

func withoutHidden(s string) string {
	s = terminalSequence.ReplaceAllString(lineEnds.Replace(strings.ToValidUTF8(s, "\uFFFD")), "")
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return r
	}, s)
}

func withoutTurns(s string) string {
	return chatTurn.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == '<' {
			return "‹" + m[1:]
		}
		return "⟦" + m[1:]
	})
}
