package policies_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies"
)

func escalates(t *testing.T, source string) policies.Escalate {
	t.Helper()
	return parsed(t, "decision: escalate\nname: e\nversion: 1\n"+source).Escalate()
}

func TestEscalate(t *testing.T) {
	hard := policies.Context{Failures: 4, Task: policies.Features{Ambiguity: 1, Architecture: true}}
	for _, tt := range []struct {
		name, policy string
		in           policies.Context
		want, says   string
	}{
		{"as shipped, an easy task", "", policies.Context{Failures: 4}, policies.ChoiceGoOn, "not above 0.65"},
		{"as shipped, a hard one", "", hard, policies.ChoiceAsk, "ambiguity 0.30"},
		{"not before so many have failed", "rules: {min_failures: 5}", hard, policies.ChoiceGoOn,
			"before 5 attempts have failed"},
		{"a trigger", "rules: {triggers: [{labels: [security]}]}",
			policies.Context{Failures: 2, Labels: []string{"Security"}}, policies.ChoiceAsk, "whatever is to be expected"},
		{"a trigger that does not fit", "rules: {triggers: [{labels: [security]}]}", policies.Context{Failures: 2},
			policies.ChoiceGoOn, "not above"},
		{"people have helped", "parameters: {threshold: 0.6, help: 1}",
			policies.Context{Failures: 3, Alone: policies.Tally{Tried: 40, Passed: 10},
				Helped: policies.Tally{Tried: 40, Passed: 38}},
			policies.ChoiceAsk, "help"},
		{"people have not", "parameters: {threshold: 0.6, help: 1}",
			policies.Context{Failures: 3, Alone: policies.Tally{Tried: 40, Passed: 10},
				Helped: policies.Tally{Tried: 40, Passed: 5}},
			policies.ChoiceGoOn, "not above"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := escalates(t, tt.policy).Decide(tt.in)
			if a.Choice != tt.want || !strings.Contains(a.Reason, tt.says) || a.Options[0].Choice != tt.want ||
				a.Propensity != 1 {
				t.Errorf("%+v, want %s because of %q", a, tt.want, tt.says)
			}
		})
	}
}

// More failures, a more ambiguous issue and a worse record never lower the value of asking.
func TestPersonIsWorthMoreTheWorseItGoes(t *testing.T) {
	e := escalates(t, "")
	value := func(c policies.Context) float64 {
		for _, o := range e.Decide(c).Options {
			if o.Choice == policies.ChoiceAsk {
				return o.Score
			}
		}
		return -1
	}
	rapid.Check(t, func(t *rapid.T) {
		c := policies.Context{Failures: rapid.IntRange(0, 8).Draw(t, "failures"),
			Task:  policies.Features{Ambiguity: rapid.Float64Range(0, 1).Draw(t, "ambiguity")},
			Alone: policies.Tally{Tried: 30, Passed: rapid.IntRange(0, 30).Draw(t, "passed")}}
		worse := c
		worse.Failures += rapid.IntRange(0, 3).Draw(t, "more failures")
		worse.Task.Ambiguity = min(1, c.Task.Ambiguity+rapid.Float64Range(0, 1).Draw(t, "more ambiguity"))
		worse.Alone.Passed -= rapid.IntRange(0, c.Alone.Passed).Draw(t, "fewer passed")
		if value(worse) < value(c)-1e-12 {
			t.Fatalf("%v for %+v, %v for %+v", value(c), c, value(worse), worse)
		}
	})
}
