package failure

import "bytes"

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
