package learn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// Of two choices with different probabilities, equally many decisions are left.
//
//test:plain
func TestTossedIsFair(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 3))
	for _, p := range []float64{.5, .8, .95} {
		options := json.RawMessage(fmt.Sprintf(`[{"Coder":"a","Propensity":%v},{"Coder":"b","Propensity":%v}]`, p, .96-p))
		left := map[string]int{}
		const n = 40_000
		for i := range n {
			d := sia.Decision{ID: fmt.Sprint("7-", i, "/1/decide-assign"), Choice: "b", Options: options}
			if luck := dice.Float64(); luck < p {
				d.Choice = "a"
			} else if luck > .96 {
				d.Choice = "c" // neither
			}
			if randomized(d, "a", "b") {
				left[d.Choice]++
			}
			if randomized(d, "a", "b") != randomized(d, "b", "a") {
				t.Fatal("it depends on which is named first")
			}
		}
		expected := n * min(p, .96-p)
		for _, choice := range []string{"a", "b"} {
			if off := (float64(left[choice]) - expected) / max(1, expected); off < -.12 || off > .12 {
				t.Errorf("at %v: %d of %s are left, want some %.0f", p, left[choice], choice, expected)
			}
		}
		if left["c"] > 0 {
			t.Error("a third choice says something of two others")
		}
	}
	sure := sia.Decision{ID: "7-1", Choice: "a",
		Options: json.RawMessage(`[{"Coder":"a","Propensity":1},{"Coder":"b","Propensity":0}]`)}
	if randomized(sure, "a", "b") {
		t.Error("what chance could not have made otherwise says something")
	}
}
