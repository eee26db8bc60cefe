package failure

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
)

// testSummaries are the lines in which test runners say how many tests ran. The groups
// are numbers of tests that ran, whatever came of them; what was skipped did not run.
var testSummaries = []struct {
	line *regexp.Regexp
	less bool // the last group was counted and did not run
}{
	// pytest, one line for each run: "== 3 failed, 12 passed, 1 skipped in 0.12s =="
	{line: regexp.MustCompile(`^=+ (?:(\d+) failed(?:, )?)?(?:(\d+) passed)?.* in [0-9.]+s`)},
	{line: regexp.MustCompile(`^Ran (\d+) tests? in `)}, // unittest
	// jest, vitest
	{line: regexp.MustCompile(`^\s*Tests:? +(?:(\d+) failed[,|]? ?(?:\| )?)?(?:\d+ skipped[,|]? ?(?:\| )?)?(?:\d+ todo[,|]? ?)?(?:(\d+) passed)`)},
	{line: regexp.MustCompile(`^\s*(\d+) passing\b`)},                // mocha
	{line: regexp.MustCompile(`^\s*(\d+) failing$`)},                 // mocha
	{line: regexp.MustCompile(`^(?:#|ℹ) (?:pass|fail) +(\d+)$`)},     // node:test, TAP
	{line: regexp.MustCompile(`^\s*(\d+) tests? (?:passed|failed)`)}, // ava, deno
	// Maven's sums, and no line of one class
	{line: regexp.MustCompile(`^(?:\[\w+\]\s+)?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: (\d+)$`), less: true},
	{line: regexp.MustCompile(`^test result: \w+\. (\d+) passed; (\d+) failed;`)},                 // cargo
	{line: regexp.MustCompile(`^\s*Summary \[.*\] (\d+) tests? run`)},                             // cargo-nextest
	{line: regexp.MustCompile(`^(\d+) examples?, \d+ failures?`)},                                 // rspec
	{line: regexp.MustCompile(`^(\d+) (?:runs|tests), \d+ assertions`)},                           // minitest, test-unit
	{line: regexp.MustCompile(`^(?:OK \(|Tests: )(\d+)(?: tests?)?, (?:Assertions: )?\d+`)},       // PHPUnit
	{line: regexp.MustCompile(`^\d+% tests passed, \d+ tests failed out of (\d+)$`)},              // CTest
	{line: regexp.MustCompile(`^\[=+\] (\d+) tests? from \d+ test (?:suite|case)s? ran\.`)},       // GoogleTest
	{line: regexp.MustCompile(`^(?:Passed|Failed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+),`)},       // dotnet test
	{line: regexp.MustCompile(`^\s+(?:Passed|Failed): (\d+)$`)},                                   // dotnet test, long
	{line: regexp.MustCompile(`^(?:(\d+) doctests?, )?(\d+) tests?, \d+ failures?`)},              // ExUnit
	{line: regexp.MustCompile(`^\s*Executed (\d+) tests?, with \d+ (?:failures?|tests skipped)`)}, // XCTest
	{line: regexp.MustCompile(`^\s*--- (?:PASS|FAIL): \S+ \([0-9.]+s\)()$`)},                      // go test -v: one test
	{line: regexp.MustCompile(`^ok\s+\S+\s+(?:[0-9.]+s|\(cached\))(?:\s+coverage:.*)?()$`)},       // go test: one package
}

// CountTests reads how many tests a log says have run, as the sum over all of its runs;
// of a runner that names no number, one for each line that tells of a success. known is
// false where the log says nothing of tests. Lines are read to 4 KiB. What could not be read
// is an error.
func CountTests(r io.Reader) (n int, known bool, err error) {
	lines := bufio.NewReaderSize(r, 4<<10)
	var cleaner lineCleaner
	for {
		raw, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return n, known, nil
		}
		if err != nil {
			return 0, false, err
		}
		if ran, says := testsOf(cleaner.clean(raw, 1).text); says {
			n, known = n+ran, true
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
	}
}

// testsOf is how many tests a line says have run; says is false for any other line.
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
				v = 1 // a line for each
			case err != nil:
				continue // another word of it was not said
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
