package evolve_test

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies/evolve"
)

func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		resolved, tried int
		want            bool
	}{{0, 0, false}, {20, 49, false}, {20, 50, true}, {39, 50, true}, {40, 50, true}, {41, 50, false}, {42, 50, false},
		{50, 50, false}, {790, 1000, true}, {850, 1000, false}, {870, 1000, false}, {-1, 60, false}, {61, 60, false}} {
		if got := evolve.Room(tt.resolved, tt.tried); got != tt.want {
			t.Errorf("%d of %d: %v", tt.resolved, tt.tried, got)
		}
	}
}

// The result equals that of another library's Beta distribution.
func TestRoomIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tried := rapid.IntRange(50, 2000).Draw(t, "tried")
		resolved := rapid.IntRange(0, tried).Draw(t, "resolved")
		beta := distuv.Beta{Alpha: 1 + float64(resolved), Beta: 1 + float64(tried-resolved)}
		if p := beta.CDF(.85); (p-.8)*(p-.8) > 1e-18 && evolve.Room(resolved, tried) != (p >= .8) {
			t.Fatalf("%d of %d: P(rate < .85) = %v", resolved, tried, p)
		}
	})
}
