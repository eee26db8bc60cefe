package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// head cuts s to at most n bytes at a rune boundary; what was cut is marked by "…".
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := max(0, n-len("…"))
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// middleOut cuts s to at most about n bytes, keeping its beginning and, a third
// as long, its end, and says how much is missing.
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

// oneLine is s with all white space as single spaces, at most n bytes.
func oneLine(s string, n int) string { return head(strings.Join(strings.Fields(s), " "), n) }
