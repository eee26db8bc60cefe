package tool

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// compileGlob makes a glob something that tells which paths it means: * ? [a-z] [!a-z]
// {a,b} and ** for any number of folders; a backslash takes the next character as it is. A
// glob without a slash is about the name alone, and an empty one means every path. It
// becomes a regular expression, whose time is linear in the path, whatever the glob.
func compileGlob(glob string) (func(string) bool, error) {
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	g := globParser{rest: glob}
	expr := g.parse(0)
	if g.bad {
		return nil, path.ErrBadPattern
	}
	re, err := regexp.Compile(`(?s)\A(?:` + expr + `)\z`)
	if err != nil {
		return nil, err
	}
	if strings.Contains(glob, "/") {
		return re.MatchString, nil
	}
	return func(p string) bool { return re.MatchString(path.Base(p)) }, nil
}

// maxBraces bounds how deep alternatives are nested.
const maxBraces = 20

// globParser turns a glob into a regular expression.
type globParser struct {
	rest string
	bad  bool
	part bool // a part of the path has begun
}

// parse reads up to the end of the glob or, within braces, of the alternative.
func (g *globParser) parse(braces int) string {
	var b strings.Builder
	for g.rest != "" && !g.bad {
		c := g.rest[0]
		switch {
		case braces > 0 && (c == ',' || c == '}'):
			return b.String()
		case !g.part && (g.rest == "**" || strings.HasPrefix(g.rest, "**/")):
			if g.rest == "**" {
				b.WriteString(`.*`)
			} else {
				b.WriteString(`(?:.*/)?`)
			}
			g.rest = strings.TrimPrefix(g.rest[2:], "/")
			continue
		case g.rest == "/**": // what is in a folder, and the folder
			b.WriteString(`(?:/.*)?`)
			g.rest = ""
			continue
		}
		r := g.next()
		g.part = r != '/'
		switch r {
		case '*':
			b.WriteString(`[^/]*`)
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			b.WriteString(g.parseClass())
		case '{':
			b.WriteString(g.parseBraces(braces + 1))
		case '\\':
			g.bad = g.rest == ""
			b.WriteString(regexp.QuoteMeta(string(g.next())))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// parseBraces reads alternatives, behind their opening brace.
func (g *globParser) parseBraces(braces int) string {
	var all []string
	for braces <= maxBraces && !g.bad {
		all = append(all, g.parse(braces))
		end := g.rest == ""
		if end {
			break
		}
		c := g.rest[0]
		g.rest = g.rest[1:]
		if c == '}' {
			return `(?:` + strings.Join(all, "|") + `)`
		}
	}
	g.bad = true
	return ""
}

// parseClass reads a class of characters, behind its opening bracket.
func (g *globParser) parseClass() string {
	var b strings.Builder
	b.WriteString(`[`)
	if strings.HasPrefix(g.rest, "!") || strings.HasPrefix(g.rest, "^") {
		b.WriteString(`^/`)
		g.rest = g.rest[1:]
	}
	for first := true; ; first = false {
		if g.rest == "" {
			g.bad = true
			return ""
		}
		r := g.next()
		switch {
		case r == ']' && !first:
			return b.String() + `]`
		case r == '-' && !first && !strings.HasPrefix(g.rest, "]"):
			b.WriteString(`-`)
			continue
		case r == '\\' && g.rest != "":
			r = g.next()
		}
		fmt.Fprintf(&b, `\x{%X}`, r)
	}
}

// next takes the next character.
func (g *globParser) next() rune {
	r, n := utf8.DecodeRuneInString(g.rest)
	g.rest = g.rest[n:]
	return r
}
