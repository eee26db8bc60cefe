package failure

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/view"
)

// read reads a log from a string.
func read(t *testing.T, log string, opts Options) Report {
	t.Helper()
	rep, err := Read(t.Context(), strings.NewReader(log), opts)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestReadError(t *testing.T) {
	broken := errors.New("connection lost")
	_, err := Read(t.Context(), io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), Options{})
	if !errors.Is(err, broken) {
		t.Errorf("error %v does not wrap %v", err, broken)
	}
}

// A green log that can't be read to its end doesn't prevent the failed one from being read.
func TestBrokenGreenLog(t *testing.T) {
	green := io.MultiReader(strings.NewReader("error: optional cache is missing, going on\n"),
		iotest.ErrReader(errors.New("connection lost")))
	rep := read(t, "error: optional cache is missing, going on\nerror: part 7 was rejected by the registry\n",
		Options{Green: green})
	if diff := cmp.Diff([]Span{{2, 2}}, rep.Excerpt); diff != "" {
		t.Errorf("excerpt: -want +got\n%s\n%s", diff, rep.Text)
	}
}

func TestNothingFound(t *testing.T) {
	for _, log := range []string{"", "\n\n", "all is well\nok\n"} {
		rep := read(t, log, Options{})
		if diff := cmp.Diff(Report{Excerpt: []Span{}, Class: Unknown}, rep); diff != "" {
			t.Errorf("%q: -want +got\n%s", log, diff)
		}
	}
	if rep, err := Read(t.Context(), nil, Options{}); err != nil || rep.Class != Unknown {
		t.Errorf("no log: %+v, %v", rep, err)
	}
}

// A line in which a tool gives the reason of its failure decides the class.
func TestClasses(t *testing.T) {
	said, err := os.ReadFile("testdata/classes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(said)) {
		class, line, ok := strings.Cut(strings.TrimRight(l, "\n"), "|")
		if !ok {
			continue
		}
		log := "Run build\nfetching things\nsetting up 12 items\n" + line + "\n##[error]Process completed with exit code 1.\n"
		if rep := read(t, log, Options{}); string(rep.Class) != class {
			t.Errorf("%s, want %s: %s", rep.Class, class, line)
		}
	}
}

func TestMaxLines(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		b.WriteString("cart.go:" + string(rune('1'+i%9)) + ":2: undefined: tax\n")
	}
	for limit, want := range map[int]int{0: DefaultMaxLines, 1: 1, 5: 5, 30: 30} {
		rep := read(t, b.String(), Options{MaxLines: limit})
		if got := strings.Count(rep.Text, "\n") + 1; got > want {
			t.Errorf("MaxLines %d: text of %d lines", limit, got)
		}
	}
}

// The failing and the green log differ only in one line that matches no rule.
func TestGreen(t *testing.T) {
	common := "error: optional cache is missing, going on\nfetching 12 parts\nerror: could not open /tmp/x, retrying\n"
	green := common + "done in 12 s\n"
	log := strings.ReplaceAll(common, "12", "14") + "error: part 7 was rejected by the registry\n"
	rep := read(t, log, Options{Green: strings.NewReader(green)})
	if diff := cmp.Diff([]Span{{4, 4}}, rep.Excerpt); diff != "" {
		t.Errorf("excerpt: -want +got\n%s\n%s", diff, rep.Text)
	}
}

func TestAnnotations(t *testing.T) {
	notes := []view.Annotation{
		{Level: "warning", Message: "Node 20 is deprecated and will be removed"},
		{Level: "failure", Path: ".github", Message: "Process completed with exit code 1."},
		{Level: "failure", Path: "cart.c", Line: 12, Message: "tax was not declared in this scope\nmore"},
	}
	t.Run("alone", func(t *testing.T) {
		rep := read(t, "building\n", Options{Annotations: notes, Name: "unit tests"})
		if rep.Text != "cart.c:12: tax was not declared in this scope" || rep.Line != 0 || rep.Signature == "" ||
			rep.Class != TestFailure {
			t.Errorf("%+v", rep)
		}
	})
	t.Run("alone, with a word that names the class", func(t *testing.T) {
		notes := []view.Annotation{{Level: "failure", Path: "cart.py", Line: 12, Message: "SyntaxError: invalid syntax"}}
		if rep := read(t, "building\n", Options{Annotations: notes}); rep.Class != SyntaxError {
			t.Errorf("class %s", rep.Class)
		}
	})
	t.Run("beside a log", func(t *testing.T) {
		log := "error: the cache could not be restored\nworking\n\nnote: tax was not declared in this scope, failed\n"
		rep := read(t, log, Options{Annotations: notes})
		if rep.Line != 4 || !slices.ContainsFunc(rep.Why, func(w string) bool { return strings.Contains(w, "annotation") }) {
			t.Errorf("%+v", rep)
		}
	})
}

