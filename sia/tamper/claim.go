package tamper

import (
	"slices"
	"strings"
)

// claimKind tells what is claimed.
type claimKind uint8

const (
	asserted claimKind = iota // an assertion
	expected                  // an expected value, or cases as data of one statement
	tabled                    // one row of a table of cases
	logged                    // only said
)

// claim is a statement by which a test says what must hold.
type claim struct {
	kind   claimKind
	tokens []token
	text   string // what identity is: the tokens without format
	bag    map[string]int
	conds  []string // the conditions it stands under, outermost first
	from   int      // rows
	to     int
	scope  *scope
	used   bool // of the new side: it stands for an old one
	shared bool // and, in a helper, for those of all that call it
	weight
}

// findClaims finds what each scope claims.
func (s *side) findClaims() {
	taken := make([]bool, len(s.rows))
	for i := range s.rows {
		r := &s.rows[i]
		if r.scope.unchanged {
			if i == r.scope.decl {
				r.scope.countAsserts(r.scope.end - 1)
			}
			continue
		}
		if taken[i] || r.inside {
			continue
		}
		if strings.TrimSpace(r.code) == "" {
			s.exampleOutput(i)
			continue
		}
		c := s.claimAt(i, taken)
		if c == nil {
			continue
		}
		if c.kind == asserted || c.kind == logged {
			c.conds = s.conditions(c.from)
		}
		s.add(c, r.scope)
	}
}

// claimAt is what row i begins to claim; nil when that is nothing.
func (s *side) claimAt(i int, taken []bool) *claim {
	r := &s.rows[i]
	switch {
	case s.lang.fails.MatchString(r.bare):
		return s.guarded(i)
	case r.asserts >= 0:
		return s.statement(i, r.tokens[r.asserts].at, asserted, taken)
	case s.lang.data.MatchString(r.code):
		return s.statement(i, 0, expected, taken)
	case s.lang.row && r.bracket() >= 0 && s.listed(i):
		c := s.statement(i, r.bracket(), tabled, taken)
		if len(c.literals) == 0 || !s.separated(c.to) {
			for j := c.from; j <= c.to; j++ {
				taken[j] = false
			}
			return nil // nothing is named, or it is a block
		}
		return c
	case s.lang.logs.MatchString(r.bare):
		c := s.statement(i, 0, logged, taken)
		if s.lang.fails != never {
			c = s.guarded(i)
			c.kind, c.strength = logged, 0
		}
		return c
	}
	return nil
}

// bracket is where a row of a table opens: the column of its first bracket, before which only
// its type may be named, where the row ends on its line; else -1.
func (r *row) bracket() int {
	for i, t := range r.tokens {
		switch {
		case t.kind == sign && strings.Contains("{[(", t.text):
			if i == 0 || t.text == "{" && strings.HasSuffix(strings.TrimSpace(r.bare), "},") {
				return t.at
			}
			return -1
		case t.kind != word && t.text != "." && t.text != "&" && t.text != "::":
			return -1
		}
	}
	return -1
}

// separated reports whether behind row i comes another of a list, or its end.
func (s *side) separated(i int) bool {
	if strings.HasSuffix(strings.TrimSpace(s.rows[i].code), ",") {
		return true
	}
	for j := i + 1; j < len(s.rows); j++ {
		if r := &s.rows[j]; !r.empty() {
			return s.lang != &golang && strings.IndexByte("])", strings.TrimSpace(r.code)[0]) >= 0
		}
	}
	return false
}

// listed reports whether row i is one of a list, and not an argument of a call.
func (s *side) listed(i int) bool {
	j := s.above(i)
	if j < 0 {
		return true
	}
	ts := s.rows[j].tokens
	k := len(ts) - 1
	return k >= 0 && (ts[k].text == "[" || ts[k].text == "{" || ts[k].text == "(" && (k == 0 || ts[k-1].kind == sign))
}

