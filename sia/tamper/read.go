package tamper

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// row is one line of one side of a change.
type row struct {
	line
	raw       string
	n         int    // 1-based
	unchanged bool   // also on the other side
	twin      int    // index on the other side, if unchanged
	scope     *scope // innermost test or group that contains it; nil: none
	claim     *claim // the assertion that it belongs to, or nil
}

// line is the analysis of a single line.
type line struct {
	code, bare string // without its comment; and also without the contents of strings
	body       string // what follows the declaration of a test or function on the same line, from code; often empty
	indent     int    // a tab counts 4
	amid       bool   // it begins or ends in a string or comment
	inside     bool   // it begins in a string or comment
	test       string // name of the test that it declares
	function   string // name of the function that it declares
	marks      bool   // an annotation on it makes the next function a test
	kind       int
}

// Kinds of lines in a test: nothing relevant, an assertion, or data such as a row of a test table or an expected value.
const nothing, assertion, datum = 0, 1, 2

// claim is a statement by which a test can fail.
type claim struct {
	kind        int
	side        *side
	first, last int    // rows
	scope       *scope // innermost test or group
	text        string // spelling of the statement
	matched     bool   // also on the other side
}

// scope is a test, or a group of tests.
type scope struct {
	side    *side
	name    string
	group   bool
	above   *scope
	decl    int // row of the declaration
	end     int // row after the last
	matched bool
	stops   int8 // cache of maySkip: 1: true, -1: false, 0: unknown
}

// maySkip reports whether a test or a group around it is skipped, always or under a condition.
func (s *scope) maySkip() bool {
	for ; s != nil; s = s.above {
		if s.stops == 0 {
			s.stops = -1
			for i := max(0, s.decl-20); i < s.end; i++ { // with its annotations
				r := &s.side.rows[i]
				if r.scope == s && (skips.MatchString(r.code) || sometimes.MatchString(r.raw) ||
					returnsEarly.MatchString(r.bare)) {
					s.stops = 1
				}
			}
		}
		if s.stops > 0 {
			return true
		}
	}
	return false
}

// side is a file before or after a change, as far as the change shows it.
type side struct {
	*lang
	rows   []row
	scopes []*scope // in the order of their declarations
	claims []*claim
	tagged bool // has a build constraint
}

// sides returns the rows of both sides of a change: of the whole file when its old text is known and the hunks match
// it, else only of the hunks.
func (c *Change) sides() (old, new []row) {
	if c.Old != "" && len(c.Hunks) > 0 {
		if old, new, ok := c.rowsOf(strings.Split(strings.TrimSuffix(c.Old, "\n"), "\n")); ok {
			return old, new
		}
	}
	old, new, _ = c.rowsOf(nil)
	return old, new
}

// rowsOf returns the rows of both sides, given the lines of the old text or nil. ok is false if the hunks do not match
// the lines.
func (c *Change) rowsOf(lines []string) (old, new []row, ok bool) {
	take := func(sign byte, text string, oldN, newN int) {
		r := row{raw: text, unchanged: sign == ' '}
		if sign != '+' {
			r.n, r.twin = max(1, oldN), len(new)
			old = append(old, r)
		}
		if sign != '-' {
			r.n, r.twin = max(1, newN), len(old)-1
			new = append(new, r)
		}
	}
	for _, h := range c.Hunks {
		o, n := h.OldStart, h.NewStart
		if !slices.ContainsFunc(h.Lines, func(l string) bool { return l == "" || l[0] != '+' }) {
			o++ // an insertion names the line before it
		}
		for at := len(old); lines != nil && at < o-1; at++ {
			if at >= len(lines) {
				return nil, nil, false
			}
			take(' ', lines[at], at+1, len(new)+1)
		}
		for _, l := range h.Lines {
			if l == "" {
				l = " "
			}
			if at := len(old); lines != nil && l[0] != '+' && (at != o-1 || at >= len(lines) || lines[at] != l[1:]) {
				return nil, nil, false
			}
			take(l[0], l[1:], o, n)
			if l[0] != '+' {
				o++
			}
			if l[0] != '-' {
				n++
			}
		}
	}
	for at := len(old); at < len(lines); at++ {
		take(' ', lines[at], at+1, len(new)+1)
	}
	return old, new, true
}

