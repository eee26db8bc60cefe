package priors

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCount(t *testing.T) {
	outcomes := []Outcome{
		{Task: "1", Language: "go", Pattern: "wrong-tool", Technique: "tool-change"},
		{Task: "1", Language: "go", Pattern: "wrong-tool", Technique: "fresh-start", Resolved: true}, // the second
		{Task: "1", Language: "go", Kind: "bug", Coder: "gpt-oss-120b", Resolved: true},
		{Task: "1", Language: "go", Kind: "bug", Coder: "GPT-5 mini (2025-08-07) (medium reasoning)"},
		{Task: "2", Language: "cobol", Pattern: "wrong-tool", Technique: "tool-change", Resolved: true},
		{Task: "3", Language: "go", Pattern: "wrong-tool", Technique: "our-own-trick", Resolved: true}, // on no list
		{Task: "3", Language: "go", Pattern: "wrong-tool", Technique: "tool-change", Resolved: true},   // does not stand in
		{Task: "4", Kind: "poem", Coder: "our-private-model"},
		{Task: "5", Language: "go", Pattern: "wrong-tool", Technique: "tool-change"}, // was reported
		{Task: "5", Language: "go", Kind: "bug", Coder: "gpt-oss-120b"},
	}
	counts, now := Count(outcomes, map[Reported]bool{{"5", true}: true})
	want := Counts{
		{Language: "go", Pattern: "wrong-tool", Technique: "tool-change"}:  {Failed: 1},
		{Language: "go", Kind: "bug", Coder: "gpt-oss-120b"}:               {Resolved: 1, Failed: 1},
		{Language: Other, Pattern: "wrong-tool", Technique: "tool-change"}: {Resolved: 1},
		{Language: Other, Kind: Other, Coder: Other}:                       {Failed: 1},
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Error(d)
	}
	d := cmp.Diff([]Reported{{"1", true}, {"1", false}, {"2", true}, {"3", true}, {"4", false}, {"5", false}}, now)
	if d != "" {
		t.Error(d)
	}
	for c := range counts {
		if !contains(Cells(), c) {
			t.Errorf("%v is not on the public list", c)
		}
	}
	all := map[Reported]bool{}
	for _, r := range now {
		all[r] = true
	}
	all[Reported{"5", true}] = true
	if counts, now := Count(outcomes, all); len(counts) != 0 || len(now) != 0 {
		t.Errorf("a second time: %v %v", counts, now)
	}
}

func contains(list []Cell, c Cell) bool {
	for _, l := range list {
		if l == c {
			return true
		}
	}
	return false
}

// anyOutcome draws an outcome of a few tasks with arbitrary fields.
func anyOutcome(t *rapid.T, tasks int) Outcome {
	word := func(list ...[]string) string {
		words := []string{"", "mine", "other"}
		for _, l := range list {
			words = append(words, l...)
		}
		return rapid.SampledFrom(words).Draw(t, "word")
	}
	o := Outcome{Task: fmt.Sprint(rapid.IntRange(1, tasks).Draw(t, "task")), Language: word(Languages()),
		Resolved: rapid.Bool().Draw(t, "resolved")}
	if rapid.Bool().Draw(t, "technique") {
		o.Pattern, o.Technique = word(Patterns()), word(Techniques())
	} else {
		o.Kind, o.Coder = word(Kinds()), word(Coders())
	}
	return o
}

// The basis of the privacy guarantee: one task changes the counts of all periods together by at most Sensitivity, and
// does not affect the counts of other tasks.
func TestSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Outcome { return anyOutcome(t, 6) }), 0, 60).
			Draw(t, "history")
		without := fmt.Sprint(rapid.IntRange(1, 6).Draw(t, "without"))
		periods := rapid.IntRange(1, 4).Draw(t, "periods")
		with, less := shared(history, "", periods), shared(history, without, periods)
		distance := int64(0)
		for p := range with {
			for _, c := range Cells() {
				a, b := with[p][c], less[p][c]
				distance += abs(a.Resolved-b.Resolved) + abs(a.Failed-b.Failed)
			}
		}
		if distance > Sensitivity {
			t.Fatalf("one task moves the counts by %d", distance)
		}
	})
}

func abs(n int64) int64 { return max(n, -n) }

// shared returns the counts of each period of a growing history, which is passed from its beginning each time, as read
// from a database.
func shared(history []Outcome, without string, periods int) (out []Counts) {
	before := map[Reported]bool{}
	for p := range periods {
		var told []Outcome
		for _, o := range history[:len(history)*(p+1)/periods] {
			if o.Task != without {
				told = append(told, o)
			}
		}
		counts, now := Count(told, before)
		for _, r := range now {
			before[r] = true
		}
		out = append(out, counts)
	}
	return out
}
