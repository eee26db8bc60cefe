package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// markKind tells marks apart.
type markKind uint8

const (
	skipped markKind = iota // keeps a test from running, or from counting
	focused                 // keeps all others from running
	hushed                  // turns a check off
	left                    // leaves a test before its end
	built                   // keeps the file from being built
	mutes                   // hides that a call failed
	exits                   // ends the run as if all was well
)

// mark is a line that makes tests say less than they would.
type mark struct {
	kind markKind
	call string // of one that mutes, the call
	text string // the line
	row  int
}

var imports = lazyregexp.New(`^\s*(?:import|from|use|require)\b`)

// exit is what ends a process as if nothing had failed.
var exit = lazyregexp.New(`\b(?:os\.Exit|syscall\.Exit|process\.exit|sys\.exit|os\._exit|System\.exit|` +
	`process::exit)\(\s*0?\s*\)|^\s*exit!?(?:\s*\(?0\)?)?\s*$`)

// muted is what keeps it from being seen that a promise was rejected.
var muted = lazyregexp.New(`\.catch\(\s*(?:\(?\w*\)?\s*=>\s*(?:\{\s*\}|null|undefined|void 0)|` +
	`function\s*\(\w*\)\s*\{\s*\}|noop)`)

// givenSkip names a skip of pytest, which skips nothing before a test is given it.
var givenSkip = lazyregexp.New(`^\s*(\w+)\s*=\s*(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip)`)

// findMarks finds what keeps each scope from running.
func (s *side) findMarks() {
	given := map[string]bool{} // names of skips that Python's tests are given
	for i := range s.rows {
		r := &s.rows[i]
		if m := givenSkip.FindStringSubmatch(r.code); m != nil && s.lang == &python && m[1] != "pytestmark" {
			given["@"+m[1]] = true
			continue
		}
		if r.inside || r.scope.unchanged {
			continue
		}
		put := func(k markKind, call string) {
			r.scope.marks = append(r.scope.marks, mark{k, call, strings.Join(strings.Fields(r.raw), " "), i})
		}
		if !r.settled && s.lang.hushes(r.raw) {
			put(hushed, "")
		}
		if s.lang.raw.MatchString(r.raw) {
			m := mark{built, "", builtFor(r.raw), i}
			if !slices.ContainsFunc(r.scope.marks, func(o mark) bool { return o.kind == built && o.text == m.text }) {
				r.scope.marks = append(r.scope.marks, m)
			}
		}
		if strings.TrimSpace(r.code) == "" || r.settled && i > r.scope.decl {
			continue
		}
		for _, skip := range s.lang.skips {
			if (skip.MatchString(r.code) || given[strings.TrimSpace(r.code)]) &&
				!imports.MatchString(s.rows[s.annotated(i)].code) {
				put(skipped, "")
				break
			}
		}
		if r.scope.group && exit.MatchString(r.code) {
			put(exits, "")
		}
		if at := muted.FindStringIndex(r.code); at != nil && s.lang == &script {
			put(mutes, r.code[:at[0]])
		}
		if s.lang.only.MatchString(r.code) {
			put(focused, "")
		}
		if s.leaves(i) {
			put(left, "")
		}
	}
}

// builtFor is the condition of a line on which a file is built; of Go's in the newer spelling.
func builtFor(raw string) string {
	terms := strings.Fields(raw)
	if len(terms) > 1 && terms[1] == "+build" {
		return "//go:build" + strings.ReplaceAll(strings.Join(terms[2:], "||"), ",", "&&")
	}
	return strings.Join(terms, "")
}

// annotated is the row that row i is an annotation of; i itself, when it is none.
func (s *side) annotated(i int) int {
	for j := i; j < len(s.rows); j++ {
		r := &s.rows[j]
		if r.empty() {
			continue
		}
		if !s.lang.annotates.MatchString(r.code) {
			return j
		}
		j = max(j, s.balanced(j)) // its brackets may be closed further below
	}
	return i
}

// leaves reports whether row i returns from a test while assertions follow.
func (s *side) leaves(i int) bool {
	r := &s.rows[i]
	if r.scope.group {
		return s.hollow(i)
	}
	if i <= r.scope.decl {
		return false
	}
	first := -1 // indent of the test's own lines
	for j := r.scope.decl + 1; j < r.scope.end; j++ {
		if b := &s.rows[j]; !b.empty() && b.indent > r.scope.indent {
			first = b.indent
			break
		}
	}
	switch {
	case s.lang.early.MatchString(r.bare):
		return r.indent == first && r.scope.last > i
	case !s.lang.leave.MatchString(r.bare):
		return false
	case r.indent == first:
		return r.scope.last > i
	}
	j := s.header(i)
	return j > r.scope.decl && s.rows[j].indent == first && r.scope.last > i
}

// hollow reports whether row i, outside of tests, returns from a function before
// what it asserts.
func (s *side) hollow(i int) bool {
	r := &s.rows[i]
	if !s.lang.leave.MatchString(r.bare) {
		return false
	}
	j := s.above(i)
	if j < 0 || !s.lang.function.MatchString(s.rows[j].code) {
		return false
	}
	for k := i + 1; k < len(s.rows) && (s.rows[k].empty() || s.rows[k].indent >= r.indent); k++ {
		if s.rows[k].asserts >= 0 || s.lang.fails.MatchString(s.rows[k].bare) {
			return true
		}
	}
	return false
}

