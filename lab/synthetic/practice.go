package synthetic

import (
	"fmt"

	"github.com/sia-bot/sia/policies/bandit"
)

// Practice returns the released learner after a number of outcomes in a
// world, and requests of that world, complete as in
// the product, to measure the time of a decision. The same
// arguments give the same learner and requests.
func Practice(p Parameters, seed uint64, outcomes, requests int) (*bandit.Learner, []bandit.Request, error) {
	w, err := NewWorld(p, seed)
	if err != nil {
		return nil, nil, err
	}
	one, err := variant{expert: true}.player(w, seed)
	if err != nil {
		return nil, nil, fmt.Errorf("practise: %w", err)
	}
	learned := one.(*learned)
	r := newRandom(seed, 2)
	for seen := 0; seen < outcomes; {
		t := w.draw(r)
		n, _ := playOne(learned, &t, nil)
		seen += len(n)
	}
	rs := make([]bandit.Request, requests)
	for i := range rs {
		t := w.draw(r)
		rs[i] = bandit.Request{
			Diagnosis: learned.diagnose(&t), Task: fmt.Sprint(i), Left: approaches, Seed: seed, Candidates: learned.candidates,
		}
	}
	return learned.learners[0], rs, nil
}
