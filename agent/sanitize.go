package agent

import (
	"regexp"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
)

var (
	// htmlComment is what GitHub's Markdown does not show: a comment, closed or not
	// (https://spec.commonmark.org/0.31.2/#html-comment).
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|--!>|$)`)
	// delimiter is what begins or ends delimited text, in any spelling that a
	// model might take for it.
	delimiter = regexp.MustCompile(`(?i)<(\s*/?\s*untrusted)`)
	// turn is what chat templates begin and end turns with: an endpoint that does
	// not escape them takes them for its own (ChatML, Llama 2 and 3, Gemma).
	turn = regexp.MustCompile(`(?i)<(\|[a-z0-9_]{1,40}\|>|/?(?:start|end)_of_turn>|</?SYS>>)|\[(/?INST\])`)
	// terminal are the sequences that colour text and move the cursor (ECMA-48 §5.4).
	terminal = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])")
	blank    = regexp.MustCompile(`\n{4,}`)
)

// Sanitize removes from a stranger's text what people who read it on GitHub do
// not see but a model would: HTML comments, the characters that [tool.Hidden]
// names, and terminal sequences. What a chat template would take for the
// beginning of a turn loses its bracket. Line ends become newlines. It is
// idempotent and linear.
func Sanitize(text string) string {
	// A space in its place, so that what stood around it can't join to a new one.
	return tidy(htmlComment.ReplaceAllString(seen(text), " "))
}

// instruction is Sanitize for SIA's own instructions, which people read in a
// code block: there they see HTML comments, and what follows one that is left
// open is as important as what precedes it.
func instruction(text string) string { return tidy(seen(text)) }

// seen is text without characters that are not.
func seen(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = terminal.ReplaceAllString(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "")
	return strings.Map(func(r rune) rune {
		if tool.Hidden(r) {
			return -1
		}
		return r
	}, text)
}

func tidy(text string) string {
	text = turn.ReplaceAllStringFunc(text, func(m string) string {
		if m[0] == '<' {
			return "‹" + m[1:]
		}
		return "⟦" + m[1:]
	})
	return strings.TrimSpace(blank.ReplaceAllString(text, "\n\n\n"))
}

// untrusted delimits and labels text from strangers. What is inside can neither
// end the delimiter nor begin another. The label says where it is from and who
// wrote it; it is ours.
func untrusted(source, text string) string {
	text = delimiter.ReplaceAllString(Sanitize(text), "‹$1")
	return "<untrusted source=\"" + source + "\">\n" + text + "\n</untrusted>"
}
