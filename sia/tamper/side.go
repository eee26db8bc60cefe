package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// line is what one line says by itself.
type line struct {
	scanned
	text     string   // its tokens without format
	indent   int      // a tab counts 4
	asserts  int      // the token with which an assertion begins; -1 when none does
	declares []string // what [lang.test] finds
	makes    bool     // an annotation on it makes a test of what is below
}

// row is one line of one side of a change.
type row struct {
	line
	raw     string
	n       int  // 1-based
	fixed   bool // stands on the other side too
	twin    int  // where it does, once both sides were compared
	settled bool // and in the same scope
	scope   *scope
}

// empty reports whether there is no code that begins here.
func (r *row) empty() bool { return r.inside || strings.TrimSpace(r.code) == "" }

// scope is a test, or a group of tests, or a whole file.
type scope struct {
	side   *side
	name   string
	path   string // the names of what holds it, and its own
	again  bool   // another of this path stands before it
	group  bool
	marked bool   // an annotation makes it a test
	above  *scope // nil for the file
	indent int
	first  int // row of its first annotation, or its declaration
	decl   int
	end    int // row after its last
	claims []*claim
	marks  []mark

	pair      *scope         // what became of it, or what it was; nil: none
	unchanged bool           // and no line differs
	said      map[string]int // its lines; nil: not counted yet
	count     int            // of them
	named     []string       // the words of its name; nil: not read yet
	before    int            // lines before it that stand on both sides

	asserts int // assertions in it, and in the tests in it
	last    int // row of the last of those
}

// place is the outermost test that holds s, or the file when none does.
func (s *scope) place() *scope {
	at := s.side.file
	for p := s; p != at && p != nil; p = p.above {
		if !p.group {
			at = p
		}
	}
	return at
}

// held are the claims of a place, in it and in the scopes that it holds.
func (s *scope) held() []*claim {
	var out []*claim
	for _, n := range s.side.all() {
		if n.place() == s {
			out = append(out, n.claims...)
		}
	}
	return out
}

// side is a file as it was before a change, or as it is after it, as far as the
// change shows it.
type side struct {
	lang   *lang
	path   string
	rows   []row
	known  memory
	file   *scope
	scopes []*scope // in the order of their declarations, without the file
}

// all are the file as a scope and its scopes.
func (s *side) all() []*scope { return append([]*scope{s.file}, s.scopes...) }

// sides are the lines of a change with their numbers: of the whole file when its old
// text is known and the hunks fit it; else as many as the hunks show.
func (c *Change) sides() (old, new []row) {
	if old, new, ok := c.wholeFile(); ok {
		return old, new
	}
	for _, h := range c.Hunks {
		old, new = h.rows(old, new, h.OldStart, h.NewStart)
	}
	return old, new
}

// rows appends the hunk's lines to both sides.
func (h Hunk) rows(old, new []row, oldAt, newAt int) ([]row, []row) {
	for _, l := range h.Lines {
		if l == "" {
			l = " "
		}
		switch l[0] {
		case '-':
			old = append(old, row{raw: l[1:], n: max(1, oldAt)})
			oldAt++
		case '+':
			new = append(new, row{raw: l[1:], n: max(1, newAt)})
			newAt++
		default:
			old = append(old, row{raw: l[1:], n: max(1, oldAt), fixed: true})
			new = append(new, row{raw: l[1:], n: max(1, newAt), fixed: true})
			oldAt++
			newAt++
		}
	}
	return old, new
}

