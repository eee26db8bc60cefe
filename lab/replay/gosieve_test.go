package replay

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// sieveBase is what each case of TestSieve begins with.
var sieveBase = map[string]string{
	"go.mod": "module example.com/a\n",
	"a.go": "package a\n\nimport \"net/http\"\n\ntype T struct{ N int }\n\ntype Client struct{ http.Client }\n\n" +
		"func F(a int) int { return a }\n\nfunc Any(x interface{}) {}\n",
	"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { check(t, F(1)) }\n\n" +
		"func check(t *testing.T, a int) {\n\tif a != 1 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc BenchmarkF(b *testing.B) { F(1) }\n",
}

// siftOf leaves out what can be of a commit that changes files of sieveBase; an edit "old→new" replaces a part of one.
func siftOf(t *testing.T, edits map[string]string) (filtered, string) {
	t.Helper()
	now := maps.Clone(sieveBase)
	for p, edit := range edits {
		if old, is, ok := strings.Cut(edit, "→"); ok && strings.Contains(now[p], old) {
			now[p] = strings.Replace(now[p], old, is, 1)
		} else {
			now[p] = edit
		}
	}
	blobs := map[string]string{}
	tree := func(of map[string]string) testrun.Files {
		out := testrun.Files{}
		for p, text := range of {
			id := gitops.BlobID(int64(len(text)), strings.NewReader(text))
			out[p], blobs[id] = gitops.HistoryFile{ID: id}, text
		}
		return out
	}
	s := filtered{candidate: candidate{lang: testrun.Golang{}}, parent: tree(sieveBase), commit: tree(now),
		choice: newChoice()}
	for _, p := range slices.Sorted(maps.Keys(now)) {
		if s.parent[p] != s.commit[p] {
			s.changes = append(s.changes, gitops.HistoryChange{Path: p, Was: s.parent[p], Now: s.commit[p]})
		}
	}
	why := s.leaveOut(func(tree testrun.Files, made map[string][]byte) testrun.ReadFile {
		return func(p string) ([]byte, error) {
			f, ok := tree[p]
			if !ok {
				return nil, fs.ErrNotExist
			}
			if text, ok := made[f.ID]; ok {
				return text, nil
			}
			return []byte(blobs[f.ID]), nil
		}
	})
	return s, why
}

