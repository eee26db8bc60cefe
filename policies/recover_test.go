package policies_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies"
)

func TestRecover(t *testing.T) {
	network := policies.Context{Class: "network", Failures: 1, InARow: 1, Rerunnable: true}
	for _, tt := range []struct {
		name, policy string
		in           policies.Context
		want         string
		wait         time.Duration
	}{
		{"the code is wrong", "", policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Rerunnable: true},
			policies.ChoiceSIA, 0},
		{"the weather", "", network, policies.ChoiceRerun, 5 * time.Minute},
		{"still the weather", "", with(network, func(c *policies.Context) { c.Waits = 1 }), policies.ChoiceRerun,
			10 * time.Minute},
		{"weather without end", "", with(network, func(c *policies.Context) { c.Waits = 2 }), policies.ChoiceSIA, 0},
		{"weather that can't be run again", "", with(network, func(c *policies.Context) { c.Rerunnable = false }),
			policies.ChoiceSIA, 0},
		{"a plain retry first", "", policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Patience: 1},
			policies.ChoiceRetry, 0},
		{"another coder first", "parameters: {base: {other-coder: 1}}",
			policies.Context{Failures: 1, InARow: 1, Coders: 2, Failed: 1}, policies.ChoiceOtherCoder, 0},
		{"there is no other coder", "parameters: {base: {other-coder: 1}}",
			policies.Context{Failures: 1, InARow: 1, Coders: 1}, policies.ChoiceSIA, 0},
		{"all coders have failed", "parameters: {base: {other-coder: 1}}",
			policies.Context{Failures: 2, InARow: 2, Coders: 2, Failed: 2}, policies.ChoiceSIA, 0},
		{"a person", "rules: [{when: {class: [permission_or_credentials]}, bonus: {person: 1}}]",
			policies.Context{Class: "permission_or_credentials", Failures: 1, InARow: 1}, policies.ChoicePerson, 0},
		{"given up", "rules: [{when: {failures: 3}, bonus: {abandon: 2}}]", policies.Context{Failures: 3, InARow: 1},
			policies.ChoiceAbandon, 0},
		{"retries with a wait", "rules: [{when: {class: [timeout]}, bonus: {retry: 1}, retries: 3, wait: 1m}]",
			policies.Context{Class: "timeout", Failures: 2, InARow: 2}, policies.ChoiceRetry, 2 * time.Minute},
		{"another racer's change", "", policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Racers: 1},
			policies.ChoiceNextRacer, 0},
		{"another racer's change costs no model", "",
			policies.Context{Class: "test_failure", Failures: 1, InARow: 1, Racers: 1, Patience: 1},
			policies.ChoiceNextRacer, 0},
		{"the weather, with another racer's change", "", with(network, func(c *policies.Context) { c.Racers = 1 }),
			policies.ChoiceRerun, 5 * time.Minute},
		{"weather without end, with another racer's change", "",
			with(network, func(c *policies.Context) { c.Racers, c.Waits = 1, 2 }), policies.ChoiceNextRacer, 0},

		{"a part", "", policies.Context{Part: "part", Tries: 1, Coders: 2, Failed: 1}, policies.ChoiceRetry, 0},
		{"a part, with the settings' patience for attempts", "",
			policies.Context{Part: "part", Tries: 2, Coders: 1, Failed: 1, Patience: 3}, policies.ChoiceSIA, 0},
		{"a part again", "", policies.Context{Part: "part", Tries: 2, Coders: 2, Failed: 1}, policies.ChoiceOtherCoder, 0},
		{"a part that all coders failed at", "", policies.Context{Part: "reproduce", Tries: 3, Coders: 2, Failed: 2},
			policies.ChoiceSIA, 0},
		{"a part, and nobody else", "", policies.Context{Part: "merge", Tries: 2, Coders: 1, Failed: 1},
			policies.ChoiceSIA, 0},
		{"a part that fails by weather is not re-run", "",
			with(network, func(c *policies.Context) { c.Part, c.Tries = "part", 2 }), policies.ChoiceSIA, 0},
		{"rules about attempts say nothing of parts", "rules: [{bonus: {sia: 5}, retries: 9, wait: 1h}]",
			policies.Context{Part: "part", Tries: 1}, policies.ChoiceRetry, 0},
		{"a rule for parts", "rules: [{when: {part: [merge]}, bonus: {retry: 1}, retries: 3}]",
			policies.Context{Part: "merge", Tries: 3, Coders: 2, Failed: 1}, policies.ChoiceRetry, 0},
		{"a rule for other parts", "rules: [{when: {part: [merge]}, bonus: {retry: 1}, retries: 3}]",
			policies.Context{Part: "part", Tries: 2, Coders: 2, Failed: 1}, policies.ChoiceOtherCoder, 0},
		{"no retries of parts", "parameters: {part_retries: 0}",
			policies.Context{Part: "part", Tries: 1, Coders: 2, Failed: 1}, policies.ChoiceOtherCoder, 0},
		{"no more retries", "rules: [{when: {class: [timeout]}, bonus: {retry: 1}, retries: 3, wait: 1m}]",
			policies.Context{Class: "timeout", Failures: 4, InARow: 4}, policies.ChoiceSIA, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := parsed(t, "decision: recover\nname: r\nversion: 1\n"+tt.policy).Recover().Decide(tt.in)
			i := slices.IndexFunc(a.Options, func(o policies.Option) bool { return o.Choice == a.Choice })
			if a.Choice != tt.want || i < 0 || a.Options[i].Wait != tt.wait || a.Reason == "" {
				t.Errorf("%+v, want %s after %s", a, tt.want, tt.wait)
			}
		})
	}
}

