package evidence_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// caches is the build folder of all tests in the package, so that the standard library is compiled once.
var caches string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" { // the program inside of a sandbox, as `sia forward`
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "look" { // a server that is killed
		os.Exit(lookAlone(os.Args[2:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if caches, err = os.MkdirTemp("", "sia-evidence-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := sandbox.RemoveAll(caches); err != nil { // the sandbox's user wrote there
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// boxOptions returns the options for the sandbox of all tests here.
func boxOptions() (sandbox.Options, error) {
	self, err := os.Executable()
	compiled, noFolder := os.UserCacheDir()
	// Prefer Debian's Python, which has Debian's pytest.
	env := append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH=/usr/bin:"+os.Getenv("PATH"))
	return sandbox.Options{Self: []string{self, "forward"}, Env: env, Stdlib: filepath.Join(compiled, "sia", "stdlib")},
		errors.Join(err, noFolder)
}

func newBox(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	o, err := boxOptions()
	if err != nil {
		t.Fatal(err)
	}
	return sandboxtest.New(t, o)
}

// TestLook checks the changes in testdata. Each archive has the base's files, below base; the changed files, below
// head, where an empty one is deleted; and the expected result.
func TestLook(t *testing.T) {
	box := newBox(t)
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := newClone(t)
			base, want := c.commit(a, "base/"), ""
			head := c.commit(a, "head/")
			for _, f := range a.Files {
				if f.Name == "want" {
					want = string(f.Data)
				}
			}
			e := c.look(box, base, head)
			if e.NotRun != "" && !strings.Contains(want, "not run") {
				t.Fatalf("not run: %s", e.NotRun)
			}
			if diff := cmp.Diff(want, shown(e)); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, strings.Join(e.Left, "\n"))
			}
			again := c.look(box, base, head)
			if diff := cmp.Diff(shown(e), shown(again)); diff != "" {
				t.Errorf("from what was kept (-first +again):\n%s", diff)
			}
		})
	}
}

