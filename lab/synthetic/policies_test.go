package synthetic

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figuresOf returns all figures by key.
func figuresOf(t *testing.T, seed uint64, worlds int) map[string]Figure {
	t.Helper()
	subjects, err := Policies(t.Context(), seed, worlds)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Figure{}
	for _, s := range subjects {
		for _, f := range s.Figures {
			if _, twice := all[f.Key]; twice {
				t.Errorf("two figures are %s", f.Key)
			}
			all[f.Key] = f
		}
	}
	return all
}

// What is true of every figure, and the figures' targets, as far as so few worlds can show.
//
//test:thorough
func TestPoliciesHoldTheirBars(t *testing.T) {
	all := figuresOf(t, 9090909, 60)
	for key, f := range all {
		if !(f.Low <= f.Value && f.Value <= f.High) || f.Times < 1 || f.Seed != 9090909 || f.World == "" || f.What == "" {
			t.Errorf("%s: %+v", key, f)
		}
		if f.Unit == Share && (f.Low < 0 || f.High > 1) {
			t.Errorf("%s: %v–%v is no share", key, f.Low, f.High)
		}
	}
	for key, most := range map[string]float64{
		"trial.good.tried": .10, "trial.bad.tried": .10, "trial.bad.cost": 1, "trial.good.retired.share": .05,
		"trial.bad.kept.share": .05, "mining.none.logs": .10, "mining.planted.wrong": .10, "gate.null.first": .0304,
		"gate.null.any": .05, "experiment.null.promoted": .05, "experiment.null.harm": .10, "experiment.null.broken": .01,
		"guardrail.200-50.null.first-right": .025, "guardrail.200-50.drop-25.after": 60,
		"guardrail.200-70.drop-25.after": 60, "guardrail.50-60.drop-25.after": 60,
		"blame.200-50.change.after": 60, "blame.200-70.change.after": 60, "blame.200-50.none": .02, "blame.200-70.none": .02,
	} {
		if f, ok := all[key]; !ok || f.Low > most {
			t.Errorf("%s is surely above %v: %+v", key, most, f)
		}
	}
	for _, key := range []string{"trial.good.kept.share", "trial.bad.retired.share", "mining.planted.found",
		"gate.better-80.share", "experiment.better-10-50.share", "experiment.worse-10-50.share",
		"experiment.broken-75.share"} {
		if f := all[key]; f.High < .9 {
			t.Errorf("%s is surely below 90 %%: %+v", key, f)
		}
	}
	if greedy := all["gate.null.greedy"]; greedy.Low < .2 {
		t.Errorf("taking what won more errs in %v–%v only", greedy.Low, greedy.High)
	}
}

func TestPoliciesAreTheSameOnAnyNumberOfCores(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	one := figuresOf(t, 3, 6)
	runtime.GOMAXPROCS(4)
	four := figuresOf(t, 3, 6)
	runtime.GOMAXPROCS(before)
	if diff := cmp.Diff(one, four); diff != "" {
		t.Errorf("one core and four differ:\n%s", diff)
	}
	if diff := cmp.Diff(one, figuresOf(t, 4, 6)); diff == "" {
		t.Error("another seed gives the same figures")
	}
}

func TestPoliciesRefuse(t *testing.T) {
	if _, err := Policies(t.Context(), 1, 0); err == nil || !strings.Contains(err.Error(), "at least one world") {
		t.Errorf("no worlds: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Policies(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
}

// Figures of numbers that can be computed by hand.
func TestFigures(t *testing.T) {
	yes := func(yes, all int) []bool {
		out := make([]bool, all)
		for i := range yes {
			out[i] = true
		}
		return out
	}
	for _, tt := range []struct {
		got  Figure
		want [3]float64 // value, low, high, to four decimal places
	}{
		{Figure{}.share(yes(5, 100)), [3]float64{.05, .0215, .1118}},
		{Figure{}.share(yes(0, 10)), [3]float64{0, 0, .2775}},
		{Figure{}.share(yes(1, 1)), [3]float64{1, .2065, 1}},
		{Figure{}.grouped([][]bool{yes(5, 5), yes(0, 5), nil}), [3]float64{.5, .0945, .9055}}, // two groups count as two
		{Figure{}.meanShare([]float64{0, .5, 1, .5}), [3]float64{.5, .1535, .8465}},
		{Figure{}.rootMean([]float64{.01, .01}), [3]float64{10, 10, 10}},
		{Figure{}.median([]int{9, 1, 5}), [3]float64{5, 1, 9}},
		{Figure{}.every(400, 4), [3]float64{100, 37.5318, 266.4408}},
	} {
		for i, got := range []float64{tt.got.Value, tt.got.Low, tt.got.High} {
			if d := got - tt.want[i]; d > 1e-4 || d < -1e-4 {
				t.Errorf("%+v, want %v", tt.got, tt.want)
				break
			}
		}
	}
	late := measure{}.found("k", "w", "done", "tasks", "", []int{0, 7, 0}, 60)
	if len(late) != 1 || late[0].Key != "k.share" {
		t.Errorf("there is a median of what mostly never happened: %+v", late)
	}
}
