package tamper

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// declares matches a declaration other than of a function.
	declares = lazyregexp.New(`\bmacro_rules!\s*(\w+)|^\s*#\s*define\s+(\w+)|^\s*(?:export\s+)?class\s+(\w+)|` +
		`^\s*(?:(?:export\s+)?(?:const|let|var|val)\s+|(?:\w+\.)*)(\w+)\s*:?=[^=>~]`)
	// imports matches a line that loads other code, source the parts of it that say from where.
	imports = lazyregexp.New(`^\s*(?:import|from|use|(?:pub\s+)?mod|include|#\s*include)\b|^\W*using\s+[\w.= ]+;|` +
		`^\s*require(?:_\w+)?\s*['"]|\b(?:require|import)\(`)
	source = lazyregexp.New(`^\s*from\s+\S+\s|\w+(?:\.|::|\\)`)
	// fakeNames matches names of what stands in for code, stands a call that puts it there, quotation what that names.
	fakeNames = lazyregexp.New(`(?i)(?:^|[^a-z])(?:fake|mock|stub|dummy|double)s?(?:[^a-z]|$)`)
	stands    = lazyregexp.New(`(?i)(?:mock|fake|stub|\b(?:spy|patch))\w*[.(]|(?:setattr|receive)\(|\b(?:modules|cache)\[`)
	quotation = lazyregexp.New(`["'\x60]([^"'\x60\s]+)["'\x60]|[( ]:(\w+)`)
	// mention matches a name, with what comes before it and after it.
	mention = lazyregexp.New(`(\.|::|->)?([\pL_]\w*)[?!]?(\s*\()?`)
)

// maxQuotations is how many quotations of a line are looked up. One with more of them is reported.
const maxQuotations = 100

// declared returns the name that a row declares.
func (r *row) declared() string { return cmp.Or(r.function, firstGroup(declares, r.bare)) }

// mentions returns the names on a line, as "name" or ".name"; calls once more, as "name(" or ".name(".
func mentions(bare string) (out []string) {
	for _, m := range mention.FindAllStringSubmatch(bare, -1) {
		name := strings.Repeat(".", min(1, len(m[1]))) + m[2]
		if out = append(out, name); m[3] != "" {
			out = append(out, name+"(")
		}
	}
	return out
}

// index fills uses and lost, once.
func (d *diffed) index() {
	if d.uses != nil {
		return
	}
	d.uses, d.lost = map[string][]int{}, map[string]bool{}
	for i := range d.new.rows {
		if r := &d.new.rows[i]; !imports.MatchString(r.code) {
			for _, name := range mentions(r.bare) {
				d.uses[name] = append(d.uses[name], i)
			}
		}
	}
	for _, r := range d.old.rows {
		loads, code := imports.MatchString(r.code), r.bare
		if r.unchanged || loads && fakeNames.MatchString(r.code) {
			continue
		} else if loads {
			code = source.ReplaceAllString(code, "")
		}
		for _, name := range mentions(code) {
			call, of := strings.CutPrefix(name, ".")
			d.lost[call] = d.lost[call] || loads || of && strings.HasSuffix(call, "(")
		}
		d.lost["import"] = d.lost["import"] || loads
	}
}

// used reports whether another row mentions a name: one of the same test as row i, if that is in a test.
func (d *diffed) used(i int, unchanged bool, name string) bool {
	s := d.new.rows[i].scope
	return slices.ContainsFunc(d.uses[name], func(at int) bool {
		return at != i && (s == nil || s.decl <= at && at < s.end) && (d.new.rows[at].unchanged || !unchanged)
	})
}

// fakes reports an added row that puts something else in the place of what an existing test calls: a declaration or an
// import of the same name, or a call that names it.
func (d *diffed) fakes(i int) bool {
	d.index()
	r := &d.new.rows[i]
	used := func(name string) bool { return d.used(i, true, name) || d.used(i, true, "."+name) }
	replaces := func(name string) bool { return d.lost[name] && d.used(i, false, name) }
	if imports.MatchString(r.code) {
		words := word.FindAllString(r.code, -1)
		moved := func(w string) bool { return d.functions["func "+w] }
		replacesOther := func(w string) bool { return replaces(w) && !moved(w) }
		loadsMoved := func(w string) bool { return moved(w) && (replaces(w) || d.fresh[w]) }
		fresh := slices.ContainsFunc(words, func(w string) bool { return d.fresh[w] })
		switch {
		case (fresh || fakeNames.MatchString(r.code)) && slices.ContainsFunc(words, replacesOther):
			d.report(LoosenedAssertion, r, "a test calls this in the place of what it called")
		case fresh && d.lost["import"] && !slices.ContainsFunc(words, loadsMoved):
			d.report(ChangedExpectation, r, "a test loads other code")
		}
		return true
	}
	name := r.declared()
	hides := d.used(i, true, name+"(") || patches.MatchString(r.code) && used(name+"(") ||
		r.function != "" && asserts.MatchString(name+"(") && used(name) // perhaps without parentheses
	if name != "" && !d.functions["func "+name] && (replaces(name) || replaces(name+"(") || hides) &&
		!slices.ContainsFunc(d.old.rows, func(o row) bool { return o.declared() == name }) {
		d.report(LoosenedAssertion, r, "a test calls this in the place of what it called")
		return true
	}
	named := func(m []string) bool {
		whole := m[1] + m[2]
		loads := func(o row) bool { return o.unchanged && strings.Contains(o.code, whole) && imports.MatchString(o.code) }
		return used(whole[strings.LastIndexAny(whole, "./:")+1:]+"(") ||
			len(whole) > 3 && slices.ContainsFunc(d.new.rows, loads)
	}
	quotations := quotation.FindAllStringSubmatch(r.code, maxQuotations)
	if stands.MatchString(r.code) && (len(quotations) == maxQuotations || slices.ContainsFunc(quotations, named)) {
		d.report(ChangedExpectation, r, "something is put in the place of what a test calls")
		return true
	}
	return false
}

// fakesForAll reports whether a row replaces code for many tests: in a fixture that all use, of a conftest.py or of
// tests that existed, or at load time or in a hook of a conftest.py.
func (d *diffed) fakesForAll(i int) bool {
	rows, outer := d.new.rows, i
	if !patches.MatchString(rows[i].code) || patchesOwn.MatchString(rows[i].code) || !d.isConftest() && !d.existed(i) {
		return false
	}
	for j := i; j >= 0; j = d.above(j) {
		outer = j
		for k := j - 1; k >= max(0, j-6) && rows[j].function != "" && rows[k].function == ""; k-- {
			if autouse.MatchString(rows[k].code) {
				return true
			}
		}
	}
	return d.isConftest() && (rows[outer].function == "" || strings.HasPrefix(rows[outer].function, "pytest_"))
}
