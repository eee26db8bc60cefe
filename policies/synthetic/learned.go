package synthetic

import (
	"strconv"

	"github.com/sia-bot/sia/policies"
)

// learned is the product's learner, asked as the product asks it.
type learned struct {
	w          *World
	seed       uint64
	learner    *policies.Learner
	candidates []policies.Candidate
	tasks      int
	diagnosis  policies.Diagnosis // of the present task
	used       []string
	outcomes   []policies.Outcome
}

func newLearned(w *World, seed uint64) (player, error) {
	policy, err := policies.DefaultPolicy()
	if err != nil {
		return nil, err
	}
	l, err := policies.NewLearner(policy)
	if err != nil {
		return nil, err
	}
	p := &learned{w: w, seed: seed, learner: l}
	for _, t := range techniques {
		p.candidates = append(p.candidates, policies.Candidate{Technique: t})
	}
	return p, nil
}

func (p *learned) choose(t *Task, tried []int, _ uint) int {
	if len(tried) == 0 {
		p.diagnosis = p.w.diagnosis(t)
		p.used, p.outcomes = p.used[:0], p.outcomes[:0]
	}
	d := p.learner.Decide(policies.Request{
		Diagnosis: p.diagnosis, Task: strconv.Itoa(p.tasks), Attempt: len(tried), Left: approaches - len(tried), Seed: p.seed,
		Candidates: p.candidates, Used: p.used, Terse: true,
	})
	o := policies.Outcome{Org: p.diagnosis.Org, Repo: p.diagnosis.Repo, Pattern: p.diagnosis.Pattern, Technique: d.Choice, Attempt: len(tried)}
	for _, option := range d.Options {
		if option.Technique == d.Choice {
			o.Z = option.Z
		}
	}
	p.used, p.outcomes = append(p.used, d.Choice), append(p.outcomes, o)
	for k, name := range techniques {
		if name == d.Choice {
			return k
		}
	}
	return -1
}

// saw reports the task when it is over: techniques differ within a task, so that
// reporting earlier would hardly change a choice.
func (p *learned) saw(_ *Task, _ []int, resolved bool) {
	p.outcomes[len(p.outcomes)-1].Resolved = resolved
	p.learner.Hear(p.diagnosis)
	p.learner.Observe(p.outcomes...)
	p.tasks++
}

// diagnosis is the task as the product sees it.
func (w *World) diagnosis(t *Task) policies.Diagnosis {
	d := policies.Diagnosis{
		Org: strconv.Itoa(w.org(t.repo)), Repo: strconv.Itoa(t.repo), Pattern: natures[t.diagnosed].name,
		Confidence: make(map[string]float64, Techniques),
	}
	for k, x := range t.opinion {
		d.Confidence[techniques[k]] = sigmoid(x)
	}
	return d
}

// newExpert plays the table that ships, as a fixed order.
func newExpert(*World, uint64) (player, error) {
	policy, err := policies.DefaultPolicy()
	if err != nil {
		return nil, err
	}
	var share [MaxPatterns][Techniques]float64
	for i, n := range natures {
		for place, k := range defaultOrder {
			share[i][k] = policy.Share(n.name, techniques[k]) - 0.001*float64(place)
		}
	}
	return scored(func(t *Task, k int) float64 { return share[t.diagnosed][k] }), nil
}
