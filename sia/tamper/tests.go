package tamper

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// diffed is an analysed change of a test file.
type diffed struct {
	*Change
	was, is       role
	old, new      *side
	removedLines  map[string]bool // removed lines, by their spelling
	existedBefore map[*scope]bool // cache of existed
	// functions are the names of functions with removed declarations, and of removed files, after "func ", in the whole
	// change set.
	functions map[string]bool
	called    map[string]bool  // calls in lines added to existing code, as "name("
	fresh     map[string]bool  // names of new test files, without endings
	uses      map[string][]int // rows of the new side that mention a name, but for imports
	// lost are the names that removed lines import, and the calls in them of what belongs to something.
	lost     map[string]bool
	findings []Finding
}

// tests reports changes of tests in a change set. gone are lines of other code, as from removed.
func tests(changes []Change, gone map[string]bool) []Finding {
	all, out := []*diffed{}, []Finding{}
	functions, called, fresh := maps.Clone(gone), map[string]bool{}, map[string]bool{}
	for i := range changes {
		c := &changes[i]
		was, is := roleOf(c.before()), roleOf(c.Path)
		name := func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
		if c.Status == "added" {
			fresh[name(c.Path)] = fresh[name(c.Path)] || is.validates()
		} else if c.Status != "modified" {
			functions["func "+name(c.before())] = true
		}
		l := cmp.Or(was.lang, is.lang)
		if !was.test && !was.maybe && !is.test && !is.maybe || l == nil {
			continue
		}
		why := ""
		switch {
		case c.Opaque || c.Status == "deleted" && len(c.Hunks) == 0:
			why = "tests were deleted, or changed or added beyond comparing"
		case c.Status == "renamed" && was.named && was.runs() && !(is.named && is.runs()),
			c.Status == "renamed" && byDefault.MatchString(c.before()) && !byDefault.MatchString(c.Path) &&
				!slices.ContainsFunc(changes, func(o Change) bool { return roleOf(o.Path).runner }):
			why = "tests are not found any more by their file's name"
		}
		if why != "" {
			if was.test && (c.Status != "added" || c.Opaque) {
				out = append(out, Finding{Kind: DeletedTest, Path: c.Path, Why: why})
			}
			continue
		}
		d := &diffed{Change: c, was: was, is: is, removedLines: map[string]bool{}, existedBefore: map[*scope]bool{},
			functions: functions, called: called, fresh: fresh}
		old, new := c.sides()
		d.old = newSide(l, old, nil)
		d.new = newSide(l, new, d.old)
		d.old.findClaims()
		d.new.findClaims()
		for i := range old {
			if !old[i].unchanged {
				d.removedLines[spelling(old[i].raw)] = true
				functions["func "+old[i].function] = true
			}
		}
		for i := range new {
			for _, w := range names.FindAllString(new[i].bare, -1) {
				called[w] = called[w] || !new[i].unchanged && d.existed(i)
			}
		}
		all = append(all, d)
	}
	cancelMoved(all)
	for _, d := range all {
		d.reportRemoved()
		d.reportAdded()
		d.reportConstants()
		out = append(out, d.findings...)
	}
	return out
}

// isTestCode reports whether code in a scope is test code. In files of mixed code, only code in a scope is.
func (d *diffed) isTestCode(s *scope) bool { return d.was.test || d.is.test || s != nil }

// cancelMoved marks the tests and assertions that were removed in one place and added in another.
func cancelMoved(all []*diffed) {
	claims, scopes := map[string][]*claim{}, map[string][]*scope{}
	for _, d := range all {
		for _, c := range d.old.claims {
			if c.matched = !c.changed(d.new) || !d.isTestCode(c.scope); !c.matched {
				claims[c.text] = append(claims[c.text], c)
			}
		}
		for _, s := range d.old.scopes {
			n := s.counterpart(d.new)
			s.matched = d.is.runs() && n != nil && n.name == s.name && (n.marked() || !s.marked())
			if !s.matched {
				scopes[s.name] = append(scopes[s.name], s)
			}
		}
	}
	for _, d := range all {
		if d.is.runs() && (!d.new.tagged || d.old.tagged) {
			match(d, claims, scopes)
		}
	}
}

// marked reports whether an annotation above a scope makes it a test.
func (s *scope) marked() bool {
	return slices.ContainsFunc(s.side.rows[max(0, s.decl-5):s.decl+1], func(r row) bool { return r.marks })
}

// counterpart returns the scope that is declared on the same line of the other side, or nil.
func (s *scope) counterpart(other *side) *scope {
	r := &s.side.rows[s.decl]
	if !r.unchanged || other.rows[r.twin].scope == nil || other.rows[r.twin].scope.decl != r.twin {
		return nil
	}
	return other.rows[r.twin].scope
}