func (c *Change) wholeFile() (old, new []row, ok bool) {
	if c.Old == "" || len(c.Hunks) == 0 {
		return nil, nil, false
	}
	lines := strings.Split(strings.TrimSuffix(c.Old, "\n"), "\n")
	at := 0 // of the old lines, what was taken
	copyTo := func(to int) {
		old, new = Hunk{Lines: prefixed(lines[at:to])}.rows(old, new, at+1, len(new)+1)
		at = to
	}
	for _, h := range c.Hunks {
		start, n := h.OldStart-1, 0
		var was []string
		for _, l := range h.Lines {
			if l == "" || l[0] != '+' {
				n++
				was = append(was, l[min(1, len(l)):])
			}
		}
		if n == 0 {
			start++ // an insertion names the line before it
		}
		if start < at || start+n > len(lines) {
			return nil, nil, false
		}
		for i, l := range was {
			if lines[start+i] != l {
				return nil, nil, false
			}
		}
		copyTo(start)
		old, new = h.rows(old, new, start+1, len(new)+1)
		at += n
	}
	copyTo(len(lines))
	return old, new, true
}

func prefixed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l
	}
	return out
}

// memory is what was read of lines of one language, by their text: the two sides of a file have most of
// them in common, and files that are changed together many.
type memory struct {
	lines  map[string]line
	claims map[string]*claim
}

// memories are those of the languages of a change.
type memories map[*lang]memory

func (m memories) of(l *lang) memory {
	if _, ok := m[l]; !ok {
		m[l] = memory{map[string]line{}, map[string]*claim{}}
	}
	return m[l]
}

// newSide reads one side.
func newSide(l *lang, path string, rows []row, known memory) *side {
	s := &side{lang: l, path: path, rows: rows, known: known}
	s.file = &scope{side: s, group: true, indent: -1, decl: -1, first: -1, end: len(rows)}
	sc := scanner{syntax: l.syntax}
	for i := range s.rows {
		r := &s.rows[i]
		amid := sc.open() // what the line says depends on those before it
		if read, ok := known.lines[r.raw]; ok && !amid {
			r.line = read
			continue
		}
		r.line = l.read(&sc, r.raw)
		if !amid && !sc.open() {
			known.lines[r.raw] = r.line
		}
	}
	s.findScopes()
	return s
}

func (l *lang) read(sc *scanner, raw string) line {
	r := line{scanned: sc.scan(raw), indent: indentOf(raw)}
	if r.asserts = l.assertingAt(r.tokens); r.asserts < 0 && l.assertion.MatchString(r.bare) {
		r.asserts = 0
	}
	r.text = textOf(r.tokens)
	r.declares = l.test.FindStringSubmatch(r.code)
	r.makes = l.marked != never && l.marked.MatchString(r.bare)
	return r
}

