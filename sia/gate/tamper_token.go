package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// scanned is one line as the scanner sees it. Code and bare have the line's
// length, with blanks for what is left out.
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
	here    string // the word that ends the open heredoc
}

// signs of more than one character, the longest first.
var signs = []string{"===", "!==", "<=>", "...", "==", "!=", "<=", ">=", "&&", "||", ":=", "=>", "->", "::", "=~", "!~", "+=", "-="}

func (s *scanner) scan(line string) scanned {
	out := scanned{inside: s.comment != "" || s.quote != "" || s.here != ""}
	code, bare := []byte(strings.Repeat(" ", len(line))), []byte(strings.Repeat(" ", len(line)))
	keep := func(from, to int) { copy(code[from:to], line[from:to]); copy(bare[from:to], line[from:to]) }
	add := func(k tokenKind, t string, at int) { out.tokens = append(out.tokens, token{k, t, at}) }
	pending := ""
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case s.comment != "":
			end := strings.Index(rest, s.comment)
			if s.comment == "=end" && !strings.HasPrefix(line, "=end") || end < 0 {
				i = len(line)
				continue
			}
			i += end + len(s.comment)
			s.comment = ""
			continue
		case s.here != "":
			if strings.TrimSpace(line) == s.here {
				s.here = ""
			} else {
				copy(code, line)
				add(text, strings.TrimSpace(line), 0)
			}
			i = len(line)
			continue
		case s.quote != "":
			n, closed := within(rest, s.quote)
			copy(code[i:i+n], line[i:i+n])
			content := rest[:n]
			if closed {
				content = strings.TrimSuffix(content, s.quote)
				s.quote = ""
			}
			if content = strings.TrimSpace(content); content != "" {
				add(text, content, i)
			}
			i += n
			continue
		case s.begin && i == 0 && strings.HasPrefix(line, "=begin"):
			s.comment = "=end"
			i = len(line)
			continue
		case s.block && strings.HasPrefix(rest, "/*"):
			s.comment = "*/"
			i += 2
			continue
		case s.comments(line, i):
			i = len(line)
			continue
		}
		c := rest[0]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case s.triple != "" && strings.IndexByte(s.triple, c) >= 0 && strings.HasPrefix(rest, strings.Repeat(string(c), 3)):
			s.quote = strings.Repeat(string(c), 3)
			keep(i, i+3)
			i += 3
		case s.char && rawString(rest) > 0:
			n := rawString(rest)
			s.quote = `"` + strings.Repeat("#", n-2)
			keep(i, i+n)
			i += n
		case s.char && c == '\'':
			n := character(rest)
			keep(i, i+n)
			add(text, strings.Trim(rest[:n], "'"), i)
			i += n
		case c == '"' || c == '\'' || c == '`':
			keep(i, i+1)
			n, closed := within(rest[1:], string(c))
			if !closed && strings.IndexByte(s.many, c) >= 0 {
				s.quote = string(c)
				i++
				continue
			}
			copy(code[i:], line[i:i+1+n])
			if closed {
				bare[i+n] = c
				add(text, rest[1:n], i)
			} else {
				add(text, rest[1:], i)
			}
			i += 1 + n
		case s.regex && c == '/' && s.regexHere(out.tokens):
			n := regexLiteral(rest)
			copy(code[i:], line[i:i+n])
			add(text, rest[:n], i)
			i += n
		case s.heredoc && heredoc(rest) != "":
			pending = heredoc(rest)
			n := strings.Index(rest, pending) + len(pending)
			keep(i, i+n)
			add(sign, "<<", i)
			i += n
		case c >= '0' && c <= '9':
			n := 1
			for n < len(rest) && (isWord(rune(rest[n])) || rest[n] == '.' && n+1 < len(rest) && rest[n+1] >= '0' && rest[n+1] <= '9') {
				n++
			}
			keep(i, i+n)
			add(number, strings.ReplaceAll(rest[:n], "_", ""), i)
			i += n
		default:
			n := wordLength(rest)
			if n > 0 {
				keep(i, i+n)
				add(word, rest[:n], i)
			} else {
				n = signLength(rest)
				keep(i, i+n)
				add(sign, rest[:n], i)
			}
			i += n
		}
	}
	if pending != "" {
		s.here = pending
	}
	out.code, out.bare = string(code), string(bare)
	out.open = s.quote != "" || s.here != ""
	return out
}

// comments reports whether a comment to the end of the line begins at i.
func (s *scanner) comments(line string, i int) bool {
	for _, m := range s.line {
		if !strings.HasPrefix(line[i:], m) {
			continue
		}
		if m == "#" && s.heredoc && i > 0 && line[i-1] != ' ' && line[i-1] != '\t' {
			continue // Ruby's #{…}
		}
		return true
	}
	return false
}

// regexHere reports whether a slash after these tokens begins a regular
// expression and does not divide.
func (s *scanner) regexHere(before []token) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	switch last.kind {
	case sign:
		return last.text != ")" && last.text != "]" && last.text != "}"
	case word:
		return last.text == "return" || last.text == "match" || last.text == "when" || last.text == "if"
	}
	return false
}

// within is how many bytes of s belong to a string that ends with quote, the
// quote included.
func within(s, quote string) (n int, closed bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && quote != "`" && quote[len(quote)-1] != '#' {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], quote) {
			return i + len(quote), true
		}
	}
	return len(s), false
}

// rawString is the length of what opens a raw string of Rust, 0 for none.
func rawString(s string) int {
	if s[0] != 'r' {
		return 0
	}
	n := 1 + len(s[1:]) - len(strings.TrimLeft(s[1:], "#"))
	if n < len(s) && s[n] == '"' {
		return n + 1
	}
	return 0
}

// character is the length of a character literal of Rust, or of a lifetime.
func character(s string) int {
	if n, closed := within(s[1:], "'"); closed && n > 1 && (s[1] == '\\' || utf8.RuneCountInString(s[1:n]) == 1) {
		return 1 + n
	}
	return 1
}

func regexLiteral(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return 1
}

// heredoc is the word that ends the heredoc opened at the start of s.
func heredoc(s string) string {
	t, ok := strings.CutPrefix(s, "<<")
	if !ok || t == "" || t[0] != '~' && t[0] != '-' {
		return ""
	}
	t = strings.TrimLeft(t[1:], `'"`)
	n := 0
	for n < len(t) && (t[n] == '_' || t[n] >= 'A' && t[n] <= 'Z') {
		n++
	}
	return t[:n]
}

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

func signLength(s string) int {
	for _, m := range signs {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
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
