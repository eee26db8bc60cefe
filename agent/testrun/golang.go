package testrun

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Golang runs tests of Go packages. It builds each package's tests once, and runs the binary.
type Golang struct{}

func (Golang) Name() string    { return "go" }
func (Golang) Program() string { return "go" }

func (Golang) IsTest(p string) bool {
	return strings.HasSuffix(p, "_test.go") || HasFolder(p, "testdata")
}

// Runs excludes the folders that the go command excludes.
func (Golang) Runs(p string) bool {
	return strings.HasSuffix(p, "_test.go") && !HasFolder(p, "testdata", "vendor")
}

func (Golang) IsManifest(p string) bool {
	switch path.Base(p) {
	case "go.mod", "go.sum", "go.work", "go.work.sum":
		return true
	}
	return false
}

func (l Golang) IsCode(p string) bool { return strings.HasSuffix(p, ".go") && !l.IsTest(p) }

// goTest matches the functions that `go test` runs: https://pkg.go.dev/testing
var goTest = lazyregexp.New(`(?m)^func ((?:Test|Example|Fuzz)[\pL\p{Nd}_]*)\(`)

// goSuiteMethod matches a test method of testify or gocheck suites.
var goSuiteMethod = lazyregexp.New(`(?m)^func \([^()]*\) Test[\pL\p{Nd}_]*\(`)

// maxPattern is the maximum size of the pattern that selects tests, in bytes: the size of an argument is limited.
const maxPattern = 64 << 10

// Suite builds the tests of each package with a changed test file, and runs those defined in these files, or all of the
// package's if the files define none or suite methods. With -e the compiler reports all errors, not only the first ten.
func (l Golang) Suite(tree Files, tests []string, read ReadFile) (Suite, bool) {
	names := map[string][]string{} // names of tests, by package; nil: all
	var packages []string
	for _, t := range tests {
		if !l.Runs(t) {
			continue
		}
		if _, ok := Nearest(tree, t, "go.mod"); !ok {
			continue
		}
		text, err := read(t)
		if err != nil {
			continue
		}
		dir := path.Dir(t)
		if !slices.Contains(packages, dir) {
			packages, names[dir] = append(packages, dir), []string{}
		}
		defined := goTest.FindAllSubmatch(text, -1)
		if len(defined) == 0 || goSuiteMethod.Match(text) {
			names[dir] = nil
		}
		if names[dir] != nil {
			for _, m := range defined {
				names[dir] = append(names[dir], string(m[1]))
			}
		}
	}
	if len(packages) == 0 {
		return Suite{}, false
	}
	var run, fetch strings.Builder
	for i, dir := range packages {
		which := "."
		if all := strings.Join(names[dir], "|"); names[dir] != nil && len(all) < maxPattern {
			which = "^(" + all + ")$"
		}
		in, group := quoteShell("./"+dir)+goModules(tree, dir), quoteShell(dir)
		fmt.Fprintf(&run, `(
cd %[1]s || exit
mark build %[2]s
go test -c -vet=off -gcflags=-e -ldflags=-w $overlay -o /tmp/sia-%[3]d$suffix . ; status=$?
mark end $status
[ $status = 0 ] && [ -x /tmp/sia-%[3]d$suffix ] || exit
for n in 1 2; do
mark run %[2]s
limited /tmp/sia-%[3]d$suffix -$flags.v=test2json -$flags.timeout=%[4]s -$flags.run %[5]s </dev/null
mark end $status
[ $status -le 0 ] && [ -n "$ONCE" ] && break
done
rm -f /tmp/sia-%[3]d$suffix
)
`, in, group, i, testTimeout, quoteShell(which))
		fmt.Fprintf(&fetch, "(cd %s && go list -e -deps -test . >/dev/null) || exit\n", in)
	}
	return l.suite(goMarks+run.String(), fetch.String()), true
}

// suite returns a suite with the settings common to all suites of Go.
func (Golang) suite(script, prepare string) Suite {
	return Suite{Script: script, Prepare: prepare, Deps: "go",
		Hosts: []string{"proxy.golang.org", "sum.golang.org"},
		Env: []string{"GOFLAGS=-buildvcs=false -modcacherw", "GOMODCACHE=" + depsAt + "/mod", "GOCACHE=" + buildAt + "/go",
			"GOTOOLCHAIN=local"},
		Stdlib: true,
	}
}

// goModules returns the shell commands that allow updates of go.mod and go.sum for a package; none in a workspace or
// with vendored modules.
func goModules(tree Files, dir string) string {
	file := path.Join(dir, "x.go")
	_, workspace := Nearest(tree, file, "go.work")
	module, _ := Nearest(tree, file, "go.mod")
	if _, vendored := tree[path.Join(module, "vendor/modules.txt")]; workspace || vendored {
		return ""
	}
	return ` && export GOFLAGS="$GOFLAGS -mod=mod"`
}

// goMarks sets the name of the test binary. If unmarked, the binary hides from the code that it is a test: by its name,
// by testing.Testing, and by the flags of package testing.
const goMarks = `suffix=.test overlay= flags=test
if [ -n "$UNMARKED" ]; then
suffix= overlay=-overlay=/tmp/overlay.json flags=sia
from=$(go env GOROOT)/src/testing replaced=
for f in testing benchmark fuzz; do
sed 's/return testBinary == "1"/return false/; s/"test\./"sia./' "$from/$f.go" >/tmp/$f.go
replaced="$replaced${replaced:+,}\"$from/$f.go\":\"/tmp/$f.go\""
done
printf '{"Replace":{%s}}' "$replaced" >/tmp/overlay.json
fi
`

// goVerdict matches the line at the end of a test. Package testing starts its own lines with a byte that tests don't
// print (cmd/test2json). Tests of tools do print such lines without it.
var goVerdict = lazyregexp.New(`^\x16\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// goBegin matches a line at which a test starts, pauses, or continues.
var goBegin = lazyregexp.New(`^\x16=== (RUN|PAUSE|CONT)\s+(\S+)$`)

// Results parses the output of a test binary. A test that was running when the binary ended, for example by an exit,
// deadlock or timeout, has failed.
func (Golang) Results(out []byte) Results {
	found := Results{}
	running := map[string]bool{}
	for line := range bytes.Lines(out) {
		// a test may print text without a newline before the marker
		if i := bytes.LastIndexByte(line, 0x16); i > 0 {
			line = line[i:]
		}
		line = bytes.TrimRight(line, "\r\n")
		if m := goVerdict.FindSubmatch(line); m != nil {
			name := string(m[2])
			delete(running, name)
			found[name] = map[string]Outcome{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped}[string(m[1])]
		} else if m := goBegin.FindSubmatch(line); m != nil {
			running[string(m[2])] = string(m[1]) != "PAUSE"
		}
	}
	for name, on := range running {
		if _, ended := found[name]; on && !ended {
			found[name] = Failed
		}
	}
	return found
}

// goLastWord matches the last line of a test binary after all of its tests have ended.
var goLastWord = lazyregexp.New(`(?m)^\x16(?:PASS|FAIL)\r?$`)

// LastWord looks for the line that package testing prints last. A test that is running then was left by the process.
func (Golang) LastWord(out []byte) bool { return goLastWord.Match(out) }

// goLacks matches the go command's messages when a module must be fetched.
var goLacks = lazyregexp.New(`module lookup disabled by GOPROXY=off|cannot find module providing package|` +
	`missing go\.sum entry|no required module provides package|updates to go\.mod needed|` +
	`cannot query module due to|could not create module cache|dial tcp|read-only file system`)

func (Golang) Lacks(log string) bool { return goLacks.MatchString(log) }