func indentOf(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

var (
	label = lazyregexp.New(`^\w+:\s*$`)
	brace = lazyregexp.New(`^\s*\{\s*$`)
	// directive is for a preprocessor, and stands at the left whatever it is in.
	directive = lazyregexp.New(`^#\s*(?:if|else|elif|elseif|endif|region|endregion|` +
		`pragma|nullable|define|undef|ifdef|ifndef|include)\b`)
	testsMod = lazyregexp.New(`(?i)tests?$`)
)

// findScopes finds tests and groups by their declarations, and where each ends
// by indentation.
func (s *side) findScopes() {
	top, hold, ann := s.file, -1, -1
	seen := map[string]bool{}
	for i := range s.rows {
		r := &s.rows[i]
		if r.scope = top; r.empty() || i <= hold || s.lang == &other && directive.MatchString(r.bare) {
			continue
		}
		body := brace.MatchString(r.bare) && (hold == i-1 || top.decl == i-1)
		for top != s.file && r.indent <= top.indent && !body && !(s.lang == &golang && label.MatchString(r.bare)) {
			top.end = i
			top = top.above
		}
		r.scope = top
		name, group, marked, ok := s.declared(i, ann)
		if !ok {
			if s.lang.annotates.MatchString(r.bare) {
				if ann < 0 {
					ann = i
				}
				hold = s.balanced(i)
			} else {
				ann = -1
			}
			continue
		}
		sc := &scope{side: s, name: name, group: group, marked: marked, above: top, indent: r.indent, first: i, decl: i,
			end: len(s.rows)}
		sc.path = name
		if top != s.file {
			sc.path = top.path + "/" + name
		}
		sc.again = seen[sc.path]
		seen[sc.path] = true
		if ann >= 0 {
			sc.first = ann
			for j := ann; j < i; j++ {
				s.rows[j].scope = sc
			}
		}
		ann = -1
		r.scope, top = sc, sc
		s.scopes = append(s.scopes, sc)
		if s.lang.function.MatchString(r.code) {
			hold = s.balanced(i)
		}
	}
	for ; top != s.file; top = top.above {
		top.end = len(s.rows)
	}
}

// declared says what the row declares, and whether an annotation makes it a test;
// ann is the row of the first annotation before it, or -1.
func (s *side) declared(i, ann int) (name string, group, marked, ok bool) {
	r := &s.rows[i]
	if ann < 0 {
		ann = i
	}
	for j := ann; j <= i && !marked; j++ {
		marked = s.rows[j].makes
	}
	if r.declares != nil {
		j := -1
		if s.lang == &python {
			j = s.above(i) // no runner finds one in a function
		}
		if j < 0 || !s.lang.function.MatchString(s.rows[j].code) {
			return firstGroup(r.declares), false, marked, true
		}
	}
	if marked {
		if m := s.lang.function.FindStringSubmatch(r.code); m != nil {
			return firstGroup(m), false, true, true
		}
	}
	if m := s.lang.group.FindStringSubmatch(r.code); m != nil {
		return firstGroup(m), true, false, true
	}
	return "", false, false, false
}

func firstGroup(m []string) string {
	for _, g := range m[1:] {
		if g != "" {
			return strings.TrimSpace(g)
		}
	}
	return strings.TrimSpace(m[0])
}

const (
	maxStatement = 4000 // lines of one statement
	maxJoined    = 400  // lines that are looked at around one
)

// above is the row that opens the block that row i stands in: the next one before it
// that stands further to the left; -1 when there is none nearby.
func (s *side) above(i int) int {
	for j := i - 1; j >= 0 && j > i-maxJoined; j-- {
		if r := &s.rows[j]; !r.empty() && r.indent < s.rows[i].indent {
			return j
		}
	}
	return -1
}

// balanced is the row on which the brackets that the row opens are closed;
// braces don't count, so that a function's body does not.
func (s *side) balanced(i int) int {
	depth := 0
	for j := i; j < len(s.rows) && j < i+maxStatement; j++ {
		for _, t := range s.rows[j].tokens {
			if t.text != "{" && t.text != "}" {
				depth += t.depth()
			}
		}
		if depth <= 0 && !s.rows[j].open {
			return j
		}
	}
	return i
}

// runs reports whether nothing keeps a scope from running to its end, or may do so.
func (s *scope) runs() bool {
	for p := s; p != nil; p = p.above {
		if slices.ContainsFunc(p.marks, func(m mark) bool { return m.kind == skipped || m.kind == left || m.kind == built }) {
			return false
		}
	}
	return true
}

// sometimes is in a mark that skips a test only where something holds, or runs it.
var sometimes = lazyregexp.New(`(?i)if\b|ifenv|ifsystem|unless|when|cfg|feature|assum|require|short|import|xfail|` +
	`todo|fail|abled(?:on|for)`)

// idle reports whether a test was skipped whatever holds.
func (s *scope) idle() bool {
	for p := s; p != nil; p = p.above {
		if slices.ContainsFunc(p.marks, func(m mark) bool {
			return m.kind == skipped && m.row <= p.decl && !sometimes.MatchString(s.side.rows[m.row].bare)
		}) {
			return true
		}
	}
	return false
}

// inTests reports whether a scope of a file of mixed code holds tests.
func inTests(sc *scope) bool {
	for p := sc; p != nil; p = p.above {
		if p.above != nil && (!p.group || testsMod.MatchString(p.name)) {
			return true
		}
	}
	return false
}

// named finds the scopes of a name.
func (s *side) named(name string) *scope {
	if i := slices.IndexFunc(s.scopes, func(sc *scope) bool { return sc.name == name && !sc.group }); i >= 0 {
		return s.scopes[i]
	}
	return nil
}
