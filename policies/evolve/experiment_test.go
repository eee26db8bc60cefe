package evolve_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies/evolve"
)

// dice is a seeded random source.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

// outcome is the outcome of a task in an experiment.
type outcome struct{ candidate, resolved bool }

// outcomes draws outcomes for both policies with their rates.
func outcomes(d *rand.Rand, n int, present, candidate float64) []outcome {
	out := make([]outcome, n)
	for i := range out {
		rate := present
		if out[i].candidate = d.IntN(2) == 0; out[i].candidate {
			rate = candidate
		}
		out[i].resolved = d.Float64() < rate
	}
	return out
}

// ended adds outcomes to an experiment until its verdict, and returns their number.
func ended(os []outcome) (*evolve.Experiment, int) {
	x := evolve.NewExperiment()
	for i, o := range os {
		if x.Add(o.candidate, o.resolved); x.Verdict() != evolve.GoOn {
			return x, i + 1
		}
	}
	return x, len(os)
}

// E equals the value of its formula, computed from all outcomes.
func TestExperimentIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice(rapid.Uint64().Draw(t, "seed"))
		os := outcomes(d, rapid.IntRange(0, 300).Draw(t, "tasks"), d.Float64(), d.Float64())
		x, n := ended(os)
		e, harm, broken := 0.0, 0.0, 0.0
		for _, λ := range []float64{.05, .1, .2, .3, .45, .6} {
			up, down, more, fewer, s := 0.0, 0.0, 0.0, 0.0, 0.0
			for k, o := range os[:n] {
				a, y := 0.0, 0.0
				if o.candidate {
					a = 1
				}
				if o.resolved {
					y = 1
				}
				bet := (2*a - 1) * (y - (s+1)/(float64(k)+2))
				up, down = up+math.Log1p(λ*bet), down+math.Log1p(-λ*bet)
				more, fewer = more+math.Log1p(λ*(2*a-1)), fewer+math.Log1p(-λ*(2*a-1))
				s += y
			}
			e, harm = e+math.Exp(up)/6, harm+math.Exp(down)/6
			broken += (math.Exp(more) + math.Exp(fewer)) / 12
		}
		for _, v := range []struct{ got, want float64 }{{x.E(), e}, {x.EHarm(), harm}, {x.EBroken(), broken}} {
			if math.Abs(v.got/v.want-1) > 1e-9 {
				t.Fatalf("E = %v, want %v", v.got, v.want)
			}
		}
		want := evolve.GoOn
		switch {
		case broken >= 100:
			want = evolve.StopBroken
		case harm >= 10:
			want = evolve.StopHarm
		case e >= 20:
			want = evolve.Promote
		}
		if x.Verdict() != want {
			t.Fatalf("%s, want %s: %s", x.Verdict(), want, x.Why())
		}
	})
}

// Outcomes after the verdict are counted and change nothing else.
func TestVerdictOfAnExperimentIsFinal(t *testing.T) {
	x, n := ended(outcomes(dice(1), 2000, .2, .8))
	if x.Verdict() != evolve.Promote {
		t.Fatal(x.Why())
	}
	e := x.E()
	for range 1000 {
		x.Add(true, false)
	}
	now, proposed := x.Arms()
	if x.Verdict() != evolve.Promote || x.E() != e || now.Tried+proposed.Tried != n+1000 {
		t.Errorf("%s: %s", x.Verdict(), x.Why())
	}
}

// reached returns the number of experiments with a verdict within 2,000 outcomes per arm, and the median number of
// outcomes per arm.
func reached(seed uint64, experiments int, base, gain float64, v evolve.Verdict) (share float64, median int) {
	var after []int
	for i := range experiments {
		n := math.MaxInt
		if x, ended := ended(outcomes(dice(seed+uint64(i)), 4000, base, base+gain)); x.Verdict() == v {
			n, share = ended/2, share+1/float64(experiments)
		}
		after = append(after, n)
	}
	slices.Sort(after)
	return share, after[experiments/2]
}

