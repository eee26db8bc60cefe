package tamper

import (
	"slices"
	"strings"
)

// maxPairs bounds how many claims of a file are compared with one another.
const maxPairs = 100_000

// matchClaims finds for each old claim the new one that says the same: in the
// same test, then in the outermost test around it. What it does not find is lost.
func (f *testFile) matchClaims() {
	if f.old == nil {
		return
	}
	for _, o := range f.allOld() {
		if !f.counts(o) {
			continue
		}
		n := f.pairs[o]
		for _, c := range o.claims {
			if n == nil || !f.identical(c, n.claims) {
				f.lost = append(f.lost, c)
			}
		}
	}
	if f.new == nil {
		return
	}
	byRoot := map[*scope][]*claim{}
	for _, n := range f.new.scopes {
		byRoot[n.root()] = append(byRoot[n.root()], n.claims...)
	}
	roots := map[*scope]*scope{}
	for _, o := range f.old.scopes {
		if n := f.pairs[o]; n != nil {
			roots[o.root()] = n.root()
		}
	}
	f.lost = without(f.lost, func(c *claim) bool {
		n := roots[c.scope.root()]
		return n != nil && c.scope != f.old.file && f.identical(c, byRoot[n])
	})
}

func (f *testFile) allOld() []*scope { return append([]*scope{f.old.file}, f.old.scopes...) }

// identical takes one unused claim with the words of c, and reports that it now
// runs only sometimes, if so.
func (f *testFile) identical(c *claim, among []*claim) bool {
	var found *claim
	for _, n := range among {
		if f.effort++; f.effort > maxEffort {
			return false
		}
		if n.text == c.text && n.kind == c.kind && !f.used[n] {
			if found == nil || len(n.conds) == len(c.conds) && len(found.conds) != len(c.conds) {
				found = n
			}
		}
	}
	if found == nil {
		return false
	}
	f.used[found] = true
	if c.kind == asserted && c.strength > 0 && f.new != nil && f.pairs[c.scope] == found.scope && !f.moved[c.scope] {
		f.sheltered(c, found)
	}
	return true
}

// sheltered reports an assertion that was put under a condition, or where its
// failure is not seen.
func (f *testFile) sheltered(old, new *claim) {
	if len(new.conds) <= len(old.conds) {
		return
	}
	for _, cond := range new.conds {
		if slices.Contains(old.conds, cond) {
			continue
		}
		why := "an assertion was put under a condition"
		if cond == "try" {
			why = "an assertion was put where its failure is not seen"
		}
		f.report(LoosenedAssertion, f.new, new.from, why)
		return
	}
}

// matchHelpers finds lost claims outside of tests: a helper that the test calls
// took them over, or they came out of one.
func (f *testFile) matchHelpers(files []*testFile) {
	if f.old == nil {
		return
	}
	for _, g := range files {
		if g.new == nil || g.new.lang != f.old.lang {
			continue
		}
		f.lost = without(f.lost, func(c *claim) bool {
			came := c.scope == f.old.file
			if c.kind != asserted && g != f || !came && f.pairs[c.scope.root()] == nil {
				return false
			}
			for _, sc := range append([]*scope{g.new.file}, g.new.scopes...) {
				if sc.group && g.take(c, sc.claims, func(n *claim) bool { return came || f.calls(c, g, n) }) ||
					!sc.group && came && g == f && g.take(c, sc.claims, nil) {
					return true
				}
			}
			return false
		})
	}
}

// keywords look like calls and are none.
var keywords = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "catch": true, "func": true, "function": true, "def": true,
	"fn": true, "return": true,
	"do": true, "end": true, "describe": true, "it": true, "test": true, "context": true, "expect": true, "class": true,
	"self": true, "let": true,
}

// calls reports whether the test that had the old claim calls the helper that
// has the new one.
func (f *testFile) calls(old *claim, g *testFile, new *claim) bool {
	test := f.pairs[old.scope.root()]
	if test == nil || f.new == nil {
		return false
	}
	if f.called[test] == nil {
		f.called[test] = f.new.calledIn(test)
	}
	called := f.called[test]
	indent := g.new.rows[new.from].indent
	for j := new.from - 1; j >= 0 && j > new.from-maxJoined && indent > 0; j-- {
		r := &g.new.rows[j]
		if f.effort += 5; r.empty() || r.indent >= indent {
			continue
		}
		indent = r.indent
		if slices.ContainsFunc(r.tokens,
			func(t token) bool { return t.kind == word && called[t.text] && !keywords[t.text] }) {
			return true
		}
	}
	return false
}

