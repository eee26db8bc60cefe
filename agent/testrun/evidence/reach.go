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

// reached are the tests that a change can reach, in one language.
type reached struct {
	groups []group // nearest first
	// what of the base is laid over: tests, what they read, and what only they use
	isTest func(path string) bool
	whole  bool // no test that may read what changed is left out
}

// group is what a runner takes at once.
type group struct {
	name  string
	files []string // of tests, in any of the trees
	// the base's tests may differ from the head's for it
	overlaid bool
	far      bool // reached through others, and run while there is time
}

// Bounds of what is run for one language.
const (
	maxGroups = 30
	maxWhole  = 30      // test files: a suite that has no more is run as a whole
	maxRead   = 2000    // test files that are read to know what they import
	maxSource = 1 << 20 // bytes of one
)

// reach finds the tests of a language that the change can reach.
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

// reachByName reaches test files by what they are called and mention: those that changed, those named after what
// changed, those that import it, and those beside it. Where a suite is small, all of it.
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
	if most := maxGroups; len(all) > most {
		l.left("%d %s test files that the change may reach: no more than %d are run", len(all)-most, lang.Name(), most)
		all = all[:most]
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
		if i < 0 { // the nearest of a group's files comes first
			i = len(out.groups)
			out.groups = append(out.groups, group{name: name, overlaid: overlaid, far: rank[p] >= beside})
		}
		out.groups[i].files = append(out.groups[i].files, p)
	}
	return out
}

// modules gives the folder of a file's Maven project, as base and head both have it: a run of one has the results of
// all its classes, and takes the place of the one before.
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

// How a test file relates to a change.
const (
	itself    = iota // it changed
	named            // it is named after what changed
	imports          // it mentions it where it imports
	beside           // it lies beside it
	unrelated        // none of these
)

// ranks tell how test files relate to the change.
func (l *look) ranks(lang testrun.Language, tests []string) map[string]int {
	changed, stems, dirs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range l.change.files {
		changed[f.Path] = true
		if lang.IsCode(f.Path) {
			stems[stemOf(f.Path)] = true
			dirs[path.Dir(f.Path)] = true
		} else if lang.IsTest(f.Path) && !lang.Runs(f.Path) { // what tests use
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

// stemOf is what a module is called where it is imported.
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

// testWord is what a test's name adds to that of what it tests.
var testWord = regexp.MustCompile(`(?i)^tests?[_.-]?|[_.-]?(tests?|spec|TestCase)$`)

// testedStem is the module that a test is named after.
func testedStem(p string) string {
	stem, _, _ := strings.Cut(path.Base(p), ".")
	return testWord.ReplaceAllString(stem, "")
}

// importLine is a line by which a file uses another, in the languages that are looked at.
var importLine = regexp.MustCompile(`(?m)^.*(?:\bimport\b|\brequire\b|\bfrom\b|\buse\b|\bmock\b|\bmod\b).*$`)

var word = regexp.MustCompile(`\w[\w-]*`)

// mentions reports whether a test imports something of one of these names, at either end.
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
