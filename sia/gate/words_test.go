package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A check that has not begun is described by its state, and has an hour if other checks are queued too.
func TestNotBegun(t *testing.T) {
	in := func(since time.Duration, status string, jobs ...int64) Input {
		out := input(job(9, 7, 1, "lint", "success")).with(workflow(7, "CI", "push", "").unended("in_progress"))
		for _, id := range jobs {
			r := job(id, 7, 1, "test "+string(rune('a'+id)), "")
			r.Status, r.StartedAt, r.CompletedAt = status, noon.Add(-since), time.Time{}
			out.Runs = append(out.Runs, r)
		}
		out.Since = noon.Add(-since)
		return out
	}
	judgeAll(t, []row{
		{"one is queued", in(16*time.Minute, "queued", 1), sia.VerdictBlocked,
			"was not started within 15m0s; perhaps there is no runner for it"},
		{"several are queued", in(16*time.Minute, "queued", 1, 2), sia.VerdictPending, ""},
		{"several are queued for long", in(61*time.Minute, "queued", 1, 2), sia.VerdictBlocked,
			"was queued for 1h0m0s, as others are; perhaps runners are scarce"},
		{"one is held back", in(16*time.Minute, "pending", 1), sia.VerdictPending, ""},
		{"one is held back for long", in(61*time.Minute, "pending", 1), sia.VerdictBlocked,
			"is pending for 1h0m0s; perhaps another run of its `concurrency` group goes first"},
	})
}

// A job that runs only in the merge queue is described as such, and does not count as green.
func TestMergeQueueAlone(t *testing.T) {
	in := input(job(1, 7, 1, "lint", "success"), job(2, 7, 1, "test", "skipped")).with(
		workflow(7, "CI", "pull_request", "success")).requiring("lint", "test")
	in.Files, in.FilesKnown = []File{ReadFile(ciPath, []byte("on: [pull_request, merge_group]\njobs:\n"+
		"  test: {if: \"${{ github.event_name == 'merge_group' }}\", steps: [{uses: actions/checkout@v4}, {run: make}]}\n"+
		"  lint: {steps: [{uses: actions/checkout@v4}, {run: make lint}]}\n"))}, true
	got := Judge(in)
	if got.Verdict != sia.VerdictGreen || !slices.Contains(got.Explain, "1 required check is green.") ||
		!slices.Contains(got.Explain, "test was skipped: it runs in the merge queue.") {
		t.Errorf("%s, %q", got.Verdict, got.Explain)
	}
	i := slices.IndexFunc(got.Checks, func(c sia.Check) bool { return c.Name == "test" })
	if c := got.Checks[i]; c.Colour != sia.Skipped || c.Why != "skipped; runs in the merge queue" {
		t.Errorf("%+v", c)
	}
}

// A job that failed in an earlier attempt, and is not in the newest one, is ignored if the run has succeeded.
func TestLegOfAnEarlierAttempt(t *testing.T) {
	w := workflow(7, "CI", "push", "success")
	w.Attempt = 2
	legs := []Run{job(1, 7, 1, "test (a)", "failure"), job(2, 7, 1, "test (b)", "success"),
		job(3, 7, 2, "test (b)", "success")}
	unknown := w
	unknown.Attempt = 0
	failed := w
	failed.Conclusion = "failure"
	judgeAll(t, []row{
		{"the newest attempt succeeded", input(legs...).with(w), sia.VerdictGreen, ""},
		{"its number is of its jobs alone", input(legs...).with(unknown), sia.VerdictGreen, ""},
		{"it did not", input(legs...).with(failed), sia.VerdictRed, "test (a) failed"},
		{"the leg is of the newest", input(legs[0]).with(workflow(7, "CI", "push", "success")), sia.VerdictRed, ""},
	})
	for _, c := range Judge(input(legs...).with(w)).Checks {
		if strings.Contains(c.Name, "(a)") {
			t.Errorf("%+v is shown", c)
		}
	}
}
