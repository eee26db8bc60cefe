package tamper

import "slices"

// index finds new claims by what they say.
type index map[string][]*claim

func (x index) add(cs []*claim) {
	for _, c := range cs {
		if !c.used {
			x[c.text] = append(x[c.text], c)
		}
	}
}

// take uses up one claim that says the same as c: of those that fit, the one with
// as many conditions.
func (x index) take(c *claim, fits func(*claim) bool) *claim {
	var found *claim
	for _, n := range x[c.text] {
		if n.used && !(n.shared && fits != nil) || n.kind != c.kind || fits != nil && !fits(n) {
			continue
		}
		if found == nil || len(n.conds) == len(c.conds) && len(found.conds) != len(c.conds) {
			found = n
		}
	}
	if found != nil {
		found.used = true
	}
	return found
}

// matchClaims finds for each old claim the new one that says the same in the same
// test.
func (f *testFile) matchClaims() {
	f.lost = nil
	if f.old == nil {
		return
	}
	for _, o := range f.old.all() {
		switch {
		case !f.counts(o):
			continue
		case o.pair == nil:
			f.lost = append(f.lost, o.claims...)
			continue
		}
		same := index{}
		same.add(o.pair.claims)
		for _, c := range o.claims {
			if n := same.take(c, nil); n == nil {
				f.lost = append(f.lost, c)
			} else if c.kind == asserted && c.strength > 0 {
				f.sheltered(c, n)
			}
		}
	}
}

// matchMoved finds lost claims elsewhere in the change set: what a helper took over
// that the test calls or gave back to its callers, and what is said more
// often than before, where it names a value that tells it from others.
func (s *search) matchMoved() {
	helpers, added := map[*lang]index{}, map[*lang]index{}
	for _, f := range s.files {
		if f.new == nil {
			continue
		}
		l := f.new.lang
		if helpers[l] == nil {
			helpers[l], added[l] = index{}, index{}
		}
		for _, n := range f.new.all() {
			if n.place() == f.new.file {
				helpers[l].add(n.claims)
			} else {
				added[l].add(n.claims)
			}
		}
	}
	for _, f := range s.files {
		f.lost = slices.DeleteFunc(f.lost, func(c *claim) bool {
			l := f.old.lang
			own := c.scope.place() == f.old.file
			if n := helpers[l].take(c, func(n *claim) bool {
				return own && n.scope.side == f.new || s.calledFrom(c.scope.place().pair, n)
			}); n != nil {
				n.shared = !own
				return true
			}
			gone := c.scope.pair == nil
			return f.stands(c) || added[l].take(c, func(n *claim) bool {
				return (own || gone || c.tells()) && len(n.conds) <= len(c.conds) && n.scope.runs()
			}) != nil
		})
	}
}

// stands reports whether no line of a claim was touched, and what holds them now is a
// test that runs: one was split, or its cases became parameters. What is claimed there
// by itself must not stand for another claim already. That there is no error is about the
// line before, which must not have been touched either.
func (f *testFile) stands(c *claim) bool {
	from := c.from
	if c.onlyError() {
		from = max(0, from-1)
	}
	for i := from; i <= c.to; i++ {
		r := &f.old.rows[i]
		if !r.fixed || f.new == nil {
			return false
		}
		n := &f.new.rows[r.twin]
		if n.text != r.text || n.inside != r.inside || n.scope.place() == f.new.file || !n.scope.runs() {
			return false
		}
	}
	at := f.old.rows[c.from].twin
	if at-f.old.rows[from].twin != c.from-from {
		return false
	}
	for _, n := range f.new.rows[at].scope.claims {
		if n.from == at && n.text == c.text {
			if n.used {
				return false
			}
			n.used = true
		}
	}
	return len(f.new.conditions(at)) <= len(c.conds)
}

// tells reports whether a claim names a value that tells it from others.
func (c *claim) tells() bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return value(t) != "" })
}

// calledFrom reports whether a test calls the helper that has a claim.
func (s *search) calledFrom(test *scope, c *claim) bool {
	if test == nil {
		return false
	}
	called := test.called()
	side := c.scope.side
	for j := side.above(c.from); j >= 0; j = side.above(j) {
		r := &side.rows[j]
		for i, t := range r.tokens {
			if t.kind == word && called[t.text] && (i == 0 || i+1 == len(r.tokens) || declaring[r.tokens[i-1].text] ||
				r.tokens[i+1].text == "(") && !keywords[t.text] {
				return true
			}
		}
	}
	return false
}

// keywords look like calls and are none.
var keywords = set("if for while switch catch func function def fn return do end describe it test context expect " +
	"class self let")

// called are the words that look like calls in a scope.
func (s *scope) called() map[string]bool {
	out := map[string]bool{}
	for i := s.first; i >= 0 && i < s.end; i++ {
		ts := s.side.rows[i].tokens
		for k, t := range ts {
			if t.kind == word && (k+1 == len(ts) || ts[k+1].text == "(" || s.side.lang == &ruby) {
				out[t.text] = true
			}
		}
	}
	return out
}

// sheltered reports an assertion that was put under a condition, or where its
// failure is not seen.
func (f *testFile) sheltered(old, new *claim) {
	if len(new.conds) <= len(old.conds) || old.scope.pair != new.scope {
		return
	}
	for _, cond := range new.conds {
		if slices.Contains(old.conds, cond) {
			continue
		}
		kind, why := LoosenedAssertion, "an assertion was put under a condition"
		if cond == "try" {
			why = "an assertion was put where its failure is not seen"
		} else if new.scope.place().asserts > old.scope.place().asserts {
			kind = ChangedExpectation // others came beside it, which may be the other condition's
		}
		f.report(kind, new.scope.side, new.from, why)
		return
	}
}
