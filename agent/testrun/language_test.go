//test:plain
package testrun

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/junit"
)

// TestResults parses recorded output of runners in testdata.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		file string
		lang Language
		want Results
	}{
		{"unittest-3.11.txt", Python{}, Results{"test_a.Sums.test_adds": Passed, "test_a.Sums.test_breaks": Failed,
			"test_a.Sums.test_later": Skipped, "test_a.Sums.test_parts": Failed, "test_a.Sums.test_wrong": Failed}},
		{"unittest-3.10.txt", Python{}, Results{"test_a.Sums.test_adds": Passed, "test_a.Sums.test_breaks": Failed,
			"test_a.Sums.test_later": Skipped, "test_a.Sums.test_parts": Failed, "test_a.Sums.test_wrong": Failed}},
		{"unittest-unloaded.txt", Python{}, Results{"unittest.loader._FailedTest.test_load": Failed}},
		{"node.xml", Node{}, Results{"adds": Passed, "group > fails": Failed, "group > skips": Skipped}},
		{"node-unloaded.xml", Node{}, Results{"load.test.js": Failed}},
		{"cargo.txt", Rust{}, Results{"adds": Passed, "deep::fails": Failed, "later": Skipped, "panics": Passed}},
	} {
		out, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, c.lang.Results(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
		for n := range out { // a report that is cut at any point must not cause a panic
			c.lang.Results(out[:n])
		}
	}
}