// match pairs removed claims and scopes with those added in d.
func match(d *diffed, claims map[string][]*claim, scopes map[string][]*scope) {
	for _, c := range d.new.claims {
		if c.matched = c.matched || !c.changed(d.old); c.matched {
			continue
		}
		gone := claims[c.text]
		if i := slices.IndexFunc(gone, func(g *claim) bool { return c.runs(true) || !g.runs(true) }); i >= 0 {
			gone[i].matched, c.matched = true, true
			claims[c.text] = slices.Delete(gone, i, i+1)
		}
	}
	for _, s := range d.new.scopes {
		if s.matched = s.matched || s.counterpart(d.old) != nil; s.matched {
			continue
		}
		if gone := scopes[s.name]; len(gone) > 0 {
			gone[0].matched, s.matched = true, true
			scopes[s.name] = gone[1:]
		}
	}
}

// reportRemoved reports the tests and assertions that were removed and not added again. As many as were added count as
// renamed.
func (d *diffed) reportRemoved() {
	lost := slices.DeleteFunc(slices.Clone(d.old.scopes), func(s *scope) bool { return s.matched })
	surplus := len(lost)
	for _, s := range d.new.scopes {
		if !s.matched && d.is.runs() {
			surplus--
		}
	}
	deleted := map[*scope]bool{}
	for _, s := range lost[:max(0, surplus)] {
		deleted[s] = true
		switch r := &d.old.rows[s.decl]; {
		case deleted[s.above]:
		case s.maySkip():
			d.report(ChangedExpectation, r, "a test that was skipped was deleted")
		default:
			d.report(DeletedTest, r, "a test was deleted")
		}
	}
	surplus = 0
	for _, c := range d.new.claims {
		if c.kind == assertion && !c.matched && d.isTestCode(c.scope) && !always.MatchString(d.new.rows[c.first].code) {
			surplus--
		}
	}
	for _, c := range d.old.claims {
		for s := c.scope; s != nil && !c.matched; s = s.above {
			c.matched = deleted[s]
		}
		if !c.matched && c.kind == assertion {
			surplus++
		}
	}
	for _, c := range d.old.claims {
		switch {
		case c.matched:
		case c.kind == datum:
			d.report(ChangedExpectation, d.replacementRow(c), "data that a test compares with was changed")
		case surplus > 0:
			r, why := c.line(), "an assertion is gone, and fewer came than went"
			if r.unchanged {
				r, why = &d.new.rows[r.twin], "an assertion does not count any more"
			}
			d.report(LoosenedAssertion, r, why)
		default:
			d.report(ChangedExpectation, d.replacementRow(c), "an assertion was changed")
		}
	}
}

var (
	// gives matches a line that gives a name a value: an assignment, or let or subject of RSpec, or a variable of Go
	// without a value.
	gives = lazyregexp.New(`^\s*(?:(?:const|let|var|val|final|auto|static|mut)\s+)*(?:[\w<>\[\].?&*]+\s+)?(\w+)` +
		`(?:\s*,\s*\w+)*(?:\s*:\s*[\w<>\[\] .|&]+)?\s*:?=([^=~>].*)$|^\s*(?:let!?\(\s*:(\w+)\s*\)|(subject))\s*\{(.*)\}|` +
		`^\s*var\s+(\w+)\s+[\w.\[\]*]+\s*$`)
	// valueNames matches names and suffixes of constants; computes matches what is left of a computed value.
	valueNames = lazyregexp.New(`\b(?:true|false|nil|null|None|True|False|undefined|NaN|[uif](?:8|16|32|64))\b|\b\d\w*`)
	computes   = lazyregexp.New(`[A-Za-z_]`)
	expected   = lazyregexp.New(`(?i)want|exp`)
	word       = lazyregexp.New(`\w+`)
)

// given returns the name that a row gives a value, and whether the value is computed; name is empty for another row.
func (r *row) given() (name string, computed bool) {
	m := gives.FindStringSubmatch(r.bare)
	if m == nil {
		return "", false
	}
	return m[1] + m[3] + m[4] + m[6], computes.MatchString(valueNames.ReplaceAllString(m[2]+m[5], ""))
}

// reportConstants reports names in tests that were computed and are constants now.
func (d *diffed) reportConstants() {
	for i := range d.new.rows {
		r := &d.new.rows[i]
		name, computed := r.given()
		wasComputed := func(o row) bool {
			had, computed := o.given()
			return !o.unchanged && o.scope != nil && o.scope.name == r.scope.name && had == name && computed
		}
		if !r.unchanged && r.scope != nil && name != "" && !computed && !expected.MatchString(name) &&
			slices.ContainsFunc(d.old.rows, wasComputed) {
			d.report(ChangedExpectation, r, "what a test computed is a constant now")
		}
	}
}

// replacementRow returns the row that replaced a removed claim, else the claim's own row.
func (d *diffed) replacementRow(c *claim) *row {
	rows, at := d.old.rows, c.first
	for at < c.last && rows[at].unchanged {
		at++
	}
	above, i := at, at
	for above >= 0 && !rows[above].unchanged {
		above--
	}
	if above >= 0 {
		i = rows[above].twin + at - above
	}
	if i < len(d.new.rows) && !d.new.rows[i].unchanged {
		return &d.new.rows[i]
	}
	return &rows[at]
}

func (d *diffed) report(kind FindingKind, r *row, why string) {
	d.findings = append(d.findings, Finding{Kind: kind, Path: d.Path, Line: r.n, Text: quoted(r.raw), Why: why})
}
