package secret

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxKey is the maximum length of a private key in PEM, in bytes. An RSA key of 16,384 bits has 12,700 characters, and
// a log or a diff may prefix every line.
const maxKey = 32 << 10

const keyHeaderExpr = `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`

var (
	keyHeader = lazyregexp.New(keyHeaderExpr)
	keyFooter = lazyregexp.New(`-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
	// keyBody matches text in every key, but not in a mere mention of a key's header.
	keyBody = lazyregexp.New(`[A-Za-z0-9+/=]{32,}`)
	// keyLine matches a line of a key: base64 after a log's or a diff's prefix, a header of the old form (RFC 1421), or a
	// blank line.
	keyLine = lazyregexp.New(`^[^\n]{0,64}?[A-Za-z0-9+/=]{32,80}[\s"'+,;]*$|` +
		`^[\s+>|]*(?:Proc-Type|DEK-Info|Version|Comment): |^[\s+>|"',]*$`)
	// moreBody matches the further lines of a body with newlines escaped, as in JSON, once or several times.
	moreBody = lazyregexp.New(`^(?:(?:\\+[nr])+[A-Za-z0-9+/=]+)*`)
	// lastLine matches a short last line of a key.
	lastLine = lazyregexp.New(`^[\s+>|]*[A-Za-z0-9+/]{2,31}={0,2}\s*$`)
)

// keyEnd returns the end of the private key with its header at text[start:end]. It is start when the header is only
// mentioned.
func keyEnd(text string, start, end int) int {
	rest := text[end:min(len(text), end+maxKey)]
	// A key ends before the next header. So no text is scanned twice, even with many headers.
	if next := keyHeader.FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	if m := keyFooter.FindStringIndex(rest); m != nil {
		if keyBody.MatchString(rest[:m[0]]) {
			return end + m[1]
		}
		return start
	}
	// The key is truncated: take the lines that look like a key's.
	at, body := 0, false
	for line := range strings.Lines(rest) {
		whole := strings.TrimSuffix(line, "\n")
		switch m := keyBody.FindStringIndex(whole); {
		case at == 0 && m != nil: // right after the header, with escaped newlines
			return end + m[1] + len(moreBody.FindString(whole[m[1]:]))
		case keyLine.MatchString(whole):
			body = body || m != nil
			at += len(line)
			continue
		case body && lastLine.MatchString(whole):
			at += len(line)
		}
		break
	}
	if !body {
		return start
	}
	return end + len(strings.TrimRight(rest[:at], "\n"))
}
