package failure

import (
	"strings"
	"testing"
)

// The lines are real summaries of test runners, as CI shows them.
func TestCountTests(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want int
	}{
		"pytest":       {"2026-01-02T03:04:05.1234567Z ===== 2 failed, 12 passed, 1 skipped in 0.12s =====", 14},
		"pytest xdist": {"=========== 812 passed, 3 warnings in 61.20s (0:01:01) ===========", 812},
		"unittest":     {"Ran 17 tests in 0.003s\n\nOK", 17},
		"jest":         {"Tests:       1 failed, 2 skipped, 40 passed, 43 total", 41},
		"vitest":       {"      Tests  2 failed | 30 passed (32)", 32},
		"mocha":        {"  14 passing (3s)\n  2 pending\n  1 failing", 15},
		"node:test":    {"ℹ tests 7\nℹ suites 0\nℹ pass 6\nℹ fail 1\nℹ skipped 0", 7},
		"maven": {"[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n" +
			"[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 2", 7},
		"cargo": {"test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured\n" +
			"test result: ok. 3 passed; 1 failed; 0 ignored", 14},
		"rspec":       {"25 examples, 1 failure, 2 pending", 25},
		"minitest":    {"12 runs, 40 assertions, 0 failures, 0 errors, 0 skips", 12},
		"phpunit":     {"OK (7 tests, 20 assertions)", 7},
		"phpunit red": {"Tests: 8, Assertions: 21, Failures: 1.", 8},
		"ctest":       {"100% tests passed, 0 tests failed out of 31", 31},
		"gtest":       {"[==========] 18 tests from 4 test suites ran. (3 ms total)", 18},
		"dotnet":      {"Passed!  - Failed:     0, Passed:    31, Skipped:     1, Total:    32, Duration: 2 s", 31},
		"exunit":      {"3 doctests, 24 tests, 0 failures", 27},
		"go": {"ok  \tgithub.com/a/b\t0.003s\nok  \tgithub.com/a/c\t(cached)\n" +
			"?   \tgithub.com/a/d\t[no test files]", 2},
		"go -v": {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC (0.00s)", 2},
		"go without any": {"ok  \tgithub.com/a/b\t0.003s [no tests to run]\n" +
			"ok  \tgithub.com/a/c\t0.1s\tcoverage: 81.2% of statements", 1},
	} {
		got, err := CountTests(strings.NewReader(c.log + "\n"))
		if got.Tests != c.want || !got.Known || err != nil {
			t.Errorf("%s: %+v, %v; want %d", name, got, err, c.want)
		}
	}
	for _, log := range []string{"", "all good\n", "12 files changed\n", strings.Repeat("x", 1<<20), "tests passed\n"} {
		if got, err := CountTests(strings.NewReader(log)); got != (Ran{}) || err != nil {
			t.Errorf("%.20q: %+v, %v", log, got, err)
		}
	}
}

// TestFailedTestsOfALog: the last run of tests counts, because others may have been repeated.
func TestFailedTestsOfALog(t *testing.T) {
	for log, want := range map[string]bool{
		"===== 2 failed, 12 passed, 1 skipped in 0.12s =====":                            true,
		"===== 12 passed, 1 xfailed in 0.12s =====":                                      false,
		"===== 1 failed, 2 passed in 0.1s =====\n===== 3 passed in 0.1s =====":           false,
		"Tests:       1 failed, 2 skipped, 40 passed, 43 total":                          true,
		"Tests:       40 passed, 40 total":                                               false,
		"  14 passing (3s)\n  1 failing":                                                 true,
		"ℹ pass 6\nℹ fail 1":                                                             true,
		"ℹ pass 6\nℹ fail 0":                                                             false,
		"[INFO] Tests run: 9, Failures: 1, Errors: 0, Skipped: 2":                        true,
		"[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 2":                        false,
		"test result: FAILED. 3 passed; 1 failed; 0 ignored":                             true,
		"test result: ok. 3 passed; 0 failed; 0 ignored":                                 false,
		"25 examples, 1 failure, 2 pending":                                              true,
		"12 runs, 40 assertions, 0 failures, 0 errors, 0 skips":                          false,
		"Passed!  - Failed:     0, Passed:    31, Skipped:     1, Total:    32":          false,
		"Ran 3 tests in 0.003s\n\nFAILED (failures=1)":                                   true,
		"Ran 3 tests in 0.003s\n\nOK":                                                    false,
		"ok  \ta\t0.1s\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tb\t0.1s\nFAIL":              true,
		"--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tb\t0.1s\nFAIL\nok  \ta\t0.1s\nok  \tb\t1s": false,
	} {
		if got, err := CountTests(strings.NewReader(log + "\n")); got.Failed != want || err != nil {
			t.Errorf("%q: %+v, %v", log, got, err)
		}
	}
}
