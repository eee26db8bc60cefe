package evidence

import (
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/sia"
)

// findings are differences, as in [sia.TestEvidence].
type findings struct {
	early, hushed, red, gone, dropped, broken []string

	unsteady []string // tests that failed once in their base version at the head; added to broken once confirmed

	edited []string // confirmed apart from the others, since the base's tests fail on the base as well

	replaced map[string]replacement // by group, until settled
}

// replacement describes tests that are gone and fail in their base version, in a group with at least as many new tests.
type replacement struct {
	gone  []string // as group::test
	fresh []string // tests not in the base
}

func (f findings) addTo(e *sia.TestEvidence) {
	e.Early, e.Hushed, e.Red = append(e.Early, f.early...), append(e.Hushed, f.hushed...), append(e.Red, f.red...)
	e.Gone = append(e.Gone, f.gone...)
	e.Dropped, e.Broken = append(e.Dropped, f.dropped...), append(e.Broken, f.broken...)
	e.Edited = append(e.Edited, f.edited...)
}

// against returns the groups with findings against the change.
func (f findings) against() map[string]bool {
	out := map[string]bool{}
	for _, list := range [][]string{f.early, f.hushed, f.red, f.gone, f.broken, f.unsteady} {
		for _, s := range list {
			g, _, _ := strings.Cut(s, "::")
			out[g] = true
		}
	}
	return out
}

// filter removes the findings for which keep returns false.
func (f findings) filter(keep func(finding string) bool) findings {
	for _, list := range []*[]string{&f.early, &f.hushed, &f.red, &f.gone, &f.dropped, &f.broken,
		&f.unsteady} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(s string) bool { return !keep(s) })
	}
	return f
}

// compare compares the runs, group by group.
func (p *pass) compare() (out findings) {
	out.replaced = map[string]replacement{}
	for _, g := range slices.Sorted(maps.Keys(p.results[atBase])) {
		base := p.results[atBase][g]
		head, atAll := p.results[atHead][g]
		over, overlaid := p.results[atOver][g]
		if !overlaid {
			over = head
		}
		if atAll && overlaid && p.editsTests(g) {
			out.edited = append(out.edited, passAsEdited(p.lang, g, base, head, over)...)
		}
		switch {
		case !base.Built:
			p.omit("%s: its tests do not build on the base commit here: %s", g, base.Log)
		case !base.Ran:
			p.omit("%s: its tests did not come to an end on the base commit, or printed too much", g)
		case atAll && !head.Built && !over.Ran:
			p.omit("%s: its tests do not build at the head here: %s", g, head.Log)
			if !over.Built && !p.mayLack(g, head, over) {
				out.broken = append(out.broken, g)
				p.out.Tests += len(outermost(p.lang, base.Tests, testrun.Passed))
			}
		case !atAll && p.mayBeUnrun(atHead, g):
			p.omit("%s: its tests were not run at the head", g)
		case atAll && !head.Ran && !over.Ran, overlaid && over.Built && !over.Ran, !overlaid && p.needsOverlay(g):
			p.omit("%s: its tests did not come to an end at the head, or printed too much", g)
		case atAll && !head.Ran: // the base's tests do without the head's; those are judged by their text
			if head.Built {
				p.omit("%s: its tests did not come to an end at the head, or printed too much", g)
			} else {
				p.omit("%s: its tests do not build at the head here: %s", g, head.Log)
			}
			p.out.Tests += len(outermost(p.lang, base.Tests, testrun.Passed))
			out.group(p.lang, g, base, over.asIfRun(base), over)
		default:
			if base.End.Why != "" {
				p.omit("%s: its tests fail on the base commit here: %s", g, base.End.Why)
			}
			p.compared[g] = true
			p.out.Tests += len(outermost(p.lang, base.Tests, testrun.Passed))
			out.group(p.lang, g, base, head, over.asBuilt(base, p.edits(g)))
		}
	}
	for g, head := range p.results[atHead] { // new groups have no counterpart
		if _, known := p.results[atBase][g]; !known && head.Built && head.Ran && head.End.LastWord {
			p.compared[g] = true
		}
	}
	return out
}

