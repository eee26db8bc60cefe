package lesson

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Play replays a recorded task once, with or without the lesson, and reports whether its checks passed. All randomness
// depends on the seed. It returns early when ctx is done.
type Play func(ctx context.Context, task string, with bool, seed uint64) (passed bool, err error)

// proofRounds is the order of a task's runs per seed, true with the lesson. It alternates, so that a drift of the model
// over time is not attributed to the lesson.
var proofRounds = [...]bool{false, true, false, true}

const (
	proofSeeds = 3 // number of seeds per task

	// ProofRuns is the number of runs of each task in a proof.
	ProofRuns = proofSeeds * len(proofRounds)
	// MaxProofTasks is the maximum number of tasks in a proof.
	MaxProofTasks = 100
	// MinProofTasks is the number of tasks below which a proof is never conclusive: its interval always contains 0.
	MinProofTasks = 5
)

// Proof is the result of replaying tasks with and without a lesson.
type Proof struct {
	Lesson               ID
	Tasks                int
	Told, ToldPassed     int     // number of runs with the lesson
	Untold, UntoldPassed int     // number of runs without it
	Points               float64 // difference of the shares that passed, in percentage points
	Low, High            float64 // its 90 % interval
}

// Prove replays at most 100 tasks with and without a lesson. The runs of a task are not independent, so they count as
// one difference, and the interval is over tasks (Student's t). Two fictitious tasks are added, one that the lesson
// solves and one that it breaks, so that a few equal results prove nothing.
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

// count counts one run and returns its contribution to the difference.
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

// tInterval returns the mean and half the width of its 90 % interval.
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

// Evidence returns the proof as evidence about the lesson. It has the weight of a user's word if the interval does not
// contain 0, else none. All proofs of a lesson have the same key, so the latest replaces earlier ones.
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

// String returns the result in a sentence.
func (p Proof) String() string {
	return fmt.Sprintf("%d tasks played again: with the lesson, %d of %d runs passed; without, %d of %d; benefit "+
		"%+.0f points (90 %% interval %+.0f to %+.0f)", p.Tasks, p.ToldPassed, p.Told, p.UntoldPassed, p.Untold,
		p.Points, p.Low, p.High)
}
