package evolve_test

import (
	"fmt"

	"github.com/sia-bot/sia/policies/evolve"
)

// A change passes through all three. Here the candidate resolves every task and the present policy none, and after the
// promotion no task is resolved any more.
func Example() {
	g, err := evolve.NewGate(1) // the first proposal for this policy
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 8 {
		g.Add(true, false)
	}
	fmt.Println(g.Verdict())
	fmt.Println(g.Why())

	x := evolve.NewExperiment()
	for n := 0; x.Verdict() == evolve.GoOn; n++ {
		candidate := evolve.Assign("recover-faster/2", fmt.Sprint("acme/app#", n))
		x.Add(candidate, candidate)
	}
	now, proposed := x.Arms()
	fmt.Println(x.Verdict(), proposed, now)

	r, err := evolve.NewGuardrail(60, 100) // the resolve rate, before the promotion
	if err != nil {
		fmt.Println(err)
		return
	}
	for r.Verdict() == evolve.GoOn {
		r.Add(false)
	}
	fmt.Println(r.Verdict())
	// Output:
	// pass
	// 8 tasks only with the proposal, 0 only without it: E = 56.8, proposal 1 passes at 32.9
	// promote {6 6} {0 11}
	// roll-back
}