// lacksElsewhere matches a build that fails because this machine's toolchain is too old, or lacks a library.
var lacksElsewhere = regexp.MustCompile(`requires (?:go|rustc) |rustc \S+ is not supported|older than the .* edition|` +
	`edition\w*[\x60"']* is required|pkg-config|fatal error: .*No such file|cannot find -l|linker .* not found|` +
	`executable file not found|invalid target release|release version \d+ not supported`)

// mayLack reports whether a group may fail to build at the head only because this machine lacks something.
func (p *pass) mayLack(g string, runs ...groupRun) bool {
	return p.unfetched || p.mayBeUnrun(atHead, g) || slices.ContainsFunc(runs, func(r groupRun) bool {
		return p.lang.Lacks(r.Log) || lacksElsewhere.MatchString(r.Log)
	})
}

// asIfRun returns a run of the head's tests that says nothing: those that passed on the base pass.
func (r groupRun) asIfRun(base groupRun) groupRun {
	r.Tests = maps.Clone(base.Tests)
	maps.DeleteFunc(r.Tests, func(_ string, o testrun.Outcome) bool { return o != testrun.Passed })
	return r
}

// mayBeUnrun reports whether a group without a result in a tree may just not have been run there.
func (p *pass) mayBeUnrun(n treeName, g string) bool {
	return slices.Contains(p.unrun[n], g) || !p.namesGroups() && len(p.unrun[n]) > 0
}

// needsOverlay reports whether a group is to be run with the base's tests on the head.
func (p *pass) needsOverlay(name string) bool {
	i := slices.IndexFunc(p.reached.groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return p.overlaid
	}
	return p.reached.groups[i].overlaid
}

// edits reports whether the change includes a group's file.
func (p *pass) edits(g string) bool {
	return slices.ContainsFunc(p.change.files, func(f fileChange) bool { return f.Path == g })
}

// editsTests reports whether the change edits, renames or deletes test code or data that a group may use. New files
// don't count, since an honest change adds tests. Where code is replaced along with tests, the base's tests ran with
// the base's code, and their failure at the head shows nothing.
func (p *pass) editsTests(g string) bool {
	edited := false
	for _, f := range p.change.files {
		if f.Path != g && p.isReplacedCode(f) {
			return false
		}
		edited = edited || f.Was.ID != "" && p.reached.isTest(f.Path) &&
			(!p.lang.Runs(f.Path) || slices.Contains(p.covering(f), g))
	}
	return edited
}

// passAsEdited returns the tests of a group that fail on the base, don't fail at the head, and fail there in their base
// version: the code did not make them pass, the edit of the tests did. If the group fails without such a test, as where
// the base's tests can't be built or loaded on the base, it returns the group.
//
// The edit may be what the issue asks for, as where a test expects the wrong result. Runs can't tell that from a test
// that was gutted, so this is treated as a failing base test is: the reviewer has to quote the sentence that
// asks for the new behavior, else a person is asked.
func passAsEdited(lang testrun.Language, g string, base, head, over groupRun) (out []string) {
	known := func(r groupRun) bool { return !r.Built || r.Ran }
	fails := func(r groupRun) bool { return !r.Built || r.End.Status != 0 }
	if !known(base) || !known(over) || !head.Built || !head.Ran || !fails(base) || !fails(over) {
		return nil
	}
	_, nests := lang.(testrun.Golang)
	for _, test := range slices.Sorted(maps.Keys(base.Tests)) {
		if base.Tests[test] != testrun.Failed || nests && strings.Contains(test, "/") {
			continue
		}
		now, was := head.Tests[test], over.Tests[test]
		flaky := slices.Contains(head.Flaky, test) || slices.Contains(over.Flaky, test)
		if !flaky && now != testrun.Failed && (now != "" || !fails(head)) && (was == testrun.Failed || !over.Built) {
			out = append(out, g+"::"+test)
		}
	}
	if len(out) > 0 || fails(head) || over.Built && len(over.Flaky) > 0 {
		return out
	}
	for test, outcome := range over.Tests { // of tests that ran on the base, more is known
		if _, known := base.Tests[test]; known && outcome == testrun.Failed {
			return nil
		}
	}
	return []string{g}
}

