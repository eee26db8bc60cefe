// Package glob matches paths with globs that strangers write. A glob means what doublestar
// (https://github.com/bmatcuk/doublestar) takes it for, but becomes a regular expression
// that runs in time linear in the path, whatever the glob. It imports nothing of ours.
package glob

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Glob tells which paths it means. The zero value means none. Safe for concurrent use.
type Glob struct{ re *regexp.Regexp }

// Compile reads a glob: * ? [a-z] [!a-z] {a,b} and ** for any number of folders; a
// backslash takes the next character as it is. It is path.ErrBadPattern when it is no
// glob, and an error when it is too large.
func Compile(glob string) (Glob, error) {
	p := parser{rest: glob}
	expr := p.parse(0)
	if p.bad {
		return Glob{}, path.ErrBadPattern
	}
	re, err := regexp.Compile(`(?s)\A(?:` + expr + `)\z`)
	return Glob{re}, err
}

// Match reports whether the glob matches a path with slashes between its folders.
func (g Glob) Match(p string) bool { return g.re != nil && g.re.MatchString(p) }

// maxBraces bounds how deep alternatives are nested.
const maxBraces = 20

// parser turns a glob into a regular expression.
type parser struct {
	rest string
	bad  bool
	part bool // a part of the path has begun
	ends bool // a part of the path ends behind the braces that are open
}

// parse reads up to the end of the glob or, within braces, of the alternative.
func (p *parser) parse(braces int) string {
	var b strings.Builder
	for p.rest != "" && !p.bad {
		c := p.rest[0]
		switch {
		case braces > 0 && (c == ',' || c == '}'):
			return b.String()
		case !p.part && strings.HasPrefix(p.rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			p.rest = p.rest[3:]
			continue
		case !p.part && strings.HasPrefix(p.rest, "**") && p.endsPart(p.rest[2:], braces):
			b.WriteString(`.*`)
			p.rest = p.rest[2:]
			continue
		case strings.HasPrefix(p.rest, "/**") && p.endsPart(p.rest[3:], braces): // what is in a folder, and the folder
			b.WriteString(`(?:/.*)?`)
			p.rest = p.rest[3:]
			continue
		}
		r := p.next()
		p.part = r != '/' && (p.part || r != '{')
		switch r {
		case '*':
			b.WriteString(`[^/]*`)
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			b.WriteString(p.parseClass())
		case '{':
			b.WriteString(p.parseBraces(braces + 1))
		case '\\':
			p.bad = p.rest == ""
			b.WriteString(regexp.QuoteMeta(string(p.next())))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// endsPart reports whether a part of the path ends where the rest of the glob begins.
func (p *parser) endsPart(rest string, braces int) bool {
	return rest == "" || rest[0] == '/' || braces > 0 && p.ends && (rest[0] == ',' || rest[0] == '}')
}

// parseBraces reads alternatives, behind their opening brace.
func (p *parser) parseBraces(braces int) string {
	part, ends := p.part, p.ends
	p.ends = p.endsPart(p.behindBraces(), braces-1)
	defer func() { p.ends = ends }()
	var all []string
	for braces <= maxBraces && !p.bad {
		p.part = part
		all = append(all, p.parse(braces))
		end := p.rest == ""
		if end {
			break
		}
		c := p.rest[0]
		p.rest = p.rest[1:]
		if c == '}' {
			return `(?:` + strings.Join(all, "|") + `)`
		}
	}
	p.bad = true
	return ""
}

// behindBraces returns what follows the closing brace of those whose inside the rest is.
func (p *parser) behindBraces() string {
	q := parser{rest: p.rest}
	for open := 1; open > 0 && q.rest != ""; {
		switch q.next() {
		case '{':
			open++
		case '}':
			open--
		case '[':
			q.parseClass()
		case '\\':
			q.next()
		}
	}
	return q.rest
}

// parseClass reads a class of characters, behind its opening bracket.
func (p *parser) parseClass() string {
	var b strings.Builder
	b.WriteString(`[`)
	if strings.HasPrefix(p.rest, "!") || strings.HasPrefix(p.rest, "^") {
		b.WriteString(`^/`)
		p.rest = p.rest[1:]
	}
	for first := true; ; first = false {
		if p.rest == "" {
			p.bad = true
			return ""
		}
		r := p.next()
		switch {
		case r == ']' && !first:
			return b.String() + `]`
		case r == '-' && !first && !strings.HasPrefix(p.rest, "]"):
			b.WriteString(`-`)
			continue
		case r == '\\' && p.rest != "":
			r = p.next()
		}
		fmt.Fprintf(&b, `\x{%X}`, r)
	}
}

// next takes the next character.
func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	return r
}