func TestJUnit(t *testing.T) {
	log := `<?xml version="1.0"?>
<testsuites>
 <testsuite name="shop">
  <testcase name="empty" classname="CartTest"/>
  <testcase name="tax" classname="CartTest" file="cart_test.rb" line="31">
   <failure message="expected 119, got 100" type="Assert">expected 119, got 100
at cart_test.rb:31</failure>
  </testcase>
 </testsuite>
`
	rep := read(t, log, Options{}) // the report breaks off: a test run that was killed
	want := Report{
		Excerpt: []Span{{5, 8}}, Line: 5, Class: TestFailure, Signature: rep.Signature,
		Text:   "CartTest.tax\nexpected 119, got 100\nat cart_test.rb:31",
		Long:   "CartTest.tax\nexpected 119, got 100\nat cart_test.rb:31",
		Places: []Place{{Text: "CartTest.tax\nexpected 119, got 100\nat cart_test.rb:31", Line: 5, Belief: 1}},
		Tests:  []Test{{Name: "CartTest.tax", File: "cart_test.rb", Line: 31}},
		Why:    []string{"lines 5–8: JUnit XML, a failed test"},
	}
	if diff := cmp.Diff(want, rep); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A log of GitHub Actions as gh prints it names job and step on each line. The error in the failed step is chosen.
func TestStepsOfGh(t *testing.T) {
	log := `build	Set up	2031-02-03T10:00:00.0000000Z error: could not restore the cache
build	Test	2031-02-03T10:00:01.0000000Z error: the till is open
build	Test	2031-02-03T10:00:02.0000000Z ##[error]Process completed with exit code 1.
build	Upload	2031-02-03T10:00:03.0000000Z error: no report was found
`
	if rep := read(t, log, Options{}); rep.Line != 2 {
		t.Errorf("line %d: %s", rep.Line, rep.Text)
	}
}

// Problem matchers also mark lines of steps that continue. Such an error ended its step only where no output follows.
func TestErrorsOfStepsThatPass(t *testing.T) {
	const failing = "##[group]Run ./check.sh\n./check.sh\nshell: /usr/bin/bash -e {0}\n##[endgroup]\nchecking the till\n" +
		"price of tea: 3 coins, not 4\n##[error]Process completed with exit code 1.\nPost job cleanup.\n"
	for name, passing := range map[string]string{
		"checkout fetches again": "##[group]Run actions/checkout@v4\nwith:\n##[endgroup]\n" +
			"##[error]fatal: unable to access 'https://github.com/shop/cart/': Could not resolve host: github.com\n" +
			"The process '/usr/bin/git' failed with exit code 128\nWaiting 12 seconds before trying again\nFetched.\n",
		"a test logs an error": "##[group]Run go test -v ./...\ngo test -v ./...\nshell: /usr/bin/bash -e {0}\n" +
			"##[endgroup]\n=== RUN   TestParse\n##[error]    parse_test.go:31: error: unexpected token (wanted)\n" +
			"--- PASS: TestParse (0.00s)\nPASS\nok  \tshop\t0.1s\n",
	} {
		t.Run(name, func(t *testing.T) {
			rep := read(t, passing+failing, Options{})
			if rep.Class != Unknown || !strings.Contains(rep.Text, "3 coins") {
				t.Errorf("class %s: %q\n%s", rep.Class, rep.Why, rep.Text)
			}
		})
	}
	const cut = "##[group]Run shop/scan@v1\nwith:\n##[endgroup]\n##[error]the scan found a hole in the till\n" +
		"see the report\nPost job cleanup.\n"
	if rep := read(t, cut, Options{}); !strings.Contains(strings.Join(rep.Why, ""), "in the step that failed") {
		t.Errorf("the only error ended no step: %q", rep.Why)
	}
}

// The output right above the end of a failed step is one of the places, in the format of every CI system, even if there
// is an error far above.
func TestEndsOfSteps(t *testing.T) {
	for _, end := range []string{"##[error]Process completed with exit code 2.",
		"Error: Process completed with exit code 2.", "ERROR: Job failed: exit code 2", "ERROR: script returned exit code 2",
		"Exited with code exit status 2", "Command exited with code 2", "Build step 'Execute shell' marked build as failure",
		`The command "make" exited with 2.`, "##[error]Bash exited with code '2'.",
		"##[error]PowerShell exited with code '1'.", "##[error]Cmd.exe exited with code '1'.",
		"🚨 Error: The command exited with status 1",
		`ERROR: build step 2 "golang" failed: step exited with non-zero status: 1`,
		"[Container] 2031/02/03 10:00:00 Command did not exit successfully make test exit status 2",
		"Process exited with code 1 (Step: test (Command Line))", "Process exited with code 1"} {
		log := "error: the cache is cold\n" + strings.Repeat("working\n", 200) + "the till: 3 coins too few\n" + end + "\n"
		for i := range 50 {
			rep := read(t, log, Options{})
			if !slices.ContainsFunc(rep.Places, func(p Place) bool { return strings.Contains(p.Text, "3 coins") }) {
				t.Fatalf("%q, and %d lines after it: %v, %q", end, i, rep.Places, rep.Why)
			}
			log += fmt.Sprintf("kept %d files of the cache\n", i)
		}
	}
}

func TestCheck(t *testing.T) {
	rep := Report{Text: "boom", Line: 7, Signature: "abc", Class: Crash, Tests: []Test{{Name: "a"}, {Name: "b"}},
		Places: []Place{{Text: "boom"}, {Text: "bang"}}}
	got := CheckFailure("test", "https://example.com/1", rep)
	if got.Check != "test" || got.Excerpt != "boom" || got.Line != 7 || got.Signature != "abc" || got.Class != "crash" ||
		!slices.Equal(got.Tests, []string{"a", "b"}) || !slices.Equal(got.Others, []string{"bang"}) {
		t.Errorf("%+v", got)
	}
}

func TestLines(t *testing.T) {
	log := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	got, err := ReadLines(t.Context(), strings.NewReader(log), []Span{{3, 3}, {8, 9}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []Line{{2, "2", false, true}, {3, "3", true, false}, {4, "4", false, false}, {7, "7", false, true},
		{8, "8", true, false}, {9, "9", true, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A line of a step is counted from the line with which the step begins, as GitHub's page does.
func TestStepLine(t *testing.T) {
	const stamp = "2026-05-04T14:00:00.1234567Z "
	log := ""
	for _, l := range []string{"Requested labels: ubuntu-latest", "##[group]Run actions/checkout@v4", "##[endgroup]",
		"fetched", "##[group]Run ./check.sh", "./check.sh", "shell: /usr/bin/bash -e {0}", "##[endgroup]", "compiling",
		"main.go:3:1: error: syntax error", "##[error]Process completed with exit code 1."} {
		log += stamp + l + "\n"
	}
	rep, err := Read(t.Context(), strings.NewReader(log), Options{})
	if err != nil || rep.Line != 10 || rep.StepLine != 6 {
		t.Errorf("line %d of the log, %d of the step (%v), in\n%s", rep.Line, rep.StepLine, err, rep.Text)
	}
	rep, err = Read(t.Context(), strings.NewReader("compiling\nmain.go:3:1: error: syntax error\n"), Options{})
	if err != nil || rep.Line != 2 || rep.StepLine != 0 {
		t.Errorf("line %d of a log without steps, %d of the step (%v)", rep.Line, rep.StepLine, err)
	}
}

// A script may begin a group that looks like a step's heading. The lines after it are output.
func TestGroupOfScript(t *testing.T) {
	for _, script := range []string{"./check.sh", "\x1b[36;1mset -e\x1b[0m\n\x1b[36;1m./check.sh\x1b[0m",
		"^[[36;1mset -e^[[0m"} {
		for _, end := range []string{"##[endgroup]\n", ""} {
			log := "##[group]Run ./check.sh\n" + script + "\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n" +
				"##[group]Run tests\n=== RUN   TestTea\n    tea_test.go:9: 3 coins, not 4\n--- FAIL: TestTea (0.00s)\nFAIL\n" +
				end + "##[error]Process completed with exit code 1.\n"
			rep := read(t, log, Options{})
			if rep.Class != TestFailure || len(rep.Tests) != 1 || rep.Bare {
				t.Errorf("%s, %v: %q\n%s", rep.Class, rep.Tests, rep.Why, log)
			}
		}
	}
	rep := read(t, "##[group]Run set -e\nset -e\ngrep -q tea till\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n"+
		"##[error]Process completed with exit code 1.\n", Options{})
	if !rep.Bare || !strings.Contains(rep.Text, "grep -q tea") {
		t.Errorf("a script without a word: %q\n%s", rep.Why, rep.Text)
	}
}

// A failed item with a compiler error is a file or a package, not a test.
func TestFailedItemOfCompiler(t *testing.T) {
	for log, want := range map[string]Class{
		"FAILED: [code=1] cart.o\nc++ -c cart.cc\ncart.cc:3:1: error: unknown type name 'tax'\n": CompileError,
		"# shop\ncart.go:3:1: undefined: tax\nFAIL\tshop [setup failed]\n":                       CompileError,
		"cart.go:3:1: undefined: tax\n\nFAILED adds tax\n  got 100, not 119\n":                   TestFailure,
		"FAILED adds tax\n  got 100, not 119\n":                                                  TestFailure,
	} {
		if rep := read(t, log, Options{}); rep.Class != want {
			t.Errorf("%s, not %s: %q\n%s", rep.Class, want, rep.Why, log)
		}
	}
}

// A test's name does not include its duration or its position among the tests.
func TestNamesOfTests(t *testing.T) {
	for line, want := range map[string]string{
		"✖ adds tax (1.234ms)\n\n✖ failing tests:":        "adds tax",
		"(fail) x\n✗ cart > adds tax [0.12ms]":            "cart > adds tax",
		"[xUnit.net 00:00:00.53]     Shop.AddsTax [FAIL]": "Shop.AddsTax",
		"00:02 +4 -1: test/cart_test.dart: adds tax [E]":  "test/cart_test.dart: adds tax",
		"        FAIL [   0.003s] shop cart::adds_tax":    "shop cart::adds_tax",
		"12/34 Test #12: cart .....***Failed    0.10 sec": "cart",
		"✖ waits (for 3 s)":                               "waits (for 3 s)",
	} {
		if rep := read(t, line+"\n", Options{}); len(rep.Tests) != 1 || rep.Tests[0].Name != want {
			t.Errorf("%q: %+v", line, rep.Tests)
		}
	}
}

// TestPackagesOfGoTests: failed tests of one name in two packages are two tests, with different full names.
func TestPackagesOfGoTests(t *testing.T) {
	const log = "--- FAIL: TestNew (0.00s)\n    a_test.go:5: wrong\nFAIL\nFAIL\texample.com/x/a\t0.002s\n" +
		"--- FAIL: TestNew (0.00s)\n    b_test.go:7: wrong, too\n--- FAIL: TestNew (0.00s)\nFAIL\n" +
		"FAIL\texample.com/x/b\t0.002s\nFAIL\n"
	rep, err := Read(t.Context(), strings.NewReader(log), Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, test := range rep.Tests {
		got = append(got, test.FullName())
	}
	if want := []string{"example.com/x/a.TestNew", "example.com/x/b.TestNew"}; !slices.Equal(got, want) {
		t.Errorf("the failed tests are %q, want %q", got, want)
	}
	if f := CheckFailure("test", "", rep); len(f.Tests) != 1 {
		t.Errorf("the task stores %q", f.Tests)
	}
}

// TestFilesOfJestTests: failed tests of one name in two files are two tests, also where Jest repeats them at the end. A
// name in its tree is that of the test with a longer name, unless it has details of its own.
func TestFilesOfJestTests(t *testing.T) {
	details := func(file, tree string, names ...string) (s string) {
		s = "FAIL " + file + "\n" + tree
		for _, name := range names {
			s += "  ● " + name + "\n\n    wrong\n\n      at Object.<anonymous> (" + file + ":5:3)\n\n"
		}
		return s
	}
	cart := details("a/cart.test.js", "  ✕ adds (2 ms)\n  Cart\n    ✕ adds\n    ✕ drops\n\n",
		"adds", "Cart › adds", "Cart › drops")
	log := cart + details("b/cart.test.js", "", "adds") + "Summary of all failing tests\n" + cart
	var got []string
	for _, test := range read(t, log, Options{}).Tests {
		got = append(got, fmt.Sprintf("%s at %s:%d", test.FullName(), test.File, test.Line))
	}
	want := []string{"a/cart.test.js.adds at a/cart.test.js:5", "a/cart.test.js.Cart › adds at a/cart.test.js:5",
		"a/cart.test.js.Cart › drops at a/cart.test.js:5", "b/cart.test.js.adds at b/cart.test.js:5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
