package agent

import (
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

var (
	// delimiter is what begins or ends delimited text, in any spelling that a
	// model might take for it.
	delimiter = regexp.MustCompile(`(?i)<(\s*/?\s*untrusted)`)
	blank     = regexp.MustCompile(`\n{4,}`)
)

// Sanitize removes from a stranger's text what people who read it on GitHub do
// not see but a model would; see [visible.Markdown]. It is idempotent and linear.
func Sanitize(text string) string { return tidy(visible.Markdown(text)) }

// instruction is Sanitize for SIA's own instructions, which people read in a
// code block: there they see HTML comments, and what follows one that is left
// open is as important as what precedes it.
func instruction(text string) string { return tidy(visible.Text(text)) }

func tidy(text string) string {
	return strings.TrimSpace(blank.ReplaceAllString(text, "\n\n\n"))
}

// untrusted delimits and labels text from strangers. What is inside can neither
// end the delimiter nor begin another. The label says where it is from and who
// wrote it; it is ours.
func untrusted(source, text string) string {
	text = delimiter.ReplaceAllString(Sanitize(text), "‹$1")
	return "<untrusted source=\"" + source + "\">\n" + text + "\n</untrusted>"
}