// calledIn are the words that look like calls in a scope.
func (s *side) calledIn(sc *scope) map[string]bool {
	called := map[string]bool{}
	for i := sc.first; i < sc.end; i++ {
		ts := s.rows[i].tokens
		for k, t := range ts {
			if t.kind == word && (k+1 == len(ts) || ts[k+1].text == "(" || s.lang == &ruby) {
				called[t.text] = true
			}
		}
	}
	return called
}

// take uses up one new claim with the words of an old one; fits may be nil.
func (f *testFile) take(c *claim, among []*claim, fits func(*claim) bool) bool {
	for _, n := range among {
		if f.effort++; f.effort > maxEffort {
			return false
		}
		if n.text == c.text && n.kind == c.kind && !f.used[n] && (fits == nil || fits(n)) {
			f.used[n] = true
			return true
		}
	}
	return false
}

// loosened pairs what is lost with what took its place, and reports what says
// less; and what has nothing in its place.
func (f *testFile) loosened() {
	if len(f.lost) == 0 {
		return
	}
	type place struct {
		old []*claim
		new []*claim
	}
	places := map[*scope]*place{}
	var order []*scope
	for _, c := range f.lost {
		root := c.scope.root()
		if places[root] == nil {
			places[root] = &place{}
			order = append(order, root)
		}
		places[root].old = append(places[root].old, c)
	}
	if f.new != nil {
		roots := map[*scope]*place{}
		for _, o := range f.allOld() {
			if n := f.pairs[o]; n != nil && places[o.root()] != nil {
				roots[n.root()] = places[o.root()]
			}
		}
		for _, n := range append([]*scope{f.new.file}, f.new.scopes...) {
			p := roots[n.root()]
			if p == nil {
				continue
			}
			for _, c := range n.claims {
				if !f.used[c] && (f.taken[n] || n.root() != n) {
					p.new = append(p.new, c)
				}
			}
		}
	}
	for _, root := range order {
		f.settle(places[root].old, places[root].new)
	}
}

// settle pairs old and new claims of one test by likeness, the likest first.
func (f *testFile) settle(old, new []*claim) {
	pair := map[*claim]*claim{}
	used := map[*claim]bool{}
	if len(old)*len(new) <= maxPairs {
		type candidate struct {
			o, n  *claim
			score float64
		}
		var all []candidate
		for _, o := range old {
			for _, n := range new {
				if o.kind != n.kind && !(o.kind == asserted && n.kind == logged) {
					continue
				}
				score := alike(o, n)
				if o.scope != nil && f.pairs[o.scope] == n.scope {
					score += 0.1
				}
				if n.kind == logged {
					score -= 0.2
				}
				if score >= 0.3 {
					all = append(all, candidate{o, n, score})
				}
			}
		}
		slices.SortStableFunc(all, func(a, b candidate) int {
			switch {
			case a.score > b.score:
				return -1
			case a.score < b.score:
				return 1
			}
			return 0
		})
		for _, c := range all {
			if pair[c.o] == nil && !used[c.n] {
				pair[c.o], used[c.n] = c.n, true
			}
		}
	}
	for _, o := range old {
		n := pair[o]
		if n == nil && o.kind == asserted { // the only one that is new in the same place
			n = f.inPlace(o, new, used)
		}
		switch {
		case n != nil:
			used[n] = true
			if why := weaker(o, n); why != "" {
				if i := f.changedRow(o, n); i >= 0 {
					f.report(LoosenedAssertion, f.new, i, why)
				} else {
					f.report(LoosenedAssertion, f.old, f.firstGone(o), why)
				}
			} else if o.kind == asserted && n.kind == asserted {
				f.sheltered(o, n)
			}
		case o.kind == asserted && o.strength > 0:
			f.report(LoosenedAssertion, f.old, f.firstGone(o), "an assertion was removed")
		case o.kind == tabled:
			f.report(LoosenedAssertion, f.old, f.firstGone(o), "a case of a test was removed")
		case o.kind == expected && len(o.literals) > 2 && o.to > o.from:
			f.report(LoosenedAssertion, f.old, f.firstGone(o), "cases or expected values of a test were removed")
		}
	}
}

