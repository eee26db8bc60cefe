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

// indentBytes returns the length of the line's leading white space, in bytes.
func (l *line) indentBytes() int { return len(l.text) - len(bytes.TrimLeft(l.text, " \t\u00a0")) }

// printableText returns a line of an untrusted log in a form that is safe to show: valid UTF-8 without control and
// other invisible characters. Tabs and emoji variation selectors are kept.
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