// asBuilt treats a test file that can't be loaded as one that does not build: it has none of the base's tests, and its
// run fails. That applies only to an edited file: others can fail to load because of settings or code that tests load.
func (r groupRun) asBuilt(base groupRun, edited bool) groupRun {
	if !edited || r.End.Status == 0 || len(base.Tests) == 0 {
		return r
	}
	for test := range base.Tests {
		if _, known := r.Tests[test]; known || slices.Contains(r.Flaky, test) {
			return r
		}
	}
	r.Built = false
	return r
}

// group compares one group: over is the head with the base's tests.
func (f *findings) group(lang testrun.Language, g string, base, head, over groupRun) {
	early := func(r groupRun) bool { return r.Ran && r.End.Status == 0 && !r.End.LastWord }
	if !early(base) && base.End.LastWord && (early(head) || early(over)) {
		f.early = append(f.early, g)
		return // missing tests are a consequence
	}
	if !hushed(base) && (hushed(head) || hushed(over)) {
		f.hushed = append(f.hushed, g)
	}
	if !over.Built {
		f.broken = append(f.broken, g)
	}
	passes := base.End.Status == 0 && len(outermost(lang, base.Tests, testrun.Passed)) > 0
	for _, test := range outermost(lang, head.Tests, testrun.Failed) {
		was, known := base.Tests[test]
		if was == testrun.Passed || !known && passes && !slices.Contains(base.Flaky, test) {
			f.red = append(f.red, g+"::"+test)
		}
	}
	var fresh []string // renamed or replacing tests
	for _, test := range outermost(lang, head.Tests, testrun.Passed) {
		if _, known := base.Tests[test]; !known {
			fresh = append(fresh, test)
		}
	}
	var gone []string
	ofBase, ofHead, ofOver := tallies(base), tallies(head), tallies(over)
	for _, test := range outermost(lang, base.Tests, testrun.Passed) {
		name := g + "::" + test
		now, still := head.Tests[test], over.Tests[test] == testrun.Passed
		runs := now == testrun.Passed
		of := baseName(test)
		switch {
		case now == testrun.Failed: // is red
		case slices.Contains(over.Flaky, test):
			f.unsteady = append(f.unsteady, name)
		case slices.Contains(head.Flaky, test): // judged by its text if its base version passes
			if !still {
				f.broken = append(f.broken, name)
			}
		case still && (runs || now == "" && ofHead[of].replaces(ofBase[of])):
		case still:
			f.dropped = append(f.dropped, name)
		case !over.Built:
			if !runs { // tests that still run are covered by the group's line
				f.broken = append(f.broken, name)
			}
		case !runs && ofHead[of] == tally{}:
			gone = append(gone, name)
		case !runs && over.Tests[test] == "" && ofOver[of].replaces(ofBase[of]):
		default:
			f.broken = append(f.broken, name)
		}
	}
	if len(gone) > len(fresh) {
		f.gone = append(f.gone, gone...)
	} else if len(gone) > 0 {
		f.replaced[g] = replacement{gone, fresh}
	}
}

// resolveReplaced runs new tests on the base if they replaced others. A new test that passes there does not depend on
// the change, so it does not replace a gone test; one that fails counts as a renamed base test that fails.
func (p *pass) resolveReplaced(ctx context.Context, f *findings) error {
	in := map[string]bool{}
	for g := range f.replaced {
		in[g] = true
	}
	runs, err := p.runGroups(ctx, atUnder, in, plain)
	if err != nil {
		return err
	}
	for g, r := range f.replaced {
		under, ran := runs[g]
		ran = ran && (under.Ran || !under.Built)
		showing := 0
		for _, test := range r.fresh {
			if ran && under.Tests[test] != testrun.Passed {
				showing++
			}
		}
		if len(r.gone) > showing {
			f.gone = append(f.gone, r.gone...)
		} else {
			f.broken = append(f.broken, r.gone...)
		}
	}
	return nil
}

