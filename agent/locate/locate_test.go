package locate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/agent/locate"
)

// memory is a tree in memory.
type memory map[string]string

func (m memory) Files(context.Context) (out []locate.File, err error) {
	for p, text := range m { // in any order
		out = append(out, locate.File{Path: p, Size: int64(len(text))})
	}
	return out, nil
}

func (m memory) Read(_ context.Context, p string, limit int64) ([]byte, error) {
	text, ok := m[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text[:min(int64(len(text)), limit)]), nil
}

func paths(places []locate.Place) (out []string) {
	for _, p := range places {
		out = append(out, p.Path)
	}
	return out
}

// parser is a Go repository in which only one source points to the right file.
func parser() memory {
	m := memory{
		"go.mod":          "module example.com/app\n",
		"lex/lex.go":      "package lex\n\n// Scan reads tokens.\nfunc Scan(s string) []string { return split(s) }\n",
		"lex/split.go":    "package lex\n\nfunc split(s string) []string { return nil }\n",
		"lex/lex_test.go": "package lex\n\nimport \"testing\"\n\nfunc TestScan(t *testing.T) { Scan(\"a b\") }\n",
		"print/indent.go": "package print\n\nfunc Indent(n int) string { return \"\" }\n",
		"print/page.go":   "package print\n\nfunc Page() {}\n",
		"test/whole_test.go": "package test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/app/print\"\n)\n\n" +
			"func TestWhole(t *testing.T) { print.Indent(3) }\n",
		"docs/guide.md": "indent indent indent\n",
	}
	for i := range 12 {
		m[fmt.Sprintf("other/other%d.go", i)] = fmt.Sprintf("package other\n\nfunc Other%d() {}\n", i)
	}
	return m
}

// Each source alone finds the right file, and gives a reason.
func TestRank(t *testing.T) {
	together := []locate.Commit{{Paths: []string{"lex/split.go", "lex/lex_test.go"}},
		{Paths: []string{"lex/split.go", "lex/lex_test.go", "docs/guide.md"}}, {Paths: []string{"lex/lex_test.go"}}}
	for _, c := range []struct {
		name string
		q    locate.Query
		past []locate.Commit
		want string
		why  string
		test string // the first one that reaches it
	}{
		{"a panic names it", locate.Query{Output: []string{"panic: boom\n\ngoroutine 1 [running]:\n" +
			"example.com/app/print.Page(...)\n\t/home/runner/work/app/app/print/page.go:3 +0x1d\n" +
			"example.com/app/lex.Scan()\n\t/home/runner/work/app/app/lex/lex.go:4\n"}}, nil, "print/page.go",
			"in the failing output, line 3", ""},
		{"it has the failing test's words", locate.Query{Tests: []locate.Test{{Name: "TestWhole/empty"}}}, nil,
			"print/indent.go", "has the failing test's words indent, print", ""},
		{"the output names the failing test", locate.Query{Output: []string{"--- FAIL: TestWhole (0.00s)\n    " +
			"whole_test.go:9: no\nFAIL\nFAIL\texample.com/app/test\t0.1s\n"}}, nil, "print/indent.go",
			"has the failing test's words indent, print", ""},
		{"the test is named after it", locate.Query{Tests: []locate.Test{{File: "lex/lex_test.go"}}}, nil, "lex/lex.go",
			"lex_test.go is named after it", "lex/lex_test.go"},
		{"it changed together with the test", locate.Query{Tests: []locate.Test{{File: "lex/lex_test.go"}}}, together,
			"lex/split.go", "changed together with lex_test.go in 2 of 3 commits", "lex/lex_test.go"},
		{"the text names its path", locate.Query{Text: "Something is odd in print/page.go:3."}, nil, "print/page.go",
			"the text names it", ""},
		{"the text names what it defines", locate.Query{Text: "`Page` prints nothing"}, nil, "print/page.go",
			"defines Page, which the text names", ""},
		{"it has the text's words", locate.Query{Text: "Wrong indent of lists"}, nil, "print/indent.go",
			"has the text's words indent", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := locate.Rank(t.Context(), parser(), c.past, c.q)
			if err != nil || len(got) == 0 {
				t.Fatalf("%v, %v", got, err)
			}
			i := slices.IndexFunc(got, func(p locate.Place) bool { return p.Path == c.want })
			if i < 0 || i > 1 || !slices.Contains(got[i].Why, c.why) {
				t.Fatalf("%+v; want %s near the top: %s", got, c.want, c.why)
			}
			if first := append(got[i].Tests, "")[0]; first != c.test {
				t.Errorf("tests %v, want %q first", got[i].Tests, c.test)
			}
		})
	}
}

