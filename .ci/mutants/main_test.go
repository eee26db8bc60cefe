//test:plain
package main

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

var (
	namedTest  = regexp.MustCompile("`(Test[A-Z]\\w*(?:/[\\w-]+)?)`")
	namedStory = regexp.MustCompile("stor(?:y|ies) (`[a-z0-9-]+`(?:(?:, | and )`[a-z0-9-]+`)*)")
	word       = regexp.MustCompile("`([a-z0-9-]+)`")
)

// claimed returns the tests that SECURITY.md names, each once.
func claimed(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(text), "\n", " ")
	for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	for _, list := range namedStory.FindAllStringSubmatch(page, -1) {
		for _, m := range word.FindAllStringSubmatch(list[1], -1) {
			all = append(all, "TestStory/"+m[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Each mutant still applies, and is valid Go. Each test that SECURITY.md names has a mutant that removes its
// defence, and SECURITY.md names a mutant's tests.
func TestEachClaimHasAMutant(t *testing.T) {
	all, err := read("defences.txtar")
	if err != nil {
		t.Fatal(err)
	}
	named := claimed(t)
	if len(named) < 80 || len(all) < len(named) {
		t.Fatalf("%d tests are named in SECURITY.md, and there are %d mutants", len(named), len(all))
	}
	held := map[string]bool{}
	for _, m := range all {
		files, err := m.files(root)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
		for _, of := range m.Tests {
			for _, name := range of.Names { // or a subtest of a named test
				for !slices.Contains(named, name) && strings.Contains(name, "/") {
					name = name[:strings.LastIndexByte(name, '/')]
				}
				if held[name] = true; !slices.Contains(named, name) {
					t.Errorf("%s: SECURITY.md does not name %s", m.Name, name)
				}
			}
		}
	}
	for _, name := range named {
		if !held[name] {
			t.Errorf("SECURITY.md names %s, and no mutant says what that holds: add one to defences.txtar", name)
		}
	}
}

// The verdicts of the mutants of a small module.
//
//test:thorough
func TestVerdicts(t *testing.T) {
	seconds := regexp.MustCompile(` +[0-9.]+s  `)
	verdicts := regexp.MustCompile(`(?m)^(?:ok|caught|SURVIVED|BROKEN|[0-9]+) .*\n|^.*: m TestHalf.*\n`)
	for _, c := range []struct {
		pattern string
		list    bool
		code    int
		want    string
	}{
		{"", false, 1, `ok m: 2 tests without a mutant
ok m: 1 tests without a mutant
caught caught
caught caught below
SURVIVED survives: TestHalf does not fail
SURVIVED one of two survives: TestReady does not fail
BROKEN does not compile: it does not compile
BROKEN panics: it panics
caught waits, as is said (not done within 2s)
3 caught, 2 survived, 2 broken
`},
		{"survives|^caught:", true, 0, "caught: m TestHalf, m/m.go\nsurvives: m TestHalf, m/m.go\n" +
			"one of two survives: m TestHalf TestReady, m/m.go\n"},
		{"^caught:", false, 0, "ok m: 1 tests without a mutant\ncaught caught\n1 caught, 0 survived, 0 broken\n"},
		{"nothing", false, 1, "0 caught, 0 survived, 0 broken\n"},
	} {
		var out bytes.Buffer
		code, err := run(t.Context(), filepath.FromSlash("testdata/module"), &out, c.list, false, c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		got := strings.Join(verdicts.FindAllString(seconds.ReplaceAllString(out.String(), " "), -1), "")
		if diff := cmp.Diff(c.want, got); diff != "" || code != c.code {
			t.Errorf("%q: exit code %d, want %d; -want +got\n%s", c.pattern, code, c.code, diff)
		}
		if broken := strings.Contains(c.want, "BROKEN"); broken != strings.Contains(out.String(), "missing return") {
			t.Errorf("%q: what the compiler said is shown: %t\n%s", c.pattern, !broken, out.String())
		}
	}
}

// Tests that fail without a mutant, are skipped or don't exist prove nothing.
//
//test:thorough
func TestUnharmed(t *testing.T) {
	for name, body := range map[string]string{
		"fails": `func TestIt(t *testing.T) { t.Error("no") }`, "is skipped": "func TestIt(t *testing.T) { t.Skip() }",
		"has a part that is": `func TestIt(t *testing.T) { t.Run("part", func(t *testing.T) { t.Skip() }) }`,
		"is not there":       "func TestOther(*testing.T) {}", "is not Go": "func TestIt(t testing.T {}",
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "m.go": "package m\n\nconst one = 1\n",
			"m_test.go":                  "package m\n\nimport \"testing\"\n\n" + body + "\n",
			".ci/mutants/defences.txtar": "-- x --\ntest . TestIt\nedit m.go\n-const one = 1\n"} {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		code, err := run(t.Context(), dir, &bytes.Buffer{}, false, false, "")
		if code != 2 || err == nil || !strings.Contains(err.Error(), "TestIt of . does not pass without a mutant") {
			t.Errorf("one that %s: exit code %d, %v", name, code, err)
		}
	}
}

// Tests that hang prove nothing without "within".
func TestHanging(t *testing.T) {
	res := readResult(strings.NewReader(`{"Action":"output","Test":"TestIt","Output":"panic: test timed out after 10m0s\n"}
{"Action":"fail","Test":"TestIt"}
`))
	for within, want := range map[time.Duration]verdict{0: broken, time.Minute: caught} {
		if v, why := res.judge(tests{"m", []string{"TestIt"}}, within); v != want {
			t.Errorf("%s: %s%s, want %s", within, v, why, want)
		}
	}
}

// An invalid mutant is refused with the reason.
func TestNoMutant(t *testing.T) {
	for text, want := range map[string]string{
		"test m TestIt\n":                               "needs a test and an edit",
		"edit m.go\n-a\n+b\n":                           "needs a test and an edit",
		"test TestIt\nedit m.go\n-a\n":                  "is neither test",
		"test m TestIt TestOther/part\nedit m.go\n-a\n": "a line for each depth",
		"test m TestIt\nwithin long\n":                  "invalid duration",
		"test m TestIt\nedit m.go\nwhat is this\n":      "is neither test",
		"test m TestIt\n-a\nedit m.go\n-a\n":            "is neither test",
	} {
		if _, err := parse("x", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("one\ntwo\nonetwo\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"two\n", "three\n", "tw\n", "one\n two\n"} {
		if _, err := (mutant{Edits: []edit{{"m.go", from, "x\n"}}}).files(dir); err == nil {
			t.Errorf("%q was taken out", from)
		}
	}
}
