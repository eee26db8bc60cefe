// Package invented generates logs of decisions in which the truth is known, to measure
// how often package mine finds it: by its tests, and by sialab policies.
//
// A log is a function of its seed. The package imports policies and mine only. Start reading
// at [Log].
package invented

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
)

// Effect is the chance of success after a decision in a task of medium
// difficulty, by its context and choice.
type Effect func(mine.Decision) float64

// None is a world without any effect.
func None(mine.Decision) float64 { return 0.5 }

// Planted is a world in which one option fails in one language.
func Planted(d mine.Decision) float64 {
	if d.Choice == policies.ChoiceSIA && d.Context.Language == "java" {
		return 0.05
	}
	return 0.6
}

// IsPlanted reports whether a finding is the planted effect. It may also be found from its
// other side: in another language that option does better than elsewhere, which includes java.
func IsPlanted(f mine.Finding) bool {
	return f.Choice == policies.ChoiceSIA && strings.Contains(f.Feature, "language")
}

// Log draws decisions about tasks that differ in kind and difficulty:
// a hard task fails again and again, whatever is chosen. The number of failures is drawn, too: otherwise
// it would reveal the difficulty, which is not a false discovery.
func Log(seed uint64, tasks int, effect Effect) (ds []mine.Decision) {
	dice := rand.New(rand.NewPCG(seed, 9090909)) //nolint:gosec // the same in every run
	pick := func(words ...string) string { return words[dice.IntN(len(words))] }
	for task := range tasks {
		c := policies.Context{
			Language: pick("go", "go", "java", "python"), Labels: []string{pick("auth", "ui", "db")},
			Task: policies.Features{Kind: policies.Kind(pick("bug", "bug", "feature", "docs")), Words: 10 + dice.IntN(300),
				Ambiguity: dice.Float64(), Architecture: dice.IntN(3) == 0},
		}
		hard := dice.Float64() - 0.5
		for range 1 + dice.IntN(3) {
			c.Failures, c.Class = 1+dice.IntN(4), pick("test_failure", "lint_format", "network")
			options := []mine.Option{{Choice: "sia", Probability: 0.6}, {Choice: "retry", Probability: 0.2},
				{Choice: "other-coder", Probability: 0.2}}
			d := mine.Decision{Task: fmt.Sprint(task), Type: policies.TypeRecover, Context: c, Options: options,
				Choice: pick("sia", "sia", "sia", "retry", "other-coder")}
			d.Resolved = dice.Float64() < effect(d)+0.8*hard
			ds = append(ds, d)
		}
	}
	return ds
}

// Randomised draws random decisions between the options good and bad, which resolve with
// these chances. The better one is likelier for easy tasks.
func Randomised(seed uint64, n int, good, bad float64) (ds []mine.Decision) {
	dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same in every run
	for i := range n {
		p, ease := 0.2, -0.2
		if i%2 == 0 {
			p, ease = 0.8, 0.2
		}
		d := mine.Decision{Task: fmt.Sprint(i), Type: policies.TypeTechnique, Choice: "bad",
			Context: policies.Context{Language: "go", Task: policies.Features{Kind: policies.Kinds()[i%2], Words: 100}},
			Options: []mine.Option{{Choice: "good", Probability: p}, {Choice: "bad", Probability: 1 - p}}}
		chance := bad
		if dice.Float64() < p {
			d.Choice, chance = "good", good
		}
		d.Resolved = dice.Float64() < chance+ease
		ds = append(ds, d)
	}
	return ds
}