func (s *side) add(c *claim, sc *scope) {
	c.scope = sc
	sc.claims = append(sc.claims, c)
	if c.kind == asserted && c.strength > 0 {
		sc.countAsserts(c.from)
	}
}

// countAsserts counts an assertion at a row for a scope and those around it.
func (s *scope) countAsserts(row int) {
	for p := s; p != nil; p = p.above {
		p.asserts++
		p.last = row
	}
}

// exampleOutput takes a comment line of a Go example as what it claims.
func (s *side) exampleOutput(i int) {
	r := &s.rows[i]
	if s.lang != &golang || !strings.HasPrefix(r.scope.place().name, "Example") {
		return
	}
	if line, ok := strings.CutPrefix(strings.TrimSpace(r.raw), "//"); ok && strings.TrimSpace(line) != "" {
		c := s.newClaim(asserted, []token{{text, strings.TrimSpace(line), 0}}, i, i)
		s.add(c, r.scope)
	}
}

// statement joins the lines of a statement that begins on row i at a column.
// Statements in the body of a function that it holds are not part of it.
func (s *side) statement(i, column int, kind claimKind, taken []bool) *claim {
	var tokens []token
	depth, last := 0, i
	body := -1 // indent of the line that opened a function's body
lines:
	for j := i; j < len(s.rows) && j < i+maxStatement; j++ {
		r := &s.rows[j]
		if body >= 0 {
			if r.empty() || r.indent > body {
				for _, t := range r.tokens {
					depth += t.depth()
				}
				continue
			}
			body = -1
		}
		for _, t := range r.tokens {
			if j == i && t.at < column {
				continue
			}
			if depth += t.depth(); depth < 0 {
				break lines
			}
			tokens = append(tokens, t)
		}
		taken[j], last = true, j
		if depth > 0 && opensBody(r.tokens) {
			body = r.indent
			continue
		}
		if depth <= 0 && !r.open && !s.continues(j) {
			break
		}
	}
	return s.newClaim(kind, tokens, i, last)
}

// opensBody reports whether a line ends by opening a function's body.
func opensBody(ts []token) bool {
	if len(ts) < 2 || ts[len(ts)-1].text != "{" {
		return false
	}
	switch ts[len(ts)-2].text {
	case ")", "=>", "->", "|", ">":
		return true
	}
	return slices.ContainsFunc(ts,
		func(t token) bool { return t.kind == word && (t.text == "func" || t.text == "function") })
}

