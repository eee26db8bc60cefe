package gate

import (
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// A pass waits for SIA's own tests, up to the limit in the settings; a red verdict and an accepted change do not.
func TestAwaitTests(t *testing.T) {
	in := func(since time.Duration) Input {
		in := input(run(1, "test", "success"))
		in.Since, in.Tests, in.TamperingKnown = noon.Add(-since), Tests{Running: true}, true
		return in
	}
	within := sia.DefaultSettings().Checks.Evidence.D()
	red := in(time.Minute)
	red.Runs = []Run{run(1, "test", "failure")}
	accepted := in(time.Minute)
	accepted.Tampering, accepted.Accepted = []string{"a"}, true
	for name, c := range map[string]struct {
		in   Input
		want sia.GateVerdict
	}{
		"green": {in(time.Minute), sia.VerdictPending}, "too long": {in(within), sia.VerdictGreen},
		"red": {red, sia.VerdictRed}, "accepted": {accepted, sia.VerdictGreen},
	} {
		if got := Judge(c.in).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Dropped tests are shown on a pass, and explain a lower number of tests.
func TestDroppedTestsAreShown(t *testing.T) {
	in := input(run(1, "test", "success"))
	in.TamperingKnown, in.CountsKnown, in.Counts = true, true, []TestCount{{Run: 1, Head: 4, Base: 5}}
	if got := Judge(in).Verdict; got != sia.VerdictTampered {
		t.Fatalf("without: %s", got)
	}
	in.Tests = Tests{Shown: []string{"`TestA` is gone"}, Dropped: 1}
	got := Judge(in)
	if got.Verdict != sia.VerdictGreen || !slices.Contains(got.Explain, "`TestA` is gone.") {
		t.Errorf("with: %s, %q", got.Verdict, got.Explain)
	}
	in.Counts[0].Head = 3
	if got := Judge(in).Verdict; got != sia.VerdictTampered {
		t.Errorf("fewer still: %s", got)
	}
}
