package failure

import (
	"bufio"
	"errors"
	"io"
	"strconv"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// testSummaries match the lines in which test runners report the number of tests. The groups are numbers of tests that
// ran with any result; skipped tests did not run.
var testSummaries = []struct {
	line *lazyregexp.Regexp
	less bool // the last group counts tests that did not run, and is subtracted
}{
	// pytest, one line for each run: "== 3 failed, 12 passed, 1 skipped in 0.12s =="
	{line: lazyregexp.New(`^=+ (?:(\d+) failed(?:, )?)?(?:(\d+) passed)?.* in [0-9.]+s`)},
	{line: lazyregexp.New(`^Ran (\d+) tests? in `)}, // unittest
	// jest, vitest
	{line: lazyregexp.New(`^\s*Tests:? +(?:(\d+) failed[,|]? ?(?:\| )?)?(?:\d+ skipped[,|]? ?(?:\| )?)?` +
		`(?:\d+ todo[,|]? ?)?(?:(\d+) passed)`)},
	{line: lazyregexp.New(`^\s*(\d+) passing\b`)},                // mocha
	{line: lazyregexp.New(`^\s*(\d+) failing$`)},                 // mocha
	{line: lazyregexp.New(`^(?:#|ℹ) (?:pass|fail) +(\d+)$`)},     // node:test, TAP
	{line: lazyregexp.New(`^\s*(\d+) tests? (?:passed|failed)`)}, // ava, deno
	// Maven's sums, and no line of one class
	{line: lazyregexp.New(`^(?:\[\w+\]\s+)?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: (\d+)$`), less: true},
	{line: lazyregexp.New(`^test result: \w+\. (\d+) passed; (\d+) failed;`)},                 // cargo
	{line: lazyregexp.New(`^\s*Summary \[.*\] (\d+) tests? run`)},                             // cargo-nextest
	{line: lazyregexp.New(`^(\d+) examples?, \d+ failures?`)},                                 // rspec
	{line: lazyregexp.New(`^(\d+) (?:runs|tests), \d+ assertions`)},                           // minitest, test-unit
	{line: lazyregexp.New(`^(?:OK \(|Tests: )(\d+)(?: tests?)?, (?:Assertions: )?\d+`)},       // PHPUnit
	{line: lazyregexp.New(`^\d+% tests passed, \d+ tests failed out of (\d+)$`)},              // CTest
	{line: lazyregexp.New(`^\[=+\] (\d+) tests? from \d+ test (?:suite|case)s? ran\.`)},       // GoogleTest
	{line: lazyregexp.New(`^(?:Passed|Failed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+),`)},       // dotnet test
	{line: lazyregexp.New(`^\s+(?:Passed|Failed): (\d+)$`)},                                   // dotnet test, long
	{line: lazyregexp.New(`^(?:(\d+) doctests?, )?(\d+) tests?, \d+ failures?`)},              // ExUnit
	{line: lazyregexp.New(`^\s*Executed (\d+) tests?, with \d+ (?:failures?|tests skipped)`)}, // XCTest
	{line: lazyregexp.New(`^\s*--- (?:PASS|FAIL): \S+ \([0-9.]+s\)()$`)},                      // go test -v: one test
	{line: lazyregexp.New(`^ok\s+\S+\s+(?:[0-9.]+s|\(cached\))(?:\s+coverage:.*)?()$`)},       // go test: one package
}

var (
	// someFailed matches a summary with failed tests.
	someFailed = lazyregexp.New(`\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|` +
		`\b(?:Failures|Errors|Failed): *[1-9]|^(?:#|ℹ) fail +[1-9]`)
	// runFailed matches the line that ends a failed run of go test or unittest. Their summaries lack that.
	runFailed = lazyregexp.New(`^FAIL(?:$|ED \()`)
	oneTest   = lazyregexp.New(`^\s*--- `) // the result of one test, in go test -v
)

// Ran is what a log says of the tests that ran.
type Ran struct {
	Tests  int  // summed over all runs of tests; runners that print no number count one per line of a result
	Known  bool // the log has a summary of tests
	Failed bool // tests failed in the last run
}

// CountTests reads the summaries of tests in a log. Only the first 4 KiB of a line are read. Read errors are returned.
func CountTests(r io.Reader) (out Ran, err error) {
	lines := bufio.NewReaderSize(r, 4<<10)
	var cleaner lineCleaner
	for {
		raw, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return Ran{}, err
		}
		line := cleaner.clean(raw, 1).text
		ran, says := testsOf(line)
		if says {
			out.Tests, out.Known = out.Tests+ran, true
		}
		switch {
		case runFailed.Match(line):
			out.Failed = true
		case says && !oneTest.Match(line):
			out.Failed = someFailed.Match(line)
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
	}
}

// testsOf returns the number of tests that ran according to a line; says is false for a line that is no summary.
func testsOf(line []byte) (n int, says bool) {
	for _, s := range testSummaries {
		m := s.line.FindSubmatch(line)
		if m == nil {
			continue
		}
		for i, group := range m[1:] {
			v, err := strconv.Atoi(string(group))
			switch {
			case err != nil && len(m) == 2:
				v = 1 // one line per test
			case err != nil:
				continue // an optional group that is missing
			case s.less && i == len(m)-2:
				v = -v
			}
			n, says = n+v, true
		}
		if says {
			return n, true
		}
	}
	return 0, false
}
