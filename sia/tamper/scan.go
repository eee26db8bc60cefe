package tamper

import (
	"bytes"
	"strings"
)

// syntax is what of a language's grammar tells code from comments and strings.
type syntax struct {
	line    []string // what begins a comment to the end of the line
	block   bool     // /* … */
	begin   bool     // Ruby's =begin … =end
	triple  string   // quotes that, tripled, hold a string of many lines
	many    string   // quotes whose strings may go over lines by themselves
	regex   bool     // /…/ literals
	char    bool     // ' begins a character or a lifetime, not a string (Rust)
	heredoc bool     // <<~WORD (Ruby)
}

// tokenKind tells tokens apart.
type tokenKind uint8

const (
	word tokenKind = iota
	number
	text // the content of a string, without its quotes; one token for each of its lines
	sign // operators and punctuation
)

type token struct {
	kind tokenKind
	text string
	at   int // byte offset in the line
}

// depth is by how much a sign opens brackets.
func (t token) depth() int {
	if t.kind == sign {
		switch t.text {
		case "(", "[", "{":
			return 1
		case ")", "]", "}":
			return -1
		}
	}
	return 0
}

// scanned is one line as the scanner sees it. Code and bare begin where code does, with
// blanks for what is left out.
type scanned struct {
	code   string // without comments
	bare   string // and without what is in strings
	tokens []token
	inside bool // begins inside a string or a comment
	open   bool // ends inside a string
}

// scanner reads lines of one file in order. It knows no grammar: what it needs
// to remember from one line to the next is whether a comment or string is open.
type scanner struct {
	syntax
	comment string // what ends the open comment
	quote   string // what ends the open string
	raw     bool   // a backslash in it is one
	here    string // the word that ends the open heredoc
}

// open reports whether the next line begins inside a comment or string.
func (s *scanner) open() bool { return s.comment != "" || s.quote != "" || s.here != "" }

// scan reads the next line.
func (s *scanner) scan(line string) scanned {
	r := reading{scanner: s, line: line, code: blanks(len(line)), bare: blanks(len(line))}
	inside := s.open()
	for r.at < len(line) {
		if !r.goesOn() {
			r.lexeme()
		}
	}
	if r.pending != "" {
		s.here = r.pending
	}
	return scanned{code: strings.TrimLeft(string(r.code), " "), bare: strings.TrimLeft(string(r.bare), " "),
		tokens: r.tokens, inside: inside, open: s.quote != "" || s.here != ""}
}

func blanks(n int) []byte { return bytes.Repeat([]byte{' '}, n) }

// reading is one line while it is read.
type reading struct {
	*scanner
	line       string
	at         int // the byte that is read next
	code, bare []byte
	tokens     []token
	pending    string // the word that ends a heredoc that begins on the next line
}

func (r *reading) rest() string { return r.line[r.at:] }

func (r *reading) add(k tokenKind, content string) {
	r.tokens = append(r.tokens, token{k, content, r.at})
}

// keep takes n bytes as code.
func (r *reading) keep(n int) {
	copy(r.bare[r.at:r.at+n], r.line[r.at:])
	r.quoted(n)
}

// quoted takes n bytes as part of a string.
func (r *reading) quoted(n int) {
	copy(r.code[r.at:r.at+n], r.line[r.at:])
	r.at += n
}

// leave leaves n bytes out.
func (r *reading) leave(n int) { r.at += n }

// leaveRest leaves the rest of the line out.
func (r *reading) leaveRest() { r.at = len(r.line) }

// goesOn reads on in the comment, heredoc or string that is open, if one is.
func (r *reading) goesOn() bool {
	switch {
	case r.comment != "":
		r.inComment()
	case r.here != "":
		r.inHeredoc()
	case r.quote != "":
		r.inString()
	default:
		return false
	}
	return true
}

func (r *reading) inComment() {
	end := strings.Index(r.rest(), r.comment)
	if end < 0 || r.comment == rubyEnd && !strings.HasPrefix(r.line, rubyEnd) {
		r.leaveRest()
		return
	}
	r.leave(end + len(r.comment))
	r.comment = ""
}

func (r *reading) inHeredoc() {
	if content := strings.TrimSpace(r.line); content == r.here {
		r.here = ""
		r.leaveRest()
	} else {
		r.add(text, content)
		r.quoted(len(r.line))
	}
}

func (r *reading) inString() {
	n, closed := closing(r.rest(), r.quote, r.raw)
	content := r.rest()[:n]
	if closed {
		r.raw = false
		content = strings.TrimSuffix(content, r.quote)
		r.quote = ""
	}
	if content = strings.TrimSpace(content); content != "" {
		r.add(text, content)
	}
	r.quoted(n)
}

// closing is how many bytes of s belong to a string that ends with quote, the
// quote included. In a raw one a backslash is one; in a template, what stands
// between braces may hold quotes.
func closing(s, quote string, raw bool) (n int, closed bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case !raw && s[i] == '\\':
			i++
		case !raw && quote == "`" && strings.HasPrefix(s[i:], "${"):
			depth++
		case depth > 0 && s[i] == '}':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], quote):
			return i + len(quote), true
		}
	}
	return len(s), false
}
