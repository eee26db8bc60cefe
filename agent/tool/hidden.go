package tool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// showHidden replaces hidden characters by visible marks, such as ⟦U+200B⟧, and reports whether there were any.
func showHidden(s string) (string, bool) {
	if strings.IndexFunc(s, visible.Hidden) < 0 {
		return s, false
	}
	var b strings.Builder
	for _, r := range s {
		if visible.Hidden(r) {
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), true
}

var hiddenMark = regexp.MustCompile(`⟦U\+([0-9A-F]{4,6})⟧`)

// hiddenRestorer returns a function that restores hidden characters in a model's text for a file that contains text. If
// the file has no hidden characters, or marks of its own, the function returns its argument unchanged.
func hiddenRestorer(text string) func(string) string {
	hides := strings.IndexFunc(strings.ReplaceAll(text, "\r\n", "\n"), visible.Hidden) >= 0
	if !hides || hiddenMark.MatchString(text) {
		return func(s string) string { return s }
	}
	return restoreHidden
}

// restoreHidden replaces the marks of showHidden by hidden characters.
func restoreHidden(s string) string {
	return hiddenMark.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseInt(hiddenMark.FindStringSubmatch(m)[1], 16, 32)
		if err != nil || !visible.Hidden(rune(n)) {
			return m
		}
		return string(rune(n))
	})
}
