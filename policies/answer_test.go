package policies_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/policies"
)

// TestLeaveToChance: a share of decisions takes the next best choice, with the probabilities of both, but never one
// that asks a person, waits or ends the task.
func TestLeaveToChance(t *testing.T) {
	p := parsed(t, "decision: recover\nname: r\nversion: 1\nparameters: {chance: 0.1}\n").Recover()
	if p.Parameters.Chance != .1 {
		t.Fatal(p.Parameters)
	}
	two := policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Coders: 2, Failed: 1}
	best := p.Decide(two)
	for _, c := range []struct {
		name        string
		in          policies.Context
		share, draw float64
		want        string
		propensity  float64
	}{
		{"no share", two, 0, 0, policies.ChoiceSIA, 1},
		{"not drawn", two, .1, .1, policies.ChoiceSIA, .9},
		{"drawn", two, .1, .09, policies.ChoiceOtherCoder, .1},
		{"a person is next", policies.Context{Class: "test_failure", Failures: 1, InARow: 1}, .1, 0, policies.ChoiceSIA, 1},
		{"the settings say so", policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Coders: 2, Failed: 1,
			Patience: 1}, .1, 0, policies.ChoiceRetry, 1},
		{"weather", policies.Context{Class: "network", Failures: 1, InARow: 1, Rerunnable: true, Coders: 2, Failed: 1}, .1, 0,
			policies.ChoiceRerun, 1},
	} {
		a := p.Decide(c.in).LeaveToChance(c.share, c.draw)
		sum := 0.0
		for _, o := range a.Options {
			sum += o.Propensity
		}
		if a.Choice != c.want || a.Propensity != c.propensity || (c.propensity < 1) != (sum == 1) {
			t.Errorf("%s: %s with %g of %g, want %s with %g", c.name, a.Choice, a.Propensity, sum, c.want, c.propensity)
		}
		if by := strings.Contains(a.Reason, "by chance"); by != (c.name == "drawn") {
			t.Errorf("%s: %s", c.name, a.Reason)
		}
	}
	ask := parsed(t, "decision: escalate\nname: e\nversion: 1\nparameters: {chance: 0.1}\n"+
		"rules: {triggers: [{labels: [security]}]}\n").Escalate()
	hard := policies.Context{Failures: 4, Task: policies.Features{Ambiguity: 1, Architecture: true}}
	forced := hard
	forced.Labels = []string{"security"}
	for _, c := range []struct {
		name       string
		in         policies.Context
		draw       float64
		want       string
		propensity float64
	}{
		{"asked", hard, .1, policies.ChoiceAsk, .9},
		{"one more approach first", hard, .09, policies.ChoiceGoOn, .1},
		{"a trigger", forced, 0, policies.ChoiceAsk, 1},
		{"nobody is asked by chance", policies.Context{Failures: 4}, 0, policies.ChoiceGoOn, 1},
	} {
		a := ask.Decide(c.in).LeaveToChance(ask.Parameters.Chance, c.draw)
		if a.Choice != c.want || a.Propensity != c.propensity {
			t.Errorf("%s: %s with %g, want %s with %g", c.name, a.Choice, a.Propensity, c.want, c.propensity)
		}
	}
	if best.Options[0].Propensity != 0 {
		t.Error("the answer that it was made of has changed")
	}
}
