package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// testFile is a file of tests on both sides of a change.
type testFile struct {
	change   *Change
	old, new *side           // nil: there are no tests on that side
	mixed    bool            // tests among other code: only what is in a test counts
	shared   bool            // what it says holds for tests in other files
	lost     []*claim        // of the old side, not found yet
	added    map[string]bool // what added lines name
	findings []Finding
}

func (f *testFile) report(kind FindingKind, s *side, row int, why string) {
	r := &s.rows[row]
	f.findings = append(f.findings, Finding{Kind: kind, Path: s.path, Line: r.n, Text: quoted(r.raw), Why: why})
}

// search is the comparison of all files of tests of a change set.
type search struct {
	files  []*testFile
	effort int // of pairing scopes; past maxEffort, what is not found is reported
}

const maxEffort = 5_000_000

func (s *search) spend(n int) bool {
	s.effort += n
	return s.effort < maxEffort
}

// tests compares all files of tests of a change set.
func tests(changes []Change) []Finding {
	var s search
	var out []Finding
	known := memories{}
	for i := range changes {
		f, opaque := openTests(&changes[i], known)
		out = append(out, opaque...)
		if f != nil {
			s.files = append(s.files, f)
		}
	}
	s.pair()
	for _, f := range s.files {
		for _, side := range []*side{f.old, f.new} {
			if side != nil {
				side.findClaims()
				side.findMarks()
			}
		}
	}
	for _, f := range s.files {
		f.matchClaims()
	}
	s.matchMoved()
	values := s.addedValues()
	for _, f := range s.files {
		f.deleted(values)
		f.emptied()
		f.loosened()
		f.marks()
		out = append(out, f.findings...)
	}
	return out
}

// pair finds for each old scope what became of it: in its own file, then, of
// tests, in another.
func (s *search) pair() {
	var olds, news []*scope
	for _, f := range s.files {
		if f.old != nil && f.new != nil {
			f.old.file.pair, f.new.file.pair = f.new.file, f.old.file
			pairUnchanged(f.old, f.new)
			s.pairScopes(f.old.scopes, f.new.scopes)
			settleRows(f.old, f.new)
		}
		if f.old != nil {
			olds = append(olds, f.old.unpaired()...)
		}
		if f.new != nil {
			news = append(news, f.new.unpaired()...)
		}
	}
	s.pairScopes(olds, news)
}

// unpaired are the tests without a counterpart.
func (s *side) unpaired() []*scope {
	return slices.DeleteFunc(slices.Clone(s.scopes), func(sc *scope) bool { return sc.group || sc.pair != nil })
}

var sharedNames = map[string]bool{
	"conftest.py": true, "spec_helper.rb": true, "rails_helper.rb": true, "test_helper.rb": true, "setupTests.js": true,
	"setupTests.ts": true,
}

// openTests reads both sides of a changed file of tests; nil when it is none.
func openTests(c *Change, known memories) (*testFile, []Finding) {
	before := c.Path
	if c.OldPath != "" {
		before = c.OldPath
	}
	was, is := roleOf(before), roleOf(c.Path)
	if c.Status == "added" {
		was = role{}
	}
	if c.Status == "deleted" {
		is = role{}
	}
	if !was.test && !is.test && !(was.maybe || is.maybe) || was.maybe && is.maybe && !c.mentions("test") {
		return nil, nil
	}
	if c.Opaque && (was.test || was.maybe) && c.Status != "deleted" {
		return nil, []Finding{{Kind: LoosenedAssertion, Path: c.Path,
			Why: "a file with tests was changed, and the change is too large for its lines to be compared"}}
	}
	if c.Status == "deleted" && was.test && len(c.Hunks) == 0 && (was.named || path.Base(before) != "__init__.py") {
		return nil, []Finding{{Kind: DeletedTest, Path: c.Path, Why: "a file of tests was deleted"}}
	}
	if len(c.Hunks) == 0 && c.Status != "deleted" {
		return nil, renamedTests(before, c.Path, was, is)
	}
	old, new := c.sides()
	f := &testFile{
		change: c, mixed: was.maybe || is.maybe, shared: sharedNames[path.Base(c.Path)] ||
			strings.HasPrefix(path.Base(c.Path), "jest.setup"),
	}
	if was.test || was.maybe {
		f.old = newSide(was.lang, before, old, known.of(was.lang))
	}
	if is.test || is.maybe {
		f.new = newSide(is.lang, c.Path, new, known.of(is.lang))
	}
	if f.old != nil && f.new != nil && before != c.Path && !(f.old.inherited() && f.new.inherited()) {
		f.findings = append(f.findings, renamedTests(before, c.Path, was, is)...)
	}
	return f, nil
}

var abstract = lazyregexp.New(`\babstract\s+class\b`)

// inherited reports whether a file holds a class whose tests run only in those that extend it.
func (s *side) inherited() bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return abstract.MatchString(r.bare) })
}

// mentions reports whether a word stands in a change, or in the file on the base.
func (c *Change) mentions(word string) bool {
	return strings.Contains(c.Old, word) || slices.ContainsFunc(c.Hunks, func(h Hunk) bool {
		return slices.ContainsFunc(h.Lines, func(l string) bool { return strings.Contains(l, word) })
	})
}

