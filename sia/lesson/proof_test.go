package lesson

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A proof plays each task four times for each of three seeds, distinguishes an effect from chance, and is evidence only
// if its interval does not contain 0.
func TestProve(t *testing.T) {
	tasks := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("task ", n-i))
		}
		return names
	}
	for _, tt := range []struct {
		name      string
		tasks     int
		passes    func(task string, with bool, seed uint64) bool
		good, bad float64
		points    float64 // of the mean, the two imagined tasks included
	}{
		{"it solves them", 10, func(_ string, with bool, _ uint64) bool { return with }, PersonWeight, 0, 1000. / 12},
		{"it spoils them", 10, func(_ string, with bool, _ uint64) bool { return !with }, 0, PersonWeight, -1000. / 12},
		{"it does nothing", 10, func(task string, _ bool, _ uint64) bool { return task < "task 5" }, 0, 0, 0},
		{"one task proves nothing", 1, func(_ string, with bool, _ uint64) bool { return with }, 0, 0, 100. / 3},
		{"one seed in three of four", 4, func(_ string, with bool, seed uint64) bool { return with && seed == 2 },
			0, 0, 400. / 18},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := map[string][]bool{}
			p, err := Prove(t.Context(), "aaaaaaaaaaaa", tasks(tt.tasks),
				func(_ context.Context, task string, with bool, seed uint64) (bool, error) {
					key := fmt.Sprint(task, "/", seed)
					runs[key] = append(runs[key], with)
					return tt.passes(task, with, seed), nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) != 3*tt.tasks || !cmp.Equal(runs["task 1/1"], []bool{false, true, false, true}) {
				t.Errorf("played %v", runs)
			}
			e := p.Evidence(start)
			if e.Good != tt.good || e.Bad != tt.bad || e.Arm != Replayed || e.Why == "" {
				t.Errorf("%+v: evidence %+v", p, e)
			}
			if d := p.Points - tt.points; d > 1e-9 || d < -1e-9 || !(p.Low <= p.Points && p.Points <= p.High) {
				t.Errorf("worth %v in %v–%v, want %v", p.Points, p.Low, p.High, tt.points)
			}
			if p.Told != 6*tt.tasks || p.Untold != 6*tt.tasks {
				t.Errorf("%d runs were told, %d not", p.Told, p.Untold)
			}
			if u := Uplift([]Evidence{e}); u.Told+u.Withheld != 0 {
				t.Errorf("it counts as a task that was told: %+v", u)
			}
		})
	}
}

// A task that cannot be played is an error, without a result.
func TestProveStops(t *testing.T) {
	broken := errors.New("no sandbox")
	fail := func(context.Context, string, bool, uint64) (bool, error) { return false, broken }
	if p, err := Prove(t.Context(), "aaaaaaaaaaaa", []string{"x"}, fail); !errors.Is(err, broken) || p != (Proof{}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, n := range []int{0, 101} {
		if _, err := Prove(t.Context(), "aaaaaaaaaaaa", make([]string, n), fail); err == nil || errors.Is(err, broken) {
			t.Errorf("%d tasks: %v", n, err)
		}
	}
}

// Fewer tasks than [MinProofTasks] are never conclusive, even if all results are equal; that number can be.
func TestMinProofTasks(t *testing.T) {
	for n, settles := range map[int]bool{MinProofTasks - 1: false, MinProofTasks: true} {
		p, err := Prove(t.Context(), "aaaaaaaaaaaa", make([]string, n),
			func(_ context.Context, _ string, with bool, _ uint64) (bool, error) { return with, nil })
		if err != nil || (p.Evidence(start).Good > 0) != settles || p.Told+p.Untold != n*ProofRuns {
			t.Errorf("%d tasks: %+v, %v; want it settled: %v", n, p, err, settles)
		}
	}
}

// Uncount subtracts what is left of the evidence: all of it if other evidence kept the counts from fading, the faded
// rest otherwise, and never below zero.
func TestUncount(t *testing.T) {
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	proof := Evidence{Key: "proof", Good: 2, At: day(0), Arm: Replayed}
	for _, tt := range []struct {
		name  string
		later []Evidence
	}{
		{"at once", nil},
		{"kept fresh", []Evidence{{Good: 1, At: day(20)}, {Bad: 1, At: day(40)}, {Good: 1, At: day(60)}}},
		{"faded", []Evidence{{Good: 1, At: day(90)}}},
		{"withheld keeps nothing fresh", []Evidence{{Bad: 1, At: day(45), Arm: Withheld}, {Bad: 1, At: day(90)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := Lesson{ID: "aaaaaaaaaaaa", Kind: Discovery, State: Active, Good: .5, CountedAt: day(0)}
			with, without := proof.Count(l), l
			for _, e := range tt.later {
				with, without = e.Count(with), e.Count(without)
			}
			got := with.Uncount(proof, tt.later)
			if d := got.Good - without.Good; d > 1e-9 || d < -1e-9 || got.Bad != without.Bad || got.CountedAt != with.CountedAt {
				t.Errorf("it counts %v for and %v against, want %v and %v", got.Good, got.Bad, without.Good, without.Bad)
			}
		})
	}
	if got := (Lesson{Good: 1, CountedAt: day(0)}).Uncount(proof, nil); got.Good != 0 {
		t.Errorf("more was taken back than there was: %v", got.Good)
	}
}
