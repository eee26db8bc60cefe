package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// result is the result of some tests of a package.
type result struct {
	passed, failed map[string]bool
	skipped        bool // one of them, or a subtest
	built          bool
	panicked       bool
	late           bool
	said           string // output of failed tests, and of the compiler
}

// readResult reads the output of `go test -json`. See `go doc test2json` and `go help buildjson`.
func readResult(in io.Reader) *result {
	res := &result{passed: map[string]bool{}, failed: map[string]bool{}, built: true}
	output := map[string]string{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) == nil {
			res.event(e.Action, e.Test, e.Output, output)
		}
		if err != nil {
			return res
		}
	}
}

func (r *result) event(action, test, text string, output map[string]string) {
	switch action {
	case "build-output":
		r.said += text
	case "build-fail":
		r.built = false
	case "output":
		output[test] += text
		if strings.HasPrefix(text, "panic: test timed out after ") {
			r.late = true
		} else if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			r.panicked = true
		}
	case "pass":
		r.passed[test] = true
	case "skip":
		r.skipped = true
	case "fail":
		r.failed[test] = true
		r.said += output[test]
	}
}

// judge returns a mutant's verdict by these tests, and the reason if it is not obvious.
func (r *result) judge(t tests, within time.Duration) (v verdict, why string) {
	switch {
	case !r.built:
		return broken, ": it does not compile"
	case r.late && within > 0:
		return caught, fmt.Sprintf(" (not done within %s)", within)
	case r.late:
		return broken, ": its tests hang"
	case r.panicked:
		return broken, ": it panics"
	}
	for _, name := range t.Names {
		if !r.failed[name] {
			return survived, ": " + name + " does not fail"
		}
	}
	return caught, ""
}
