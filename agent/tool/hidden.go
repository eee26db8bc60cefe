package tool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// show makes hidden characters visible, as ⟦U+200B⟧, and reports whether there were any.
func show(s string) (string, bool) {
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

var shown = regexp.MustCompile(`⟦U\+([0-9A-F]{4,6})⟧`)

// unshow turns what show made visible back.
func unshow(s string) string {
	return shown.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseInt(shown.FindStringSubmatch(m)[1], 16, 32)
		if err != nil || !visible.Hidden(rune(n)) {
			return m
		}
		return string(rune(n))
	})
}
