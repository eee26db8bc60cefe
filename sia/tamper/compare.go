package tamper

import (
	"path"
	"strings"
)

// testFile is a file of tests on both sides of a change.
type testFile struct {
	change   *Change
	old, new *side // nil: there are no tests on that side
	mixed    bool  // tests among other code: only what is in a test counts
	shared   bool  // what it says holds for tests in other files
	pairs    map[*scope]*scope
	taken    map[*scope]bool // of the new side, those that have a pair
	used     map[*claim]bool // of the new side, those that stand for an old one
	called   map[*scope]map[string]bool
	effort   int             // comparisons made; past maxEffort, what is not found is reported
	lost     []*claim        // of the old side, not found yet
	moved    map[*scope]bool // of the old side: found in another file
	findings []Finding
}

func (f *testFile) report(kind FindingKind, s *side, row int, why string) {
	r := &s.rows[row]
	f.findings = append(f.findings, Finding{Kind: kind, Path: s.path, Line: r.n, Text: quoted(r.raw), Why: why})
}

// maxEffort bounds the comparisons within one file.
const maxEffort = 20_000_000

// tests compares all files of tests of a change set.
func tests(changes []Change) []Finding {
	var files []*testFile
	var out []Finding
	for i := range changes {
		f, opaque := openTests(&changes[i])
		out = append(out, opaque...)
		if f != nil {
			files = append(files, f)
		}
	}
	for _, f := range files {
		f.pair()
	}
	for _, f := range files {
		for _, g := range files {
			f.findMoved(g)
		}
	}
	for _, f := range files {
		f.matchClaims()
	}
	for _, f := range files {
		f.matchHelpers(files)
	}
	for _, f := range files {
		f.absorb()
		f.deleted()
		f.emptied()
		f.loosened()
		f.marks()
		out = append(out, f.findings...)
	}
	return out
}

var sharedNames = map[string]bool{
	"conftest.py": true, "spec_helper.rb": true, "rails_helper.rb": true, "test_helper.rb": true, "setupTests.js": true,
	"setupTests.ts": true,
}