// newSide analyses one side, without its claims. read is the other side if it was analysed before, else nil.
func newSide(l *lang, rows []row, read *side) *side {
	s := &side{lang: l, rows: rows}
	strip, text := stripper{lang: l}, false
	for i := range rows {
		r := &rows[i]
		amid := strip.open()
		s.tagged = s.tagged || !amid && tag.MatchString(r.raw)
		if r.unchanged && !amid && read != nil && !read.rows[r.twin].amid {
			r.line = read.rows[r.twin].line
			continue
		}
		r.line = l.read(&strip, r.raw)
		r.amid = amid || strip.open()
		if l == &golang && i > 0 && rows[i-1].kind == datum && rows[i-1].code == "" && strings.HasPrefix(r.raw, "\t// ") {
			r.kind = datum // continues an example's output
		}
		if !amid && r.amid { // not a docstring
			text = strings.Trim(r.bare, " rbuf\"'") != ""
		}
		if amid && text && r.code != "" && r.kind == nothing {
			r.kind = datum
		}
	}
	s.findScopes()
	return s
}

var (
	tag        = lazyregexp.New(`^//go:build\s|^//\s*\+build\s|^\s*#!\[cfg\(|^pytestmark\b.*skip`)
	annotation = lazyregexp.New(`^\s*(?:@\w|#!?\[|\[\w)`)
	// heads matches the end of the declaration of a test or function; what follows it is the body.
	heads  = lazyregexp.New(`=>\s*\{?\s*|\{\s*|\bdo\b:?\s*|\)\s*(?:->[^:=]*)?:\s*|\)\s*(?::\s*\w+\s*)?=>?\s*\{?\s*`)
	groups = lazyregexp.New(`^\s*(?:(?:\w+ )*(?:class|mod)|(?:\w+\.)?[xfFPX]?(?i:describe|context|suite|when))\b`)
)

func (l *lang) read(s *stripper, raw string) line {
	r := line{inside: s.open(), indent: indentOf(raw)}
	r.code, r.bare = s.strip(raw)
	if len(strings.TrimSpace(r.code)) < 3 && !r.inside && !output.MatchString(raw) {
		return r // a fast path for most lines of some files
	}
	if l.test != nil && !r.inside {
		r.test = firstGroup(l.test, r.code)
	}
	if r.function = firstGroup(function, r.code); r.function == "" && (l == &java || l == &csharp || l == &native) {
		r.function = firstGroup(method, r.code)
	}
	r.marks = mark.MatchString(r.code)
	declares, bare := r.test != "" || r.function != "", r.bare
	if declares {
		r.body, bare = bodyOf(r.code), bodyOf(r.bare)
	}
	switch {
	case bare == "" && !r.inside && !output.MatchString(raw):
	case asserts.MatchString(bare) && asserts.MatchString(loads.ReplaceAllString(bare, "")):
		r.kind = assertion
	case !declares && data.MatchString(r.code), l == &golang && output.MatchString(raw):
		r.kind = datum
	}
	return r
}

// bodyOf returns what follows a declaration on its line.
func bodyOf(declaration string) string {
	if at := heads.FindStringIndex(declaration); at != nil {
		return strings.TrimSuffix(declaration[at[1]:], " end")
	}
	return ""
}

func indentOf(raw string) int {
	return len(strings.ReplaceAll(raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))], "\t", "    "))
}

// firstGroup returns the first group that matched, or the whole match.
func firstGroup(re *lazyregexp.Regexp, s string) string {
	m := re.FindStringSubmatch(s)
	return strings.TrimSpace(cmp.Or(slices.Concat(m[min(1, len(m)):], m)...))
}

// depth returns the number of opening minus closing brackets of a row, after a declaration on it.
func (r *row) depth() int {
	bare := r.bare
	if r.body != "" {
		bare = bodyOf(bare)
	}
	return brackets(bare, "([{", ")]}")
}

// empty reports whether no code begins on the row.
func (r *row) empty() bool { return r.inside || strings.TrimSpace(r.code) == "" }

// findScopes finds tests and groups by their declarations, and their ends by indentation.
func (s *side) findScopes() {
	var top *scope
	first, marked, depth := -1, false, 0 // state of the annotations above
	for i := range s.rows {
		r := &s.rows[i]
		if r.scope = top; r.empty() || strings.HasPrefix(r.bare, "#") && !annotation.MatchString(r.bare) {
			continue
		}
		for top != nil && r.indent <= s.rows[top.decl].indent && !strings.HasPrefix(strings.TrimSpace(r.bare), "{") {
			top.end, top = i, top.above
		}
		r.scope = top
		annotates := depth > 0 || annotation.MatchString(r.bare)
		marked = marked || r.marks
		name := r.test
		if name == "" && marked && !(annotates && r.function == "") {
			name = r.function
		}
		switch {
		case name != "":
			sc := &scope{side: s, name: name, above: top, decl: i, end: len(s.rows), group: groups.MatchString(r.code)}
			for j := first; j >= 0 && j < i; j++ {
				s.rows[j].scope = sc
			}
			r.scope, top = sc, sc
			s.scopes = append(s.scopes, sc)
			first, marked, depth = -1, false, 0
		case annotates:
			if first < 0 {
				first = i
			}
			depth = max(0, depth+brackets(r.bare, "([", ")]"))
		default:
			first, marked, depth = -1, false, 0
		}
	}
}

