package lesson

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Play plays a recorded task once, with the lesson or without, and says whether its checks were
// green. The seed is all that chance depends on. It ends when ctx does.
type Play func(ctx context.Context, task string, with bool, seed uint64) (passed bool, err error)

// The design of a proof: each task is played without the lesson, with it, and both once more, so that
// what changes meanwhile, such as a model's mood, is not taken for the lesson; and all of it with
// other seeds.
var proofRounds = [...]bool{false, true, false, true}

const (
	proofSeeds = 3

	// ProofRuns is how often a proof plays each of its tasks.
	ProofRuns = proofSeeds * len(proofRounds)
	// MaxProofTasks is how many tasks a proof plays at most.
	MaxProofTasks = 100
	// FewestToProve is how many tasks it takes to settle anything: the interval over fewer is never on one side.
	FewestToProve = 5
)

// Proof is the result of playing tasks with a lesson and without.
type Proof struct {
	Lesson               ID
	Tasks                int
	Told, ToldPassed     int     // runs
	Untold, UntoldPassed int     // runs
	Points               float64 // difference of the shares that passed, in percentage points
	Low, High            float64 // its 90 % interval
}

// Prove plays tasks, at most 100, with a lesson and without. What is the same for a task is no news: its
// runs count as one, and the interval is over tasks (Student's t). Two imagined tasks are added, one
// that the lesson solves and one that it spoils, so that a few tasks alike prove nothing.
func Prove(ctx context.Context, l ID, tasks []string, play Play) (Proof, error) {
	if len(tasks) == 0 || len(tasks) > MaxProofTasks {
		return Proof{}, fmt.Errorf("prove lesson %s: want 1 to %d tasks to play, got %d", l, MaxProofTasks, len(tasks))
	}
	p := Proof{Lesson: l, Tasks: len(tasks)}
	differences := []float64{1, -1}
	for _, task := range slices.Sorted(slices.Values(tasks)) {
		difference := 0.0
		for seed := range uint64(proofSeeds) {
			for _, with := range proofRounds {
				passed, err := play(ctx, task, with, seed+1)
				if err != nil {
					return Proof{}, fmt.Errorf("prove lesson %s: play %s: %w", l, task, err)
				}
				difference += p.count(with, passed)
			}
		}
		differences = append(differences, difference/(float64(ProofRuns)/2))
	}
	mean, half := tInterval(differences)
	p.Points, p.Low, p.High = 100*mean, 100*max(-1, mean-half), 100*min(1, mean+half)
	return p, nil
}

// count counts one run, and says what it adds to the difference.
func (p *Proof) count(with, passed bool) float64 {
	y := 0
	if passed {
		y = 1
	}
	if with {
		p.Told, p.ToldPassed = p.Told+1, p.ToldPassed+y
		return float64(y)
	}
	p.Untold, p.UntoldPassed = p.Untold+1, p.UntoldPassed+y
	return -float64(y)
}

// tInterval is a mean and half of its 90 % interval.
func tInterval(xs []float64) (mean, half float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	square := 0.0
	for _, x := range xs {
		square += (x - mean) * (x - mean) / (n - 1)
	}
	return mean, distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.95) * math.Sqrt(square/n)
}

// Evidence is what the proof says about the lesson. It weighs as much as a person's word where the
// whole interval is on one side, and nothing where it is not. Every proof of a lesson has the same key: the
// latest stands.
func (p Proof) Evidence(at time.Time) Evidence {
	e := Evidence{Key: fmt.Sprintf("proof/%s", p.Lesson), Lesson: p.Lesson, At: at, Arm: Replayed, Why: p.String()}
	switch {
	case p.Low > 0:
		e.Good = PersonWeight
	case p.High < 0:
		e.Bad = PersonWeight
	}
	return e
}

// String says it in a sentence.
func (p Proof) String() string {
	return fmt.Sprintf("%d tasks played again: with the lesson, %d of %d runs passed; without, %d of %d; benefit "+
		"%+.0f points (90 %% interval %+.0f to %+.0f)", p.Tasks, p.ToldPassed, p.Told, p.UntoldPassed, p.Untold,
		p.Points, p.Low, p.High)
}