// Other languages: the ends of tests, and the naming of tests after their subjects.
func TestOtherLanguages(t *testing.T) {
	m := memory{
		"src/app/fields.py":    "class Number:\n    def load(self, v):\n        return v\n",
		"src/app/schema.py":    "class Schema:\n    pass\n",
		"tests/test_fields.py": "from app.fields import Number\n\ndef test_load():\n    assert Number().load(1) == 1\n",
		"web/src/router.ts":    "export class Router {\n  match(p: string) {\n    return p\n  }\n}\n",
		"web/src/trie.ts":      "export const insert = (a: string) => a\n",
		"web/src/router.test.ts": "import { insert } from './trie'\n\ndescribe('Router', () => {\n" +
			"  it('inserts', () => {\n    insert('a')\n  })\n})\n",
		"lib/addDays/index.js": "export default function addDays(d) {\n  return d\n}\n",
		"lib/addDays/test.js":  "import addDays from './index'\n\nit('adds', () => { addDays(1) })\n",
	}
	for _, c := range []struct {
		q    locate.Query
		want []string
	}{
		{locate.Query{Output: []string{"FAILED tests/test_fields.py::test_load - assert 2 == 1\n"}},
			[]string{"src/app/fields.py"}},
		{locate.Query{Tests: []locate.Test{{File: "web/src/router.test.ts", Name: "Router > inserts"}}},
			[]string{"web/src/router.ts", "web/src/trie.ts"}},
		{locate.Query{Tests: []locate.Test{{File: "lib/addDays/test.js"}}}, []string{"lib/addDays/index.js"}},
		{locate.Query{Output: []string{"Traceback (most recent call last):\n" +
			"  File \"/w/tests/test_fields.py\", line 4, in x\n" +
			"  File \"/w/src/app/schema.py\", line 1, in a\n  File \"/w/src/app/fields.py\", line 3, in load\nTypeError: no\n"}},
			[]string{"src/app/fields.py", "src/app/schema.py"}},
	} {
		got, _, err := locate.Rank(t.Context(), m, nil, c.q)
		if err != nil {
			t.Fatal(err)
		}
		first := paths(got)[:min(len(got), len(c.want))]
		slices.Sort(first)
		if d := cmp.Diff(c.want, first); d != "" {
			t.Errorf("%+v: %s%+v", c.q, d, got)
		}
	}
}

// In a tree with more files than can be read, the most probable ones are read: those with other evidence, and those
// with words of the query in their paths.
func TestOfManyFiles(t *testing.T) {
	m := memory{
		"z/page.go":       "package z\n\nfunc Page() {}\n",
		"z/indent.go":     "package z\n\nfunc Indent() {}\n",
		"z/shape.go":      "package z\n\n// Hexagons are drawn.\nfunc Draw() {}\n",
		"z/shape_test.go": "package z\n\nimport \"testing\"\n\nfunc TestAll(t *testing.T) { draw(\"hexagon\") }\n",
	}
	for i := range 51_000 {
		m[fmt.Sprintf("a/a%d%s", i, []string{".go", ".txt", ".txt", ".txt"}[i%4])] = "package a\n"
	}
	for _, c := range []struct {
		q     locate.Query
		want  string
		why   string
		whole bool
	}{
		{locate.Query{Output: []string{"panic: boom\n\tz/page.go:3 +0x1d\n"}}, "z/page.go",
			"in the failing output, line 3", true}, // no words are searched for
		{locate.Query{Text: "Wrong indent of lists"}, "z/indent.go", "has the text's words indent", false},
		{locate.Query{Tests: []locate.Test{{File: "z/shape_test.go"}}}, "z/shape.go",
			"has the failing test's words draw, func, hexagon", false},
	} {
		got, whole, err := locate.Rank(t.Context(), m, nil, c.q)
		if err != nil || len(got) == 0 || got[0].Path != c.want || !slices.Contains(got[0].Why, c.why) || whole != c.whole {
			t.Errorf("%+v: %+v, %v, %v; want %s: %s", c.q, got, whole, err, c.want, c.why)
		}
	}
}

