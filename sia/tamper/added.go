package tamper

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// reportAdded reports lines added to tests that keep assertions from failing. In entirely new code, only lines that
// affect other tests are reported: all of them, or through a called function that only skips.
func (d *diffed) reportAdded() {
	for i := range d.new.rows {
		r := &d.new.rows[i]
		stood := r.unchanged && d.old.rows[r.twin].empty() == r.empty() || len(strings.TrimSpace(r.raw)) < 3
		if stood || !d.isTestCode(r.scope) || !d.is.test && !d.is.maybe || d.removedLines[spelling(r.raw)] {
			continue
		}
		old := d.existed(i)
		switch reach := reachesAll.MatchString(r.code) || d.isConftest() && marksAll.MatchString(r.code); {
		case old && sometimes.MatchString(r.raw) && (!r.empty() || d.is.lang == &golang):
			d.report(ChangedExpectation, r, "a test runs only sometimes")
		case old && suppresses.MatchString(r.raw):
			d.report(ChangedExpectation, r, "a check is told to look away")
		case r.empty():
		// Go's runner takes os.Exit(0) in a test for a failure.
		case exits.MatchString(r.code) && (d.new.lang != &golang || r.scope == nil || r.scope.name == "TestMain" ||
			!strings.Contains(r.code, "os.Exit(")), atEnd.MatchString(r.code):
			d.report(SkippedTest, r, "the run of the tests may end as if all was well")
		case d.Status != "added" && only.MatchString(r.code):
			d.report(SkippedTest, r, "only some of the tests run")
		case skips.MatchString(r.code) && (old || reach || (r.scope == nil || r.scope.group) && d.guard(i) < 0 &&
			d.called[cmp.Or(r.function, d.new.rows[max(0, d.above(i))].function)+"("]):
			kind, why := SkippedTest, "a test is skipped, or its failure does not count"
			if at := d.guard(i); at >= 0 && !environment.MatchString(d.new.rows[at].code) {
				kind, why = ChangedExpectation, "a test is skipped under a condition"
			}
			d.report(kind, r, why)
		case d.fakesForAll(i):
			d.report(ChangedExpectation, r, "something is put in the place of code, for many tests at once")
		case !old:
		case d.fakes(i):
		case swallows.MatchString(r.code):
			d.report(LoosenedAssertion, r, "a failure is ignored")
		case r.claim != nil && r.claim.kind == assertion && (environment.MatchString(r.code) || always.MatchString(r.code)):
			d.report(LoosenedAssertion, r, "an assertion does not always count")
		case returnsEarly.MatchString(r.bare) && d.before(i):
			d.report(SkippedTest, r, "a test may end before its assertions")
		default:
			d.opens(i)
		}
	}
	for _, s := range d.new.scopes { // Go calls it instead of running the tests
		rows := d.new.rows[s.decl:s.end]
		runs := func(r row) bool { return strings.Contains(r.bare, ".Run()") || strings.Contains(r.bare, "(m)") }
		if s.name == "TestMain" && !rows[0].unchanged && !slices.ContainsFunc(rows, runs) {
			d.report(SkippedTest, &rows[0], "TestMain does not run the tests")
		}
	}
}

// isConftest reports whether the file is a conftest.py, which pytest loads before the tests of its folder.
func (d *diffed) isConftest() bool { return path.Base(d.Path) == "conftest.py" }

// existed reports whether a row is in code that existed before: in an existing test, or outside tests in an existing
// file.
func (d *diffed) existed(i int) bool {
	s := d.new.rows[i].scope
	for s != nil && s.group && s.above != nil {
		s = s.above
	}
	if known, ok := d.existedBefore[s]; ok || s == nil || d.Status == "added" {
		return known || s == nil && d.Status != "added"
	}
	stays := 0 // unchanged lines of the test minus added ones
	for j := s.decl; j < s.end; j++ {
		if r := &d.new.rows[j]; r.unchanged && len(strings.TrimSpace(r.bare)) > 3 {
			stays++
		} else if !r.unchanged {
			stays--
		}
	}
	sameName := func(o *scope) bool { return o.name == s.name }
	d.existedBefore[s] = stays > 0 || s.counterpart(d.old) != nil || slices.ContainsFunc(d.old.scopes, sameName)
	return d.existedBefore[s]
}

// above returns the row that opens the block of row i: the nearest earlier one with less indentation; -1 for none.
func (d *diffed) above(i int) int {
	for j := i - 1; j >= 0 && d.new.rows[i].indent > 0; j-- {
		if r := &d.new.rows[j]; !r.empty() && r.indent < d.new.rows[i].indent {
			return j
		}
	}
	return -1
}

// guard returns the row of the condition that row i is under or contains; -1 for none.
func (d *diffed) guard(i int) int {
	above := d.above(i)
	if conditional.MatchString(d.new.rows[i].code) {
		return i
	} else if above >= 0 && condition.MatchString(d.new.rows[above].bare) && !never.MatchString(d.new.rows[above].bare) {
		return above
	}
	return -1
}

