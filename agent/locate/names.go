package locate

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// testAffixes are what the name of a test file has before or after the name of what it tests.
var testAffixes = []*lazyregexp.Regexp{
	lazyregexp.New(`^(.+?)[._-](?:unit|integration|e2e|internal|external|export|bench(?:mark)?|fuzz|example)` +
		`[._-](?:tests?|specs?)$`),
	lazyregexp.New(`^(.+?)[._-](?:tests?|specs?|bench|test-d)$`),
	lazyregexp.New(`^(?:tests?|specs?)[._-](.+)$`),
	lazyregexp.New(`^(.+?)(?:Tests?|Spec|IT|TestCase)$`),
}

// subjects are the names, without an end, that the subject of a test file may have, the likeliest first.
func subjects(test string) (out []string) {
	name := stem(test)
	for _, a := range testAffixes {
		if m := a.FindStringSubmatch(name); m != nil {
			out = append(out, m[1])
			break
		}
	}
	if len(out) == 0 && isTest(test) && !strings.HasPrefix(name, "test") && !strings.HasPrefix(name, "spec") {
		out = append(out, name) // it is a test by its folder
	}
	if len(out) == 0 {
		return nil
	}
	// parser_errors_test.go is about parser.go where there is no parser_errors.go
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

// folderFiles are files that stand for their folder, without an end.
var folderFiles = []string{"index", "mod", "lib", "__init__", "main"}

// siblings are the files that a test file is named after, each with how sure that is, above 0 and at most 1.
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
	// addDays/test.ts is about addDays/index.ts; parse/all_test.go about parse/parse.go
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

// families are languages that may test one another.
var families = []string{".ts .tsx .mts .cts .js .jsx .mjs .cjs .vue .svelte", ".py .pyi", ".java .kt .scala",
	".c .h .cc .cpp .hpp"}

// byStem are the source files of that name whatever its case, in the language of an extension.
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

// foldName makes one of the ways in which languages write a name: parseInt, parse_int, parse-int, _parseInt.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// nearness says how near two files lie, above 0 and at most 1: whether in one folder, or in folders of the same names
// below different roots, as src/a/b.py and tests/a/test_b.py.
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

// siblingVotes are for the files that the failing tests' files are named after.
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
