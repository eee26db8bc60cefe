package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
)

// TestResults reads what runners printed; testdata has it as it was recorded.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		file string
		lang language
		want results
	}{
		{"unittest-3.11.txt", python{}, results{"test_a.Sums.test_adds": passed, "test_a.Sums.test_breaks": failed,
			"test_a.Sums.test_later": skipped, "test_a.Sums.test_parts": failed, "test_a.Sums.test_wrong": failed}},
		{"unittest-3.10.txt", python{}, results{"test_a.Sums.test_adds": passed, "test_a.Sums.test_breaks": failed,
			"test_a.Sums.test_later": skipped, "test_a.Sums.test_parts": failed, "test_a.Sums.test_wrong": failed}},
		{"unittest-unloaded.txt", python{}, results{"unittest.loader._FailedTest.test_load": failed}},
		{"node.xml", node{}, results{"adds": passed, "group > fails": failed, "group > skips": skipped}},
		{"node-unloaded.xml", node{}, results{"load.test.js": failed}},
		{"cargo.txt", rust{}, results{"adds": passed, "deep::fails": failed, "later": skipped, "panics": passed}},
	} {
		out, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, c.lang.results(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
		for n := range out { // a report that is cut anywhere must not end the program
			c.lang.results(out[:n])
		}
	}
	broken, err := os.ReadFile(filepath.Join("testdata", "cargo-broken.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tests/sums.rs"}, (rust{}).broken(string(broken), "")); diff != "" {
		t.Errorf("files that stop cargo (-want +got):\n%s", diff)
	}
}

// TestGoResults: a test's own output is not taken for a verdict, and what was under way when the binary
// ended has failed.
func TestGoResults(t *testing.T) {
	out := strings.ReplaceAll(`~=== RUN   TestA
a line without an end~=== RUN   TestA/sub
~    --- PASS: TestA/sub (0.00s)
~--- PASS: TestA (0.00s)
~=== RUN   TestWaits
~=== PAUSE TestWaits
~=== RUN   TestSkips
~--- SKIP: TestSkips (0.00s)
~=== RUN   TestHangs
panic: test timed out after 1s
`, "~", "\x16")
	want := results{"TestA": passed, "TestA/sub": passed, "TestSkips": skipped, "TestHangs": failed}
	if diff := cmp.Diff(want, (golang{}).results([]byte(out))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReportReader: marks that a test guesses are its output, and an endless line is not kept.
func TestReportReader(t *testing.T) {
	r := newReportReader(golang{}, "token")
	for _, part := range []string{"\ntoken build .\nbuilding\nto", "ken end 0\n",
		"\ntoken run .\n\x16--- FAIL: TestA (0.00s)\nguess end 0\n",
		strings.Repeat("x", 3*maxSection), "\ntoken end 1\n", "\ntoken run .\n\x16--- FAIL: TestA (0.00s)\ntoken end 1\n"} {
		if n, err := r.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if r.section.Cap() > 2*maxSection || len(r.line) > maxLine {
		t.Errorf("%d bytes are held", r.section.Cap()+len(r.line))
	}
	if rep := r.finish(); !rep.all(".::TestA", failed) || len(rep.builds) > 0 {
		t.Errorf("report %+v", rep)
	}
}

// TestNodeRunner chooses the runner that package.json says.
func TestNodeRunner(t *testing.T) {
	for text, want := range map[string]string{
		`{"devDependencies":{"vitest":"^1"}}`:                       "vitest run",
		`{"devDependencies":{"jest":"29"},"scripts":{"test":"x"}}`:  "jest --ci",
		`{"devDependencies":{"mocha":"10"}}`:                        "--reporter xunit",
		`{"scripts":{"test":"node --test"}}`:                        "--test-reporter=junit",
		`{"devDependencies":{"tap":"16"}}`:                          "",
		`{"scripts":`:                                               "",
		`{"scripts":{"test":"node --test"},"dependencies":{"a":1}}`: "",
	} {
		s, ok := (node{}).suite(files{}, []string{"test/it's.test.js", "test/data.json"},
			func(string) ([]byte, error) { return []byte(text), nil })
		if ok != (want != "") || !strings.Contains(s.script, want) {
			t.Errorf("%s: %v %s; want %q", text, ok, s.script, want)
		}
		if ok && (!strings.Contains(s.script, `'test/it'\''s.test.js'`) || strings.Contains(s.script, "data.json")) {
			t.Errorf("%s: %s", text, s.script)
		}
	}
}

// TestJava runs the classes of each module that changed, in the module.
func TestJava(t *testing.T) {
	tree := files{"pom.xml": gitops.HistoryFile{ID: "1"}, "core/pom.xml": gitops.HistoryFile{ID: "2"}}
	s, ok := (java{}).suite(tree, []string{"core/src/test/java/a/SumTest.java", "core/src/test/java/a/Helper.java",
		"core/src/test/java/a/b/LessTest.java"}, nil)
	if !ok || !strings.Contains(s.script, "-pl 'core' -am -Dtest='SumTest,LessTest' -o test ") {
		t.Errorf("%v %s", ok, s.script)
	}
	got := (java{}).results([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a.SumTest" tests="3"><testcase name="adds" classname="a.SumTest" time="0.01"/>
<testcase name="wrong" classname="a.SumTest" time="0"><failure message="no" type="x">at a.SumTest</failure></testcase>
</testsuite><?xml version="1.0"?><testsuite name="a.b.LessTest">
<testcase name="less" classname="a.b.LessTest"><skipped/></testcase></testsuite>`))
	want := results{"a.SumTest.adds": passed, "a.SumTest.wrong": failed, "a.b.LessTest.less": skipped}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
