package bandit

import (
	"sync"
	"sync/atomic"
)

// Learner decides which technique to try next, and learns from outcomes. It is safe for concurrent use: decisions read
// an immutable snapshot and never block, and batches of outcomes are processed in sequence. Its state is a function of
// the policy and the sequence of calls, so replaying a log restores it.
type Learner struct {
	policy Policy
	now    atomic.Pointer[snapshot]
	write  sync.Mutex
}

// NewLearner returns a learner without outcomes.
func NewLearner(p Policy) *Learner {
	l := &Learner{policy: p}
	l.now.Store(&snapshot{scopes: map[place]scope{}, weights: newWeights(p.Parameters)})
	return l
}

// addConfidence adds the model's confidences from the outcome's diagnosis.
func (e edit) addConfidence(o Outcome) {
	heard := make([]entry, 0, len(o.Confidence))
	for t, z := range standardise(o.Confidence) {
		heard = append(heard, entry{t, cell{heard: 1, z: z}})
	}
	e.add(o.Org, o.Repo, o.Pattern, heard...)
}

// Observe learns from outcomes in order. From an outcome without a technique, only the confidence is learned. One call
// with many outcomes has the same effect as many calls, but is faster, which matters for replay.
func (l *Learner) Observe(os ...Outcome) {
	l.write.Lock()
	defer l.write.Unlock()
	e := l.now.Load().edit()
	for _, o := range os {
		e.addConfidence(o)
		if o.Technique == "" {
			continue
		}
		before := e.view(o.Org, o.Repo, o.Pattern).of(o.Technique)
		before.imported = o.Imported.sound()
		e.weights = e.weights.learn(l.policy.Parameters, l.policy.Share(o.Pattern, o.Technique), before, o)
		c := cell{Tally: Tally{Tried: 1}}
		if o.Resolved {
			c.Resolved = 1
		}
		e.add(o.Org, o.Repo, o.Pattern, entry{o.Technique, c})
		e.judge(l.policy, arm{o.Org, o.Repo, o.Technique})
		e.learned++
	}
	l.now.Store(e.snapshot)
}

// Discount multiplies all counts by a factor in 0–1, such as .25 when the model or SIA's own prompts have changed. Old
// evidence then still counts, but is soon outweighed.
func (l *Learner) Discount(factor float64) {
	l.write.Lock()
	defer l.write.Unlock()
	old := l.now.Load()
	s := &snapshot{scopes: make(map[place]scope, len(old.scopes)), weights: old.weights, learned: old.learned,
		verdicts: old.verdicts}
	for p, sc := range old.scopes {
		s.scopes[p] = sc.times(factor)
	}
	l.now.Store(s)
}
