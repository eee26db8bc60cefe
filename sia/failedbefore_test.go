package sia

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A removed test that a check of an earlier head named as failed is kept apart, however the log spells it. Events by
// older rules mean what they meant.
func TestRemovedTestsThatWereRed(t *testing.T) {
	dropped := []string{".::TestAdd", "calc.test.js::calc adds twice", "core::AddTest.adds",
		"tests/test_calc.py::tests.test_calc.Sums.test_sub", "tests/test_half.py::test_half[2]", "web/a.test.ts::opens"}
	named := []string{"TestAdd/small", "adds(AddTest)", "calc › adds twice", "src/web/a.test.ts",
		"test_sub (tests.test_calc.Sums.test_sub)", "test_half.py::test_half[1-a]"}
	for rules, kept := range map[int]int{2: 0, Rules: 6} {
		p := checked(t, false)
		p.task.Attempts = append([]Attempt{{Head: "d00d", Failures: []CheckFailure{{Tests: named}}},
			{Head: p.task.Head, Failures: []CheckFailure{{Tests: []string{"TestOther"}}}}}, p.task.Attempts...)
		e := TestEvidence{Head: p.task.Head, Base: p.task.BaseSHA, Dropped: append(dropped, ".::TestOther")}
		key := p.task.pendingOf(DoEvidence)
		p.task = Replay(p.task, Event{ID: key, Effect: key, Rules: rules, Fact: Evidenced{Evidence: e}}).Task
		got := p.task.Gate.Evidence
		if got == nil || len(got.DroppedRed) != kept || len(got.Dropped) != 7-kept {
			t.Errorf("rules %d: %+v", rules, got)
		}
	}
}

// A file's text shows whether it has one of the tests that failed.
func TestNamesTest(t *testing.T) {
	const file, text = "tests/test_calc.py", "def test_add():\n    assert 1\n\ndef test_add_more(): pass\n"
	var got []string
	for _, test := range []string{"tests/test_calc.py::test_add", "test_add[1]", "test_more", "add", "test_ad",
		"/home/runner/work/tests/test_calc.py", "test_calc.py", "other/test_calc.py", ""} {
		if NamesTest([]string{test}, file, text) {
			got = append(got, test)
		}
	}
	want := []string{"tests/test_calc.py::test_add", "test_add[1]", "/home/runner/work/tests/test_calc.py", "test_calc.py"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
