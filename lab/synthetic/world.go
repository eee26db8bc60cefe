package synthetic

import (
	"fmt"
	"slices"
)

// Confidence is the relation of the model's opinion to the truth.
type Confidence string

// The kinds of confidence.
const (
	Biased      Confidence = "biased"      // the truth, damped, firm preferences per pattern, and noise
	Informative Confidence = "informative" // the truth, damped, and noise
	Noise       Confidence = "noise"       // noise alone
	Prejudiced  Confidence = "prejudiced"  // firm preferences per pattern, unrelated to the truth
)

// Parameters describe a kind of world. Standard deviations are in log odds.
type Parameters struct {
	Patterns     int        `json:"patterns"`      // 2–MaxPatterns
	Repos        int        `json:"repos"`         // at least 1; the i-th has 1/i of the first's tasks
	ReposPerOrg  int        `json:"repos_per_org"` // at least 1
	SdGlobal     float64    `json:"sd_global"`     // between techniques and patterns
	SdOrg        float64    `json:"sd_org"`        // between organisations
	SdRepo       float64    `json:"sd_repo"`       // between repositories of one organisation
	SdTask       float64    `json:"sd_task"`       // difficulty, between tasks
	Unresolvable float64    `json:"unresolvable"`  // share of tasks that no technique resolves
	Misdiagnosis float64    `json:"misdiagnosis"`  // share of diagnoses that are wrong, half of them the neighbour
	Noise        float64    `json:"noise"`         // in the model's confidence
	Signal       float64    `json:"signal"`        // weight of the truth in the model's confidence, 0–1
	RuleGood     float64    `json:"rule_good"`     // advantage of natural techniques; 0: rules are worthless
	RulesWrong   bool       `json:"rules_wrong"`   // techniques other than the natural ones are better
	Confidence   Confidence `json:"confidence"`
}

// DefaultParameters returns the parameters of the world of the main figures, for so many repositories. The
// model is partly right, but firmly biased. The variance of tasks is that of recorded coders on
// SWE-bench Verified and Pro: a standard deviation of 2.5, and one task in ten that nobody resolves.
func DefaultParameters(repos int) Parameters {
	p := EasyParameters(repos)
	p.SdTask, p.Unresolvable, p.Confidence = 2.5, 0.10, Biased
	return p
}

// EasyParameters returns the parameters of a world in which the model is right without bias and tasks are about equally
// hard. The first figures were of it; it has no more evidence than the others.
func EasyParameters(repos int) Parameters {
	return Parameters{
		Patterns: 8, Repos: repos, ReposPerOrg: 5, SdGlobal: 0.6, SdOrg: 0.35, SdRepo: 0.45, SdTask: 0.8,
		Unresolvable: 0.08, Misdiagnosis: 0.20, Noise: 1.2, Signal: 0.6, RuleGood: 1.2, Confidence: Informative,
	}
}

// check returns an error that names a parameter out of range.
func (p Parameters) check() error {
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case p.Patterns < 2 || p.Patterns > MaxPatterns:
		return fmt.Errorf("a world has 2 to %d patterns, not %d", MaxPatterns, p.Patterns)
	case p.Repos < 1 || p.ReposPerOrg < 1:
		return fmt.Errorf("a world has at least one repository, also in an organisation, not %d and %d", p.Repos,
			p.ReposPerOrg)
	case !share(p.Unresolvable) || !share(p.Misdiagnosis) || !share(p.Signal):
		return fmt.Errorf("shares are in 0–1, not %v unresolvable, %v misdiagnosed and a signal of %v", p.Unresolvable,
			p.Misdiagnosis, p.Signal)
	case !(p.SdGlobal >= 0 && p.SdOrg >= 0 && p.SdRepo >= 0 && p.SdTask >= 0 && p.Noise >= 0):
		return fmt.Errorf("standard deviations are at least 0 in %+v", p)
	case !slices.Contains([]Confidence{Biased, Informative, Noise, Prejudiced}, p.Confidence):
		return fmt.Errorf("confidence is %s, %s, %s or %s, not %q", Biased, Informative, Noise, Prejudiced, p.Confidence)
	}
	return nil
}

// logOdds of success, by pattern and technique.
type logOdds [MaxPatterns][Techniques]float64

// World is one drawn world.
type World struct {
	Parameters
	truth     []logOdds              // by repository, of a task of average difficulty
	prejudice logOdds                // of the model, by diagnosed pattern
	patterns  [][MaxPatterns]float64 // by repository: relative frequency of each true pattern
	traffic   []float64              // by repository: relative number of tasks
	mistaken  [MaxPatterns][MaxPatterns]float64
}