// TestUnittestTrace tests that a failed test's traceback contains no verdict.
func TestUnittestTrace(t *testing.T) {
	out := `test_says (test_a.Says.test_says) ... hello
FAIL

======================================================================
FAIL: test_says (test_a.Says.test_says)
----------------------------------------------------------------------
AssertionError: 'no' != 'ok
ok
'
Ran 1 test in 0.001s
`
	if diff := cmp.Diff(Results{"test_a.Says.test_says": Failed}, (Python{}).Results([]byte(out))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGoResults tests that a test's own output is not taken for a verdict, and tests running at the end have failed.
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
	want := Results{"TestA": Passed, "TestA/sub": Passed, "TestSkips": Skipped, "TestHangs": Failed}
	if diff := cmp.Diff(want, (Golang{}).Results([]byte(out))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestJUnitWithControls tests output with control characters, which reporters such as node's and Mocha's write verbatim
// or as character references. They must not hide tests.
func TestJUnitWithControls(t *testing.T) {
	for _, said := range []string{"\x1b[31mred\x1b[39m", "&#x1B;[31mred", "&#27;red", "&#x0;", "\x00", "a\xffb",
		"\uffff"} {
		got := JUnit([]byte(`<testsuites><testcase name="a" failure="` + said + `"><failure message="` + said + `">` + said +
			`</failure></testcase><testcase name="b` + said + `"/><testcase name="c&#10;&#x9;d"/></testsuites>`))
		if got["a"] != Failed || got["c\n\td"] != Passed || len(got) != 3 {
			t.Errorf("%q: %v", said, got)
		}
	}
}

// TestLastWord tests that output that ends before the runner's last line is detected.
func TestLastWord(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		lang        Language
		whole, last string // the output, and its end
	}{
		{Golang{}, "\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== NAME  \n\x16PASS\n", "\x16PASS\n"},
		{Python{}, read("unittest-3.11.txt"), "Ran 5 tests in"},
		{Python{}, "..\n3 passed in 0.12s\n<testsuites></testsuites>", "</testsuites>"},
		{Node{}, read("node.xml"), "</testsuites>"},
		{Node{}, `{"numFailedTests":0,"numTotalTests":1,"testResults":[]}`, `,"testResults"`},
		{Rust{}, read("cargo.txt"), "test result:"},
		{Java{}, `<testsuite name="a"><testcase name="b"/></testsuite>` + "\n", "</testsuite>"},
	} {
		if !c.lang.LastWord([]byte(c.whole)) {
			t.Errorf("%s: no last word in %q", c.lang.Name(), c.whole)
		}
		if cut := c.whole[:strings.Index(c.whole, c.last)]; c.lang.LastWord([]byte(cut)) {
			t.Errorf("%s: a last word in %q", c.lang.Name(), cut)
		}
	}
}

// TestReportReader tests that guessed marks are ordinary output, and endless lines are not kept.
func TestReportReader(t *testing.T) {
	r := newReportReader(Golang{}, "token")
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
	if rep := r.finish(); !rep.All(".::TestA", Failed) || len(rep.Builds) > 0 {
		t.Errorf("report %+v", rep)
	}
}

// TestReportIsBounded tests that a run with too much output, or too many tests, counts as not ended, with limited
// memory.
func TestReportIsBounded(t *testing.T) {
	const many = 10 * maxTests
	nested := strings.Repeat(`<testsuite name="`+strings.Repeat("a", maxSuiteName)+`">`, junit.MaxSuites)
	var xml, verdicts strings.Builder
	for i := range many {
		fmt.Fprintf(&xml, "<testcase name=\"%d\"/>\n", i)
		fmt.Fprintf(&verdicts, "\x16--- PASS: Test%d (0.00s)\n", i)
	}
	last := "\x16--- PASS: TestA (0.00s)\n\x16PASS\n"
	for name, c := range map[string]struct {
		lang    Language
		printed string
		status  int
	}{
		"few":        {Golang{}, last, 0},
		"long":       {Golang{}, strings.Repeat(strings.Repeat("x", 999)+"\n", 10*maxSection/1000) + last, -1},
		"many of Go": {Golang{}, verdicts.String() + last, -1},
		"many":       {Java{}, nested + xml.String() + strings.Repeat("</testsuite>", junit.MaxSuites), -1},
	} {
		r := newReportReader(c.lang, "token")
		if _, err := io.WriteString(r, "\ntoken run .\n"+c.printed+"\ntoken end 0\n"); err != nil {
			t.Fatal(err)
		}
		rep := r.finish()
		if rep.Ends["."].Status != c.status || (len(rep.Runs[0]) == 1) != (c.status == 0) {
			t.Errorf("%s: ended with %+v, %d tests", name, rep.Ends["."], len(rep.Runs[0]))
		}
	}
	if found := JUnit([]byte(nested + xml.String())); len(found) > maxTests+1 {
		t.Errorf("%d tests are held", len(found))
	}
	deep := "<testsuite>" + strings.Repeat("<a>", 10_000) + `<testcase name="x"/>`
	if found := JUnit([]byte(deep)); len(found) > 0 {
		t.Errorf("elements within elements without end: %v", found)
	}
}

// TestJestDuplicates tests that of two tests of the same name, the failed one counts.
func TestJestDuplicates(t *testing.T) {
	for _, both := range []string{`"failed"`, `"passed"},{"fullName":"a","status":"failed"`,
		`"failed"},{"fullName":"a","status":"pending"`} {
		got := (Node{}).Results([]byte(`{"numTotalTests":2,"testResults":[{"status":"failed","assertionResults":[` +
			`{"fullName":"a","status":` + both + `}]}]}`))
		if diff := cmp.Diff(Results{"a": Failed}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", both, diff)
		}
	}
}

// TestNodeRunner tests the choice of the runner from package.json.
func TestNodeRunner(t *testing.T) {
	for text, want := range map[string]string{
		`{"devDependencies":{"vitest":"^1"}}`:                      "vitest run",
		`{"devDependencies":{"jest":"29"},"scripts":{"test":"x"}}`: "jest --ci",
		`{"devDependencies":{"mocha":"10"}}`:                       "--reporter xunit",
		`{"scripts":{"test":"node --test"}}`:                       "--test-reporter=junit",
		`{"devDependencies":{"tap":"16"}}`:                         "",
		`{"scripts":`:                                              "",
		`{"scripts":{"lint":"mocha -r no","test":"build && cross-env TZ=UTC mocha --require @babel/register --reporter dot ` +
			`-r=./setup.js 'test/**' | tee log","test:more":"c8 mocha"},"devDependencies":{"mocha":"1"}}`: "mocha --require " +
			"@babel/register -r=./setup.js --reporter xunit",
		`{"scripts":{"test":"vitest run --config a.ts; $(touch x)"},"devDependencies":{"vitest":"1"}}`: "run " +
			"--config a.ts --reporter=junit",
		`{"scripts":{"test":"jest --config $(touch x) -c a.json"},"devDependencies":{"jest":"1"}}`: "jest -c a.json --ci",
		`{"scripts":{"test":"node --import tsx --test --experimental-strip-types"}}`: "node --import tsx " +
			"--experimental-strip-types --test --test-reporter",
		`{"scripts":{"test":"node --test"},"dependencies":{"a":1}}`: "",
	} {
		s, ok := (Node{}).Suite(Files{}, []string{"test/it's.test.js", "test/data.json"},
			func(string) ([]byte, error) { return []byte(text), nil })
		if ok != (want != "") || !strings.Contains(s.Script, want) {
			t.Errorf("%s: %v %s; want %q", text, ok, s.Script, want)
		}
		if ok && (!strings.Contains(s.Script, `'test/it'\''s.test.js'`) || strings.Contains(s.Script, "data.json")) {
			t.Errorf("%s: %s", text, s.Script)
		}
	}
}

// TestJava tests that the changed classes of each module are run in the module.
func TestJava(t *testing.T) {
	tree := Files{"pom.xml": gitops.HistoryFile{ID: "1"}, "core/pom.xml": gitops.HistoryFile{ID: "2"}}
	s, ok := (Java{}).Suite(tree, []string{"core/src/test/java/a/SumTest.java", "core/src/test/java/a/Helper.java",
		"core/src/test/java/a/b/LessTest.java"}, nil)
	if !ok || !strings.Contains(s.Script, "-pl 'core' -am -Dtest='SumTest,LessTest' -o test ") {
		t.Errorf("%v %s", ok, s.Script)
	}
	got := (Java{}).Results([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a.SumTest" tests="3"><testcase name="adds" classname="a.SumTest" time="0.01"/>
<testcase name="wrong" classname="a.SumTest" time="0"><failure message="no" type="x">at a.SumTest</failure></testcase>
</testsuite><?xml version="1.0"?><testsuite name="a.b.LessTest">
<testcase name="less" classname="a.b.LessTest"><skipped/></testcase></testsuite>`))
	want := Results{"a.SumTest.adds": Passed, "a.SumTest.wrong": Failed, "a.b.LessTest.less": Skipped}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Missing artifacts of Maven are reported with the reason, without advice and colors.
func TestJavaLacks(t *testing.T) {
	for log, lacks := range map[string]bool{
		"[ERROR] Could not create local repository at /cache/deps/maven -> [Help 1]":           true,
		"[ERROR] Cannot access central (https://repo.maven.apache.org/maven2) in offline mode": true,
		"[ERROR] COMPILATION ERROR": false,
	} {
		r := Report{Builds: map[string]string{"core": log + "\n"}}
		const why = "the registry can't be reached from here"
		want := log + "\n"
		if lacks {
			want += why
		}
		if r.unfetched(Java{}, why); r.Lacks(Java{}) != lacks || r.Builds["core"] != want {
			t.Errorf("lacks %v: %q", r.Lacks(Java{}), r.Builds["core"])
		}
	}
	printed := filepath.Join(t.TempDir(), "printed")
	log := "\x1b[0m[ERROR] No plugin -> [Help 1]\n[ERROR] \n[ERROR] Re-run Maven using the -X switch\n\x1b[0m"
	if err := os.WriteFile(printed, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", strings.ReplaceAll(mavenErrors, "/tmp/printed", printed)).Output()
	if err != nil || string(out) != "[ERROR] No plugin -> [Help 1]\n" {
		t.Errorf("%v: %q", err, out)
	}
}

// TestNodeBuild tests the commands that build files for tests.
func TestNodeBuild(t *testing.T) {
	tree := Files{"src/a.js": gitops.HistoryFile{ID: "1"}, "test/a.test.js": gitops.HistoryFile{ID: "2"}}
	for _, c := range []struct{ scripts, test, want string }{
		{`"test":"mocha"`, "", ""},
		{`"build":"tsc","test":"mocha"`, "require('../src/a')", ""},
		{`"build":"tsc","test":"mocha"`, "import a from '../dist/a.js'", "tsc"},
		{`"build":"tsc","test":"mocha"},"main":"lib/a.js","x":{"y":"z"`, "require('..')", "tsc"},
		{`"pretest":"npm run lint && npm run build","build":"rollup -c","lint":"eslint"`, "", "rollup -c"},
		{`"pretest":"eslint . && make lib"`, "", "make lib"},
		{`"test":"npm run build:reset && npm run build:docs && npm run test:unit","build:reset":"rimraf lib",` +
			`"build:docs":"npm run build && node docs.js","build":"npm run build:js && npm run build:types",` +
			`"build:js":"esbuild","build:types":"tsc"`, "", "esbuild"},
		{`"test":"npm run build && x","build":"npm run build"`, "", ""},
	} {
		text := `{"scripts":{` + c.scripts + `},"devDependencies":{"mocha":"1"}}`
		s, ok := (Node{}).Suite(tree, []string{"test/a.test.js"}, func(name string) ([]byte, error) {
			return []byte(map[string]string{"package.json": text, "test/a.test.js": c.test}[name]), nil
		})
		_, built, _ := strings.Cut(s.Script, "limited sh -c '")
		built, _, found := strings.Cut(built, "' </dev/null >/tmp/built")
		if !found {
			built = ""
		}
		if !ok || built != c.want {
			t.Errorf("%s: %v, built by %q; want %q", c.scripts, ok, built, c.want)
		}
	}
}

// TestNodeState tests that the state depends on the dependencies, and not on the package's own version.
func TestNodeState(t *testing.T) {
	near := map[string]bool{}
	deps := func(about, lock string) string {
		s, ok := (Node{}).Suite(Files{}, []string{"a.test.js"}, func(name string) ([]byte, error) {
			return []byte(map[string]string{"package.json": about, "package-lock.json": lock}[name]), nil
		})
		if !ok {
			t.Fatal(about)
		}
		near[s.Near] = true
		return s.Deps
	}
	first := deps(`{"version":"1.0.0","devDependencies":{"mocha":"1"}}`,
		`{"version":"1.0.0","packages":{"":{"version":"1.0.0"},"node_modules/mocha":{"version":"1.2.0"}}}`)
	if next := deps(`{"version":"1.0.1","scripts":{"x":"y"},"devDependencies":{"mocha":"1"}}`,
		`{"version":"1.0.1","packages":{"":{"version":"1.0.1"},"node_modules/mocha":{"version":"1.2.0"}}}`); next != first {
		t.Errorf("a version: %s, then %s", first, next)
	}
	for _, other := range []string{deps(`{"version":"1.0.0","devDependencies":{"mocha":"2"}}`, ""),
		deps(`{"version":"1.0.0","devDependencies":{"mocha":"1"}}`,
			`{"version":"1.0.0","packages":{"":{"version":"1.0.0"},"node_modules/mocha":{"version":"1.3.0"}}}`)} {
		if other == first {
			t.Errorf("other dependencies are %s, too", first)
		}
	}
	if deps(`{"version":"1.0.0","workspaces":["../../workspace/a"],"devDependencies":{"mocha":"1"}}`,
		`{"version":"1.0.0","packages":{"":{"version":"1.0.0"},"node_modules/mocha":{"version":"1.2.0"}}}`) == first {
		t.Error("a workspace, whose dependencies are installed, too, changes nothing")
	}
	deps(`{"devDependencies":{"mocha":"^1.7.2"}}`, "")
	if len(near) != 2 { // mocha 1 and 2
		t.Errorf("near to each other: %v", near)
	}
}

// TestNodeFiles tests that each file that is copied for npm is part of the state.
func TestNodeFiles(t *testing.T) {
	suite := func(name string, f gitops.HistoryFile) Suite {
		tree := Files{"package.json": {ID: "about"}}
		if f != (gitops.HistoryFile{}) {
			tree[name] = f
		}
		s, ok := (Node{}).Suite(tree, []string{"a.test.js"}, func(p string) ([]byte, error) {
			if p == "package.json" {
				return []byte(`{"devDependencies":{"mocha":"1"}}`), nil
			}
			return nil, gitops.ErrTooLarge // or a link; see [Runner.Reader]
		})
		if !ok {
			t.Fatal(name)
		}
		return s
	}
	none := suite("", gitops.HistoryFile{})
	for _, name := range []string{"package-lock.json", "npm-shrinkwrap.json", ".npmrc"} {
		link := suite(name, gitops.HistoryFile{ID: "a", Link: true})
		if link.Deps != none.Deps || link.Prepare != none.Prepare || strings.Contains(link.Prepare, name) {
			t.Errorf("%s is a link: %s", name, link.Prepare)
		}
		one, two := suite(name, gitops.HistoryFile{ID: "a"}), suite(name, gitops.HistoryFile{ID: "b"})
		if one.Deps == none.Deps || one.Deps == two.Deps || !strings.Contains(one.Prepare, name) {
			t.Errorf("%s is large: %s, other content %s, without %s", name, one.Deps, two.Deps, none.Deps)
		}
	}
}

// TestPythonPath tests that modules are found as with an editable install, in the test's own project first.
func TestPythonPath(t *testing.T) {
	s, ok := (Python{}).Suite(Files{"parts/a/pyproject.toml": gitops.HistoryFile{ID: "1"}},
		[]string{"parts/a/tests/test_a.py"}, func(string) ([]byte, error) { return []byte("import unittest"), nil })
	if want := "PYTHONPATH=/workspace/parts/a/src:/workspace/parts/a/lib:/workspace/parts/a:/workspace/src:"; !ok ||
		!strings.HasPrefix(s.Env[0], want) {
		t.Errorf("%v %v, want %s", ok, s.Env, want)
	}
}

// TestPythonGroups tests requirements in dependency groups, which older versions of pip don't support.
func TestPythonGroups(t *testing.T) {
	s, ok := (Python{}).Suite(Files{"pyproject.toml": gitops.HistoryFile{ID: "1"}}, []string{"test_a.py"},
		func(name string) ([]byte, error) {
			return map[string][]byte{"test_a.py": []byte("import pytest"), "pyproject.toml": []byte(`
[dependency-groups]
dev = ["ruff"]
more = ["freezegun>=1", "--index-url=x", {include-group = "tests"}]
tests = ["pytest-xdist; python_version > '3'", {include-group = "more"}]
`)}[name], nil
		})
	want := ` 'pytest-xdist; python_version > '\''3'\''' 'freezegun>=1' pytest`
	if !ok || !strings.HasSuffix(s.Prepare, want) {
		t.Errorf("%v, %s", ok, s.Prepare)
	}
}

// TestRegistriesThatHang tests that installers and their subprocesses, which get only environment variables, time out.
func TestRegistriesThatHang(t *testing.T) {
	for _, c := range []struct {
		lang       Language
		file, test string
		text       string
		want       []string
	}{
		{Python{}, "pyproject.toml", "test_a.py", "import pytest", []string{"PIP_RETRIES=1", "PIP_DEFAULT_TIMEOUT=15"}},
		{Node{}, "package.json", "a.test.js", `{"scripts": {"test": "node --test"}, "dependencies": {"a": "1"}}`,
			[]string{"npm_config_fetch_retries=1", "npm_config_fetch_timeout=60000"}},
	} {
		s, ok := c.lang.Suite(Files{c.file: gitops.HistoryFile{ID: "1"}}, []string{c.test},
			func(string) ([]byte, error) { return []byte(c.text), nil })
		for _, want := range c.want {
			if _, first, _ := strings.Cut(s.Prepare, "export "); !ok || !strings.Contains(first, want) {
				t.Errorf("%v, %s", ok, s.Prepare)
			}
		}
	}
}

// TestJUnitOfManySuites tests that a test's name includes its suites, with limited size.
func TestJUnitOfManySuites(t *testing.T) {
	const deep = 300
	var b strings.Builder
	for range deep {
		b.WriteString(`<testsuite name="` + strings.Repeat("a", 1000) + `">`)
	}
	b.WriteString(`<testcase name="x"/><testcase name="y"><failure/></testcase>` + strings.Repeat("</testsuite>", deep))
	got := JUnit([]byte(b.String()))
	if len(got) != 2 {
		t.Errorf("%d tests", len(got))
	}
	for name, outcome := range got {
		if len(name) > junit.MaxSuites*(maxSuiteName+10) || (outcome == Failed) != strings.HasSuffix(name, "> y") {
			t.Errorf("a name of %d bytes, %v", len(name), outcome)
		}
	}
}
