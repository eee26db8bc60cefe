package gate

import (
	"testing"

	"github.com/sia-bot/sia/sia"
)

// failing returns a red job with the failures in its log.
func (r Run) failing(signature, telling string, tests ...string) Run {
	r.Read, r.Class, r.Signature, r.Telling, r.Failed = true, "test_failure", signature, telling, tests
	return r
}

// A check that is red on the base, too, is excused if the same failed there and the issue does not ask to fix it.
func TestExcused(t *testing.T) {
	// with returns a head and a base with a green lint check.
	with := func(head, base Run, issue string) Input {
		in := input(job(1, 7, 1, "lint", "success"), head).with(workflow(7, "CI", "push", "failure")).onBase(
			[]Run{job(11, 17, 1, "lint", "success"), base}, workflow(17, "CI", "push", "failure"))
		in.Issue = issue
		return in
	}
	head, base := job(2, 7, 1, "test", "failure"), job(12, 17, 1, "test", "failure")
	said := func(issue string) Input {
		return with(head.failing("s1", "src/pay.py:7: error: the total is negative", "tests/test_pay.py::test_total"),
			base.failing("s1", "", "tests/test_pay.py::test_total"), issue)
	}
	waived := func(in Input, names ...string) Input { in.Waived = names; return in }
	settings := func(in Input, names ...string) Input { in.Settings.Required = names; return in }
	const ok, red, blocked = sia.VerdictGreen, sia.VerdictRed, sia.VerdictBlocked
	judgeAll(t, []row{
		{"nobody knows what failed", with(head, base, ""), ok, "test is excused"},
		{"the same test failed", with(head.failing("s1", "", "T1"), base.failing("s2", "", "T0", "T1"), ""), ok, "excused"},
		{"one more test failed", with(head.failing("s1", "", "T1", "T2"), base.failing("s1", "", "T1"), ""), red,
			"test failed; so it does on the base commit, and not in T2."},
		{"it failed in the same way", with(head.failing("s1", ""), base.failing("s1", ""), ""), ok, "excused"},
		{"it failed in another way", with(head.failing("s1", ""), base.failing("s2", ""), ""), red,
			"and not in the same way"},
		{"the base's log says nothing", with(head.failing("s1", ""), base.failing("", ""), ""), ok, "excused"},
		{"so does the head's", with(head.failing("", ""), base.failing("s1", ""), ""), ok, "excused"},

		{"the issue is about something else", said("Greet the customers\n\nAdd a test. Mind the colour red."), ok, ""},
		{"and has the check's name as a word", said("Add a test for greetings"), ok, ""},
		{"the issue asks for green checks", said("CI is red on main"), red, "the issue asks to mend that"},
		{"in other words", said("Please fix the pipeline"), red, ""},
		{"the issue names the check", said("The job test says nothing"), red, ""},
		{"in quotes", said("See `test`"), red, ""},
		{"the issue names the test", said("Look at test_total"), red, ""},
		{"the issue names the file", said("Something is off in src/pay.py"), red, ""},
		{"the issue has the message", said("I see \"The total is negative\""), red, ""},

		{"a rule requires it", said("").requiring("test", "lint"), blocked, "GitHub will not merge this while it is red"},
		{"a rule requires it, and something else is red", func() Input {
			in := said("").requiring("test", "lint")
			in.Runs = []Run{job(1, 7, 1, "lint", "failure"), in.Runs[1]}
			return in
		}(), red, "lint failed"},
		{"a rule requires it, and the issue names it", said("CI is red").requiring("test", "lint"), red, ""},
		{"a rule requires it, and a person goes on without", waived(said("").requiring("test", "lint"), "test"), ok,
			"test is excused"},
		{"the settings alone require it", settings(said(""), "test", "lint"), ok, "test is excused"},
	})
	got := Judge(said("").requiring("test", "lint"))
	if len(got.Blocked) != 1 || !got.Blocked[0].Waivable || got.Blocked[0].Check != "test" {
		t.Errorf("a person can't say to go on without it: %+v", got.Blocked)
	}
}

// The log of the only job that judges, if it is red on the base too, is read, because more may fail than there.
func TestExcusedAloneIsRead(t *testing.T) {
	in := input(job(1, 7, 1, "test", "failure")).with(workflow(7, "CI", "push", "failure")).onBase(
		[]Run{job(11, 17, 1, "test", "failure")}, workflow(17, "CI", "push", "failure"))
	if n := in.Needs(); len(n.Earlier) != 1 || len(n.OnBase) != 1 {
		t.Errorf("needs %+v", n)
	}
}