var (
	// conditional matches a statement with its condition on the same line.
	conditional = lazyregexp.New(`^\s*(?:if|unless)\b|\s(?:if|unless)\s`)
	// callback matches the start of a nested function, closes the end of a block.
	callback = lazyregexp.New(`=>\s*[{(]?\s*$|\bfunc(?:tion)?\b.*\{\s*$|->\s*\{?\s*$|\bdo(?:\s*\|.*\|)?\s*$|\{\s*\|.*\|` +
		`\s*$|\bdef\b`)
	closes = lazyregexp.New(`^\s*(?:\}|end\b|except\b|finally\b|rescue\b|ensure\b|else\b|elif\b|elsif\b|#\s*e)`)
	// loops matches the start of a loop, variables the part of it that names the loop variable, and cuts an expression
	// that selects fewer elements.
	loops     = lazyregexp.New(`^\s*(?:for|foreach|while|until)\b|\.(?:forEach|for_each|each(?:_\w+)?)\b|\bparametrize\(`)
	variables = lazyregexp.New(`^\s*(?:for(?:each)?|while|until)\b(?:[^;]*?(?:\b(?:in|of|range)\b|\s:\s))?|` +
		`\.(?:forEach|for_each|each(?:_\w+)?)\s*(?:\(\s*(?:\w+\s+)?(?:\(?[\w\s,{}\[\]:]*\)?\s*=>|\w*\s*\(|&?\|)|` +
		`\{|do\b).*|\sas\s+\$.*|[{:]\s*$`)
	cuts = lazyregexp.New(`\[[^\[\]]*(?::|\.\.)[^\[\]]*\]|(?i:\.(?:slice|filter|take|skip|limit|first|last|drop|select|` +
		`reject|where|sublist|head|tail|sample)\w*\b)|\b(?:islice|filter)\(|\bif\b|\[\s*\]\s*(?:[);,.]|$)|\{\s*\}|` +
		`\b(?:0|nil|None|null|(?i:empty)\w*)\b`)
	names = lazyregexp.New(`[\pL_]\w+\(?`) // names and calls of at least two letters
)

// loopChange compares the range of a loop with those of the removed ones of the same test. why is empty if there is
// none, or one that is no larger or other.
func (d *diffed) loopChange(i int) (kind FindingKind, why string) {
	d.index()
	in, is := d.new.rows[i].scope, variables.ReplaceAllString(d.new.rows[i].bare, "")
	for _, o := range d.old.rows {
		if o.unchanged || (in == nil) != (o.scope == nil) || in != nil && in.name != o.scope.name ||
			!loops.MatchString(o.bare) || strings.Contains(o.bare, "parametrize") != strings.Contains(is, "parametrize") {
			continue
		}
		was := variables.ReplaceAllString(o.bare, "")
		had, has := names.FindAllString(was, -1), names.FindAllString(is, -1)
		switch {
		case len(cuts.FindAllString(is, -1)) > len(cuts.FindAllString(was, -1)):
			return LoosenedAssertion, "a loop around assertions goes over less"
		case slices.ContainsFunc(has, func(w string) bool { return w[len(w)-1] == '(' && !slices.Contains(had, w) }),
			slices.ContainsFunc(had, func(w string) bool { return !slices.Contains(has, w) && d.used(i, false, w) }):
			kind, why = ChangedExpectation, "a loop around assertions goes over something else"
		default:
			return "", ""
		}
	}
	return kind, why
}

// opens reports a new block around existing assertions.
func (d *diffed) opens(i int) {
	rows, r := d.new.rows, &d.new.rows[i]
	kind, why := LoosenedAssertion, ""
	switch {
	case never.MatchString(r.bare):
		kind, why = SkippedTest, "assertions are in a block that does not run"
	case tries.MatchString(r.bare):
		why = "a failure of an assertion may be caught"
	case condition.MatchString(r.bare) && r.claim == nil:
		why = "an assertion counts only under a condition"
	case loops.MatchString(r.bare):
		kind, why = d.loopChange(i)
	}
	if why == "" {
		return
	}
	for j, seen := i, 0; j < len(rows) && seen < 20; j++ {
		t := &rows[j]
		if j > i && !t.empty() && (t.indent < r.indent || t.indent == r.indent && closes.MatchString(t.bare)) {
			return
		}
		if c := t.claim; c != nil && c.kind == assertion && c.first == j && (c.matched || j == i) {
			d.report(kind, r, why)
			return
		}
		if !t.empty() {
			seen++
		}
	}
}

// before reports whether a line returns from a test before its assertions or before all of it, or is the first line of
// a helper.
func (d *diffed) before(i int) bool {
	rows, s, end := d.new.rows, d.new.rows[i].scope, len(d.new.rows)
	opener := d.above(i)
	if s != nil && !s.group {
		for end = s.end; opener > s.decl && !callback.MatchString(rows[opener].bare); {
			opener = d.above(opener) // a return in a nested function ends only that function
		}
		if opener == s.decl && i == opener+1 && i+1 < end && rows[i+1].unchanged && !conditional.MatchString(rows[i].bare) {
			return true // nothing of the test runs
		}
	} else if j := i - 1; opener < 0 || j != opener || !rows[j].unchanged || rows[j].function == "" {
		return false
	}
	for j := i + 1; j < end; j++ {
		if r := &rows[j]; !r.empty() && opener >= 0 && r.indent <= rows[opener].indent {
			return false
		} else if r.claim != nil && r.claim.kind == assertion && r.claim.first > i {
			return true
		}
	}
	return false
}

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
