package synthetic

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//test:thorough
func TestPriorsAreTheSameOnAnyNumberOfCores(t *testing.T) {
	figures := func(seed uint64) []Figure {
		fs, err := Priors(t.Context(), seed, 2, 30)
		if err != nil {
			t.Fatal(err)
		}
		return fs
	}
	before := runtime.GOMAXPROCS(1)
	one := figures(9090909)
	runtime.GOMAXPROCS(4)
	four := figures(9090909)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(one, four); diff != "" {
		t.Errorf("one core and four differ:\n%s", diff)
	}
	rate := map[string]Figure{}
	for _, f := range one {
		if !(f.Low <= f.Value && f.Value <= f.High) || f.Times != 2 {
			t.Errorf("%+v", f)
		}
		rate[f.Key] = f
	}
	// With 800 first tasks each, the shared counts have an effect, and no result is impossibly good.
	alone, told := rate["priors.30.alone"], rate["priors.30.told"]
	if alone.Value == told.Value || told.Value > .5 || told.Value < .2 {
		t.Errorf("alone %.3f, told %.3f", alone.Value, told.Value)
	}
}

func TestPriorsRefuse(t *testing.T) {
	if _, err := Priors(t.Context(), 1, 0, 30); err == nil || !strings.Contains(err.Error(), "at least one world") {
		t.Errorf("no worlds: %v", err)
	}
	if _, err := Priors(t.Context(), 1, 1, 3); err == nil || !strings.Contains(err.Error(), "3 installations") {
		t.Errorf("too few share: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Priors(ctx, 1, 1, 30); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
}

// Counting by the chance gives the same mean as counting by the outcome.
func TestChanceIsThatOfTheOutcome(t *testing.T) {
	w, err := NewWorld(EasyParameters(10), 7)
	if err != nil {
		t.Fatal(err)
	}
	r, n := newRandom(7, 9), 0.0
	var resolved, chance float64
	for range 5000 {
		task := w.draw(r)
		for k := range Techniques {
			n++
			chance += w.chance(&task, k)
			if task.resolves[k] {
				resolved++
			}
		}
	}
	if d := (resolved - chance) / n; d > .005 || d < -.005 {
		t.Errorf("%.3f are resolved, by a chance of %.3f", resolved/n, chance/n)
	}
}
