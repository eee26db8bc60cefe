package tamper

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// lexemes are what can begin at a place in code. Each takes what it knows, and
// reports whether it did. The first that does counts; the last takes anything.
var lexemes = []func(*reading) bool{
	(*reading).rubyComment, (*reading).blockComment, (*reading).lineComment, (*reading).blank,
	(*reading).tripled, (*reading).rawString, (*reading).character, (*reading).string, (*reading).regularExpression,
	(*reading).heredoc, (*reading).percent, (*reading).number, (*reading).word, (*reading).sign,
}

func (r *reading) lexeme() {
	for _, takes := range lexemes {
		if takes(r) {
			return
		}
	}
}

// What begins and ends a comment of many lines in Ruby, at the beginning of a line.
const rubyBegin, rubyEnd = "=begin", "=end"

func (r *reading) rubyComment() bool {
	if !r.syntax.begin || r.at > 0 || !strings.HasPrefix(r.line, rubyBegin) {
		return false
	}
	r.comment = rubyEnd
	r.leaveRest()
	return true
}

func (r *reading) blockComment() bool {
	if !r.syntax.block || !strings.HasPrefix(r.rest(), "/*") {
		return false
	}
	r.comment = "*/"
	r.leave(2)
	return true
}

// lineComment leaves out a comment to the end of the line.
func (r *reading) lineComment() bool {
	for _, m := range r.syntax.line {
		if !strings.HasPrefix(r.rest(), m) {
			continue
		}
		if m == "#" && r.syntax.heredoc && r.at > 0 && r.line[r.at-1] != ' ' && r.line[r.at-1] != '\t' {
			continue // Ruby's #{…}
		}
		r.leaveRest()
		return true
	}
	return false
}

func (r *reading) blank() bool {
	switch r.line[r.at] {
	case ' ', '\t', '\r':
		r.leave(1)
		return true
	}
	return false
}

// tripled opens a string between tripled quotes.
func (r *reading) tripled() bool {
	c := r.line[r.at]
	if strings.IndexByte(r.syntax.triple, c) < 0 {
		return false
	}
	quote := strings.Repeat(string(rune(c)), 3)
	if !strings.HasPrefix(r.rest(), quote) {
		return false
	}
	r.quote = quote
	r.keep(3)
	return true
}

var rustRaw = lazyregexp.New(`^r#*"`)

// rawString opens a raw string of Rust: r"…" or r#"…"#.
func (r *reading) rawString() bool {
	if !r.syntax.char || r.line[r.at] != 'r' {
		return false
	}
	begin := rustRaw.FindString(r.rest())
	if begin == "" {
		return false
	}
	r.quote, r.raw = `"`+begin[1:len(begin)-1], true
	r.keep(len(begin))
	return true
}

// character takes a character literal of Rust, or the quote of a lifetime.
func (r *reading) character() bool {
	if !r.syntax.char || r.line[r.at] != '\'' {
		return false
	}
	n, behind := 1, r.rest()[1:]
	if end, closed := closing(behind, "'", false); closed && end > 1 &&
		(behind[0] == '\\' || utf8.RuneCountInString(behind[:end-1]) == 1) {
		n += end
	}
	r.add(text, strings.Trim(r.rest()[:n], "'"))
	r.keep(n)
	return true
}

// string takes a string that ends on the line, or opens one that may go on.
func (r *reading) string() bool {
	c := r.line[r.at]
	if c != '"' && c != '\'' && c != '`' {
		return false
	}
	raw := c == '`' && !r.syntax.regex
	n, closed := closing(r.rest()[1:], string(rune(c)), raw)
	content := r.rest()[1 : 1+n]
	r.bare[r.at] = c
	switch {
	case closed:
		r.bare[r.at+n] = c
		r.add(text, content[:n-1])
	case strings.IndexByte(r.syntax.many, c) >= 0:
		r.quote, r.raw = string(rune(c)), raw
		r.keep(1)
		return true
	default:
		r.add(text, content)
	}
	r.quoted(1 + n)
	return true
}