// Without evidence there are no places: no text, text that does not discriminate, no files.
func TestNothingPoints(t *testing.T) {
	alike := memory{}
	for i := range 50 {
		alike[fmt.Sprintf("a/f%d.go", i)] = "package a\n\n// The server answers requests.\n"
	}
	for _, c := range []struct {
		tree memory
		q    locate.Query
	}{
		{parser(), locate.Query{}},
		{parser(), locate.Query{Text: "Please fix this", Output: []string{"exit status 1"}}},
		{alike, locate.Query{Text: "The server answers requests slowly"}},
		{memory{}, locate.Query{Text: "Indent", Tests: []locate.Test{{Name: "TestIndent"}, {File: "../../etc/passwd"}}}},
	} {
		got, _, err := locate.Rank(t.Context(), c.tree, nil, c.q)
		if err != nil || len(got) > 0 {
			t.Errorf("%+v: %+v, %v; want nothing", c.q, got, err)
		}
	}
}

// The same query has the same answer, for any order of files, within the limits.
func TestTheSameAnswer(t *testing.T) {
	m := memory{}
	var log strings.Builder
	for i := range 300 {
		m[fmt.Sprintf("p%d/file%d.go", i%7, i)] = fmt.Sprintf("package p\n\nfunc Load%d() {}\n\nfunc Load() {}\n", i%50)
		m[fmt.Sprintf("p%d/file%d_test.go", i%7, i)] = fmt.Sprintf("package p\n\n"+
			"func TestLoad%d(t *T) { Load%d(); Load() }\n", i, i)
		fmt.Fprintf(&log, "--- FAIL: TestLoad%d (0.00s)\n    file%d_test.go:3: p%d/file%d.go:7: no\n", i, i, i%7, i)
	}
	q := locate.Query{Text: "Load loads the wrong file", Output: []string{strings.Repeat(log.String(), 20)}}
	var past []locate.Commit
	for i := range 40_000 {
		past = append(past, locate.Commit{Paths: []string{fmt.Sprintf("p1/file%d.go", i%300),
			fmt.Sprintf("p1/file%d_test.go", i%300)}})
	}
	var first []locate.Place
	for i := range 3 {
		got, _, err := locate.Rank(t.Context(), m, past, q)
		if err != nil || len(got) != locate.MaxPlaces {
			t.Fatalf("%d places, %v", len(got), err)
		}
		for _, p := range got {
			if len(p.Tests) > 3 {
				t.Errorf("%d tests of %s", len(p.Tests), p.Path)
			}
		}
		if i == 0 {
			first = got
		} else if d := cmp.Diff(first, got); d != "" {
			t.Error(d)
		}
	}
}

