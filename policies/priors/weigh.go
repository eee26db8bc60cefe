package priors

// Weights of imported outcomes, in own outcomes.
const (
	mostTechnique = 240.0 // maximum for a technique: ten times the weight of the shipped table
	mostCoder     = 60.0  // maximum for a coder
	elsewhere     = 25.0  // maximum for other languages, where there is data for the language itself
)

// The bounds of a share of resolutions, so that its variance is never zero.
const (
	minShare = 0.02
	maxShare = 0.98
)

// Weight is the weight of others' outcomes, in own outcomes. The zero Weight is none.
type Weight struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}

// Technique returns the weight for a technique on a pattern; language is as in package policies.
func (p *Priors) Technique(language, pattern, technique string) Weight {
	return p.weigh(Cell{Language: listed(Languages(), language), Pattern: pattern, Technique: technique}, mostTechnique)
}

// Coder returns the weight for a model, by its published name, at a kind of task. It is zero for Other.
func (p *Priors) Coder(language, kind, coder string) Weight {
	if coder == Other {
		return Weight{}
	}
	return p.weigh(Cell{Language: listed(Languages(), language), Kind: listed(Kinds(), kind), Coder: coder}, mostCoder)
}

// weigh returns the share of resolutions in a language, shrunk towards that in the others. The others are the sum of
// all languages minus this one, with the noise of all but one.
func (p *Priors) weigh(c Cell, most float64) Weight {
	own, all := p.cells[c], p.cells[c.in(Any)]
	others := share{resolved: max(0, all.resolved-own.resolved), failed: max(0, all.failed-own.failed)}
	noise := NoiseVariance * float64(p.Reports)
	here, there := own.outcomes(noise), others.outcomes(noise*float64(len(Languages())-1))
	tried := min(most, here+there)
	if here > 0 {
		there = min(there, elsewhere)
	}
	if here+there == 0 {
		return Weight{}
	}
	mean := (here*own.mean() + there*others.mean()) / (here + there)
	return Weight{Resolved: tried * mean, Tried: tried}
}

// mean returns the share of resolutions, within its bounds.
func (s share) mean() float64 {
	return min(maxShare, max(minShare, s.resolved/max(s.resolved+s.failed, 1e-9)))
}

// outcomes returns the number of outcomes without noise that would be as informative about the share of resolutions as
// these counts, each with noise of that variance. By the delta method the share p = r/n has the variance p(1−p)/n +
// noise·((1−p)² + p²)/n², and this many outcomes without noise have p(1−p)/outcomes.
func (s share) outcomes(noise float64) float64 {
	n := s.resolved + s.failed
	if !(n > 0) {
		return 0
	}
	p := s.mean()
	return n / (1 + noise*((1-p)*(1-p)+p*p)/(n*p*(1-p)))
}