// continues reports whether the statement of row j goes on in the next one: a
// chained call, or a line that ends in the middle of something.
func (s *side) continues(j int) bool {
	if strings.HasSuffix(strings.TrimSpace(s.rows[j].code), `\`) {
		return true
	}
	if j+1 >= len(s.rows) {
		return false
	}
	if ts := s.rows[j].tokens; len(ts) > 0 {
		switch ts[len(ts)-1].text {
		case "&&", "||", "==", "!=", "===", "+", "and", "or":
			return true
		}
	}
	next := strings.TrimSpace(s.rows[j+1].bare)
	return strings.HasPrefix(next, ".") || strings.HasPrefix(next, "?.") || strings.HasPrefix(next, "&&") ||
		strings.HasPrefix(next, "||")
}

// guarded is what a call that fails the test claims: that the condition around
// it does not hold.
func (s *side) guarded(i int) *claim {
	g := s.header(i)
	if g < 0 {
		return s.newClaim(asserted, []token{{word, "fail", 0}}, i, i)
	}
	ts := slices.Clone(s.rows[g].tokens)
	if len(ts) > 0 && ts[0].text == "}" {
		ts = ts[1:]
	}
	if n := len(ts); n > 0 && ts[n-1].text == "{" {
		ts = ts[:n-1]
	}
	return s.newClaim(asserted, ts, g, i)
}

// header is the row of the block that row i stands in, if that is a condition,
// a loop's or a case's; else -1.
func (s *side) header(i int) int {
	if j := s.above(i); j >= 0 && s.lang.condition.MatchString(s.rows[j].bare) {
		return j
	}
	return -1
}

// conditions are the headers under which row i stands within its scope: those
// that let it run only sometimes, or hide that it failed.
func (s *side) conditions(i int) []string {
	var out []string
	for j := s.above(i); j >= 0 && s.rows[j].scope == s.rows[i].scope && j > s.rows[j].scope.decl; j = s.above(j) {
		r := &s.rows[j]
		switch {
		case s.lang.swallows.MatchString(r.bare):
			if s.hides(j) {
				out = append(out, "try")
			}
		case s.lang.condition.MatchString(r.bare):
			out = append(out, flat(r.tokens))
		}
	}
	slices.Reverse(out)
	return out
}

// hides reports whether the block that row j opens keeps a failure in it from
// being seen.
func (s *side) hides(j int) bool {
	if strings.Contains(s.rows[j].bare, "suppress(") || strings.Contains(s.rows[j].bare, "catch_unwind") ||
		strings.Contains(s.rows[j].bare, "runCatching") {
		return true
	}
	handling := false
	for k := j + 1; k < len(s.rows) && k < j+maxJoined; k++ {
		r := &s.rows[k]
		switch {
		case r.empty():
		case r.indent <= s.rows[j].indent && s.lang.handler.MatchString(r.bare):
			handling = true
		case r.indent <= s.rows[j].indent && !strings.HasPrefix(strings.TrimSpace(r.bare), "}"):
			return handling
		}
		if handling && (r.asserts >= 0 || rethrows(r.tokens)) {
			return false
		}
	}
	return handling
}

func rethrows(ts []token) bool {
	return slices.ContainsFunc(ts, func(t token) bool {
		return t.kind == word && (t.text == "raise" || t.text == "throw" || t.text == "fail" || t.text == "reject" ||
			t.text == "panic" || t.text == "done")
	})
}

// newClaim is the claim of the tokens of some rows.
func (s *side) newClaim(kind claimKind, ts []token, from, to int) *claim {
	says := string('0'+rune(kind)) + textOf(ts)
	known := s.known.claims[says]
	if known == nil {
		known = weighed(s.lang, kind, ts)
		s.known.claims[says] = known
	}
	c := *known
	c.from, c.to = from, to
	return &c
}

// weighed weighs tokens. Messages for people are no part of a claim.
func weighed(l *lang, kind claimKind, ts []token) *claim {
	ts = slices.Clone(ts)
	for len(ts) > 0 && (ts[len(ts)-1].text == ";" || ts[len(ts)-1].text == ",") {
		ts = ts[:len(ts)-1]
	}
	ts = slices.DeleteFunc(ts, func(t token) bool { return t.kind == sign && t.text == ";" })
	var tidy []token
	for i, t := range ts { // a comma before a closing bracket is format
		if t.kind == sign && t.text == "," && i+1 < len(ts) && ts[i+1].depth() < 0 {
			continue
		}
		tidy = append(tidy, t)
	}
	if kind == asserted && len(tidy) > 0 && !l.condition.MatchString(tidy[0].text) {
		tidy = withoutMessage(tidy)
	}
	c := &claim{kind: kind, tokens: tidy, bag: map[string]int{}}
	for _, t := range tidy {
		c.bag[t.text]++
	}
	c.text = textOf(tidy)
	c.weight = weigh(l, kind, tidy)
	return c
}

// textOf writes tokens in one way.
func textOf(ts []token) string {
	var b strings.Builder
	for _, t := range ts {
		if t.kind == text {
			b.WriteByte('"')
		}
		b.WriteString(t.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// alike is the share of tokens that two claims have in common, 0 to 1.
func alike(a, b *claim) float64 {
	both, all := 0, 0
	for t, n := range a.bag {
		both += min(n, b.bag[t])
		all += max(n, b.bag[t])
	}
	for t, n := range b.bag {
		if a.bag[t] == 0 {
			all += n
		}
	}
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}
