//test:plain
package synthetic_test

import (
	"testing"

	"github.com/sia-bot/sia/lab/synthetic"
	"github.com/sia-bot/sia/policies/bandit"
)

// practised returns a learner that has seen outcomes in 50 repositories and all
// patterns, and requests for it.
func practised(b *testing.B, outcomes int) (*bandit.Learner, []bandit.Request) {
	p := synthetic.DefaultParameters(50)
	p.Patterns = synthetic.MaxPatterns
	l, rs, err := synthetic.Practice(p, 1, outcomes, 1000)
	if err != nil {
		b.Fatal(err)
	}
	return l, rs
}

func BenchmarkDecide100k(b *testing.B) {
	l, rs := practised(b, 100_000)
	i := 0
	for b.Loop() {
		l.Decide(rs[i%len(rs)])
		i++
	}
}

// The cost of one outcome, which is a copy of what it changes.
func BenchmarkObserve(b *testing.B) {
	l, rs := practised(b, 10_000)
	i := 0
	for b.Loop() {
		r := rs[i%len(rs)]
		l.Observe(bandit.Outcome{Org: r.Org, Repo: r.Repo, Pattern: r.Pattern, Technique: r.Candidates[0].Technique})
		i++
	}
}