// hushed reports whether a run exited with 0 although a test failed.
func hushed(r groupRun) bool {
	if !r.Ran || r.End.Status != 0 {
		return false
	}
	for _, o := range r.Tests {
		if o == testrun.Failed {
			return true
		}
	}
	return false
}

// baseName returns a test's name without parameters in the form of pytest and JUnit, since other values change the
// name.
func baseName(test string) string {
	if name, _, varies := strings.Cut(test, "["); varies && name != "" && strings.HasSuffix(test, "]") {
		return name
	}
	return test
}

// tally counts the tests of one name with any parameters.
type tally struct{ passed, failed int }

// tallies counts a group's tests by name without parameters.
func tallies(r groupRun) map[string]tally {
	out := map[string]tally{}
	for test, outcome := range r.Tests {
		name := baseName(test)
		n := out[name]
		switch outcome {
		case testrun.Passed:
			n.passed++
		case testrun.Failed:
			n.failed++
		case testrun.Skipped:
		}
		out[name] = n
	}
	return out
}

// replaces reports whether tests with other parameters, such as the time of day, are equivalent to those of the base:
// at least as many pass, and none fails.
func (t tally) replaces(base tally) bool { return t.failed == 0 && t.passed >= base.passed }

// outermost returns the tests with an outcome; of Go's subtests only the outer test.
func outermost(lang testrun.Language, tests testrun.Results, outcome testrun.Outcome) (out []string) {
	_, nests := lang.(testrun.Golang)
	for _, t := range slices.Sorted(maps.Keys(tests)) {
		if tests[t] == outcome && (!nests || !strings.Contains(t, "/")) {
			out = append(out, t)
		}
	}
	return out
}

// failAtHead returns the tests that fail at the head and did not pass on the base.
func (p *pass) failAtHead() (out []string) {
	for g, head := range p.results[atHead] {
		base := p.results[atBase][g]
		for _, test := range outermost(p.lang, head.Tests, testrun.Failed) {
			if base.Tests[test] != testrun.Passed && !slices.Contains(base.Flaky, test) {
				out = append(out, g+"::"+test)
			}
		}
	}
	return out
}

// filesRun returns the changed test files that the runs cover completely: they were compared, and all of their tests
// ran and passed on the base, and pass at the head in the base version. The others must be judged by their text:
//   - tests that fail, are skipped or are not built on the base may run elsewhere;
//   - a failure at the head is wrong code or changed behavior, and no run shows whether tests were weakened for it;
//   - if code was replaced along with tests, the base's tests ran with the base's code.
func (p *pass) filesRun(found findings) (out []string) {
	if slices.ContainsFunc(p.change.files, p.isReplacedCode) {
		return nil
	}
	fails := findings{red: found.red, broken: found.broken}.against()
	for _, f := range p.change.files {
		if !p.reached.isTest(f.Path) {
			continue
		}
		covering := p.covering(f)
		silent := func(g string) bool { return fails[g] || !p.coversFile(g, f) }
		if len(covering) > 0 && !slices.ContainsFunc(covering, silent) {
			out = append(out, f.Path)
		}
	}
	return out
}

// isReplacedCode reports whether a file is replaced because of a test-like name, but may be product code, such as a
// package that helps others to test. Files that define tests, or are in a project's usual test folder, are not product
// code.
func (p *pass) isReplacedCode(f fileChange) bool {
	if !p.reached.isTest(f.Path) || !p.lang.IsCode("x"+path.Ext(f.Path)) {
		return false
	}
	switch p.lang.(type) {
	case testrun.Golang:
		tested := slices.ContainsFunc(p.reached.groups, func(g group) bool { return g.name == path.Dir(f.Path) })
		return tested && !p.lang.IsTest(f.Path)
	case testrun.Java, testrun.Rust: // they have a folder only for tests
		return false
	}
	project, _ := testrun.Nearest(p.change.trees[atHead], f.Path, "package.json", "pyproject.toml", "setup.py",
		"setup.cfg")
	inside, _ := strings.CutPrefix(f.Path, project+"/")
	top, _, _ := strings.Cut(inside, "/")
	if testrun.HasFolder(f.Path, "tests", "__tests__", "__snapshots__") || path.Base(f.Path) == "conftest.py" ||
		slices.Contains([]string{"test", "testing", "spec"}, top) {
		return false
	}
	for _, n := range []treeName{atBase, atHead} {
		for test := range p.results[n][f.Path].Tests {
			if !strings.Contains(test, path.Base(f.Path)) { // Node's runner treats each file as a test
				return false
			}
		}
	}
	return true
}

