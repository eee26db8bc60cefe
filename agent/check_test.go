package agent

import "testing"

// Output of common runners for tests that ran and passed, and for runs without tests.
func TestTestsRan(t *testing.T) {
	for printed, ran := range map[string]bool{
		"ok  \tx/a\t0.003s": true,
		"ok  \tx/a\t(cached)\tcoverage: 50.0% of statements":                                                    true,
		"ok  \tx/a\t0.003s\tcoverage: [no statements]":                                                          true,
		"?   \tx/b\t[no test files]\nok  \tx/a\t0.003s":                                                         true,
		"ok  \tx/b\t0.002s [no tests to run]\nok  \tx/a\t0.003s":                                                true,
		"ok  \tx/b\t0.002s [no tests to run]\n?   \tx/a\t[no test files]":                                       false,
		"ok  \tx/b\t0.002s\tcoverage: 0.0% of statements [no tests to run]":                                     false,
		"ok  \tx/b\t0.002s\tcoverage: [no statements] [no tests to run]":                                        false,
		"test result: ok. 2 passed; 0 failed\n\n   Doc-tests x\n\nrunning 0 tests\n\ntest result: ok. 0 passed": true,
		"running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out":         false,
		"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0":                                               true,
		"[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0":                                               false,
		"==== 1 passed, 5 deselected in 0.02s ====":                                                             true,
		"==== 5 deselected in 0.02s ====":                                                                       false,
		"Tests:       2 skipped, 1 passed, 3 total":                                                             true,
		"Tests:       3 skipped, 3 total":                                                                       false,
		" 3 pass\n 0 fail":                                                                                      true,
		"3 examples, 0 failures":                                                                                true,
		"0 examples, 0 failures":                                                                                false,
		"3 runs, 5 assertions, 0 failures, 0 errors, 0 skips":                                                   true,
		"OK (1 test, 1 assertion)":                                                                              true,
		"Executed 3 tests, with 0 failures (0 unexpected)":                                                      true,
		"100% tests passed, 0 tests failed out of 10\n\nTotal Test time (real) =   0.02 sec":                    true,
		"No tests were found!!!":                                                                                false,
		"all is well":                                                                                           false,
	} {
		if got := testsRan.MatchString(printed + "\n"); got != ran {
			t.Errorf("%q: %v", printed, got)
		}
	}
}

// Output of runners that pass without tests. Other runners of the same command may have run some.
func TestRanNone(t *testing.T) {
	const none = "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nOK\n"
	for printed, want := range map[string]bool{
		none: true,
		"collected 0 items\n\n==== no tests ran in 0.00s ====\n":                                         true,
		none + "\nRan 3 tests in 0.010s\n\nOK\n":                                                         false,
		none + "ok  \tx/a\t0.003s\n":                                                                     false,
		"Ran 10 tests in 0.010s\n\nOK (skipped=10)\n":                                                    false,
		"?   \tx/b\t[no test files]\n":                                                                   true,
		"?   \tx/b\t[no test files]\nok  \tx/a\t0.003s\n":                                                false,
		"ok  \tx/b\t0.002s [no tests to run]\n":                                                          true,
		"\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed\n":                                     true,
		"\nrunning 1 test\n\ntest result: ok. 1 passed; 0 failed\n\n   Doc-tests x\n\nrunning 0 tests\n": false,
		"# tests 0\n# suites 0\n# pass 0\n":                                                              true,
		"ℹ tests 3\nℹ pass 3\nℹ fail 0\n":                                                                false,
		"No tests found, exiting with code 0\n":                                                          true,
		"\n  0 passing (2ms)\n":                                                                          true,
		"[INFO] No tests to run.\n":                                                                      true,
		"0 examples, 0 failures\n":                                                                       true,
		"Test project /x/build\nNo tests were found!!!\n":                                                true,
		"No tests were found!!!\n100% tests passed, 0 tests failed out of 3\n":                           false,
		"":     false,
		"ok\n": false,
		"{\"Output\":\"?   \\tx/b\\t[no test files]\\n\"}\n": false,
	} {
		if got := RanNoTests("make test", []byte(printed)); got != want {
			t.Errorf("%q: %v", printed, got)
		}
	}
	const workspaces = "npm test --workspaces --if-present --silent"
	if !RanNoTests(workspaces, []byte("\n")) || RanNoTests(workspaces, []byte("all is well\n")) {
		t.Error("npm prints nothing where no workspace has tests, and only then")
	}
}