func with(c policies.Context, change func(*policies.Context)) policies.Context {
	change(&c)
	return c
}

// For a part, only the actions that Step supports are possible.
func TestWhatIsPossibleForAPart(t *testing.T) {
	a := parsed(t, "decision: recover\nname: r\nversion: 1").Recover().Decide(policies.Context{
		Part: "part", Tries: 1, Coders: 2, Failed: 1, Rerunnable: true, Racers: 2, Class: "network"})
	var got []string
	for _, o := range a.Options {
		got = append(got, o.Choice)
	}
	if want := []string{policies.ChoiceRetry, policies.ChoiceOtherCoder, policies.ChoiceSIA}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := "retry scores 0.70 after 1 run of it failed; next is other-coder with 0.60"; a.Reason != want {
		t.Errorf("%q, want %q", a.Reason, want)
	}
}

// In any context, a possible action is chosen, and retries end.
func TestRecoverEnds(t *testing.T) {
	r := parsed(t, "decision: recover\nname: r\nversion: 1\nparameters: {base: {retry: 5}}\n"+
		"rules: [{bonus: {rerun: 5}, retries: 4, wait: 6h}]").Recover()
	rapid.Check(t, func(t *rapid.T) {
		c := policies.Context{Coders: rapid.IntRange(1, 3).Draw(t, "coders"), Rerunnable: rapid.Bool().Draw(t, "rerunnable"),
			Part:   rapid.SampledFrom(append(policies.Parts(), "")).Draw(t, "part"),
			Racers: rapid.IntRange(0, 3).Draw(t, "racers")}
		for range 20 {
			a := r.Decide(c)
			o := a.Options[slices.IndexFunc(a.Options, func(o policies.Option) bool { return o.Choice == a.Choice })]
			if o.Wait > 6*time.Hour {
				t.Fatalf("it waits %s", o.Wait)
			}
			switch a.Choice {
			case policies.ChoiceRerun:
				c.Waits++
			case policies.ChoiceRetry:
				c.InARow, c.Tries = c.InARow+1, c.Tries+1
			case policies.ChoiceOtherCoder:
				c.Failed, c.Tries = c.Failed+1, c.Tries+1
			case policies.ChoiceNextRacer:
				c.Racers--
			default:
				return
			}
		}
		t.Fatal("it tries the same for ever")
	})
}
