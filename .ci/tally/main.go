// Command tally reads what `go test -json` prints and says how it went, in a
// form that leaves nothing out: a line for each package, the output of whatever
// failed, and at the end "N passed, N failed".
//
// A test that was skipped counts as failed, because a test that did not run has
// shown nothing. The exit code is 0 only when something passed and nothing
// failed.
//
//	go test -json ./... | go run ./.ci/tally
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// event is one line of test2json; see `go doc test2json` and, for the build
// events, `go help buildjson`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

func main() { os.Exit(tally(os.Stdin, os.Stdout)) }

// tally returns the exit code.
func tally(in io.Reader, out io.Writer) int {
	c := counts{out: out, output: map[string][]string{}, parents: map[string]bool{}, failedIn: map[string]bool{},
		failedBelow: map[string]bool{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		c.line(line)
		if err != nil {
			break
		}
	}
	for _, s := range c.skipped {
		fmt.Fprintf(out, "SKIP  %s: a test that does not run shows nothing; install what it lacks or take it out\n", s)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", c.passed, c.failed+len(c.skipped))
	if c.failed+len(c.skipped) > 0 || c.passed == 0 {
		return 1
	}
	return 0
}

// counts is what was seen so far.
type counts struct {
	out            io.Writer
	output         map[string][]string // package and test → what it printed
	parents        map[string]bool     // tests with subtests, which are counted instead of them
	failedIn       map[string]bool     // packages with a failed test
	failedBelow    map[string]bool     // tests with a failed subtest
	passed, failed int
	skipped        []string
}

// line takes one line of the stream. What is not JSON comes from tools other
// than the tests, such as the linker, and is passed on.
func (c *counts) line(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		fmt.Fprint(c.out, line)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(c.out, e.Output)
	case "output":
		c.output[key] = append(c.output[key], e.Output)
	case "run":
		if i := strings.LastIndexByte(e.Test, '/'); i > 0 {
			c.parents[e.Package+" "+e.Test[:i]] = true
		}
	case "pass", "fail", "skip":
		c.end(e, key)
	}
}

// end books the end of a test or of a package.
func (c *counts) end(e event, key string) {
	defer delete(c.output, key)
	if e.Test == "" {
		c.endPackage(e, key)
		return
	}
	switch {
	case e.Action == "skip":
		c.skipped = append(c.skipped, e.Package+"."+e.Test)
	case e.Action == "fail":
		c.failedIn[e.Package] = true
		fmt.Fprintf(c.out, "FAIL  %s.%s\n%s", e.Package, e.Test, strings.Join(c.output[key], ""))
		// Of a test with subtests these count, unless it was itself that failed.
		if !c.failedBelow[key] {
			c.failed++
		}
		for i, r := range e.Test {
			if r == '/' {
				c.failedBelow[e.Package+" "+e.Test[:i]] = true
			}
		}
	case !c.parents[key]:
		c.passed++
	}
}

// endPackage says how a package went. One that failed without a failed test did
// not build, panicked, or ran out of time.
func (c *counts) endPackage(e event, key string) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(c.out, "ok    %s  %.1fs\n", e.Package, e.Elapsed)
	case "fail":
		fmt.Fprintf(c.out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
		if c.failedIn[e.Package] {
			return
		}
		c.failed++
		fmt.Fprint(c.out, strings.Join(c.output[key], ""))
		for _, other := range slices.Sorted(maps.Keys(c.output)) { // tests that were running when it ended
			if other != key && strings.HasPrefix(other, e.Package+" ") {
				fmt.Fprint(c.out, strings.Join(c.output[other], ""))
			}
		}
	}
}
