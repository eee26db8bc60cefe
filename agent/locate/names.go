package locate

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// testAffixes match the names of test files and capture the name of their subject.
var testAffixes = []*lazyregexp.Regexp{
	lazyregexp.New(`^(.+?)[._-](?:unit|integration|e2e|internal|external|export|bench(?:mark)?|fuzz|example)` +
		`[._-](?:tests?|specs?)$`),
	lazyregexp.New(`^(.+?)[._-](?:tests?|specs?|bench|test-d)$`),
	lazyregexp.New(`^(?:tests?|specs?)[._-](.+)$`),
	lazyregexp.New(`^(.+?)(?:Tests?|Spec|IT|TestCase)$`),
}

// subjects returns the possible names, without extension, of the subject of a test file, the most probable first.
func subjects(test string) (out []string) {
	name := stem(test)
	for _, a := range testAffixes {
		if m := a.FindStringSubmatch(name); m != nil {
			out = append(out, m[1])
			break
		}
	}
	if len(out) == 0 && isTest(test) && !strings.HasPrefix(name, "test") && !strings.HasPrefix(name, "spec") {
		out = append(out, name) // a test because of its folder
	}
	if len(out) == 0 {
		return nil
	}
	// parser_errors_test.go tests parser.go if there is no parser_errors.go
	for short := out[0]; ; {
		i := strings.LastIndexAny(short, "_-.")
		if i <= 1 {
			return out
		}
		short = short[:i]
		out = append(out, short)
	}
}

func stem(p string) string {
	b := path.Base(p)
	return strings.TrimSuffix(b, path.Ext(b))
}

// folderFiles are files that represent their folder, without extension.
var folderFiles = []string{"index", "mod", "lib", "__init__", "main"}

// siblings returns the files that a test file is named after, each with a certainty above 0 and at most 1.
func (l *layout) siblings(test string) map[string]float64 {
	out := map[string]float64{}
	names := subjects(test)
	for depth, name := range names {
		for _, p := range l.byStem(name, path.Ext(test)) {
			out[p] = nearness(test, p) / float64(int(1)<<depth)
		}
		if len(out) > 0 {
			return out
		}
	}
	// addDays/test.ts tests addDays/index.ts; parse/all_test.go tests parse/parse.go
	dir := path.Dir(test)
	for slices.Contains([]string{"__tests__", "test", "tests", "spec"}, path.Base(dir)) {
		dir = path.Dir(dir)
	}
	for _, name := range append([]string{path.Base(dir)}, folderFiles...) {
		for _, p := range l.byStem(name, path.Ext(test)) {
			if path.Dir(p) == dir && isCode(p) {
				out[p] = 0.5
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// families are extensions of languages that may test one another.
var families = []string{".ts .tsx .mts .cts .js .jsx .mjs .cjs .vue .svelte", ".py .pyi", ".java .kt .scala",
	".c .h .cc .cpp .hpp"}

// byStem returns the source files with a name, ignoring case and separators, in the language of an extension.
func (l *layout) byStem(name, ext string) (out []string) {
	ends := []string{ext}
	for _, f := range families {
		if slices.Contains(strings.Fields(f), ext) {
			ends = strings.Fields(f)
		}
	}
	if l.stems == nil {
		l.stems = map[string][]string{}
		for _, p := range l.code {
			key := foldName(stem(p))
			l.stems[key] = append(l.stems[key], p)
		}
	}
	for _, p := range l.stems[foldName(name)] {
		if slices.Contains(ends, path.Ext(p)) {
			out = append(out, p)
		}
	}
	return out
}

// foldName returns a common form of the spellings of a name in different languages: parseInt, parse_int, parse-int,
// _parseInt.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// nearness returns how near two files are, above 0 and at most 1: in one folder, or in folders of the same names below
// different roots, such as src/a/b.py and tests/a/test_b.py.
func nearness(test, p string) float64 {
	a, b := strings.Split(path.Dir(test), "/"), strings.Split(path.Dir(p), "/")
	if path.Dir(test) == path.Dir(p) {
		return 1
	}
	common := 0
	for _, part := range a {
		if slices.Contains(b, part) {
			common++
		}
	}
	return 0.4 + 0.5*float64(common)/float64(max(len(a), len(b))+1)
}

// siblingVotes votes for the files that the failing tests' files are named after.
func (g *gathering) siblingVotes() []Vote {
	best := map[string]Vote{}
	for _, t := range g.testFiles() {
		for p, sure := range g.siblings(t) {
			if sure > best[p].Score {
				best[p] = Vote{Path: p, Score: sure, Why: path.Base(t) + " is named after it"}
			}
		}
	}
	return votesOf(best)
}
