package tamper

import (
	"cmp"
	"slices"
)

// maxPairs bounds how many claims of one place are compared with one another.
const maxPairs = 100_000

// loosened pairs what is lost with what took its place in the same test, and
// reports what says less or something else, and what has nothing in its place.
func (f *testFile) loosened() {
	var order []*scope
	lost := map[*scope][]*claim{}
	for _, c := range f.lost {
		p := c.scope.place()
		if lost[p] == nil {
			order = append(order, p)
		}
		lost[p] = append(lost[p], c)
	}
	for _, p := range order {
		var fresh []*claim
		if p.pair != nil {
			fresh = slices.DeleteFunc(p.pair.held(), func(c *claim) bool { return c.used })
		}
		f.settle(lost[p], fresh)
	}
}

// sameSubject reports whether two assertions are about one thing: most words of the
// old one are in the new.
func sameSubject(o, n *claim) bool {
	all, both := 0, 0
	for _, t := range o.tokens {
		if t.kind == word && !slices.ContainsFunc(nameWords(t.text), func(w string) bool { return asserting[w] }) {
			if all++; n.bag[t.text] > 0 {
				both++
			}
		}
	}
	return 2*both >= all
}

// settle judges what became of the old claims of one place: their likest among the
// new ones, the likest pair first. What is left of the new ones stands in for what
// is gone, as long as there is some: that is another expectation, not a lesser one.
func (f *testFile) settle(old, fresh []*claim) {
	pairs := likest(old, fresh)
	spare := slices.DeleteFunc(slices.Clone(fresh), func(n *claim) bool { return n.used || n.strength == 0 })
	instead := func(o *claim) *claim { // one that says as much
		i := slices.IndexFunc(spare, func(n *claim) bool {
			return n.kind == o.kind && n.strength >= o.strength && len(n.conds) <= len(o.conds)
		})
		if i < 0 {
			return nil
		}
		n := spare[i]
		spare = slices.Delete(spare, i, i+1)
		return n
	}
	// One that says exactly what is there says that something is.
	exact := slices.ContainsFunc(fresh, func(n *claim) bool { return n.kind == asserted && n.strength == 3 })
	for _, o := range old {
		n := pairs[o]
		switch {
		case n != nil:
			kind, why := weaker(o, n)
			if why == "" {
				if o.kind == asserted && n.kind == asserted {
					f.sheltered(o, n)
				}
				continue
			}
			another := n.strength > 1 && !sameSubject(o, n) && !shortened(o, n)
			if kind == LoosenedAssertion && n.strength > 0 && n.kind == asserted &&
				(another || instead(o) != nil) {
				kind = ChangedExpectation
			}
			f.reportChanged(kind, o, n, why)
		case o.kind == logged || o.strength == 0 || o.kind == expected && (len(o.literals) < 3 || o.to == o.from):
		default:
			f.settleRemoved(o, instead(o), exact)
		}
	}
}

// settleRemoved judges an old claim that became none of the new ones. Instead is a new one
// that says as much; exact says that some new assertion says exactly what is there.
func (f *testFile) settleRemoved(o, instead *claim, exact bool) {
	i := f.firstGone(o)
	switch {
	case instead != nil:
		f.report(ChangedExpectation, instead.scope.side, instead.from, replaced[o.kind])
	case o.kind == asserted && o.onlyError() && i > 0 && !f.old.rows[i-1].fixed:
		f.report(ChangedExpectation, f.old, i, "a step of a test was removed, and that it is seen when it fails")
	case f.merged(o), f.saysElsewhere(o), o.kind == asserted && exact &&
		(o.strength == 1 || o.flag() != "" && len(o.literals) == 1):
		f.report(ChangedExpectation, f.old, i, replaced[o.kind])
	default:
		f.report(LoosenedAssertion, f.old, i, removed[o.kind])
	}
}

// merged reports whether a new assertion of the same file, in the same test or in one that is new, says
// all that an old one named, as firmly: two became one, or a test was split.
func (f *testFile) merged(o *claim) bool {
	if o.kind != asserted || f.new == nil {
		return false
	}
	return slices.ContainsFunc(f.new.scopes, func(sc *scope) bool {
		own := o.scope.place().pair != nil && sc.place() == o.scope.place().pair
		return (own || sc.pair == nil && sc.runs()) && slices.ContainsFunc(sc.claims, func(n *claim) bool {
			return !f.new.rows[n.to].fixed && n.kind == asserted && n.strength >= o.strength && n.eases <= o.eases &&
				len(n.conds) <= len(o.conds) && n.names(o)
		})
	})
}

// names reports whether a claim names all that another does, but how that asserts.
func (c *claim) names(o *claim) bool {
	said := 0
	for i, t := range o.tokens {
		called := t.kind == word && i+1 < len(o.tokens) && o.tokens[i+1].text == "("
		switch {
		case t.kind == sign, called && slices.ContainsFunc(nameWords(t.text),
			func(w string) bool { return asserting[w] || requires(w) }):
		case c.bag[t.text] == 0:
			return false
		default:
			said++
		}
	}
	return said > 1
}

// saysElsewhere reports whether lines that were added name all values of a claim.
func (f *testFile) saysElsewhere(c *claim) bool {
	return c.tells() && !slices.ContainsFunc(c.tokens, func(t token) bool { return value(t) != "" && !f.added[t.text] })
}

// onlyError reports whether a claim says only that what was done before did not fail.
func (c *claim) onlyError() bool {
	err := false
	for i, t := range c.tokens {
		called := i+1 < len(c.tokens) && (c.tokens[i+1].text == "(" || c.tokens[i+1].text == ".")
		switch {
		case t.kind == text || t.kind == number:
			return false
		case t.kind != word || called || i > 0 && c.tokens[i-1].text == "." || handles[t.text] || t.text == "if":
		case t.text == "err":
			err = true
		case t.text != "nil":
			return false
		}
	}
	return err
}

var (
	removed = [...]string{asserted: "an assertion was removed", tabled: "a case of a test was removed",
		expected: "cases or expected values of a test were removed"}
	replaced = [...]string{asserted: "an assertion was replaced by another",
		tabled:   "a case of a test was replaced by another",
		expected: "cases or expected values of a test were replaced by others"}
)

// likest pairs old claims with new ones, each with one at most, and marks these as
// used.
func likest(old, fresh []*claim) map[*claim]*claim {
	pairs := map[*claim]*claim{}
	if len(old)*len(fresh) > maxPairs {
		return pairs
	}
	type likeness struct {
		o, n  *claim
		score float64
	}
	var all []likeness
	for _, o := range old {
		for _, n := range fresh {
			if o.kind != n.kind && !(o.kind == asserted && n.kind == logged) {
				continue
			}
			score := alike(o, n)
			if o.scope.pair == n.scope {
				score += 0.1
			}
			if n.kind == logged {
				score -= 0.2
			}
			if score >= 0.3 {
				all = append(all, likeness{o, n, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b likeness) int { return -cmp.Compare(a.score, b.score) })
	for _, l := range all {
		if pairs[l.o] == nil && !l.n.used {
			pairs[l.o], l.n.used = l.n, true
		}
	}
	return pairs
}

// reportChanged reports a claim that became another at its first line that is new.
func (f *testFile) reportChanged(kind FindingKind, o, n *claim, why string) {
	for i := n.from; i <= n.to; i++ {
		if r := &n.scope.side.rows[i]; !r.fixed && (len(r.tokens) > 0 || n.from == n.to) {
			f.report(kind, n.scope.side, i, why)
			return
		}
	}
	f.report(kind, f.old, f.firstGone(o), why)
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
