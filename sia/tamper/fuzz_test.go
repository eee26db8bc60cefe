package tamper

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// fuzzPaths are paths of every language and role.
var fuzzPaths = []string{
	"a_test.go", "tests/test_a.py", "a.test.ts", "src/test/java/ATest.java", "spec/a_spec.rb", "src/a.rs", "tests/a.rs",
	"tests/a.php",
	".github/workflows/a.yml", "package.json", "pyproject.toml", "Makefile", "a.snap", "testdata/a.golden", "conftest.py",
	"src/a.c", "jest.config.js",
}

// FuzzFind compares two versions of a file, and the newer one as the lines of a hunk that does not match the file.
func FuzzFind(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range readCases(a) {
			for p, old := range c.old {
				i := max(0, slices.IndexFunc(fuzzPaths, func(q string) bool { return filepath.Ext(q) == filepath.Ext(p) }))
				f.Add(byte(i), old, c.new[p])
			}
		}
	}
	f.Add(byte(2), "it('a', () => {\n  /x/\n});", "/\"`/\n/[/]/.test(x)\n`${a}`")
	f.Add(byte(6), "r#\"\n\"#\n'a' '\\'' 'b", "r\nr#\n/*\n'")
	f.Add(byte(4), "<<~A\n  x\nA\n=begin\n=end", "x <<-\n<<~\n__END__")
	f.Fuzz(func(t *testing.T, pick byte, old, new string) {
		if len(old)+len(new) > 8000 || strings.Count(old, "\n")*strings.Count(new, "\n") > 40000 {
			return // too large for the comparison of this test
		}
		p := fuzzPaths[int(pick)%len(fuzzPaths)]
		whole := Change{Path: p, Status: "modified", Hunks: diffHunks(old, new), Old: old}
		odd := Change{Path: p, Status: "modified", Old: new,
			Hunks: []Hunk{{OldStart: len(old) - 5, NewStart: -3, Lines: strings.Split(new, "\n")}}}
		parts := whole
		parts.Old = ""
		for _, changes := range [][]Change{{whole}, {parts}, {odd}, {whole, odd}} {
			got := Find(changes, []string{old}, "src/**")
			if len(got) > maxFindings {
				t.Fatalf("%d findings", len(got))
			}
			for _, x := range got {
				if x.Path != p || x.Line < 0 || x.Why == "" || strings.ContainsAny(x.String(), "\n\r") {
					t.Fatalf("odd finding %+v", x)
				}
			}
			if diff := cmp.Diff(got, Find(changes, []string{old}, "src/**")); diff != "" {
				t.Fatalf("another time, another answer:\n%s", diff)
			}
		}
		if roleOf(p).test && old == new && len(Find([]Change{whole}, nil)) > 0 {
			t.Fatal("nothing changed, yet something was found")
		}
	})
}

// TestAddingIsFree checks that new test files have no findings for any content, unless they affect other files.
func TestAddingIsFree(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base == "runner.txtar" || base == "ends.txtar" {
			continue // they are about what reaches into all tests
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range readCases(a) {
			for p, text := range c.new {
				r := roleOf(p)
				if !r.test || strings.Contains(c.name, "only") || strings.Contains(c.name, "focus") ||
					strings.Contains(c.name, "conftest") || strings.Contains(c.name, "test-main") ||
					strings.Contains(c.name, "duplicate") {
					continue
				}
				if got := Find([]Change{{Path: p, Status: "added", Hunks: diffHunks("", text)}}, nil); len(got) > 0 {
					t.Errorf("%s: %v", c.name, got)
				}
			}
		}
	}
}

// TestDeletingIsNot checks that a deleted test file is always reported.
func TestDeletingIsNot(t *testing.T) {
	for _, name := range []string{"a_test.go", "test_a.py", "a.test.ts", "src/test/java/ATest.java", "spec/a_spec.rb",
		"tests/a_test.rs"} {
		if got := Find([]Change{{Path: name, Status: "deleted"}}, nil); len(got) != 1 || got[0].Kind != DeletedTest {
			t.Errorf("%s, without its lines: %v", name, got)
		}
		if got := Find([]Change{{Path: name, Status: "modified", Opaque: true}}, nil); len(got) != 1 {
			t.Errorf("%s, changed in a way that can't be shown: %v", name, got)
		}
	}
}

// TestManyFindingsAreCounted checks the limits.
func TestManyFindingsAreCounted(t *testing.T) {
	var changes []Change
	for i := range 40 {
		old := "package a\n" + strings.Repeat("func TestA(t *testing.T) {\n\tt.Fatal(1)\n}\n", 30)
		changes = append(changes, Change{Path: string(rune('a'+i%26)) + strings.Repeat("x", i/26) + "_test.go",
			Status: "deleted", Hunks: diffHunks(old, "")})
	}
	got := Find(changes, nil)
	if len(got) != maxFindings {
		t.Fatalf("%d findings", len(got))
	}
	if want := "a test was deleted (and 10 more like it)"; got[maxFindingsPerFile-1].Why != want {
		t.Errorf("the last of a file: %q", got[maxFindingsPerFile-1].Why)
	}
}

func BenchmarkFind(b *testing.B) {
	text, err := os.ReadFile("cases_test.go")
	if err != nil {
		b.Fatal(err)
	}
	old := strings.Repeat(string(text), 20)
	change := Change{Path: "a_test.go", Status: "modified", Old: old,
		Hunks: []Hunk{{OldStart: 1, NewStart: 1, Lines: []string{"-package tamper", "+package other"}}}}
	b.SetBytes(int64(len(old)))
	for b.Loop() {
		Find([]Change{change}, nil)
	}
}

// TestLocatedReadsBack checks that Located parses the text of a finding.
func TestLocatedReadsBack(t *testing.T) {
	f := Finding{Kind: SkippedTest, Path: "a dir/b: c_test.go", Line: 12, Text: "t.Skip(\"a:1: b\")",
		Why: "a test is skipped"}
	path, line, what, ok := Located(f.String())
	if !ok || path != f.Path || line != 12 || what != "a test is skipped: `t.Skip(\"a:1: b\")`" {
		t.Errorf("%q %d %q %v", path, line, what, ok)
	}
	for _, other := range []string{"", "1 required check is green", "a.yml: a workflow was deleted"} {
		if _, _, _, ok := Located(other); ok {
			t.Errorf("%q points at a line", other)
		}
	}
}
