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

// findings are what differs, as of [sia.TestEvidence].
type findings struct {
	early, hushed, gone, dropped, broken []string

	replaced map[string]replacement // by group, until it is settled
}

// replacement is of tests that are gone, with base versions that fail, in a group that has as many new ones.
type replacement struct {
	gone  []string // group::test
	fresh []string // tests that the base does not have
}

func (f findings) addTo(e *sia.TestEvidence) {
	e.Early, e.Hushed, e.Gone = append(e.Early, f.early...), append(e.Hushed, f.hushed...), append(e.Gone, f.gone...)
	e.Dropped, e.Broken = append(e.Dropped, f.dropped...), append(e.Broken, f.broken...)
}

// against are the groups of what would be held against the change.
func (f findings) against() map[string]bool {
	out := map[string]bool{}
	for _, list := range [][]string{f.early, f.hushed, f.gone, f.broken} {
		for _, s := range list {
			g, _, _ := strings.Cut(s, "::")
			out[g] = true
		}
	}
	return out
}

// without leaves out what keep does not hold of.
func (f findings) without(keep func(finding string) bool) findings {
	for _, list := range []*[]string{&f.early, &f.hushed, &f.gone, &f.dropped, &f.broken} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(s string) bool { return !keep(s) })
	}
	return f
}

// compare compares what was run, group by group.
func (p *pass) compare() (out findings) {
	out.replaced = map[string]replacement{}
	for _, g := range slices.Sorted(maps.Keys(p.results[atBase])) {
		base := p.results[atBase][g]
		head, atAll := p.results[atHead][g]
		over, overlaid := p.results[atOver][g]
		if !overlaid {
			over = head
		}
		switch {
		case !base.Built:
			p.left("%s: its tests do not build on the base commit here: %s", g, base.Log)
		case !base.Ran:
			p.left("%s: its tests did not come to an end on the base commit, or printed too much", g)
		case atAll && !head.Built:
			p.left("%s: its tests do not build at the head here: %s", g, head.Log)
		case !atAll && p.wasMissed(atHead, g):
			p.left("%s: its tests were not run at the head", g)
		case atAll && !head.Ran, overlaid && over.Built && !over.Ran, !overlaid && p.wantsOver(g):
			p.left("%s: its tests did not come to an end at the head, or printed too much", g)
		default:
			if base.End.Why != "" {
				p.left("%s: its tests fail on the base commit here: %s", g, base.End.Why)
			}
			p.looked[g] = true
			p.out.Tests += len(outermost(p.lang, base.Tests))
			out.group(p.lang, g, base, head, over.asBuilt(base, p.edits(g)))
		}
	}
	for g, head := range p.results[atHead] { // new ones have nothing to be compared with
		if _, known := p.results[atBase][g]; !known && head.Built && head.Ran && head.End.LastWord {
			p.looked[g] = true
		}
	}
	return out
}

// wasMissed reports whether a group without a result in a tree may just not have been run there.
func (p *pass) wasMissed(n treeName, g string) bool {
	return slices.Contains(p.unrun[n], g) || !p.namesGroups() && len(p.unrun[n]) > 0
}

// wantsOver reports whether the base's tests of a group are to be laid over the head.
func (p *pass) wantsOver(name string) bool {
	i := slices.IndexFunc(p.reached.groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return p.overlaid
	}
	return p.reached.groups[i].overlaid
}

// edits reports whether the change touches a group's file.
func (p *pass) edits(g string) bool {
	return slices.ContainsFunc(p.change.files, func(f fileChange) bool { return f.Path == g })
}

