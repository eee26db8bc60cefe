package failure

import (
	"bytes"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// varyingText lists patterns of text that varies from run to run, masked before the words.
var varyingText = []struct {
	re *lazyregexp.Regexp
	by string
}{
	{lazyregexp.New(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(Z|[+-]\d\d:?\d\d)?`), "#"},
	{lazyregexp.New(`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?( [AP]M)?\b`), "#"},
	{lazyregexp.New(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "#"},
	{lazyregexp.New(`(?:/home/runner/work|/home/travis/build|/Users/(?:travis/build|runner/work)|/__w|/builds|` +
		`/build|[A-Z]:\\a|[A-Z]:\\projects|/private/var/folders|/var/folders|/tmp)(?:[/\\][\w.@+-]+){1,2}`), "~"},
}

// maskVarying removes the parts of a line that vary from run to run: numbers, times, addresses, hashes, sizes,
// durations and the roots of paths become "#" and "~"; names, symbols and error codes such as TS2304 stay; white space
// becomes single spaces. It is the tokenising step of Drain (He et al., ICWS 2017) with rules instead of its learned
// tree, so that one log is enough.
func maskVarying(s string) string {
	for _, m := range varyingText {
		s = m.re.ReplaceAllString(s, m.by)
	}
	var b strings.Builder
	before := "" // the last word
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && isWordByte(s[j]) {
			j++
		}
		switch {
		case j > i:
			w := s[i:j]
			if isVarying(w) || idWords[strings.ToLower(before)] && isHexWord(w) {
				maskNumber(&b)
			} else {
				b.WriteString(w)
			}
			i, before = j, w
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// maskNumber writes "#". The parts of a number, as in 1.5, 10:30 and 1,000, become one "#".
func maskNumber(b *strings.Builder) {
	if s := b.String(); len(s) > 1 && s[len(s)-2] == '#' && bytes.IndexByte([]byte(".,:"), s[len(s)-1]) >= 0 {
		kept := s[:len(s)-1]
		b.Reset()
		b.WriteString(kept)
		return
	}
	b.WriteByte('#')
}

func isWordByte(c byte) bool { return isLower(c) || isUpper(c) || c >= '0' && c <= '9' || c == '_' }

// idWords are words that precede an id.
var idWords = map[string]bool{"id": true, "pid": true, "tid": true, "uuid": true, "commit": true, "sha": true,
	"hash": true, "rev": true, "revision": true, "addr": true, "address": true, "pointer": true, "handle": true}

// isHexWord reports whether a word consists of at least 6 hexadecimal digits. After one of idWords it is an id, even
// without a digit from 0 to 9.
func isHexWord(w string) bool {
	for i := range len(w) {
		if !(w[i] >= 'a' && w[i] <= 'f' || w[i] >= '0' && w[i] <= '9') {
			return false
		}
	}
	return len(w) >= 6
}

// isVarying reports whether a word is a number, with or without a unit, or looks
// like an address, a hash or a random name.
func isVarying(w string) bool {
	digits, hex, changes := 0, 0, 0
	for i := range len(w) {
		d := w[i] >= '0' && w[i] <= '9'
		if d {
			digits++
		}
		if d || w[i] >= 'a' && w[i] <= 'f' || w[i] >= 'A' && w[i] <= 'F' {
			hex++
		}
		if i > 0 && d != (w[i-1] >= '0' && w[i-1] <= '9') {
			changes++
		}
	}
	switch {
	case digits == 0:
		return false
	case w[0] >= '0' && w[0] <= '9' && changes <= 1 && len(w)-digits <= 3:
		return true // 12, 12ms, 512MiB
	case strings.HasPrefix(w, "0x"):
		return true
	case hex == len(w) && len(w) >= 6:
		return true
	}
	return changes >= 4 && len(w) >= 8
}
