package agent

import (
	"fmt"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/text"
)

// clipLine is s on one line, with at most n characters.
func clipLine(s string, n int) string { return text.Clip(text.OneLine(s), n) }

// middleOut cuts s to about n bytes by leaving out its middle, and says how much is
// missing. The end that is kept is a third as long as the beginning.
func middleOut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	a, b := n*3/4, len(s)-n/4
	for a > 0 && !utf8.RuneStart(s[a]) {
		a--
	}
	for b < len(s) && !utf8.RuneStart(s[b]) {
		b++
	}
	return s[:a] + fmt.Sprintf("\n[… %d bytes left out …]\n", b-a) + s[b:]
}
