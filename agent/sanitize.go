package agent

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/visible"
)

var (
	// untrustedTag begins or ends delimited text, in any spelling that a model might
	// take for it.
	untrustedTag = lazyregexp.New(`(?i)<(\s*/?\s*untrusted)`)
	blankLines   = lazyregexp.New(`\n{4,}`)
)

// Sanitize removes from a stranger's Markdown what people who read it on GitHub do
// not see but a model would; see [visible.Markdown]. It is idempotent and linear.
func Sanitize(text string) string { return trimBlankLines(visible.Markdown(text)) }

// sanitizeText is Sanitize for what people read as it stands, such as files, logs, and SIA's own
// instructions, which are shown in a code block. HTML can be seen there, and is what a file or a log is
// about: it is kept.
func sanitizeText(text string) string { return trimBlankLines(visible.Text(text)) }

func trimBlankLines(text string) string {
	return strings.TrimSpace(blankLines.ReplaceAllString(text, "\n\n\n"))
}

// wrapUntrusted delimits and labels text from strangers. What is inside can neither
// end the delimiter nor begin another. The label says where it is from and who
// wrote it; it is ours. Markdown is to be sanitized before.
func wrapUntrusted(source, text string) string {
	text = untrustedTag.ReplaceAllString(sanitizeText(text), "‹$1")
	return "<untrusted source=\"" + source + "\">\n" + text + "\n</untrusted>"
}