func (f *testFile) inPlace(o *claim, new []*claim, used map[*claim]bool) *claim {
	var only *claim
	for _, n := range new {
		if used[n] || n.kind != asserted || f.pairs[o.scope] != n.scope {
			continue
		}
		if only != nil {
			return nil
		}
		only = n
	}
	return only
}

// changedRow is the row of a new claim that took the place of the first one that
// is gone from the old: the likest that is new. -1 when there is none.
func (f *testFile) changedRow(o, n *claim) int {
	gone := f.old.rows[f.firstGone(o)].tokens
	best, share := -1, -1
	for i := n.from; i <= n.to; i++ {
		r := &f.new.rows[i]
		if r.fixed || len(r.tokens) == 0 && n.from < n.to {
			continue
		}
		both := 0
		for _, t := range r.tokens[:min(len(r.tokens), 50)] {
			if slices.ContainsFunc(gone[:min(len(gone), 50)], func(g token) bool { return g.text == t.text }) {
				both++
			}
		}
		if both > share {
			best, share = i, both
		}
	}
	return best
}

// firstGone is the first row of an old claim that is there no more.
func (f *testFile) firstGone(c *claim) int {
	for i := c.from; i <= c.to; i++ {
		if !f.old.rows[i].fixed && len(f.old.rows[i].tokens) > 0 {
			return i
		}
	}
	return c.from
}

// marks reports what keeps tests from running that did not before.
func (f *testFile) marks() {
	if f.new == nil {
		return
	}
	back := map[*scope]*scope{}
	if f.old != nil {
		for _, o := range f.allOld() {
			if n := f.pairs[o]; n != nil && !f.moved[o] {
				back[n] = o
			}
		}
	}
	for _, n := range append([]*scope{f.new.file}, f.new.scopes...) {
		if f.mixed && !inTests(n) {
			continue
		}
		before := map[string]int{}
		o := back[n]
		if o != nil {
			for _, m := range o.marks {
				before[m.text]++
			}
		}
		for _, m := range n.marks {
			if before[m.text]--; before[m.text] >= 0 {
				continue
			}
			f.judge(m, o != nil || f.shared && n == f.new.file)
		}
	}
	f.testMain()
}

// judge reports one new mark; known says that what it stands in was there before.
func (f *testFile) judge(m mark, known bool) {
	switch {
	case m.kind == focused:
		f.report(SkippedTest, f.new, m.row, "other tests don't run beside this one")
	case !known:
	case m.kind == hushed:
		if f.hushesOld(m.row) {
			f.report(DisabledCheck, f.new, m.row, "a check was turned off for a line that was there before")
		}
	case m.kind == left:
		f.report(SkippedTest, f.new, m.row, "a test returns before its assertions")
	case m.kind == built:
		f.report(SkippedTest, f.new, m.row, "a file of tests is built or run only under a condition")
	default:
		f.report(SkippedTest, f.new, m.row, "a test is skipped, or does not count")
	}
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
		f.effort += len(f.old.rows)
		return f.effort > maxEffort ||
			slices.ContainsFunc(f.old.rows,
				func(o row) bool { return !o.fixed && strings.Join(strings.Fields(o.code), " ") == code })
	}
	if strings.HasPrefix(code, "#!") {
		return true
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
	runs, changed := false, false
	for i := sc.decl; i < sc.end; i++ {
		changed = changed || !f.new.rows[i].fixed
		runs = runs || strings.Contains(f.new.rows[i].bare, ".Run()") || strings.Contains(f.new.rows[i].bare, "(m)") ||
			strings.Contains(f.new.rows[i].bare, "(m,")
	}
	if changed && !runs {
		f.report(SkippedTest, f.new, sc.decl, "TestMain does not run the tests")
	}
}