// renamedTests judges the new name alone.
func renamedTests(before, after string, was, is role) []Finding {
	switch {
	case !was.test || before == after:
		return nil
	case !is.test || was.named && !is.named:
		return []Finding{{Kind: DeletedTest, Path: after, Why: "a file of tests was renamed so that its tests are not " +
			"found any more", Text: before + " → " + after}}
	case is.lang == &golang && goSystem.MatchString(after) && !goSystem.MatchString(before):
		return []Finding{{Kind: SkippedTest, Path: after, Why: "a file of tests was renamed so that it is built for some " +
			"systems only"}}
	}
	return nil
}

// counts reports whether claims of a scope are a test's at all.
func (f *testFile) counts(sc *scope) bool { return !f.mixed || inTests(sc) }

// value is what a token names that tells a test from others; "" when it is too
// short for that.
func value(t token) string {
	if (t.kind == text || t.kind == number || t.kind == word && constant.MatchString(t.text)) && len(t.text) > 1 {
		return t.text
	}
	return ""
}

// addedValues are the values that added lines of tests name.
func (s *search) addedValues() map[string]bool {
	out := map[string]bool{}
	for _, f := range s.files {
		f.added = map[string]bool{}
		for _, r := range f.newRows() {
			if r.fixed {
				continue
			}
			for _, t := range r.tokens {
				out[value(t)] = true
				f.added[t.text] = true
			}
		}
	}
	return out
}

func (f *testFile) newRows() []row {
	if f.new == nil {
		return nil
	}
	return f.new.rows
}

// rewritten reports whether most of what a test that is gone named is in lines that
// were added: its values anywhere in tests, or its words and values in its file.
func (f *testFile) rewritten(sc *scope, values map[string]bool) bool {
	var all, kept, said, again float64
	seen := map[string]bool{}
	for i := sc.decl + 1; i < sc.end; i++ {
		for _, t := range sc.side.rows[i].tokens {
			if len(t.text) < 2 || t.kind == sign || seen[t.text] {
				continue
			}
			seen[t.text] = true
			if said++; f.added[t.text] {
				again++
			}
			if v := value(t); v != "" {
				if all++; values[v] {
					kept++
				}
			}
		}
	}
	return all > 2 && kept >= 0.75*all || said > 4 && again >= 0.75*said
}

// deleted reports the tests that are gone.
func (f *testFile) deleted(values map[string]bool) {
	if f.old == nil {
		return
	}
	reported, loses := map[*scope]bool{}, f.loses()
	for _, o := range f.old.scopes {
		if o.pair != nil {
			if o.marked && !o.pair.marked {
				f.report(DeletedTest, o.pair.side, o.pair.decl, "a test lost the annotation that makes it one")
			}
			continue
		}
		if o.above != nil && reported[o.above] {
			reported[o] = true
			continue
		}
		if o.group || !f.counts(o) || o.asserts > 0 && !loses[o] && !f.orphans(o) {
			f.lost = slices.DeleteFunc(f.lost, func(c *claim) bool { return c.scope == o && o.pair == nil && !o.group })
			continue
		}
		reported[o] = true
		switch {
		case f.rewritten(o, values):
			f.report(ChangedExpectation, f.old, o.decl, "a test was rewritten: what it said stands in other tests")
		case o.idle():
			f.report(ChangedExpectation, f.old, o.decl, "a test was deleted that was skipped")
		case f.repeats(o):
			f.report(ChangedExpectation, f.old, o.decl, "a test was deleted that another says the same as")
		default:
			f.report(DeletedTest, f.old, o.decl, "a test was deleted")
		}
	}
	f.lost = slices.DeleteFunc(f.lost, func(c *claim) bool { return reported[c.scope] })
	for i := range f.newRows() { // a Python test that a second one of its name takes the place of
		if sc := f.new.rows[i].scope; sc.decl == i && sc.again && !sc.group && sc.pair == nil && f.new.lang == &python {
			f.report(SkippedTest, f.new, i, "a second test of this name hides the first")
		}
	}
}

// repeats reports whether a test that stays says the same as one that is gone, in the same group.
func (f *testFile) repeats(o *scope) bool {
	return f.new != nil && slices.ContainsFunc(f.new.scopes, func(n *scope) bool {
		return n.pair != nil && n.above == o.above.pair && alikeLines(o, n) == 1
	})
}

// orphans reports whether tests within an old one stand in none any more, so that
// nothing runs them.
func (f *testFile) orphans(o *scope) bool {
	return slices.ContainsFunc(f.old.scopes, func(in *scope) bool {
		return in.above == o && in.pair != nil && in.pair.above == in.pair.side.file
	})
}

// emptied reports the tests that are there and assert nothing any more.
func (f *testFile) emptied() {
	if f.old == nil || f.new == nil {
		return
	}
	empty, loses := map[*scope]bool{}, f.loses()
	for _, o := range f.old.scopes {
		n := o.pair
		if o.group || n == nil || n.side != f.new || !f.counts(o) || o.asserts == 0 || n.asserts > 0 ||
			!loses[o] { // what it asserted is in a helper now
			continue
		}
		empty[o] = true
		f.report(EmptiedTest, f.new, n.decl, "a test asserts nothing any more")
	}
	f.lost = slices.DeleteFunc(f.lost, func(c *claim) bool {
		for p := c.scope; p != nil; p = p.above {
			if empty[p] {
				return true
			}
		}
		return false
	})
}

// loses are the scopes that lost an assertion, and those around them.
func (f *testFile) loses() map[*scope]bool {
	out := map[*scope]bool{}
	for _, c := range f.lost {
		for p := c.scope; p != nil && c.kind == asserted && !out[p]; p = p.above {
			out[p] = true
		}
	}
	return out
}