// coversFile reports whether a group was compared and shows all tests that a file had on the base.
func (p *pass) coversFile(g string, f fileChange) bool {
	base, known := p.results[atBase][g]
	if !p.compared[g] || !known {
		return p.compared[g]
	}
	if len(base.Tests) == 0 || len(base.Flaky)+len(p.results[atHead][g].Flaky)+len(p.results[atOver][g].Flaky) > 0 {
		return false
	}
	defined := p.defined(f)
	for _, name := range defined {
		if base.Tests[name] != testrun.Passed {
			return false
		}
	}
	for test, outcome := range base.Tests {
		outer, _, _ := strings.Cut(test, "/")
		if outcome != testrun.Passed && (len(defined) == 0 || slices.Contains(defined, outer)) {
			return false
		}
	}
	return true
}

// goDefined matches only certain tests: examples without output don't run, and TestMain is no test.
var goDefined = regexp.MustCompile(
	`(?m)^func ((?:Test|Fuzz)(?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{Nd}_][\pL\p{Nd}_]*)?)\([\pL\p{Nd}_]+ \*testing\.[TF]\)`)

// defined returns the tests that a Go file defined on the base. If none, any test of its package may be its own. Files
// of other languages are groups of their own, or parts of one.
func (p *pass) defined(f fileChange) (out []string) {
	if _, isGo := p.lang.(testrun.Golang); !isGo || !p.lang.Runs(f.Path) || f.Was.ID == "" {
		return nil
	}
	text, err := p.History.Blob(f.Was.ID, testrun.MaxTestFile)
	if err != nil {
		return nil
	}
	for _, m := range goDefined.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// nodeDefines matches a line that defines tests for one of Node's runners.
var nodeDefines = regexp.MustCompile(`(?m)^\s*(?:describe|suite|context|it|test|specify)(?:\.\w+)*\s*\(`)

// notShown reports whether no run shows the effect of a test file that is not a group: it defines tests that are not
// run, or configures all pytest runs. The runs use the base's file instead.
func (p *pass) notShown(f fileChange) bool {
	switch p.lang.(type) {
	case testrun.Python:
		return path.Base(f.Path) == "conftest.py"
	case testrun.Node:
		if f.Was.ID == "" || !p.lang.IsCode("x"+path.Ext(f.Path)) {
			return false
		}
		text, err := p.History.Blob(f.Was.ID, testrun.MaxTestFile)
		return err != nil || nodeDefines.Match(text)
	}
	return false
}

// covering returns the groups that show the effect of a test file: its own, its folder's, or else all of them if the
// whole suite was run.
func (p *pass) covering(f fileChange) (out []string) {
	file := f.Path
	_, isGo := p.lang.(testrun.Golang)
	_, isJava := p.lang.(testrun.Java)
	ofFolder := isGo && p.lang.Runs(file)
	var all []string
	for _, n := range []treeName{atBase, atHead} {
		for g := range p.results[n] {
			all = append(all, g)
			if g == file || g == path.Dir(file) ||
				!ofFolder && (isJava || path.Ext(g) == "") && below(file, g) {
				out = append(out, g)
			}
		}
	}
	whole := p.reached.whole && len(p.unrun) == 0
	switch {
	case p.lang.Runs(file):
	case whole && len(out) == 0 && !p.notShown(f):
		out = all
	case !whole && isJava: // only some of the module's classes ran
		out = nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}
