package failure

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/visible"
)

func hasPrefix(b []byte, p string) bool { return len(b) >= len(p) && string(b[:len(p)]) == p }

func containsAny(b []byte, subs ...string) bool {
	for _, s := range subs {
		if bytes.Contains(b, []byte(s)) {
			return true
		}
	}
	return false
}

// indentBytes is the length of the line's leading white space.
func (l *line) indentBytes() int { return len(l.text) - len(bytes.TrimLeft(l.text, " \t\u00a0")) }

// printableText is a line of a stranger's log as it may be shown: valid UTF-8
// without control characters and others that people don't see. Tabs stay, and what makes an emoji of a character.
func printableText(b []byte) string {
	plain := true
	for _, c := range b {
		if c < ' ' && c != '\t' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return string(b)
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r != '\t' && unicode.IsControl(r) || visible.Hidden(r) && r != '\ufe0f' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), ""))
}
