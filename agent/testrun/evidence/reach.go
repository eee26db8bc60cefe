package evidence

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// reached holds the tests that a change can reach, in one language.
type reached struct {
	groups []group // nearest first
	// files that are replaced by the base's: tests, their data, and code that only tests use
	isTest func(path string) bool
	whole  bool // no test that may depend on the change is left out
}

// group is a unit of a test runner.
type group struct {
	name  string
	files []string // test files, in any of the trees
	// the base's tests may differ from the head's
	overlaid bool
	far      bool // reached indirectly, and run if there is time
}

// Limits for one language.
const (
	maxGroups = 30
	maxWhole  = 30      // test files; a suite with at most as many is run completely
	maxRead   = 2000    // test files read for their imports
	maxSource = 1 << 20 // bytes of a source file
)

// reach returns the tests of a language that the change can reach.
func (l *look) reach(ctx context.Context, lang testrun.Language) (reached, error) {
	touched := false
	for _, f := range l.change.files {
		touched = touched || lang.IsTest(f.Path) || lang.IsCode(f.Path) || lang.IsManifest(f.Path)
	}
	if !touched {
		return reached{}, nil
	}
	if _, isGo := lang.(testrun.Golang); isGo {
		return l.reachGo(ctx)
	}
	return l.reachByName(lang), nil
}

// reachByName selects test files by name and content: those that changed, those named after changed files, those that
// import them, and those in the same folder. A small suite is selected completely.
func (l *look) reachByName(lang testrun.Language) reached {
	var all []string
	seen := map[string]bool{}
	for _, n := range []treeName{atBase, atHead} {
		for p := range l.change.trees[n] {
			if lang.IsTest(p) && lang.Runs(p) && !seen[p] {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	slices.Sort(all)
	rank := l.ranks(lang, all)
	slices.SortStableFunc(all, func(a, b string) int { return rank[a] - rank[b] })
	near := 0
	for near < len(all) && rank[all[near]] < unrelated {
		near++
	}
	whole := len(all) <= maxWhole
	if !whole {
		all = all[:near]
	}
	if limit := maxGroups; len(all) > limit {
		l.omit("%d %s test files that the change may reach: no more than %d are run", len(all)-limit, lang.Name(), limit)
		all = all[:limit]
	}
	overlaid := slices.ContainsFunc(l.change.files, func(f fileChange) bool { return lang.IsTest(f.Path) })
	out := reached{isTest: lang.IsTest, whole: whole}
	named := func(p string) string { return p }
	if _, isJava := lang.(testrun.Java); isJava {
		named = l.change.modules()
	}
	for _, p := range all {
		name := named(p)
		i := slices.IndexFunc(out.groups, func(g group) bool { return g.name == name })
		if i < 0 { // the nearest file of a group is first
			i = len(out.groups)
			out.groups = append(out.groups, group{name: name, overlaid: overlaid, far: rank[p] >= beside})
		}
		out.groups[i].files = append(out.groups[i].files, p)
	}
	return out
}

// modules returns a function for the folder of a file's Maven project, which base and head both have: a run of a module
// has the results of all its classes, and replaces the previous run's.
func (c change) modules() func(file string) string {
	poms := testrun.Files{}
	for name, f := range c.trees[atBase] {
		if _, stays := c.trees[atHead][name]; stays && path.Base(name) == "pom.xml" {
			poms[name] = f
		}
	}
	return func(file string) string {
		dir, _ := testrun.Nearest(poms, file, "pom.xml")
		return cmp.Or(dir, ".")
	}
}

// Relations of a test file to a change, nearest first.
const (
	itself    = iota // the test changed
	named            // named after a changed file
	imports          // mentions a changed file in an import
	beside           // in the same folder
	unrelated        // none of these
)

// ranks returns the relations of test files to the change.
func (l *look) ranks(lang testrun.Language, tests []string) map[string]int {
	changed, stems, dirs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range l.change.files {
		changed[f.Path] = true
		if lang.IsCode(f.Path) {
			stems[stemOf(f.Path)] = true
			dirs[path.Dir(f.Path)] = true
		} else if lang.IsTest(f.Path) && !lang.Runs(f.Path) { // code used by tests
			stems[stemOf(f.Path)] = true
		}
	}
	out := map[string]int{}
	for i, p := range tests {
		switch {
		case changed[p]:
			out[p] = itself
		case stems[testedStem(p)]:
			out[p] = named
		case i < maxRead && l.mentions(p, stems):
			out[p] = imports
		case dirs[path.Dir(p)] || dirs[path.Dir(path.Dir(p))]:
			out[p] = beside
		default:
			out[p] = unrelated
		}
	}
	return out
}

// stemOf returns a module's name in imports.
func stemOf(p string) string {
	base := path.Base(p)
	stem, _, _ := strings.Cut(base, ".")
	if stem == "index" || stem == "__init__" || stem == "mod" || stem == "lib" || stem == "main" {
		if dir := path.Base(path.Dir(p)); dir != "." {
			return dir
		}
	}
	return stem
}

// testWord matches the part of a test's name that is not the name of its subject.
var testWord = regexp.MustCompile(`(?i)^tests?[_.-]?|[_.-]?(tests?|spec|TestCase)$`)

// testedStem returns the module that a test is named after.
func testedStem(p string) string {
	stem, _, _ := strings.Cut(path.Base(p), ".")
	return testWord.ReplaceAllString(stem, "")
}

// importLine matches a line that imports another file, in the supported languages.
var importLine = regexp.MustCompile(`(?m)^.*(?:\bimport\b|\brequire\b|\bfrom\b|\buse\b|\bmock\b|\bmod\b).*$`)

var word = regexp.MustCompile(`\w[\w-]*`)

// mentions reports whether a test imports one of these names, at the head or on the base.
func (l *look) mentions(p string, stems map[string]bool) bool {
	for _, n := range []treeName{atHead, atBase} {
		f, ok := l.change.trees[n][p]
		if !ok || f.Link {
			continue
		}
		text, err := l.History.Blob(f.ID, maxSource)
		if err != nil {
			continue
		}
		for _, line := range importLine.FindAll(text, 200) {
			for _, w := range word.FindAll(line, 100) {
				if stems[string(w)] {
					return true
				}
			}
		}
	}
	return false
}
