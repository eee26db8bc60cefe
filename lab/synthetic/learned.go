package synthetic

import (
	"slices"
	"strconv"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
)

// variant is the product's learner with a part removed or changed, to
// measure the value of each part. The zero variant is the released learner,
// with the fixed rules and no other knowledge of the world.
type variant struct {
	expert     bool // it starts from the shipped table
	silent     bool // the model has no ratings
	unasked    bool // without the model's present confidence, with its average
	unheard    bool // without its average, with the present one
	unobserved bool // outcomes are not reported
	pooled     bool // all repositories count as one
	alone      bool // each repository has its own learner
	still      bool // no random choices
	picks      bool // the model rates only its pick
}

// learned is the product's learner, called as in the product.
type learned struct {
	variant
	w          *World
	seed       uint64
	learners   []*bandit.Learner // one, or one for each repository
	candidates []bandit.Candidate
	tasks      int              // begun
	diagnosis  bandit.Diagnosis // of the present task
	used       []string
	imported   imported // nil: none
}

// imported returns other installations' outcomes of a technique on a pattern.
type imported func(language, pattern, technique string) bandit.Tally

func (v variant) player(w *World, seed uint64) (player, error) {
	policy := policies.ShippedTechnique()
	if !v.expert {
		policy = onlyRules(policy)
	}
	if v.still {
		policy.Parameters.Explore = 0
	}
	if v.unheard {
		policy.Parameters.WeightOpinions = 1e6
	}
	p := &learned{variant: v, w: w, seed: seed}
	for range w.Repos {
		l := bandit.NewLearner(policy)
		p.learners = append(p.learners, l)
		if !v.alone {
			break
		}
	}
	for _, k := range defaultOrder { // on a tie, the fixed rules' order decides
		p.candidates = append(p.candidates, bandit.Candidate{Technique: techniques[k]})
	}
	return p, nil
}

// onlyRules is a policy with a table of only the fixed rules' first choices. It ranks the
// others equally, because a technique that the table doesn't rank would be on trial.
func onlyRules(p bandit.Policy) bandit.Policy {
	p.Rules.Shares = bandit.Shares{First: ruleShare, Second: otherShare, Later: otherShare, Other: otherShare}
	p.Rules.Ranks = make(map[string]map[string]int, MaxPatterns)
	for _, n := range &natures {
		ranks := make(map[string]int, Techniques)
		for _, technique := range techniques {
			ranks[technique] = 2
		}
		for _, k := range n.rule {
			ranks[techniques[k]] = 1
		}
		p.Rules.Ranks[n.name] = ranks
	}
	return p
}

func (p *learned) choose(t *Task, tried []int, _ uint) int {
	l := p.learner(t)
	if len(tried) == 0 {
		p.diagnosis, p.used = p.diagnose(t), p.used[:0]
		p.tasks++
	}
	r := bandit.Request{
		Diagnosis: p.diagnosis, Task: strconv.Itoa(p.tasks), Attempt: len(tried), Left: approaches - len(tried), Seed: p.seed,
		Candidates: p.candidates, Used: p.used, Terse: true,
	}
	if p.imported != nil {
		r.Candidates = p.told(t)
	}
	if p.unasked {
		r.Confidence = nil
	}
	d := l.Decide(r)
	k := techniqueNumbers[d.Choice]
	p.used = append(p.used, d.Choice)
	o := bandit.Outcome{Org: p.diagnosis.Org, Repo: p.diagnosis.Repo, Pattern: p.diagnosis.Pattern}
	if len(tried) == 0 {
		o.Confidence = p.diagnosis.Confidence
	}
	if !p.unobserved {
		o.Technique, o.Attempt, o.Resolved = d.Choice, len(tried), t.resolves[k]
		for _, option := range d.Options {
			if option.Technique == d.Choice {
				o.Z, o.Imported = option.Z, option.Imported
			}
		}
	}
	l.Observe(o)
	return k
}

// told returns the candidates with other installations' outcomes.
func (p *learned) told(t *Task) []bandit.Candidate {
	cs := slices.Clone(p.candidates)
	for i := range cs {
		cs[i].Imported = p.imported(languageOf(t.repo), p.diagnosis.Pattern, cs[i].Technique)
	}
	return cs
}

func (p *learned) learner(t *Task) *bandit.Learner {
	if p.alone {
		return p.learners[t.repo]
	}
	return p.learners[0]
}

// diagnose is the task as the product sees it.
func (p *learned) diagnose(t *Task) bandit.Diagnosis {
	d := bandit.Diagnosis{Org: strconv.Itoa(p.w.org(t.repo)), Repo: strconv.Itoa(t.repo),
		Pattern: natures[t.diagnosed].name}
	if p.pooled {
		d.Org, d.Repo = "", ""
	}
	if p.silent {
		return d
	}
	d.Confidence = make(map[string]float64, Techniques)
	pick := slices.Index(t.opinion[:], slices.Max(t.opinion[:]))
	for k, x := range t.opinion {
		if !p.picks || k == pick {
			d.Confidence[techniques[k]] = sigmoid(x)
		}
	}
	return d
}

// newExpert plays the table that ships, as a fixed order.
func newExpert(*World, uint64) (player, error) {
	policy := policies.ShippedTechnique()
	var share [MaxPatterns][Techniques]float64
	for i, n := range &natures {
		for place, k := range defaultOrder {
			share[i][k] = policy.Share(n.name, techniques[k]) - 0.001*float64(place)
		}
	}
	return scored(func(t *Task, k int) float64 { return share[t.diagnosed][k] }), nil
}
