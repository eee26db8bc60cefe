package evolve

import (
	"crypto/sha256"
	"fmt"
)

// Thresholds that end an experiment.
const (
	promoteAt    = 20
	stopHarmAt   = 10  // a harmless candidate is stopped with a probability of at most 10 %
	stopBrokenAt = 100 // a fair assignment is considered broken with a probability of at most 1 %
)

// Experiment compares a candidate with the present policy on randomly assigned tasks. It counts tasks by their
// assignment, regardless of later events (intention to treat).
//
// After each task a share λ of the capital is bet on
//
//	X = (2A − 1)·(Y − m)   with   m = (s + 1) / (k + 2)
//
// where A is 1 for the candidate, Y is 1 for a success, and s of the k outcomes before were successes on either side.
// If the candidate is no better, the mean of X is at most zero for any m, because A is a fair coin. E is the mean of
// Π(1+λX) over six λ (betting: Waudby-Smith and Ramdas, JRSS B 86, 2024; centring by the outcomes before takes most of
// the noise out). The same on −X detects harm. The same on the assignment alone, 2A − 1 and 1 − 2A, detects an unfair
// coin.
type Experiment struct {
	better, worse bets
	more, fewer   bets // than half of the tasks are the candidate's
	arms          [2]Arm
	verdict       Verdict
}

// Arm is the outcomes of the tasks of one policy.
type Arm struct {
	Resolved int `json:"resolved"`
	Tried    int `json:"tried"`
}

// Indexes of arms.
const (
	present = iota
	candidate
)

// NewExperiment returns an experiment without outcomes.
func NewExperiment() *Experiment {
	return &Experiment{better: newBets(), worse: newBets(), more: newBets(), fewer: newBets(), verdict: GoOn}
}

// Assign reports whether a task is assigned to the candidate: half of the tasks, by a hash of both names, so the
// assignment is stable.
func Assign(experiment, task string) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(experiment), experiment, task))
	return sum[0]&1 == 1
}

// Add adds the outcome of a task. Outcomes must be added in the order in which their tasks were assigned, else fast
// tasks would be judged first. After the verdict, outcomes are only counted.
func (x *Experiment) Add(toCandidate, resolved bool) {
	arm, side := present, -1.0
	if toCandidate {
		arm, side = candidate, 1
	}
	was := Arm{x.arms[present].Resolved + x.arms[candidate].Resolved, x.arms[present].Tried + x.arms[candidate].Tried}
	x.arms[arm].Tried++
	y := 0.0
	if resolved {
		y = 1
		x.arms[arm].Resolved++
	}
	if x.verdict != GoOn {
		return
	}
	gain := side * (y - (float64(was.Resolved)+1)/(float64(was.Tried)+2))
	x.better.play(gain)
	x.worse.play(-gain)
	x.more.play(side)
	x.fewer.play(-side)
	switch {
	case x.EBroken() >= stopBrokenAt:
		x.verdict = StopBroken
	case x.EHarm() >= stopHarmAt:
		x.verdict = StopHarm
	case x.E() >= promoteAt:
		x.verdict = Promote
	}
}

// Verdict returns go-on, promote, stop-harm or stop-broken. All but go-on are final.
func (x *Experiment) Verdict() Verdict { return x.verdict }

// E returns the evidence that the candidate is better, up to the verdict.
func (x *Experiment) E() float64 { return x.better.e() }

// EHarm returns the evidence that it is worse.
func (x *Experiment) EHarm() float64 { return x.worse.e() }

// EBroken returns the evidence that tasks are not assigned by a fair coin.
func (x *Experiment) EBroken() float64 { return (x.more.e() + x.fewer.e()) / 2 }

// Arms returns the outcomes of the tasks of the present policy and of the candidate.
func (x *Experiment) Arms() (now, proposed Arm) { return x.arms[present], x.arms[candidate] }

// Why returns the verdict's reason, for display.
func (x *Experiment) Why() string {
	now, proposed := x.Arms()
	return fmt.Sprintf("%d of %d with the candidate, %d of %d without: E = %.3g of %d to promote, "+
		"%.3g of %d for harm, %.3g of %d for a broken lot", proposed.Resolved, proposed.Tried, now.Resolved, now.Tried,
		x.E(), promoteAt, x.EHarm(), stopHarmAt, x.EBroken(), stopBrokenAt)
}