// Locating ends with its context, before and during the search.
func TestItEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := cancelling{parser(), func() { cancel(why) }}
	if _, _, err := locate.Rank(ctx, m, nil, locate.Query{Text: "indent"}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if _, _, err := locate.Rank(t.Context(), unlisted{}, nil, locate.Query{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}

type cancelling struct {
	memory
	cancel func()
}

func (c cancelling) Read(ctx context.Context, p string, limit int64) ([]byte, error) {
	c.cancel()
	return c.memory.Read(ctx, p, limit)
}

type unlisted struct{ memory }

func (unlisted) Files(context.Context) ([]locate.File, error) { return nil, fs.ErrPermission }

// Files are scored by the blocks that failing tests execute and passing ones execute less. Tests and files outside of
// the tree are ignored.
func TestCoverage(t *testing.T) {
	block := func(p string, from, to int) locate.Block {
		return locate.Block{Path: "example.com/app/" + p, From: from, To: to}
	}
	all, lex, split := block("lex/lex.go", 3, 5), block("lex/lex.go", 7, 9), block("lex/split.go", 1, 1)
	ran := []locate.Run{
		{Failed: true, Blocks: []locate.Block{all, lex, split, split, block("print/page.go", 3, 3),
			block("lex/lex_test.go", 1, 9), block("lex/split.go", 9, 2), block("lex/split.go", 0, 2),
			{Path: "/usr/lib/go/src/fmt/print.go", From: 1, To: 2}}},
		{Failed: true, Blocks: []locate.Block{all, lex}},
		{Blocks: []locate.Block{all, split}},
		{Blocks: []locate.Block{all, split, block("print/indent.go", 1, 2)}},
	}
	e, err := locate.Gather(t.Context(), parser(), nil, locate.Query{Ran: ran})
	if err != nil {
		t.Fatal(err)
	}
	why := func(failed, passed int) string {
		return fmt.Sprintf("%d of 2 failing tests and %d of 2 passing ones ran the same lines of it", failed, passed)
	}
	want := []locate.Vote{ // squares of 2/√(2·4) and 2/√(2·2); 1/√(2·1); 1/√(2·3)
		{Path: "lex/lex.go", Score: 0.5 + 1, Why: why(2, 0)}, {Path: "print/page.go", Score: 0.5, Why: why(1, 0)},
		{Path: "lex/split.go", Score: 1.0 / 6, Why: why(1, 2)},
	}
	if d := cmp.Diff(want, e.Votes[locate.FromRuns], cmpopts.EquateApprox(0, 1e-5)); d != "" {
		t.Error(d)
	}
	// Without a failing test, coverage is no evidence.
	if e, err = locate.Gather(t.Context(), parser(), nil, locate.Query{Ran: ran[2:]}); err != nil || e.IsConclusive() {
		t.Errorf("%+v, %v", e.Votes, err)
	}
}

// Votes of equal score share a rank, and a source without weight is ignored.
func TestRanksAreJoined(t *testing.T) {
	e := locate.Evidence{Votes: map[locate.Source][]locate.Vote{
		locate.FromPast:    {{Path: "b.go", Score: 2, Why: "past"}, {Path: "a.go", Score: 1, Why: "past"}},
		locate.FromSibling: {{Path: "a.go", Score: 1, Why: "sibling"}, {Path: "c.go", Score: 1, Why: "sibling"}},
		locate.FromWords:   {{Path: "c.go", Score: 9, Why: "words"}},
	}}
	got := e.Rank(locate.Weights{K: 1, Of: map[locate.Source]float64{locate.FromPast: 1, locate.FromSibling: 1}})
	want := []locate.Place{ // past: 1/(1+1), 1/(1+2); sibling: 1/(1+1.5) each
		{Path: "a.go", Score: 1.0/3 + 1/2.5, Why: []string{"sibling", "past"}},
		{Path: "b.go", Score: 1 / 2.0, Why: []string{"past"}},
		{Path: "c.go", Score: 1 / 2.5, Why: []string{"sibling"}},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Error(d)
	}
}

// For any untrusted content, locating ends, and returns only files of the tree that can be changed.
func FuzzRank(f *testing.F) {
	f.Add("panic: x\n\tlex/lex.go:3", "package x\nfunc TestA(t *testing.T) { B() }", "TestA/b [x] > ::")
	f.Add("File \"a.py\", line 3\n=== FAIL", "def test_a():\n  b(", "tests/a.py::test_a[1]")
	f.Add("../../x.go:1 \x00", "it('a', () => {`", "a > b")
	f.Fuzz(func(t *testing.T, log, test, name string) {
		m := parser()
		maps.Copy(m, memory{"fuzz/a_test.go": test, "fuzz/test_a.py": test, "fuzz/a.test.ts": test, "fuzz/a.ts": log})
		got, _, err := locate.Rank(t.Context(), m, []locate.Commit{{Paths: []string{name, "fuzz/a.ts"}}}, locate.Query{
			Text: log, Output: []string{log, test}, Ran: []locate.Run{{Failed: true, Blocks: []locate.Block{{Path: name},
				{Path: "x/fuzz/a.ts", From: -1 << 62, To: 1 << 62}}}},
			Tests: []locate.Test{{Name: name}, {File: name, Name: test}, {File: "fuzz/a.test.ts", Name: name}}})
		if err != nil || len(got) > locate.MaxPlaces {
			t.Fatalf("%d places, %v", len(got), err)
		}
		for _, p := range got {
			if _, ok := m[p.Path]; !ok || !locate.IsCandidate(p.Path) {
				t.Errorf("%s is no file of the tree", p.Path)
			}
		}
	})
}
