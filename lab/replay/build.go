package replay

import (
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// The places in compilers' errors: Go names a file of the package, Maven a path in the sandbox.
var (
	goError   = lazyregexp.New(`(?m)^(?:\./)?((?:\.\./)*[^\s:]+_test\.go):(\d+)`)
	javaError = lazyregexp.New(`(?m)^\[ERROR\] /workspace/([^:\s]+\.(?:java|kt)):`)
	rustError = lazyregexp.New(`(?m)^ *--> ([^:\s]+\.rs):\d+`)
)

// broken returns the test files that a build names in its errors, as paths of the tree; none if unknown.
// Python and Node load files one by one, and a file that can't be loaded is a result.
func broken(l testrun.Language, log, group string) []string {
	switch l.(type) {
	case testrun.Golang:
		return slices.Sorted(maps.Keys(goFaults(log, group)))
	case testrun.Java:
		return namedFiles(javaError, log)
	case testrun.Rust:
		return namedFiles(rustError, log)
	}
	return nil
}

func namedFiles(by *lazyregexp.Regexp, log string) (out []string) {
	for _, m := range by.FindAllStringSubmatch(log, -1) {
		if p := path.Clean(m[1]); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// goFaults returns the lines of test files with errors of Go's compiler, by path.
func goFaults(log, group string) map[string][]int {
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
