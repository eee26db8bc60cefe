package priors

// How much what was imported weighs, in outcomes of one's own.
const (
	mostTechnique = 240.0 // of a technique at most, however much is known: ten times what the table that ships weighs
	mostCoder     = 60.0  // of a coder
	elsewhere     = 25.0  // of that what was seen in other languages, where the language is known itself
)

// The bounds of a share of resolutions, so that the variance of one is never nothing.
const (
	minShare = 0.02
	maxShare = 0.98
)

// Weight is what was seen elsewhere, as so many outcomes of one's own. The zero Weight is nothing.
type Weight struct {
	Resolved float64 `json:"resolved"`
	Tried    float64 `json:"tried"`
}

// Technique is what others saw of a technique on a pattern; language is as package policies names it.
func (p *Priors) Technique(language, pattern, technique string) Weight {
	return p.weigh(Cell{Language: listed(Languages(), language), Pattern: pattern, Technique: technique}, mostTechnique)
}

// Coder is what others saw of a model, by its published name, at a kind of task. Of models without a
// name there is nothing to say.
func (p *Priors) Coder(language, kind, coder string) Weight {
	if coder == Other {
		return Weight{}
	}
	return p.weigh(Cell{Language: listed(Languages(), language), Kind: listed(Kinds(), kind), Coder: coder}, mostCoder)
}

// weigh is the share of resolutions in a language, drawn to that in the others. What others have is the
// sum of all languages without this one, and so has the noise of all but one.
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

// mean is the share of resolutions, within its bounds.
func (s share) mean() float64 {
	return min(maxShare, max(minShare, s.resolved/max(s.resolved+s.failed, 1e-9)))
}

// outcomes is how many outcomes without noise say as much about the share of resolutions as these
// counts do, and their noise has a variance each. By the delta method the share p = r/n has the variance
// p(1−p)/n + noise·((1−p)² + p²)/n², and so many outcomes without noise have p(1−p)/outcomes.
func (s share) outcomes(noise float64) float64 {
	n := s.resolved + s.failed
	if !(n > 0) {
		return 0
	}
	p := s.mean()
	return n / (1 + noise*((1-p)*(1-p)+p*p)/(n*p*(1-p)))
}
