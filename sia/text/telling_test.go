package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/text"
)

// A line that names a cause is preferred to one that names a symptom, and both to a verdict.
func TestTelling(t *testing.T) {
	for _, c := range []struct {
		excerpt string
		want    []string
	}{
		{" \n", nil},
		{"\n  \n only   this\n", []string{"only this"}},
		{"one\ntwo\n\n", []string{"one"}},
		{"hello.txt:1: error: the greeting is wrong\nProcess completed with exit code 1.",
			[]string{"hello.txt:1: error: the greeting is wrong"}},
		{"--- FAIL: TestMail (0.00s)\n    mail_test.go:31: POST /bookings: status 500, want 201\nFAIL\t" +
			"example.com/mail\t0.012s", []string{"mail_test.go:31: POST /bookings: status 500, want 201"}},
		{"=== RUN TestA\n--- FAIL: TestA (0.00s)\npanic: runtime error: index out of range [3]\n",
			[]string{"panic: runtime error: index out of range [3]"}},
		{"FAILED (failures=1)\nE   AssertionError: assert 3 == 4\ntests/test_sum.py:9: AssertionError",
			[]string{"E AssertionError: assert 3 == 4", "tests/test_sum.py:9: AssertionError"}},
		{"______ ERROR collecting tests/test_a.py ______\ntests/test_a.py:1: in <module>\n" +
			"E   ModuleNotFoundError: No module named 'freezegun'\n!!!! Interrupted: 1 error during collection !!!!",
			[]string{"______ ERROR collecting tests/test_a.py ______",
				"E ModuleNotFoundError: No module named 'freezegun'"}},
		{"app.ts(3,5): error TS2322: Type 'string' is not assignable.\nmake: *** [test] Error 1",
			[]string{"app.ts(3,5): error TS2322: Type 'string' is not assignable."}},
		{"FAIL\nexit status 1\n", []string{"FAIL"}},
		{"assertion `left == right` failed\n  left: 1\n right: 2", []string{"assertion `left == right` failed"}},
	} {
		if d := cmp.Diff(c.want, text.Telling(c.excerpt, 2)); d != "" {
			t.Errorf("%q: %s", c.excerpt, d)
		}
		if got := text.MostTelling(c.excerpt); (got == "") != (c.want == nil) {
			t.Errorf("%q: %q is most telling", c.excerpt, got)
		}
	}
}
