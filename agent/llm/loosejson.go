package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// looseReader reads one value of JSON as models write it, up to its end, and writes it as valid JSON. It accepts
// deviations with only one possible meaning:
//
//   - a control character in a string, usually a newline (https://github.com/jundot/omlx/issues/1672), and a backslash
//     in a string that escapes nothing;
//   - a comma before the end of an object or a list;
//   - one missing brace or bracket, at the end (https://github.com/NousResearch/hermes-agent/issues/5315);
//   - Python's strings, True, False and None, and keys without quotes;
//   - Gemma's token instead of quotes.
type looseReader struct {
	text     string
	at       int
	out      []byte
	ends     []byte // closing bytes of the open objects and lists
	cut      bool   // the text may be cut off, so no end is added
	repaired bool   // an end was added; more than one would be a guess
	err      error
}

// readLoose reads the value at the start of a text; n is its end.
func readLoose(body string, cut bool) (value string, n int, err error) {
	r := looseReader{text: body, cut: cut}
	r.value()
	return string(r.out), r.at, r.err
}

// fail records where and why the text is invalid.
func (r *looseReader) fail(why string) {
	if r.err != nil {
		return
	}
	near := "at its end"
	if r.at < len(r.text) {
		near = fmt.Sprintf("before %q", text.Clip(text.OneLine(r.text[r.at:min(r.at+200, len(r.text))]), 20))
	}
	r.err = fmt.Errorf("%s, at byte %d, %s", why, r.at, near)
}

// peek returns the next byte that is not white space; 0: the end.
func (r *looseReader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

func (r *looseReader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

// maxDepth is the maximum nesting depth.
const maxDepth = 64

// quoteToken is Gemma's token for a quote.
const quoteToken = `<|"|>`

func (r *looseReader) value() {
	switch c := r.peek(); {
	case c == '{':
		r.at++
		r.object('}')
	case c == '[':
		r.at++
		r.list()
	case r.quote() != "":
		r.str()
	default:
		r.literal()
	}
}

// object reads the fields of an object, or the named arguments of a call, up to the end.
func (r *looseReader) object(end byte) {
	r.container('{', end, '}', func() {
		if r.quote() != "" {
			r.str()
		} else if key := r.word(); key != "" {
			r.out = append(append(append(r.out, '"'), key...), '"')
		} else {
			r.fail("a name in quotes is missing")
		}
		if !r.take(':') && (end != ')' || !r.take('=')) {
			r.fail("a colon is missing")
		}
		r.out = append(r.out, ':')
		r.value()
	})
}

func (r *looseReader) list() { r.container('[', ']', ']', r.value) }

// container reads items up to end. It writes begin and written around them.
func (r *looseReader) container(begin, end, written byte, item func()) {
	if len(r.ends) >= maxDepth {
		r.fail(fmt.Sprintf("it is nested over %d deep", maxDepth))
	}
	r.ends, r.out = append(r.ends, end), append(r.out, begin)
	for n := 0; r.err == nil && !r.take(end); n++ {
		if n > 0 {
			r.out = append(r.out, ',')
		}
		item()
		if r.err == nil && !r.take(',') && !r.take(end) {
			if r.endMissing() {
				r.repaired = true
				break
			}
			r.fail(fmt.Sprintf("a comma or %c is missing", end))
		} else if r.err == nil && r.text[r.at-1] == end {
			break
		}
	}
	r.ends, r.out = r.ends[:len(r.ends)-1], append(r.out, written)
}

// endMissing reports whether an object or a list lacks only its end: the text ends, or the enclosing value does.
func (r *looseReader) endMissing() bool {
	c := r.peek()
	switch n := len(r.ends); {
	case r.repaired:
		return false
	case n > 1:
		return c == r.ends[n-2]
	case c == 0:
		return !r.cut
	}
	return c == '<' || c == '`'
}

// word reads a name without quotes.
func (r *looseReader) word() string {
	from := r.at
	for r.at < len(r.text) && (isLiteralByte(r.text[r.at]) || r.text[r.at] == '_') {
		r.at++
	}
	return r.text[from:r.at]
}

// isLiteralByte reports whether c may be part of a number, true, false or null.
func isLiteralByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// literal reads a number, true, false or null.
func (r *looseReader) literal() {
	from := r.at
	word := r.word()
	switch word {
	case "True", "False":
		word = strings.ToLower(word)
	case "None":
		word = "null"
	}
	if !json.Valid([]byte(word)) {
		r.at = from
		r.fail("a value is missing")
	}
	r.out = append(r.out, word...)
}

// quote returns the delimiter of the string that starts here: a quote of either kind, three of them, as in Python, or a
// token; "": no string.
func (r *looseReader) quote() string {
	r.peek()
	for _, q := range []string{`"""`, "'''", `"`, "'", quoteToken} {
		if strings.HasPrefix(r.text[r.at:], q) {
			return q
		}
	}
	return ""
}

// str reads a string. Strings in tokens have no escapes.
func (r *looseReader) str() {
	from, quote := r.at, r.quote()
	r.at += len(quote)
	r.out = append(r.out, '"')
	for r.at < len(r.text) && r.err == nil {
		switch c := r.text[r.at]; {
		case c == quote[0] && strings.HasPrefix(r.text[r.at:], quote):
			r.at += len(quote)
			r.out = append(r.out, '"')
			return
		case c == '\\' && quote == quoteToken:
			r.out, r.at = append(r.out, `\\`...), r.at+1
		case c == '\\':
			r.escape()
		default:
			r.char(c)
		}
	}
	r.at = from
	r.fail("a string has no end")
}

// char copies a character of a string.
func (r *looseReader) char(c byte) {
	r.at++
	switch {
	case c == '"':
		r.out = append(r.out, `\"`...)
	case c == '\n':
		r.out = append(r.out, `\n`...)
	case c < ' ':
		r.out = fmt.Appendf(r.out, `\u%04x`, c)
	default:
		r.out = append(r.out, c)
	}
	if len(r.out) > maxCallBytes {
		r.fail(fmt.Sprintf("it has over %d KiB", maxCallBytes>>10))
	}
}

// escape copies an escape sequence.
func (r *looseReader) escape() {
	rest := r.text[r.at+1:]
	hex := func(digits int) bool {
		return len(rest) > digits && strings.Trim(rest[1:1+digits], "0123456789abcdefABCDEF") == ""
	}
	switch {
	case rest == "":
		r.at++
	case strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		r.out, r.at = append(r.out, '\\', rest[0]), r.at+2
	case rest[0] == 'u' && hex(4):
		r.out, r.at = append(r.out, r.text[r.at:r.at+6]...), r.at+6
	case rest[0] == 'x' && hex(2):
		r.out, r.at = append(append(r.out, `\u00`...), rest[1:3]...), r.at+4
	case rest[0] == '\'':
		r.out, r.at = append(r.out, '\''), r.at+2
	default:
		r.out, r.at = append(r.out, `\\`...), r.at+1
	}
}
