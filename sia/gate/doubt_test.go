package gate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
)

// The red check has g = .5; an attempt costs 9 credits and a minute of the check
// one, so that a re-run costs a tenth of another attempt.
func TestDoubt(t *testing.T) {
	base := func(change func(*Input)) Input {
		in := input(job(1, 7, 1, "test", "failure"), job(2, 7, 1, "build", "success"))
		in.Settings.MinuteCost = 1
		in.DoubtKnown = true
		in.Doubt = Doubt{Good: 0.5, Rates: map[string]float64{"test": 0.2}, Other: 0.02, Attempt: 9}
		if change != nil {
			change(&in)
		}
		return in
	}
	for _, c := range []struct {
		name string
		in   Input
		want *sia.Doubt
		says string
	}{
		{"a check that flips is run again", base(nil),
			&sia.Doubt{Checks: []string{"test"}, Good: 0.5, Flake: 0.2, Chance: 1. / 6, Cost: 0.1, Rerun: true},
			"17 % chance that test failed by accident; a re-run costs 10 % of another attempt: it is run again once"},
		{"one that does not is not", base(func(in *Input) { in.Doubt.Rates = nil }),
			&sia.Doubt{Checks: []string{"test"}, Good: 0.5, Flake: 0.02, Chance: 0.01 / 0.51, Cost: 0.1},
			"2 % chance that test failed by accident; a re-run costs 10 % of another attempt: it is not run again"},
		{"two at once are seldom chance",
			base(func(in *Input) {
				in.Runs = append(in.Runs, job(3, 7, 1, "e2e", "failure"))
				in.Doubt.Rates["e2e"] = 0.2
			}),
			&sia.Doubt{Checks: []string{"e2e", "test"}, Good: 0.5, Flake: 0.04, Chance: 0.02 / 0.52, Cost: 2. / 11},
			"3.8 % chance that e2e, test failed by accident"},
		{"a long check is dear",
			base(func(in *Input) { in.Runs[0].StartedAt = in.Runs[0].CompletedAt.Add(-9*time.Minute - time.Second) }),
			&sia.Doubt{Checks: []string{"test"}, Good: 0.5, Flake: 0.2, Chance: 1. / 6, Cost: 10. / 19}, "it is not run again"},
		{"a free one is always worth it", base(func(in *Input) { in.Settings.MinuteCost = 0; in.Doubt.Rates = nil }),
			&sia.Doubt{Checks: []string{"test"}, Good: 0.5, Flake: 0.02, Chance: 0.01 / 0.51, Rerun: true}, "run again once"},
		{"always", base(func(in *Input) { in.Settings.Rerun, in.Doubt.Rates = sia.RerunAlways, nil }),
			&sia.Doubt{Checks: []string{"test"}, Good: 0.5, Flake: 0.02, Chance: 0.01 / 0.51, Cost: 0.1, Rerun: true},
			"as `checks.rerun` says"},
		{"never", base(func(in *Input) { in.Settings.Rerun = sia.RerunNever }), nil, "test failed"},
		{"once", base(func(in *Input) { in.Doubted = true }), nil, "test failed"},
		{"the re-runs are used up", base(func(in *Input) { in.Reruns = sia.MaxReruns }), nil, "test failed"},
		{"a person looks", base(func(in *Input) { in.ByPerson = true }), nil, "test failed"},
		{"nothing is known", base(func(in *Input) { in.DoubtKnown = false }), nil, "test failed"},
		{"a compiler is not moody", base(func(in *Input) { in.Runs[0].Class = "compile_error" }), nil, "test failed"},
		{"a status can't be run again", base(func(in *Input) { in.Statuses = []Status{status("ci/x", "failure")} }), nil,
			"ci/x failed"},
		{"another app's check can't be run again",
			base(func(in *Input) { in.Runs = append(in.Runs, run(3, "e2e", "failure")) }), nil, "e2e failed"},
		{"a required check never came",
			base(func(in *Input) { in.Required = []Required{{Name: "test"}, {Name: "e2e"}} }), nil,
			"did not appear"},
		{"tests were touched", base(func(in *Input) { in.Tampering = []string{"a_test.go:3"} }), nil, "a_test.go:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(c.in)
			if d := cmp.Diff(c.want, got.Doubt, cmpopts.EquateApprox(0, 1e-9)); d != "" {
				t.Error(d)
			}
			want := sia.VerdictRed
			if c.want != nil && c.want.Rerun {
				want = sia.VerdictRerun
			}
			if got.Verdict != want || (want == sia.VerdictRerun) != slices.Contains(got.Rerun, 1) {
				t.Errorf("%s, run again %v", got.Verdict, got.Rerun)
			}
			if text := strings.Join(got.Explain, "\n"); !strings.Contains(text, c.says) {
				t.Errorf("want %q in:\n%s", c.says, text)
			}
		})
	}
}

func TestWent(t *testing.T) {
	in := input(job(1, 7, 1, "test", "failure"), job(2, 7, 2, "test", "success"), job(3, 7, 1, "lint", "success"),
		job(4, 7, 2, "lint", "failure"),
		job(5, 7, 1, "net", "failure").class("network"), job(6, 7, 2, "net", "success"), run(7, "build", "failure"),
		run(8, "docs", "skipped"))
	want := []GreenCheck{{"lint", true}, {"net", false}, {"test", true}}
	if d := cmp.Diff(want, in.GreenChecks()); d != "" {
		t.Error(d)
	}
	if in.Runs[0] = unfinished(9, "build"); in.GreenChecks() != nil {
		t.Errorf("one still runs, and %v", in.GreenChecks())
	}
}

// flakes is the built-in prior.
var flakes = Prior{Mean: 0.02, Weight: 50}

// The rate equals the prior's mean without data, rises with every flip, and converges to the observed rate.
func TestFlakeRate(t *testing.T) {
	if got := flakes.FlakeRate(Count{}, Count{}); got != 0.02 {
		t.Errorf("the prior is %g", got)
	}
	if got := flakes.FlakeRate(Count{Commits: 10_000, Flips: 1000}, Count{}); math.Abs(got-0.1) > 0.001 {
		t.Errorf("1000 flips of 10,000 commits give %g", got)
	}
	if got := flakes.FlakeRate(Count{}, Count{Commits: 950, Flips: 99}); got != 0.1 {
		t.Errorf("what is known of other checks gives %g", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		count := func(name string) Count {
			n := rapid.IntRange(0, 500).Draw(t, name)
			return Count{Commits: n, Flips: rapid.IntRange(0, n).Draw(t, name+" flips")}
		}
		own, others := count("own"), count("others")
		got := flakes.FlakeRate(own, others)
		more := flakes.FlakeRate(Count{Commits: own.Commits + 1, Flips: own.Flips + 1}, others)
		if !(got > 0 && got < more && more <= 1) {
			t.Fatalf("%g, and with one more flip %g", got, more)
		}
	})
}