// brackets returns the number of opening minus closing brackets of a line.
func brackets(bare, open, closed string) (n int) {
	for i := range len(bare) {
		n += strings.Count(open, bare[i:i+1]) - strings.Count(closed, bare[i:i+1])
	}
	return n
}

// chained matches the start of a line that continues the previous statement.
var chained = lazyregexp.New(`^\s*(?:\.\w|\?\.|->|\)|\}\s*\))`)

// findClaims joins lines into assertions. A statement that fails the test forms one assertion with the condition around
// it.
func (s *side) findClaims() {
	for i := range s.rows {
		r := &s.rows[i]
		kind, first := r.kind, i
		if fails.MatchString(r.bare) {
			kind = assertion
			if j := max(0, i-1); condition.MatchString(s.rows[j].bare) && s.rows[j].claim == nil {
				first = j
			}
		}
		if in := r.claim; kind == nothing || r.inside && kind != datum ||
			in != nil && (kind == datum || in.kind == datum || chained.MatchString(r.bare)) {
			continue
		}
		c := &claim{kind: kind, side: s, first: first, last: i, scope: r.scope}
		depth := s.rows[i].depth()
		for j := i + 1; kind == assertion && j < min(len(s.rows), i+60); j++ {
			t := &s.rows[j]
			closes := strings.HasPrefix(strings.TrimSpace(t.bare), ")") || strings.HasPrefix(strings.TrimSpace(t.bare), "}")
			if depth <= 0 && !t.inside && (closes || !chained.MatchString(t.bare)) {
				break
			}
			if depth += t.depth(); depth <= 0 || t.inside {
				c.last = j
			}
			if depth < 0 {
				break
			}
		}
		var b strings.Builder
		open := 0
		for j := first; j <= c.last; j++ {
			open += s.rows[j].depth()
			b.WriteString(cmp.Or(s.rows[j].body, s.rows[j].code, s.rows[j].raw))
			if s.rows[j].claim == nil || s.rows[j].claim.kind == datum {
				s.rows[j].claim = c
			}
		}
		c.text = spelling(b.String())
		for ; open < 0 && strings.HasSuffix(c.text, ")") || open < 0 && strings.HasSuffix(c.text, "}"); open++ {
			c.text = c.text[:len(c.text)-1] // the end of the test around it
		}
		s.claims = append(s.claims, c)
	}
}

var trailing = regexp.MustCompile(`[,;]+([)\]}]|$)`)

// spelling returns code without differences that formatters make.
func spelling(code string) string {
	var b strings.Builder
	quote := rune(0)
	for _, r := range code {
		switch {
		case quote == 0 && (r == ' ' || r == '\t'):
			continue
		case quote == 0 && strings.ContainsRune("\"'`", r):
			quote, r = r, '"'
		case r == quote:
			quote, r = 0, '"'
		}
		b.WriteRune(r)
	}
	return trailing.ReplaceAllString(b.String(), "$1")
}

// changed reports whether a claim differs from the one at its place on the other side.
func (c *claim) changed(other *side) bool {
	if !c.line().unchanged {
		return true
	}
	twin := other.rows[c.side.rows[c.first].twin]
	moved := c.scope != nil && (twin.scope == nil || twin.scope.name != c.scope.name)
	return twin.claim == nil || twin.claim.kind != c.kind || c.runs(moved) && !twin.claim.runs(moved)
}

// runs reports whether a claim is in a test. If surely is set, the test must not be skipped under any condition.
func (c *claim) runs(surely bool) bool {
	s := c.scope
	for s != nil && s.group {
		s = s.above
	}
	return s != nil && (!surely || !s.maySkip() && !c.side.tagged)
}

// line returns the row of a claim to show: the first changed one.
func (c *claim) line() *row {
	rows := c.side.rows[c.first : c.last+1]
	return &rows[max(0, slices.IndexFunc(rows, func(r row) bool { return !r.unchanged }))]
}
