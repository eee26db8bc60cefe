package agent

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/visible"
)

var (
	// untrustedTag matches the delimiter in any spelling that a model might accept.
	untrustedTag = lazyregexp.New(`(?i)<(\s*/?\s*untrusted)`)
	blankLines   = lazyregexp.New(`\n{4,}`)
)

// Sanitize removes from untrusted Markdown the content that GitHub does not display but a model would read; see
// [visible.Markdown]. It is idempotent and linear.
func Sanitize(text string) string { return trimBlankLines(visible.Markdown(text)) }

// sanitizeText is Sanitize for text that is displayed verbatim, such as files, logs, and SIA's own instructions, which
// are shown in a code block. HTML is visible there, so it is kept.
func sanitizeText(text string) string { return trimBlankLines(visible.Text(text)) }

func trimBlankLines(text string) string {
	return strings.TrimSpace(blankLines.ReplaceAllString(text, "\n\n\n"))
}

// wrapUntrusted delimits and labels untrusted text. The text can neither end the delimiter nor begin another. The label
// is SIA's and names the source and the author. Markdown must be sanitized before.
func wrapUntrusted(source, text string) string {
	text = untrustedTag.ReplaceAllString(sanitizeText(text), "‹$1")
	return "<untrusted source=\"" + source + "\">\n" + text + "\n</untrusted>"
}