// openTests reads both sides of a changed file of tests; nil when it is none.
func openTests(c *Change) (*testFile, []Finding) {
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
	if !(was.test || was.maybe || is.test || is.maybe) {
		return nil, nil
	}
	if c.Opaque && (was.test || was.maybe) && c.Status != "deleted" {
		return nil, []Finding{{Kind: LoosenedAssertion, Path: c.Path, Why: "a file with tests was changed, and the change " +
			"is too large for its lines to be compared"}}
	}
	if c.Status == "deleted" && was.test && len(c.Hunks) == 0 && (was.named || path.Base(before) != "__init__.py") {
		return nil, []Finding{{Kind: DeletedTest, Path: c.Path, Why: "a file of tests was deleted"}}
	}
	if c.Status == "renamed" && len(c.Hunks) == 0 {
		return nil, renamedTests(before, c.Path, was, is)
	}
	old, new, whole := c.segments()
	f := &testFile{
		change: c, pairs: map[*scope]*scope{}, taken: map[*scope]bool{}, used: map[*claim]bool{}, moved: map[*scope]bool{},
		called: map[*scope]map[string]bool{},
		mixed:  was.maybe || is.maybe, shared: sharedNames[path.Base(c.Path)] ||
			strings.HasPrefix(path.Base(c.Path), "jest.setup"),
	}
	if was.test || was.maybe {
		f.old = newSide(was.lang, before, old, whole)
		f.pairs[f.old.file] = nil
	}
	if is.test || is.maybe {
		f.new = newSide(is.lang, c.Path, new, whole)
	}
	if f.old != nil && f.new != nil {
		f.pairs[f.old.file], f.taken[f.new.file] = f.new.file, true
		f.findings = append(f.findings, renamedTests(before, c.Path, was, is)...)
	}
	return f, nil
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

// pair finds for each old scope what became of it in its own file.
func (f *testFile) pair() {
	if f.old == nil || f.new == nil {
		return
	}
	by := map[string][]*scope{}
	for _, n := range f.new.scopes {
		by["path "+n.path] = append(by["path "+n.path], n)
		by["name "+n.name] = append(by["name "+n.name], n)
	}
	for _, key := range []string{"path ", "name "} {
		for _, o := range f.old.scopes {
			if f.pairs[o] != nil {
				continue
			}
			name := o.path
			if key == "name " {
				name = o.name
			}
			for _, n := range by[key+name] {
				if !f.taken[n] && n.group == o.group {
					f.pairs[o], f.taken[n] = n, true
					break
				}
			}
		}
	}
	for _, o := range f.old.scopes { // renamed: most of its lines are in a new one
		if f.pairs[o] != nil {
			continue
		}
		var best *scope
		share := 0.6
		for _, n := range f.new.scopes {
			if f.effort += 20 * (o.end - o.decl + n.end - n.decl); !f.taken[n] && n.group == o.group && f.effort < maxEffort {
				if s := sharedLines(f.old, o, f.new, n); s >= share {
					best, share = n, s
				}
			}
		}
		if best != nil {
			f.pairs[o], f.taken[best] = best, true
		}
	}
}

// sharedLines is the share of the old scope's lines that the new one has.
func sharedLines(a *side, o *scope, b *side, n *scope) float64 {
	have := map[string]int{}
	for i := n.decl + 1; i < n.end; i++ {
		have[flat(b.rows[i].tokens)]++
	}
	all, both := 0, 0
	for i := o.decl + 1; i < o.end; i++ {
		l := flat(a.rows[i].tokens)
		if len(l) < 4 {
			continue
		}
		all++
		if have[l]--; have[l] >= 0 {
			both++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

// findMoved finds in another file what is gone from this one, by its name.
func (f *testFile) findMoved(g *testFile) {
	if f == g || f.old == nil || g.new == nil || f.old.lang != g.new.lang {
		return
	}
	for _, o := range f.old.scopes {
		if f.pairs[o] != nil || o.group {
			continue
		}
		for _, n := range g.new.scopes {
			if n.name == o.name && !n.group && !g.taken[n] {
				f.pairs[o], g.taken[n], f.moved[o] = n, true, true
				break
			}
		}
	}
}

// counts reports whether claims of a scope are a test's at all.
func (f *testFile) counts(sc *scope) bool { return !f.mixed || inTests(sc) }

// deleted reports the tests that are gone.
func (f *testFile) deleted() {
	if f.old == nil {
		return
	}
	reported, loses := map[*scope]bool{}, f.loses()
	for _, o := range f.old.scopes {
		gone := f.pairs[o] == nil
		if gone && (o.above != nil && reported[o.above]) {
			reported[o] = true
			continue
		}
		if !gone || o.group || !f.counts(o) || o.asserts > 0 && !loses[o] {
			continue
		}
		reported[o] = true
		f.report(DeletedTest, f.old, o.decl, "a test was deleted")
	}
	f.hidden()
	if len(reported) > 0 {
		f.lost = without(f.lost, func(c *claim) bool { return reported[c.scope] })
	}
}

// hidden reports a Python test that a new one of its name takes the place of.
func (f *testFile) hidden() {
	if f.new == nil || f.new.lang != &python {
		return
	}
	for _, n := range f.new.scopes {
		if !f.taken[n] && !n.group && strings.Contains(n.path, "#") {
			f.report(SkippedTest, f.new, n.decl, "a second test of this name hides the first")
		}
	}
}

// absorb finds the tests that are gone whose every assertion is in another test
// of the file now.
func (f *testFile) absorb() {
	if f.old == nil || f.new == nil {
		return
	}
	for _, o := range f.old.scopes {
		if f.pairs[o] != nil || o.group {
			continue
		}
		took := map[*claim]*claim{}
		taken := map[*claim]bool{}
		complete := true
		for _, c := range o.claims {
			if c.kind != asserted {
				continue
			}
			for _, n := range f.new.scopes {
				if n.group {
					continue
				}
				for _, have := range n.claims {
					if f.effort++; f.effort > maxEffort {
						return
					}
					if took[c] == nil && !taken[have] && !f.used[have] && have.text == c.text && len(have.conds) <= len(c.conds) {
						took[c], taken[have] = have, true
					}
				}
			}
			complete = complete && took[c] != nil
		}
		if !complete || len(took) == 0 {
			continue
		}
		for _, n := range took {
			f.used[n] = true
		}
		f.lost = without(f.lost, func(c *claim) bool { return c.scope == o })
	}
}

func without(cs []*claim, drop func(*claim) bool) []*claim {
	var out []*claim
	for _, c := range cs {
		if !drop(c) {
			out = append(out, c)
		}
	}
	return out
}

// emptied reports the tests that are there and assert nothing any more.
func (f *testFile) emptied() {
	if f.old == nil || f.new == nil {
		return
	}
	empty, loses := map[*scope]bool{}, f.loses()
	for _, o := range f.old.scopes {
		n := f.pairs[o]
		if o.group || n == nil || f.moved[o] || !o.whole || !n.whole || !f.counts(o) || o.asserts == 0 || n.asserts > 0 {
			continue
		}
		if !loses[o] {
			continue // what it asserted is in a helper now
		}
		empty[o] = true
		f.report(EmptiedTest, f.new, n.decl, "a test asserts nothing any more")
	}
	f.lost = without(f.lost, func(c *claim) bool {
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
