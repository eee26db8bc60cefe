package evolve_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies/evolve"
)

func gate(t interface {
	Helper()
	Fatal(args ...any)
}, k, wins, losses int) *evolve.Gate {
	t.Helper()
	g, err := evolve.NewGate(k)
	if err != nil {
		t.Fatal(err)
	}
	for range wins {
		g.Add(true, false)
	}
	for range losses {
		g.Add(false, true)
	}
	g.Add(true, true) // says nothing
	g.Add(false, false)
	return g
}

func TestGate(t *testing.T) {
	for _, tt := range []struct {
		k, wins, losses int
		e, threshold    float64
		want            evolve.Verdict
	}{
		{1, 13, 2, 38.9, 32.9, evolve.Pass},
		{1, 7, 0, 31.9, 32.9, evolve.NotReplayed}, // seven tasks can't pass, whatever their results
		{1, 8, 0, 56.8, 32.9, evolve.Pass},
		{1, 7, 1, 6.94, 32.9, evolve.Reject},
		{2, 13, 2, 38.9, 131.6, evolve.Reject},
		{1, 0, 0, 1, 32.9, evolve.NotReplayed},
		{1, 0, 4, .2, 32.9, evolve.NotReplayed},
		{1, 0, 5, 1. / 6, 32.9, evolve.Reject}, // few, and all of them lost
		{1, 2000, 0, math.MaxFloat64, 32.9, evolve.Pass},
		{1, 0, 2000, 1. / 2001, 32.9, evolve.Reject},
		{100, 3, 3, .457, 328987, evolve.NotReplayed},
	} {
		g := gate(t, tt.k, tt.wins, tt.losses)
		if e := g.E(); math.Abs(e/tt.e-1) > 0.005 {
			t.Errorf("%d–%d: E = %v, want %v", tt.wins, tt.losses, e, tt.e)
		}
		if th := g.Threshold(); math.Abs(th/tt.threshold-1) > 0.001 {
			t.Errorf("proposal %d: threshold %v, want %v", tt.k, th, tt.threshold)
		}
		if got := g.Verdict(); got != tt.want || g.Why() == "" {
			t.Errorf("%d–%d, proposal %d: %s (%s), want %s", tt.wins, tt.losses, tt.k, got, g.Why(), tt.want)
		}
	}
	if _, err := evolve.NewGate(0); err == nil {
		t.Error("there is a proposal before the first")
	}
}

// E is a fair bet: the next task does not change its mean. And it equals the integral in its comment.
func TestGateIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, l := rapid.IntRange(0, 60).Draw(t, "wins"), rapid.IntRange(0, 60).Draw(t, "losses")
		e := gate(t, 1, w, l).E()
		if next := (gate(t, 1, w+1, l).E() + gate(t, 1, w, l+1).E()) / 2; math.Abs(next/e-1) > 1e-9 {
			t.Fatalf("%d–%d: E = %v, and in the mean %v after the next task", w, l, e, next)
		}
		const steps = 20_000
		integral := 0.0
		for i := range steps {
			θ := (1 + (float64(i)+.5)/steps) / 2
			integral += math.Exp(float64(w)*math.Log(2*θ)+float64(l)*math.Log(2-2*θ)) / steps
		}
		if math.Abs(integral/e-1) > 1e-4 {
			t.Fatalf("%d–%d: E = %v, the integral %v", w, l, e, integral)
		}
	})
}