// regex is a literal that ends on the line.
var regex = lazyregexp.New(`^/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\\/\[])*/`)

func (r *reading) regularExpression() bool {
	if !r.syntax.regex || r.line[r.at] != '/' || r.divides() {
		return false
	}
	n := max(1, len(regex.FindString(r.rest())))
	r.add(text, r.rest()[:n])
	r.quoted(n)
	return true
}

// divides reports whether a slash behind the tokens so far divides, and does not
// begin a regular expression.
func (r *reading) divides() bool {
	if len(r.tokens) == 0 {
		return false
	}
	switch last := r.tokens[len(r.tokens)-1]; last.kind {
	case sign:
		return last.text == ")" || last.text == "]" || last.text == "}"
	case word:
		return last.text != "return" && last.text != "match" && last.text != "when" && last.text != "if"
	}
	return true
}

var heredoc = lazyregexp.New(`^<<[~-]['"]*([A-Z_]+)['"]?`)

// heredoc takes what opens a heredoc of Ruby, such as <<~SQL; the heredoc itself
// begins on the next line.
func (r *reading) heredoc() bool {
	if !r.syntax.heredoc || r.line[r.at] != '<' {
		return false
	}
	m := heredoc.FindStringSubmatch(r.rest())
	if m == nil {
		return false
	}
	r.pending = m[1]
	r.add(sign, "<<")
	r.keep(len(m[0]))
	return true
}

var percent = lazyregexp.New(`^%[rqQwWiI]?([\[({<|!])`)

// percent takes a literal of Ruby such as %w[a b] or %r{a'b}.
func (r *reading) percent() bool {
	if !r.syntax.heredoc || r.line[r.at] != '%' || r.at > 0 && strings.IndexByte(" \t([{,=", r.line[r.at-1]) < 0 {
		return false
	}
	m := percent.FindStringSubmatch(r.rest())
	if m == nil {
		return false
	}
	opens, closes := m[1][0], m[1][0]
	if i := strings.IndexByte("[({<", opens); i >= 0 {
		closes = "])}>"[i]
	}
	depth := 1
	for n := len(m[0]); n < len(r.rest()); n++ {
		switch c := r.rest()[n]; {
		case c == '\\':
			n++
		case c == closes:
			if depth--; depth == 0 {
				r.add(text, r.rest()[len(m[0]):n])
				r.quoted(n + 1)
				return true
			}
		case c == opens:
			depth++
		}
	}
	r.quote, r.raw = string(rune(closes)), false
	r.keep(len(m[0]))
	return true
}

func (r *reading) number() bool {
	s := r.rest()
	if !digit(s[0]) {
		return false
	}
	n := 1
	for n < len(s) && (isWord(rune(s[n])) || s[n] == '.' && n+1 < len(s) && digit(s[n+1])) {
		n++
	}
	r.add(number, strings.ReplaceAll(s[:n], "_", ""))
	r.keep(n)
	return true
}

func (r *reading) word() bool {
	n := wordLength(r.rest())
	if n == 0 {
		return false
	}
	r.add(word, r.rest()[:n])
	r.keep(n)
	return true
}

// signs of more than one character, the longest first.
var signs = []string{"===", "!==", "<=>", "...", "==", "!=", "<=", ">=", "&&", "||", ":=", "=>", "->", "::", "=~", "!~",
	"+=", "-="}

func (r *reading) sign() bool {
	_, n := utf8.DecodeRuneInString(r.rest())
	for _, m := range signs {
		if strings.HasPrefix(r.rest(), m) {
			n = len(m)
			break
		}
	}
	r.add(sign, r.rest()[:n])
	r.keep(n)
	return true
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordLength(s string) int {
	for i, r := range s {
		if !isWord(r) && r != '@' && r != '$' {
			if i > 0 && (r == '!' || r == '?') && (i+1 >= len(s) || s[i+1] != '=') {
				return i + 1 // assert_eq!, empty?
			}
			return i
		}
	}
	return len(s)
}