// marks reports what keeps tests from running that did not before.
func (f *testFile) marks() {
	if f.new == nil {
		return
	}
	for _, n := range f.new.all() {
		if f.mixed && !inTests(n) {
			continue
		}
		lines := map[string]int{}
		spare := map[bool]int{} // marks that are gone; the key says whether they turned off checks
		if n.pair != nil {
			for _, m := range n.pair.marks {
				lines[m.text]++
				spare[m.kind == hushed]++
			}
		}
		var fresh []mark
		for _, m := range n.marks {
			if lines[m.text]--; lines[m.text] >= 0 {
				spare[m.kind == hushed]--
			} else {
				fresh = append(fresh, m)
			}
		}
		for _, m := range fresh {
			hush := m.kind == hushed
			switch spare[hush]--; {
			case spare[hush] < 0 || m.kind == focused || m.kind == mutes || m.kind == exits:
				f.judge(m, n.pair != nil || f.shared && n == f.new.file)
			case !hush:
				f.report(ChangedExpectation, f.new, m.row, "when a test is skipped was changed")
			}
		}
		f.movedAway(n)
	}
	f.testMain()
}

// movedAway reports a test that stands in another place now, where it is skipped.
func (f *testFile) movedAway(n *scope) {
	if n.pair == nil || n.group || n.above == nil {
		return
	}
	for p := n.above; p != nil; p = p.above {
		if p.pair != nil && p.pair.side == n.pair.side {
			return // reported there
		}
		for _, m := range p.marks {
			if m.kind == built || m.kind == skipped && m.row <= p.decl {
				f.report(SkippedTest, f.new, n.decl, "a test was moved to where it is skipped, or runs only under a condition")
				return
			}
		}
	}
}

// judge reports one new mark; known says that what it stands in was there before.
func (f *testFile) judge(m mark, known bool) {
	switch {
	case m.kind == focused:
		f.report(SkippedTest, f.new, m.row, "other tests don't run beside this one")
	case m.kind == exits:
		f.report(SkippedTest, f.new, m.row, "the run of the tests is ended as if all was well")
	case !known, m.kind == skipped && f.annotatesNew(m.row):
	case m.kind == hushed:
		if f.hushesOld(m.row) {
			f.report(DisabledCheck, f.new, m.row, "a check was turned off for a line that was there before")
		}
	case m.kind == mutes:
		call := strings.TrimSpace(m.call)
		if f.old != nil && slices.ContainsFunc(f.old.rows,
			func(o row) bool { return !o.fixed && strings.HasPrefix(strings.TrimSpace(o.code), call) }) {
			f.report(SkippedTest, f.new, m.row, "a test does not see any more that a call fails")
		}
	case m.kind == left:
		f.report(SkippedTest, f.new, m.row, "a test returns before its assertions")
	case m.kind == built:
		f.report(SkippedTest, f.new, m.row, "a file of tests is built or run only under a condition")
	default:
		f.report(SkippedTest, f.new, m.row, "a test is skipped, or does not count")
	}
}

// annotatesNew reports whether row i is about a declaration outside of any test that came
// with it, or about a statement in one all of which did.
func (f *testFile) annotatesNew(i int) bool {
	s := f.new
	at := s.annotated(i)
	if at == i {
		return false
	}
	end := at
	switch sc := s.rows[i].scope; {
	case sc.group:
	case i <= sc.decl:
		return false
	default:
		end = s.statement(at, 0, logged, make([]bool, len(s.rows))).to
	}
	return !slices.ContainsFunc(s.rows[at:end+1], func(r row) bool {
		return !r.empty() && (r.fixed || len(r.tokens) > 2 && f.old != nil && slices.ContainsFunc(f.old.rows,
			func(o row) bool { return !o.fixed && o.text == r.text })) // indented anew
	})
}

// hushesOld reports whether the check is turned off for code that was there
// before, and not for code that came with it.
func (f *testFile) hushesOld(i int) bool {
	r := &f.new.rows[i]
	code := strings.Join(strings.Fields(r.code), " ")
	if code != "" && !f.new.lang.annotates.MatchString(r.code) {
		if f.old == nil {
			return false
		}
		return slices.ContainsFunc(f.old.rows,
			func(o row) bool { return !o.fixed && strings.Join(strings.Fields(o.code), " ") == code })
	}
	for j := i + 1; j < len(f.new.rows); j++ {
		if n := &f.new.rows[j]; !n.empty() && !f.new.lang.annotates.MatchString(n.code) {
			return n.fixed
		}
	}
	return false
}

// testMain reports a new TestMain that does not run the tests.
func (f *testFile) testMain() {
	if f.new.lang != &golang {
		return
	}
	sc := f.new.named("TestMain")
	if sc == nil {
		return
	}
	runs, ends, changed := false, false, false
	for i := sc.decl; i < sc.end; i++ {
		changed = changed || !f.new.rows[i].fixed
		bare := f.new.rows[i].bare
		runs = runs || strings.Contains(bare, ".Run()") || strings.Contains(bare, "(m)") || strings.Contains(bare, "(m,")
		ends = ends || exit.MatchString(bare)
	}
	if changed && (!runs || ends) {
		f.report(SkippedTest, f.new, sc.decl, "TestMain does not run the tests, or not for their result")
	}
}
