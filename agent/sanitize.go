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
	blank     = regexp.MustCompile(`\n{4,}`)
)

// Sanitize removes from a stranger's text what people who read it on GitHub do
// not see but a model would: HTML comments, and the characters that
// [tool.Hidden] names. Line ends become newlines. It is idempotent and linear.
func Sanitize(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if tool.Hidden(r) {
			return -1
		}
		return r
	}, text)
	// A space in its place, so that what stood around it can't join to a new one.
	text = htmlComment.ReplaceAllString(text, " ")
	return strings.TrimSpace(blank.ReplaceAllString(text, "\n\n\n"))
}

// untrusted delimits and labels text from strangers. What is inside can neither
// end the delimiter nor begin another.
func untrusted(source, text string) string {
	text = delimiter.ReplaceAllString(Sanitize(text), "‹$1")
	return "<untrusted source=\"" + source + "\">\n" + text + "\n</untrusted>"
}
