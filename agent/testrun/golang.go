package testrun

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Golang runs tests of Go packages. Each package's tests are built once, and the binary is run.
type Golang struct{}

func (Golang) Name() string    { return "go" }
func (Golang) Program() string { return "go" }

func (Golang) IsTest(p string) bool {
	return strings.HasSuffix(p, "_test.go") || HasFolder(p, "testdata")
}

// Runs leaves out what the go command does.
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

// goTest finds what `go test` runs at the top of a file: https://pkg.go.dev/testing
var goTest = lazyregexp.New(`(?m)^func ((?:Test|Example|Fuzz)[\pL\p{Nd}_]*)\(`)

// goSuiteMethod is a test that a suite of testify or gocheck calls.
var goSuiteMethod = lazyregexp.New(`(?m)^func \([^()]*\) Test[\pL\p{Nd}_]*\(`)

// maxPattern bounds the pattern that chooses tests, in bytes: an argument can't be much longer.
const maxPattern = 64 << 10

// Suite builds the tests of each package with a changed test file, and runs those that these files
// define. Where they define none, or methods of suites, all of the package's are run. The compiler names all that is
// wrong (-e), not the first ten.
func (l Golang) Suite(tree Files, tests []string, read ReadFile) (Suite, bool) {
	names := map[string][]string{} // of tests, by package; nil: all
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

// suite is what all suites of Go have in common.
func (Golang) suite(script, prepare string) Suite {
	return Suite{Script: script, Prepare: prepare, Deps: "go",
		Hosts: []string{"proxy.golang.org", "sum.golang.org"},
		Env: []string{"GOFLAGS=-buildvcs=false -modcacherw", "GOMODCACHE=" + depsAt + "/mod", "GOCACHE=" + buildAt + "/go",
			"GOTOOLCHAIN=local"},
		Stdlib: true,
	}
}

// goModules are the shell commands, if any, that let go.mod and go.sum be brought up to date for a package, which is so
// neither in a workspace nor where modules are vendored.
func goModules(tree Files, dir string) string {
	file := path.Join(dir, "x.go")
	_, workspace := Nearest(tree, file, "go.work")
	module, _ := Nearest(tree, file, "go.mod")
	if _, vendored := tree[path.Join(module, "vendor/modules.txt")]; workspace || vendored {
		return ""
	}
	return ` && export GOFLAGS="$GOFLAGS -mod=mod"`
}

// goMarks sets where a test binary lies. Without marks, code that asks whether it is being tested is not told so:
// neither by the binary's name, nor by testing.Testing, nor by the flags that package testing defines.
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

// goVerdict is a line by which a test ends. Package testing marks its own lines with a
// byte that tests don't print (cmd/test2json). Tests of tools do print such lines without it.
var goVerdict = lazyregexp.New(`^\x16\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// goBegin is a line by which a test begins, is set aside, or goes on.
var goBegin = lazyregexp.New(`^\x16=== (RUN|PAUSE|CONT)\s+(\S+)$`)

// Results reads the output of a test binary. A test that was under way when the binary ended, as one
// that exits, deadlocks or runs out of time, has failed.
func (Golang) Results(out []byte) Results {
	found := Results{}
	running := map[string]bool{}
	for line := range bytes.Lines(out) {
		// a test may print without a newline in front of the marker
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

// goLastWord is what a test binary prints when all of its tests have ended.
var goLastWord = lazyregexp.New(`(?m)^\x16(?:PASS|FAIL)\r?$`)

// LastWord looks for the line that package testing prints last. A test that is under way then was left by the
// process.
func (Golang) LastWord(out []byte) bool { return goLastWord.Match(out) }

// goLacks is what the go command says where a module would have to be fetched.
var goLacks = lazyregexp.New(`module lookup disabled by GOPROXY=off|cannot find module providing package|` +
	`missing go\.sum entry|no required module provides package|updates to go\.mod needed|` +
	`cannot query module due to|could not create module cache|dial tcp|read-only file system`)

func (Golang) Lacks(log string) bool { return goLacks.MatchString(log) }
