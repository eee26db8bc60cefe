package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// readAll reads the logs that a verdict needs, until it needs no more, and returns their number.
func readAll(t *testing.T, in Input, class func(name string) string) (Input, int) {
	t.Helper()
	logs := 0
	for range 15 {
		ids := in.Needs().Logs
		if len(ids) == 0 {
			return in, logs
		}
		logs += len(ids)
		for i := range in.Runs {
			if r := &in.Runs[i]; slices.Contains(ids, r.ID) {
				r.Read, r.Class = true, class(r.Name)
			}
		}
	}
	t.Fatal("it needs logs again and again")
	return in, 0
}

// If many jobs are red or cancelled, a verdict needs the logs of a few of them, of different jobs first.
func TestFewLogs(t *testing.T) {
	jobs := func(conclusion string) Input {
		in := input().with(workflow(1, "ci", "pull_request", "failure")).onBase(nil)
		for i := range 300 {
			in.Runs = append(in.Runs, job(int64(i+1), 1, 1, fmt.Sprintf("build (%d)", i), conclusion))
		}
		in.Runs = append(in.Runs, job(301, 1, 1, "lint", conclusion))
		in.FilesKnown, in.TamperingKnown, in.Now = true, true, noon.Add(24*time.Hour)
		return in
	}
	for _, c := range []struct {
		name, conclusion string
		class            func(name string) string
		logs             int
		want             sia.GateVerdict
	}{
		{"all are red", "failure", func(string) string { return "compile_error" }, MaxLogs, sia.VerdictRed},
		{"all are red by an outage", "failure", func(string) string { return "network" }, 301, sia.VerdictRerun},
		{"most are red by an outage", "failure", func(name string) string {
			return map[bool]string{true: "compile_error", false: "network"}[name == "lint"]
		}, 301, sia.VerdictRed},
		{"all were cancelled", "cancelled", func(string) string { return "cancelled" }, MaxLogs, sia.VerdictRerun},
		{"all ran too long", "cancelled", func(string) string { return timeout }, 301, sia.VerdictRed},
	} {
		in, logs := readAll(t, jobs(c.conclusion), c.class)
		if got := Judge(in).Verdict; got != c.want || logs != c.logs {
			t.Errorf("%s: %s after %d logs, want %s after %d", c.name, got, logs, c.want, c.logs)
		}
		if i := slices.IndexFunc(in.Runs, func(r Run) bool { return r.Name == "lint" }); !in.Runs[i].Read {
			t.Errorf("%s: the log of lint was not read", c.name)
		}
	}
}

// Of many cancelled jobs, the log of the one that ran longest is read: GitHub may have ended it at its time limit, and
// the others of its matrix because of that.
func TestLongestCancelledJob(t *testing.T) {
	in := input().with(workflow(1, "ci", "pull_request", "failure")).onBase(nil)
	for i := range 20 {
		r := job(int64(i+1), 1, 1, fmt.Sprintf("build (%d)", i), "cancelled")
		r.StartedAt = r.CompletedAt.Add(-time.Duration(i) * time.Minute)
		in.Runs = append(in.Runs, r)
	}
	in.FilesKnown, in.TamperingKnown, in.Now = true, true, noon.Add(24*time.Hour)
	in, _ = readAll(t, in, func(name string) string {
		return map[bool]string{true: timeout, false: "cancelled"}[name == "build (19)"]
	})
	if got := Judge(in); got.Verdict != sia.VerdictRed {
		t.Errorf("%s: %v", got.Verdict, got.Explain)
	}
}

// The runs of the base for the logs of many jobs are found in one pass over the checks.
func TestManyGreenOnBase(t *testing.T) {
	in, base := input(), []Run(nil)
	var ids []int64
	for i := range 100 {
		ids = append(ids, int64(i+1))
		in.Runs = append(in.Runs, job(ids[i], 1, 1, fmt.Sprintf("test (%d)", i), "failure"))
		base = append(base, job(int64(i+1000), 2, 1, fmt.Sprintf("test (%d)", i), "success"))
	}
	in = in.with(workflow(1, "ci", "push", "failure")).onBase(base, workflow(2, "ci", "push", "success"))
	if n := len(in.GreenOnBase(ids...)); n != len(ids) {
		t.Errorf("%d runs of the base are found, want %d", n, len(ids))
	}
	allocations := func(ids []int64) float64 { return testing.AllocsPerRun(1, func() { in.GreenOnBase(ids...) }) }
	if few, many := allocations(ids[:10]), allocations(ids); many > 2*few {
		t.Errorf("10 runs take %.0f allocations, and %d take %.0f", few, len(ids), many)
	}
}