// NewWorld draws a world. The same parameters and seed give the same world.
func NewWorld(p Parameters, seed uint64) (*World, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("synthetic world: %w", err)
	}
	w := &World{Parameters: p}
	r := newRandom(seed, 1)
	base := w.drawBase(r)
	orgs := make([]logOdds, (p.Repos+p.ReposPerOrg-1)/p.ReposPerOrg)
	for o := range orgs {
		w.each(func(i, k int) { orgs[o][i][k] = p.SdOrg * r.NormFloat64() })
	}
	for repo := range p.Repos {
		var t logOdds
		w.each(func(i, k int) { t[i][k] = base[i][k] + orgs[w.org(repo)][i][k] + p.SdRepo*r.NormFloat64() })
		var freq [MaxPatterns]float64
		for i := range p.Patterns {
			freq[i] = r.gamma(16 * natures[i].weight)
		}
		w.truth, w.patterns, w.traffic = append(w.truth, t), append(w.patterns, freq), append(w.traffic, 1/float64(1+repo))
	}
	w.confuse()
	pr := newRandom(seed, 5)
	w.each(func(i, k int) { w.prejudice[i][k] = 1.2 * pr.NormFloat64() })
	return w, nil
}

// drawBase draws what all repositories share.
func (w *World) drawBase(r random) (base logOdds) {
	const hard = -1.9 // an arbitrary technique resolves about one task in seven
	for i := range w.Patterns {
		for k := range Techniques {
			base[i][k] = hard + w.SdGlobal*r.NormFloat64()
		}
		for _, k := range natures[i].natural {
			if w.RulesWrong {
				k = (k + Techniques/2) % Techniques // far from the natural ones and from the rules
			}
			base[i][k] += w.RuleGood * (0.3 + r.Float64())
		}
	}
	return base
}

// confuse sets how often a pattern is diagnosed as another.
func (w *World) confuse() {
	for i := range w.Patterns {
		for j := range w.Patterns {
			w.mistaken[i][j] = w.Misdiagnosis / 2 / float64(w.Patterns-1)
		}
		w.mistaken[i][i] = 1 - w.Misdiagnosis
		n := natures[i].neighbour
		if n >= w.Patterns {
			n = (i + 1) % w.Patterns
		}
		w.mistaken[i][n] += w.Misdiagnosis / 2
	}
}

func (w *World) org(repo int) int { return repo / w.ReposPerOrg }

func (w *World) each(f func(pattern, technique int)) {
	for i := range w.Patterns {
		for k := range Techniques {
			f(i, k)
		}
	}
}

// Task is one task, with the outcome of every technique.
type Task struct {
	repo             int
	truth, diagnosed int
	opinion          [Techniques]float64 // the model's, in log odds: overconfident and noisy
	resolves         [Techniques]bool
	difficulty       float64 // in log odds, the same for every technique
	hopeless         bool    // no technique resolves it
}

// chance returns the chance that a technique resolves a task.
func (w *World) chance(t *Task, technique int) float64 {
	if t.hopeless {
		return 0
	}
	return sigmoid(w.truth[t.repo][t.truth][technique] - t.difficulty)
}

// draw draws a task of any repository.
func (w *World) draw(r random) Task { return w.drawIn(r, r.pick(w.traffic)) }

// drawIn draws a task of a repository.
func (w *World) drawIn(r random, repo int) Task {
	t := Task{repo: repo}
	t.truth = r.pick(w.patterns[t.repo][:w.Patterns])
	t.diagnosed = r.pick(w.mistaken[t.truth][:w.Patterns])
	t.difficulty = w.SdTask * r.NormFloat64()
	t.hopeless = r.Float64() < w.Unresolvable
	for k := range Techniques {
		l := w.truth[t.repo][t.truth][k] - t.difficulty
		u := r.Float64()
		t.resolves[k] = !t.hopeless && u < sigmoid(l)
		noise := w.Noise * r.NormFloat64()
		switch w.Confidence {
		case Noise:
			t.opinion[k] = noise
		case Prejudiced:
			t.opinion[k] = w.prejudice[t.diagnosed][k] + noise
		case Biased:
			t.opinion[k] = 1.5 + w.Signal*l + w.prejudice[t.diagnosed][k] + noise
		default:
			t.opinion[k] = 1.5 + w.Signal*l + noise
		}
	}
	return t
}