// Results of tests that ran without their dependencies are not cached: the next run may fetch them, or must report that
// it can't.
func TestNotFetched(t *testing.T) {
	for name, files := range map[string]string{
		"node": `
-- base/package.json --
{"scripts": {"test": "node --test"}, "dependencies": {"shop": "no version"}}
-- base/half.js --
exports.half = (a) => a >> 1
-- base/half.test.js --
require('shop'); require('./half')
-- head/half.js --
exports.half = (a) => Math.floor(a / 2)
`,
		"go": `
-- base/go.mod --
module example.com/half

go 1.21

require shop.invalid/shop v1.0.0
-- base/half.go --
package half

func Half(a int) int { return a / 2 }
-- base/half_test.go --
package half

import (
	"testing"

	_ "shop.invalid/shop"
)

func TestHalf(t *testing.T) { Half(2) }
-- head/half.go --
package half

func Half(a int) int { return a >> 1 }
`,
	} {
		t.Run(name, func(t *testing.T) {
			a, c, box := txtar.Parse([]byte(files)), newClone(t), newBox(t)
			base, head := c.commit(a, "base/"), c.commit(a, "head/")
			results := func() []string {
				all, err := filepath.Glob(filepath.Join(caches, "evidence", "results", "*.json"))
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			before := results()
			if e := c.look(box, base, head); e.NotRun == "" || len(e.Left) == 0 {
				t.Fatalf("it ran: %+v", e)
			}
			if d := cmp.Diff(before, results()); d != "" {
				t.Errorf("kept (-before +after):\n%s", d)
			}
		})
	}
}

// Tests that ran with installed packages, since no registry could be reached, run again once one can.
func TestRegistryThatCameBack(t *testing.T) {
	a, c := txtar.Parse([]byte(`
-- base/requirements.txt --
no version
-- base/half.py --
def half(a):
    return a // 2
-- base/test_half.py --
import unittest, half

class Half(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half.half(4), 2)
-- head/half.py --
def half(a):
    return a >> 1
`)), newClone(t)
	base, head := c.commit(a, "base/"), c.commit(a, "head/")
	o, err := boxOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.Self = nil // without network access
	if e := c.look(sandboxtest.New(t, o), base, head); e.Tests != 1 || len(e.Left) > 0 {
		t.Fatalf("without a registry: %+v", e)
	}
	if e := c.look(newBox(t), base, head, "registry.invalid"); len(e.Left) == 0 ||
		!strings.Contains(e.Left[0], "could not be fetched") {
		t.Errorf("with one that can be asked: %+v", e)
	}
}

// A failed fetch is not repeated for half an hour. The tests run with installed packages, including the project, and
// far groups are still started.
func TestFailedFetchIsRemembered(t *testing.T) {
	a, c := txtar.Parse([]byte(`
-- base/pyproject.toml --
[project]
name = "shop"
version = "3"
-- base/requirements.txt --
no version
-- base/half.py --
def half(a):
    return a // 2
-- base/far.py --
import half
-- base/test_half.py --
import importlib.metadata, unittest, half

class Half(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half.half(4), 2)
        self.assertEqual(importlib.metadata.version("shop"), "3")
-- base/test_far.py --
import unittest, far

class Far(unittest.TestCase):
    def test_far(self):
        self.assertTrue(far)
-- head/half.py --
def half(a):
    return a >> 1
`)), newClone(t)
	base, head := c.commit(a, "base/"), c.commit(a, "head/")
	h, err := gitops.OpenHistory(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	box, dir, now := newBox(t), t.TempDir(), time.Now()
	for _, look := range []struct {
		after   time.Duration
		host    string
		fetches bool
	}{
		{0, "registry.invalid", true}, {25 * time.Minute, "registry.invalid", false},
		{0, "other.invalid", true}, {31 * time.Minute, "registry.invalid", true},
	} {
		now = now.Add(look.after)
		fetches, r := 0, testrun.NewRunner(box, h, dir, []string{look.host}, 0)
		r.Now = func() time.Time { // a fetch takes 50 seconds
			now = now.Add(50 * time.Second)
			return now
		}
		e, err := evidence.Look(t.Context(), evidence.Spec{History: h, Base: base, Head: head, Runner: r, Dir: t.TempDir(),
			Now: func() time.Time { return time.Unix(0, 0).Add(r.Fetching()) }, // nothing else takes any time
			Begins: func(step string) {
				if strings.HasSuffix(step, "; what they need is fetched first, in 10 minutes at most") {
					fetches++
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		if e.Tests != 2 || len(e.Left) != 1 ||
			!strings.HasPrefix(e.Left[0], "python tests: what they depend on could not be fetched: exit status 1 after ") ||
			fetches != 0 != look.fetches || fetches > 1 {
			t.Errorf("after %s, with %s: %d fetches, %+v", look.after, look.host, fetches, e)
		}
	}
}

// If no test passes on the base commit, the reason is reported.
func TestNothingPasses(t *testing.T) {
	for name, files := range map[string]string{
		"unittest": "import unittest, not_here\n\nclass Half(unittest.TestCase):\n    def test_half(self):\n        pass\n",
		"pytest":   "import pytest, not_here\n\ndef test_half():\n    pass\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			a := txtar.Parse([]byte("-- base/half.py --\n# half\n-- head/half.py --\n# the half\n-- base/test_half.py --\n" +
				files))
			e := c.look(newBox(t), c.commit(a, "base/"), c.commit(a, "head/"))
			const want = "no test that the change can reach could be compared: test_half.py: its tests fail " +
				"on the base commit here: ModuleNotFoundError: No module named 'not_here'"
			if e.NotRun != want {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Findings beyond the maximum are counted.
func TestMoreThanIsListed(t *testing.T) {
	a, c := txtar.Parse([]byte(`
-- base/test_even.py --
import pytest

@pytest.mark.parametrize("a", range(70))
def test_even(a):
    pass
-- head/test_even.py --
`)), newClone(t)
	e := c.look(newBox(t), c.commit(a, "base/"), c.commit(a, "head/"))
	want := []string{"10 more of the tests and groups that these runs say something of"}
	if d := cmp.Diff(want, e.Left); d != "" || len(e.Dropped) != sia.MaxEvidence {
		t.Errorf("%d dropped, left (-want +got):\n%s", len(e.Dropped), d)
	}
}

// Results of a run that timed out are not cached: another run may have more.
func TestEndedIsNotKept(t *testing.T) {
	a, c := txtar.Parse([]byte(`
-- base/half.py --
def half(a):
    return a // 2
-- base/test_half.py --
import threading, unittest, half

class Half(unittest.TestCase):
    def test_half(self):
        threading.Event().wait()
-- head/half.py --
def half(a):
    return a >> 1
`)), newClone(t)
	base, head := c.commit(a, "base/"), c.commit(a, "head/")
	h, err := gitops.OpenHistory(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r, dir := testrun.NewRunner(newBox(t), h, caches, nil, 0), t.TempDir()
	r.RunWithin = time.Second
	e, err := evidence.Look(t.Context(), evidence.Spec{History: h, Base: base, Head: head, Runner: r, Dir: dir})
	if err != nil || len(e.Left) != 1 || !strings.Contains(e.Left[0], "did not come to an end") {
		t.Fatalf("%+v, %v", e, err)
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "results", "*.json")); err != nil || len(kept) > 0 {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// surefire is a fake Maven, since Surefire is available only from a registry: a class passes if the code has all lines
// of its file. It writes reports in Surefire's format.
const surefire = `#!/bin/sh
for arg; do
	case $was,$arg in
	-pl,*) dir=$arg ;;
	*,-Dtest=*) classes=${arg#-Dtest=} ;;
	esac
	was=$arg
done
[ "$arg" = test ] || exit 0
mkdir -p "$dir/target/surefire-reports"
status=0
for class in $(echo "$classes" | tr , ' '); do
	failure=
	if grep -vxFf "$dir/src/main/java/Calc.java" "$dir/src/test/java/$class.java" >/dev/null; then
		failure='<failure/>'
		status=1
	fi
	echo "<testsuite><testcase classname=\"$class\" name=\"passes\">$failure</testcase></testsuite>" \
		>"$dir/target/surefire-reports/TEST-$class.xml"
done
exit $status
`

// In a Maven module, all runs of its classes count together, near and far, for any number of classes.
func TestMavenModule(t *testing.T) {
	o, err := boxOptions()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "maven", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil { //nolint:gosec // the sandbox's user sees it
		t.Fatal(err)
	}
	for _, name := range []string{"java", "mvn"} { // the first one makes the folder known
		if err := os.WriteFile(filepath.Join(bin, name), []byte(surefire), 0o755); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	for dir := filepath.Dir(filepath.Dir(bin)); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the sandbox's user sees it
			t.Fatal(err)
		}
	}
	for i := range o.Env {
		if list, ok := strings.CutPrefix(o.Env[i], "PATH="); ok {
			o.Env[i] = "PATH=" + bin + ":" + list
		}
	}
	box := sandboxtest.New(t, o)
	edited := "-- head/M/src/main/java/Calc.java --\nhalf 2\nadd 3\nthird 1\nimport Calc\n" +
		"-- head/M/src/test/java/CalcTest.java --\nadd 3\n"
	many := "" // near ones
	for i := range 12 {
		many += fmt.Sprintf("-- base/M/src/test/java/Calc%dTest.java --\nimport Calc\n", i)
	}
	for _, c := range []struct{ name, module, more, want string }{
		{"weakened", "core", strings.Replace(edited, "half 2", "half 1", 1), "tests: 1\nbroken: core::CalcTest.passes\n"},
		{"one class", "core", edited, "tests: 1\nfiles: core/src/test/java/CalcTest.java\n"},
		{"another one that is far", "core", edited + "-- base/M/src/test/java/OtherTest.java --\nadd 3\n",
			"tests: 2\nfiles: core/src/test/java/CalcTest.java\n"},
		{"many", "core", edited + many + "-- base/M/src/test/java/OtherTest.java --\nadd 3\n",
			"tests: 14\nfiles: core/src/test/java/CalcTest.java\n"},
		{"no modules", ".", "-- head/M/src/test/java/CalcTest.java --\nadd 3\n",
			"tests: 1\nfiles: src/test/java/CalcTest.java\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := txtar.Parse([]byte(strings.ReplaceAll("-- base/pom.xml --\n<project/>\n-- base/M/pom.xml --\n<project/>\n"+
				"-- base/M/src/main/java/Calc.java --\nhalf 2\nadd 3\nimport Calc\n"+
				"-- base/M/src/test/java/CalcTest.java --\nhalf 2\n"+c.more, "/M/", "/"+c.module+"/")))
			r := newClone(t)
			e := r.look(box, r.commit(a, "base/"), r.commit(a, "head/"))
			if diff := cmp.Diff(c.want, shown(e)); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, strings.Join(e.Left, "\n"))
			}
		})
	}
}

// If only part of a suite is run, data files of tests are not covered: the test that reads one may be in the rest.
func TestPartOfASuite(t *testing.T) {
	files := `
-- base/pkg/__init__.py --
# the package
-- base/pkg/core.py --
def half(a):
    return a // 2
-- base/pkg/legacy.py --
from pkg.core import half

value = half(4)
-- base/tests/data/value.json --
2
-- base/tests/test_core.py --
import unittest
from pkg import core

class Core(unittest.TestCase):
    def test_core(self):
        self.assertEqual(core.half(0), 0)
-- base/tests/test_legacy.py --
import json, unittest
from pkg import legacy

class Legacy(unittest.TestCase):
    def test_legacy(self):
        self.assertEqual(legacy.value, json.load(open('tests/data/value.json')))
-- head/pkg/core.py --
def half(a):
    return a
-- head/tests/data/value.json --
4
`
	for i := range 30 {
		files += fmt.Sprintf("-- base/tests/test_more%d.py --\nimport unittest\n", i)
	}
	a, c := txtar.Parse([]byte(files)), newClone(t)
	e := c.look(newBox(t), c.commit(a, "base/"), c.commit(a, "head/"))
	if diff := cmp.Diff("tests: 1\n", shown(e)); diff != "" {
		t.Errorf("(-want +got):\n%s%s", diff, strings.Join(e.Left, "\n"))
	}
}

// New pages of documentation don't keep tests from being run; a change of as many files of code does.
func TestManyFiles(t *testing.T) {
	const files = `
-- base/calc.py --
def half(a):
    return a // 2
-- base/test_calc.py --
import unittest
from calc import half

class Halves(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(4), 2)
-- head/calc.py --
def half(a):
    return a
-- head/test_calc.py --
import unittest
`
	for ending, want := range map[string]string{
		"md": "tests: 1\nfiles: test_calc.py\ngone: test_calc.py::test_calc.Halves.test_half\n",
		"py": "not run: the change touches more than 400 files of code or tests, or 5000 in all\n",
	} {
		more := files
		for i := range 401 {
			more += fmt.Sprintf("-- head/docs/page%d.%s --\n# %d\n", i, ending, i)
		}
		a, c := txtar.Parse([]byte(more)), newClone(t)
		e := c.look(newBox(t), c.commit(a, "base/"), c.commit(a, "head/"))
		if diff := cmp.Diff(want, shown(e)); diff != "" {
			t.Errorf("%s (-want +got):\n%s%s", ending, diff, strings.Join(e.Left, "\n"))
		}
	}
}

// shown returns evidence in the format of the cases.
func shown(e sia.TestEvidence) string {
	var b strings.Builder
	if e.NotRun != "" {
		return "not run: " + e.NotRun + "\n"
	}
	fmt.Fprintf(&b, "tests: %d\n", e.Tests)
	for _, l := range []struct {
		name string
		list []string
	}{{"files", e.Files}, {"early", e.Early}, {"hushed", e.Hushed}, {"red", e.Red}, {"gone", e.Gone},
		{"dropped", e.Dropped}, {"broken", e.Broken}, {"edited", e.Edited}, {"differs", e.Differs},
		{"failing", e.Failing}} {
		for _, s := range l.list {
			fmt.Fprintf(&b, "%s: %s\n", l.name, s)
		}
	}
	return b.String()
}

// clone is a repository created by a test with git.
type clone struct {
	t   testing.TB
	dir string
}

func newClone(t testing.TB) *clone {
	t.Helper()
	c := &clone{t: t, dir: t.TempDir()}
	c.git("init", "--quiet", "--initial-branch=main")
	return c
}

func (c *clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits the files of an archive below a folder, removing empty ones, and returns the commit.
func (c *clone) commit(a *txtar.Archive, below string) string {
	c.t.Helper()
	for _, f := range a.Files {
		name, ok := strings.CutPrefix(f.Name, below)
		if !ok {
			continue
		}
		p := filepath.Join(c.dir, name)
		var err error
		if len(f.Data) == 0 {
			err = os.Remove(p)
		} else if err = os.MkdirAll(filepath.Dir(p), 0o755); err == nil {
			err = os.WriteFile(p, f.Data, 0o644)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	c.git("add", "--all")
	c.git("commit", "--quiet", "--message", "commit "+below)
	return c.git("rev-parse", "HEAD")
}

// look checks a change, with registries of the operator.
func (c *clone) look(box *sandbox.Sandbox, base, head string, registries ...string) sia.TestEvidence {
	c.t.Helper()
	h, err := gitops.OpenHistory(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	defer h.Close()
	e, err := evidence.Look(c.t.Context(), evidence.Spec{History: h, Base: base, Head: head,
		Runner: testrun.NewRunner(box, h, caches, registries, 0), Dir: filepath.Join(caches, "evidence")})
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}