// TestSieve: which commits need not be built to know that they are no tasks.
func TestSieve(t *testing.T) {
	const (
		fixed   = "return a }→return a + 0 }"
		newTest = "func BenchmarkF→func TestNew(t *testing.T) { %s }\n\nfunc BenchmarkF"
		method  = "func F(→func (t *T) Twice() int { return 2 * t.N }\n\nfunc F("
		helper  = "func BenchmarkF→func twice() int { return new(T).Twice() }\n\n" +
			"func TestNew(t *testing.T) { twice() }\n\nfunc BenchmarkF"
	)
	type files = map[string]string
	tests := func(body string) string { return fmt.Sprintf(newTest, body) }
	for name, c := range map[string]struct {
		edits files
		want  string
	}{
		"a repair":             {files{"a.go": fixed, "a_test.go": tests("F(2)")}, ""},
		"comments and layout":  {files{"a.go": "func F(→// F is one.\n\nfunc F(", "a_test.go": tests("F(2)")}, sameCode},
		"another word for it":  {files{"a.go": "interface{}→any", "a_test.go": tests("F(2)")}, sameCode},
		"what is not built":    {files{"a_plan9.go": "package a\n\nvar x = F(1)\n", "a_test.go": tests("F(2)")}, sameCode},
		"a directive":          {files{"a.go": "func F(→//go:noinline\nfunc F(", "a_test.go": tests("F(2)")}, ""},
		"an embedded file":     {files{"a.go": "func F(→// F is.\nfunc F(", "a.tmpl": "x", "a_test.go": tests("F(2)")}, ""},
		"data of tests":        {files{"a.go": fixed, "a_test.go": "func Ben→// B.\nfunc Ben", "testdata/x": "x"}, ""},
		"a benchmark":          {files{"a.go": fixed, "a_test.go": "testing.B) { F(1) }→testing.B) { F(2) }"}, sameTests},
		"what a test uses":     {files{"a.go": fixed, "a_test.go": "a != 1→a != 2"}, ""},
		"what is around tests": {files{"a.go": fixed, "a_test.go": "func Ben→func init() { F(2) }\n\nfunc Ben"}, ""},
		"another file's test": {files{"a.go": fixed, "b_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func BenchmarkG(b *testing.B) {}\n"}, sameTests},
		"what it adds":              {files{"a.go": method, "a_test.go": tests("new(T).Twice()")}, onlyAdds},
		"what it adds, by a helper": {files{"a.go": method, "a_test.go": helper}, onlyAdds},
		"another number of results": {files{"a.go": "(a int) int { return a }→(a int) (int, error) { return a, nil }",
			"a_test.go": tests("a, err := F(1); _, _ = a, err")}, onlyAdds},
		"what nobody calls": {files{"b.go": "package a\n\nfunc G() {}\n", "a_test.go": tests("F(2)")}, onlyAdds},
		"what an interface asks for": {files{"a.go": "func F(→func (t T) String() string { return \"\" }\n\nfunc F(",
			"a_test.go": tests("F(2)")}, ""},
		"a foreign type's method": {files{"a.go": fixed, "a_test.go": tests("new(Client).Get(\"\")")}, ""},
		"an import's own name": {files{"a.go": fixed, "b_test.go": "package a\n\nimport (\n\t\"testing\"\n\n" +
			"\t\"example.org/odd\"\n)\n\nfunc TestB(t *testing.T) { strange.Do() }\n"}, ""},
		"an import of a version": {files{"a.go": fixed, "b_test.go": "package a_test\n\nimport (\n\t\"testing\"\n\n" +
			"\t\"example.com/a\"\n\t\"example.org/go-maps/v2\"\n)\n\nfunc TestB(t *testing.T) { maps.Do(a.F(1)) }\n"}, ""},
		"from outside": {files{"a.go": method, "b_test.go": "package a_test\n\nimport (\n\t\"testing\"\n\n" +
			"\t\"example.com/a\"\n)\n\nfunc TestB(t *testing.T) { new(a.T).Twice() }\n"}, onlyAdds},
		"a file that can't be parsed": {files{"a.go": "package a\n\nfunc {", "a_test.go": tests("F(2)")}, ""},
		"no module":                   {files{"go.mod": "", "a.go": fixed, "a_test.go": tests("F(2)")}, ""},
	} {
		if _, got := siftOf(t, c.edits); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestSieveTrims: what calls what a commit adds is left out, and the others are judged.
func TestSieveTrims(t *testing.T) {
	s, why := siftOf(t, map[string]string{"a.go": "return a }→return a + G() }\n\nfunc G() int { return 0 }",
		"a_test.go": "func BenchmarkF→func TestG(t *testing.T) { G() }\n\nfunc TestMore(t *testing.T) { F(2) }\n\n" +
			"func BenchmarkF"})
	if diff := cmp.Diff([]string{"TestG"}, s.choice.cuts["a_test.go"].names); why != "" || diff != "" {
		t.Errorf("%q; left out (-want +got):\n%s", why, diff)
	}
	if !strings.Contains(s.said, "undefined: G") {
		t.Errorf("said %q", s.said)
	}
}

// TestSieveOfLargeConstants: constants with a short text and a value that would fill any memory are not computed.
func TestSieveOfLargeConstants(t *testing.T) {
	var b strings.Builder
	b.WriteString("package a\n\nimport \"testing\"\n\nconst s0 = \"0123456789abcdef\"\n")
	for i := range 20 {
		fmt.Fprintf(&b, "\nconst s%d = (s%d%s)\n", i+1, i, strings.Repeat(fmt.Sprintf(" + s%d", i), 15))
	}
	b.WriteString("\nvar _ [len(s20)]int\n\n" +
		"func TestS(t *testing.T) { const s21 = string(s20 + s20); F(len(s21 + s20)); Gone() }\n")
	_, why := siftOf(t, map[string]string{"a.go": "return a }→return a + 0 }", "s_test.go": b.String()})
	if why != onlyAdds {
		t.Errorf("%q, want %q", why, onlyAdds)
	}
}