// asBuilt takes a file of tests that can't be loaded for one that does not build: it names none of the base's tests,
// and its run fails.
// That counts only of a file that was edited: what keeps another from being loaded are settings, or code
// that tests load.
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
		return // that names of tests are missing goes without saying
	}
	if !hushed(base) && (hushed(head) || hushed(over)) {
		f.hushed = append(f.hushed, g)
	}
	if !over.Built {
		f.broken = append(f.broken, g)
	}
	var fresh []string // renamed ones, or others in the place of some
	for _, test := range outermost(lang, head.Tests) {
		if _, known := base.Tests[test]; !known {
			fresh = append(fresh, test)
		}
	}
	var gone []string
	ofBase, ofHead, ofOver := tallies(base), tallies(head), tallies(over)
	for _, test := range outermost(lang, base.Tests) {
		if slices.Contains(head.Flaky, test) || slices.Contains(over.Flaky, test) {
			continue
		}
		name := g + "::" + test
		now, still := head.Tests[test], over.Tests[test] == testrun.Passed
		runs := now == testrun.Passed || now == testrun.Failed
		of := unvaried(test)
		switch {
		case still && (runs || now == "" && ofHead[of].replaces(ofBase[of])):
		case still:
			f.dropped = append(f.dropped, name)
		case !over.Built:
			if !runs { // what still runs is in the line about the group
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

// settleReplaced runs the new tests on the base where they came in the place of others. One that passes there shows
// nothing of the change, so it stands for none that is gone; one that doesn't is a base test that fails, renamed.
func (p *pass) settleReplaced(ctx context.Context, f *findings) error {
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

// hushed reports whether a run ended with success though a test failed.
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

// unvaried is a test's name without the values that it is run with, as pytest and JUnit write them: other values make
// another name.
func unvaried(test string) string {
	if name, _, varies := strings.Cut(test, "["); varies && name != "" && strings.HasSuffix(test, "]") {
		return name
	}
	return test
}

// tally counts the tests of a name, whatever values they are run with.
type tally struct{ passed, failed int }

// tallies counts by names without values.
func tallies(r groupRun) map[string]tally {
	out := map[string]tally{}
	for test, came := range r.Tests {
		name := unvaried(test)
		n := out[name]
		switch came {
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

// replaces reports whether tests that are run with other values, such as the time of day or what the code says, are as
// good as those of the base: as many pass, and none fails.
func (t tally) replaces(base tally) bool { return t.failed == 0 && t.passed >= base.passed }

// outermost are the tests that passed: of Go's tests within tests, those around them.
func outermost(lang testrun.Language, tests testrun.Results) (out []string) {
	_, nests := lang.(testrun.Golang)
	for _, t := range slices.Sorted(maps.Keys(tests)) {
		if tests[t] == testrun.Passed && (!nests || !strings.Contains(t, "/")) {
			out = append(out, t)
		}
	}
	return out
}

// filesRun are the changed test files that the runs speak for: they were compared, and all that they hold ran and
// passed on the base, and passes at the head in its base version. Of the others only the text tells:
//   - what fails or is skipped on the base, or is not built, may run elsewhere;
//   - what fails at the head is wrong code or other behaviour, and no run shows whether tests were weakened for it;
//   - where code was laid over, the base's tests ran with the base's code.
func (p *pass) filesRun(found findings) (out []string) {
	if slices.ContainsFunc(p.change.files, p.isCodeLaidOver) {
		return nil
	}
	fails := findings{broken: found.broken}.against()
	for _, f := range p.change.files {
		if !p.reached.isTest(f.Path) {
			continue
		}
		covering := p.covering(f)
		silent := func(g string) bool { return fails[g] || !p.speaksFor(g, f) }
		if len(covering) > 0 && !slices.ContainsFunc(covering, silent) {
			out = append(out, f.Path)
		}
	}
	return out
}

// isCodeLaidOver reports whether a file is laid over for its name, as tests are, and may be what the repository is for:
// a package that helps others to test, say. What defines tests, or lies where a project has its own, is not.
func (p *pass) isCodeLaidOver(f fileChange) bool {
	if !p.reached.isTest(f.Path) || !p.lang.IsCode("x"+path.Ext(f.Path)) {
		return false
	}
	switch p.lang.(type) {
	case testrun.Golang:
		tested := slices.ContainsFunc(p.reached.groups, func(g group) bool { return g.name == path.Dir(f.Path) })
		return tested && !p.lang.IsTest(f.Path)
	case testrun.Java, testrun.Rust: // which have a folder for tests alone
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
			if !strings.Contains(test, path.Base(f.Path)) { // Node's runner takes each file for a test
				return false
			}
		}
	}
	return true
}

// speaksFor reports whether a group was compared and shows all of what a file held on the base.
func (p *pass) speaksFor(g string, f fileChange) bool {
	base, known := p.results[atBase][g]
	if !p.looked[g] || !known {
		return p.looked[g]
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
	for test, came := range base.Tests {
		outer, _, _ := strings.Cut(test, "/")
		if came != testrun.Passed && (len(defined) == 0 || slices.Contains(defined, outer)) {
			return false
		}
	}
	return true
}

// goDefined finds what is a test for sure: examples without output are none, and TestMain is another thing.
var goDefined = regexp.MustCompile(
	`(?m)^func ((?:Test|Fuzz)(?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{Nd}_][\pL\p{Nd}_]*)?)\([\pL\p{Nd}_]+ \*testing\.[TF]\)`)

// defined are the tests that a Go file defined on the base. Without any, all of its package's may be its own. Files of
// other languages are groups of their own, or parts of one.
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

// nodeDefines matches a line that defines tests with a runner of Node.
var nodeDefines = regexp.MustCompile(`(?m)^\s*(?:describe|suite|context|it|test|specify)(?:\.\w+)*\s*\(`)

// notShown reports whether no run shows what a test file that is no group does at the head: it defines tests that are
// not run, or configures every run of pytest. The runs have the base's file in its place.
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

// covering are the groups that show what a test file says: its own, its folder's, or else all, where all
// of the suite was run.
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
	case !whole && isJava: // a module is covered by those of its classes that ran
		out = nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}
