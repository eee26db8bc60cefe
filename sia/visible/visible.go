// Package visible removes the parts of a text that a person does not see but a model would read.
// Otherwise instructions could be hidden from the person who has to approve them.
//
// [Hidden] lists the invisible characters. [Text] removes them from any text. [Markdown] also
// removes the parts of an issue or a comment that GitHub does not show. All of them are pure,
// linear and idempotent. They do not depend on the source of a text: the caller delimits and
// labels it.
package visible

import (
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// htmlComment matches a comment, closed or not, which GitHub does not show
	// (https://spec.commonmark.org/0.31.2/#html-comment).
	htmlComment   = lazyregexp.New(`(?s)<!--.*?(?:-->|--!>|$)`)
	closedComment = lazyregexp.New(`(?s)<!--.*?(?:-->|--!>)`)
	// chatTurn matches the turn markers of chat templates, which an endpoint that does
	// not escape them interprets as its own (ChatML, Llama 2 and 3, Gemma).
	chatTurn = lazyregexp.New(`(?i)<(\|[a-z0-9_]{1,40}\|>|/?(?:start|end)_of_turn>|</?SYS>>)|\[(/?INST\])`)
	// terminalSequence matches sequences that colour text and move the cursor (ECMA-48 §5.4).
	terminalSequence = lazyregexp.New("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])")
	lineEnds         = strings.NewReplacer("\r\n", "\n", "\r", "\n")
)

// Hidden reports whether r is invisible to a person but readable by a model:
// control characters other than tab and newline, zero-width and bidirectional
// ones, separators, variation selectors, blank fillers, and tag characters, with
// which whole sentences can be written invisibly
// (https://www.unicode.org/reports/tr36/, https://trojansource.codes).
func Hidden(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		// Arabic number signs and similar characters are visible.
	case unicode.Is(unicode.Variation_Selector, r), r == 0x034f: // and the grapheme joiner
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and reserved code points
	default:
		return false
	}
	return true
}

// Text returns s as a person sees it: without terminal sequences and [Hidden]
// characters. It replaces the bracket of chat templates' turn markers, normalises
// line ends to newlines, and replaces invalid UTF-8 by U+FFFD.
func Text(s string) string { return BreakTurns(withoutHidden(s)) }

func withoutHidden(s string) string {
	s = terminalSequence.ReplaceAllString(lineEnds.Replace(strings.ToValidUTF8(s, "\uFFFD")), "")
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return r
	}, s)
}

// BreakTurns replaces the bracket of chat templates' turn markers in s, such as that of <|im_start|>.
func BreakTurns(s string) string {
	return chatTurn.ReplaceAllStringFunc(s, func(m string) string {
		if m[0] == '<' {
			return "‹" + m[1:]
		}
		return "⟦" + m[1:]
	})
}