// The known error rates and durations of experiments; `sialab policies` prints more of them.
func TestExperimentPromotesWhatIsBetter(t *testing.T) {
	const experiments = 400
	for _, base := range []float64{.3, .5, .7} {
		falsely, _ := reached(1, experiments, base, 0, evolve.Promote)
		some, ten := reached(2, experiments, base, .1, evolve.Promote)
		all, twenty := reached(3, experiments, base, .2, evolve.Promote)
		harmed, worse := reached(4, experiments, base, -.2, evolve.StopHarm)
		t.Logf("base %v: promoted falsely %.1f %%; +10 points after %d an arm (%.0f %%), +20 after %d (%.0f %%); "+
			"−20 stopped after %d (%.0f %%)", base, 100*falsely, ten, 100*some, twenty, 100*all, worse, 100*harmed)
		if falsely > .05 || some < .95 || all < .98 || harmed < .98 || ten > 320 || twenty > 85 || worse > 65 {
			t.Error("that is not what it did before")
		}
	}
}

// safe is an alternative test, as a cross-check: the two-sample e-variable of Turner, Ly and Grünwald (arXiv
// 2106.02693) for blocks of one outcome of each arm, with estimates that begin as β = ½ of each kind. It is undirected:
// the better arm is the one that is ahead. It returns the number of blocks until it promotes, 0 for never.
func safe(d *rand.Rand, blocks int, present, candidate float64) int {
	const β = .5
	log, a, b := 0.0, 0.0, 0.0
	of := func(p float64, y bool) float64 {
		if y {
			return p
		}
		return 1 - p
	}
	for n := range blocks {
		pa, pb := (a+β)/(float64(n)+2*β), (b+β)/(float64(n)+2*β)
		both := (pa + pb) / 2
		ya, yb := d.Float64() < present, d.Float64() < candidate
		log += math.Log(of(pa, ya) * of(pb, yb) / (of(both, ya) * of(both, yb)))
		if ya {
			a++
		}
		if yb {
			b++
		}
		if log >= math.Log(20) && b > a {
			return n + 1
		}
	}
	return 0
}

// Both detect the effect, and the bet detects it sooner.
func TestExperimentAgainstAnotherTest(t *testing.T) {
	const experiments = 400
	for _, gain := range []float64{0, .1, .2} {
		falsely := 0
		var after []int
		for i := range experiments {
			n := safe(dice(uint64(i)), 2000, .5, .5+gain)
			if n > 0 {
				falsely++
			} else {
				n = math.MaxInt
			}
			after = append(after, n)
		}
		slices.Sort(after)
		share, ours := reached(9, experiments, .5, gain, evolve.Promote)
		t.Logf("+%v: the two-sample test promotes %.1f %%, in the median after %d an arm; ours %.1f %%, after %d",
			gain, 100*float64(falsely)/experiments, after[experiments/2], 100*share, ours)
		if gain == 0 && (falsely > experiments/20 || share > .05) || gain > 0 && after[experiments/2] < ours {
			t.Error("the two don't agree")
		}
	}
}

func TestAssignIsAFairLotThatStays(t *testing.T) {
	const tasks = 20_000
	candidate, both := 0, 0
	for i := range tasks {
		task := fmt.Sprintf("o/r#%d", i)
		a := evolve.Assign("one", task)
		if a != evolve.Assign("one", task) {
			t.Fatalf("%s does not stay where it is", task)
		}
		if a {
			candidate++
			if evolve.Assign("two", task) {
				both++
			}
		}
	}
	if candidate < tasks*48/100 || candidate > tasks*52/100 || both < tasks*23/100 || both > tasks*27/100 {
		t.Errorf("%d of %d tasks went to the candidate of one experiment, %d to that of both", candidate, tasks, both)
	}
	if evolve.Assign("ab", "c") == evolve.Assign("a", "bc") && evolve.Assign("xy", "z") == evolve.Assign("x", "yz") &&
		evolve.Assign("12", "3") == evolve.Assign("1", "23") && evolve.Assign("45", "6") == evolve.Assign("4", "56") {
		t.Error("what belongs to the experiment's name and what to the task's makes no difference")
	}
}

func TestBrokenLotStopsTheExperiment(t *testing.T) {
	for _, share := range []float64{0, .2, .8, 1} {
		d := dice(3)
		x := evolve.NewExperiment()
		for x.Verdict() == evolve.GoOn {
			x.Add(d.Float64() < share, d.IntN(2) == 0)
		}
		now, proposed := x.Arms()
		if n := now.Tried + proposed.Tried; x.Verdict() != evolve.StopBroken || n > 120 {
			t.Errorf("with %v of the tasks: %s after %d", share, x.Why(), n)
		}
	}
}
