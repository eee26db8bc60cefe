package replay

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// golang runs tests of Go packages. Each package's tests are built once, and the binary is run.
type golang struct{}

func (golang) name() string    { return "go" }
func (golang) program() string { return "go" }

func (golang) isTest(p string) bool {
	return strings.HasSuffix(p, "_test.go") || hasFolder(p, "testdata")
}

func (golang) isManifest(p string) bool {
	switch path.Base(p) {
	case "go.mod", "go.sum", "go.work", "go.work.sum":
		return true
	}
	return false
}

func (l golang) isCode(p string) bool { return strings.HasSuffix(p, ".go") && !l.isTest(p) }

// goTest finds what `go test` runs at the top of a file: https://pkg.go.dev/testing
var goTest = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// goSuiteMethod is a test that a suite of testify or gocheck calls.
var goSuiteMethod = regexp.MustCompile(`(?m)^func \(\w*\s*\*?\w+\) Test\w*\(`)

// maxPattern bounds the pattern that chooses tests, in bytes: an argument can't be much longer.
const maxPattern = 64 << 10

// suite builds the tests of each package with a changed test file, and runs those that these files
// define. Where they define none, or methods of suites, all of the package's are run. The compiler names all that is
// wrong (-e), not the first ten.
func (golang) suite(tree files, tests []string, read readFile) (suite, bool) {
	names := map[string][]string{} // of tests, by package; nil: all
	var packages []string
	for _, t := range tests {
		if !strings.HasSuffix(t, "_test.go") || hasFolder(t, "testdata", "vendor") {
			continue
		}
		if _, ok := nearest(tree, t, "go.mod"); !ok {
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
		return suite{}, false
	}
	var run, fetch strings.Builder
	for i, dir := range packages {
		which := "."
		if all := strings.Join(names[dir], "|"); names[dir] != nil && len(all) < maxPattern {
			which = "^(" + all + ")$"
		}
		in, group := quoteShell("./"+dir), quoteShell(dir)
		fmt.Fprintf(&run, `(
cd %[1]s || exit
mark build %[2]s
go test -c -vet=off -gcflags=-e -ldflags=-w -o /tmp/sia-%[3]d.test . ; status=$?
mark end $status
[ $status = 0 ] && [ -x /tmp/sia-%[3]d.test ] || exit
for n in 1 2; do
mark run %[2]s
/tmp/sia-%[3]d.test -test.v=test2json -test.timeout=%[4]s -test.run %[5]s </dev/null
status=$?
mark end $status
[ $status = 0 ] && [ -n "$ONCE" ] && break
done
rm -f /tmp/sia-%[3]d.test
)
`, in, group, i, testTimeout, quoteShell(which))
		fmt.Fprintf(&fetch, "(cd %s && go list -e -deps -test . >/dev/null) || exit\n", in)
	}
	flags := "-buildvcs=false -modcacherw"
	_, workspace := tree["go.work"]
	_, vendored := tree["vendor/modules.txt"]
	if !workspace && !vendored {
		flags += " -mod=mod"
	}
	return suite{script: run.String(), prepare: fetch.String(), hosts: []string{"proxy.golang.org", "sum.golang.org"},
		deps: "go",
		env: []string{"GOFLAGS=" + flags, "GOMODCACHE=" + depsAt + "/mod", "GOCACHE=" + buildAt + "/go",
			"GOTOOLCHAIN=local"},
	}, true
}

// goVerdict is a line by which a test ends. Package testing marks its own lines with a
// byte that tests don't print (cmd/test2json).
var goVerdict = regexp.MustCompile(`^\x16?\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// goBegin is a line by which a test begins, is set aside, or goes on.
var goBegin = regexp.MustCompile(`^\x16?=== (RUN|PAUSE|CONT)\s+(\S+)$`)

// results reads the output of a test binary. A test that was under way when the binary ended, as one
// that exits, deadlocks or runs out of time, has failed.
func (golang) results(out []byte) results {
	found := results{}
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
			found[name] = map[string]outcome{"PASS": passed, "FAIL": failed, "SKIP": skipped}[string(m[1])]
		} else if m := goBegin.FindSubmatch(line); m != nil {
			running[string(m[2])] = string(m[1]) != "PAUSE"
		}
	}
	for name, on := range running {
		if _, ended := found[name]; on && !ended {
			found[name] = failed
		}
	}
	return found
}

// goError is a compiler's message: a file of the package and a line.
var goError = regexp.MustCompile(`(?m)^(?:\./)?((?:\.\./)*[^\s:]+_test\.go):(\d+)`)

func (l golang) broken(log, group string) []string {
	return slices.Sorted(maps.Keys(l.faults(log, group)))
}

func (golang) faults(log, group string) map[string][]int {
	out := map[string][]int{}
	for _, m := range goError.FindAllStringSubmatch(log, -1) {
		p := path.Join(group, m[1])
		if line, err := strconv.Atoi(m[2]); err == nil {
			out[p] = append(out[p], line)
		}
	}
	for p, lines := range out {
		slices.Sort(lines)
		out[p] = slices.Compact(lines)
	}
	return out
}

// goLacks is what the go command says where a module would have to be fetched.
var goLacks = regexp.MustCompile(`module lookup disabled by GOPROXY=off|cannot find module providing package|` +
	`missing go\.sum entry|no required module provides package|updates to go\.mod needed|` +
	`cannot query module due to|could not create module cache|dial tcp|read-only file system`)

func (golang) lacks(log string) bool { return goLacks.MatchString(log) }
