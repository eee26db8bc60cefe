package tamper

import (
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// stripper removes comments and the contents of strings from the lines of one file, read in order. It has no grammar:
// its errors mostly occur equally on both sides.
type stripper struct {
	*lang
	until   string // end of the open comment or string; empty: none
	comment bool   // it is a comment
	escaped bool   // a backslash escapes in it
}

// open reports whether the next line begins in a comment or string.
func (s *stripper) open() bool { return s.until != "" }

var rawString = lazyregexp.New(`^r#+"`)

// strip returns the line without comments (code), and also without the contents of strings (bare).
func (s *stripper) strip(line string) (code, bare string) {
	var c, b strings.Builder
	for i := 0; i < len(line); {
		var n int
		rest := line[i:]
		if s.until != "" {
			var closed bool
			if n, closed = closing(rest, s.until, s.escaped); !s.comment {
				c.WriteString(rest[:n])
			}
			if closed {
				s.until, s.comment = "", false
			}
		} else if n = s.begins(line, i); n < 0 {
			break
		} else if !s.comment {
			c.WriteString(rest[:n])
			if strings.IndexByte("\"'`", rest[0]) < 0 {
				b.WriteString(rest[:n])
			} else {
				b.WriteString(rest[:1] + rest[:1])
			}
		}
		i += n
	}
	return strings.TrimRight(c.String(), " \t\r"), strings.TrimRight(b.String(), " \t\r")
}

// begins returns the length of the token at i, which may open a string or comment; -1 when the rest of the line is a
// comment.
func (s *stripper) begins(line string, i int) int {
	rest, q := line[i:], line[i]
	for m := range strings.FieldsSeq(s.line) { // not Ruby's #{…}, nor an attribute of PHP
		if strings.HasPrefix(rest, m) && !strings.HasPrefix(rest, "#[") &&
			(m != "#" || i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return -1
		}
	}
	opens := func(n int, until string, escaped bool) int {
		s.until, s.comment, s.escaped = until, until == "*/", escaped
		return n
	}
	switch {
	case s.block && strings.HasPrefix(rest, "/*"):
		return opens(2, "*/", false)
	case s.lang == &rust && rawString.MatchString(rest):
		n := strings.IndexByte(rest, '"')
		return opens(n+1, `"`+rest[1:n], false)
	case q == '\'' && s.lang == &rust: // a character, or a lifetime
		if n, ok := closing(rest[1:], "'", true); ok && (rest[1] == '\\' || utf8.RuneCountInString(rest[1:n]) == 1) {
			return n + 1
		}
	case q == '"' || q == '\'' || q == '`':
		triple := strings.Repeat(string(q), 3)
		if strings.Contains(s.quotes, "t") && strings.HasPrefix(rest, triple) {
			return opens(3, triple, true)
		}
		escaped := q != '`' || s.lang == &script
		n, closed := closing(rest[1:], string(q), escaped)
		if !closed && strings.IndexByte(s.quotes, q) >= 0 {
			return opens(1, string(q), escaped)
		}
		return 1 + n
	}
	_, n := utf8.DecodeRuneInString(rest)
	return n
}

// closing returns the number of bytes of s up to and including end.
func closing(s, end string, escaped bool) (n int, closed bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case escaped && s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], end):
			return i + len(end), true
		}
	}
	return len(s), false
}
