package synthetic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sia-bot/sia/policies/bandit"
)

const (
	trialTasks = 1000 // of one repository
	planted    = "planted"
)

// plants are techniques with a known true value, each by its log odds for a task. For every pattern, a
// planted technique is as good as the world's best, third or fifth best, or resolves almost nothing.
var plants = []struct {
	key, world string
	odds       func(best []float64) float64 // best are those of the world's techniques, best first
}{
	{"good", "a new technique as good as the best one for each pattern", func(b []float64) float64 { return b[0] }},
	{"fair", "a new technique as good as the third best", func(b []float64) float64 { return b[2] }},
	{"even", "a new technique as good as the fifth best", func(b []float64) float64 { return b[4] }},
	{"bad", "a new technique that resolves 2 %", func([]float64) float64 { return -4 }},
}

// trialled is the result of the trial of one technique in one world.
type trialled struct {
	kept, retired int     // tasks until then; 0: it was not within the played tasks
	share         float64 // of a task's decisions after the first that chose it while on trial
	cost          float64 // in resolved tasks, compared with the same tasks without it
	costOfTrial   float64 // the same, up to the verdict
}

// trials measures the verdicts on techniques of known value, and the cost of trying them.
func (m measure) trials(ctx context.Context) (out []Figure, err error) {
	worlds := max(1, m.worlds/5)
	all, err := inWorlds(ctx, worlds, m.trialsIn)
	if err != nil {
		return nil, err
	}
	for k, p := range plants {
		of := column(all, func(w []trialled) trialled { return w[k] })
		key := "trial." + p.key
		out = append(out, m.found(key+".kept", p.world, "kept", "tasks", "",
			column(of, func(t trialled) int { return t.kept }), trialTasks)...)
		out = append(out, m.found(key+".retired", p.world, "retired", "tasks", "",
			column(of, func(t trialled) int { return t.retired }), trialTasks)...)
		out = append(out,
			m.figure(key+".tried", p.world, "share of decisions after a first that try it", "≤ 10 %").
				meanShare(column(of, func(t trialled) float64 { return t.share })),
			m.figure(key+".cost", p.world, "fewer tasks are resolved while it is on trial", "≤ 1 point").
				meanPoints(column(of, func(t trialled) float64 { return t.costOfTrial })),
			m.figure(key+".cost-all", p.world, fmt.Sprintf("fewer tasks are resolved, of all %d", trialTasks), "").
				meanPoints(column(of, func(t trialled) float64 { return t.cost })))
	}
	return out, nil
}

// trialsIn plays the same tasks of the i-th world without a new technique, and with each of them.
func (m measure) trialsIn(i int) ([]trialled, error) {
	seed := seedOf(m.seed, i)
	w, err := NewWorld(EasyParameters(1), seed)
	if err != nil {
		return nil, err
	}
	r := newRandom(seed, 2)
	tasks := make([]Task, trialTasks)
	for t := range tasks {
		tasks[t] = w.draw(r)
	}
	without, _, err := m.playTrial(w, seed, tasks, nil)
	if err != nil {
		return nil, err
	}
	out := make([]trialled, len(plants))
	for k, p := range plants {
		luck := newRandom(seed, uint64(100+k))
		resolves := make([]bool, len(tasks))
		for t := range tasks {
			best := slices.Clone(w.truth[tasks[t].repo][tasks[t].truth][:])
			slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
			resolves[t] = luck.Float64() < sigmoid(p.odds(best)-tasks[t].difficulty) && !tasks[t].hopeless
		}
		with, came, err := m.playTrial(w, seed, tasks, resolves)
		if err != nil {
			return nil, err
		}
		verdict := came.kept + came.retired
		if verdict == 0 {
			verdict = len(tasks)
		}
		came.cost, came.costOfTrial = shareOf(without)-shareOf(with), shareOf(without[:verdict])-shareOf(with[:verdict])
		out[k] = came
	}
	return out, nil
}

// playTrial plays tasks with the released learner. resolves has for each task whether the planted
// technique resolves it; nil: there is none.
func (m measure) playTrial(
	w *World, seed uint64, tasks []Task, resolves []bool,
) (solved []bool, came trialled, err error) {
	made, err := variant{expert: true}.player(w, seed)
	if err != nil {
		return nil, came, err
	}
	p := made.(*learned)
	l, proved := p.learners[0], p.candidates
	later, tried, verdict := 0, 0, bandit.Undecided
	for i := range tasks {
		t := &tasks[i]
		d := p.diagnose(t)
		used, done := make([]string, 0, approaches), false
		for attempt := 0; attempt < approaches && !done; attempt++ {
			r := bandit.Request{Diagnosis: d, Task: strconv.Itoa(i), Attempt: attempt, Left: approaches - attempt, Seed: seed,
				Candidates: proved, Used: used, Terse: true}
			if resolves != nil && verdict != bandit.Retired {
				r.Candidates = append(slices.Clone(proved), bandit.Candidate{Technique: planted})
				if verdict == bandit.Undecided {
					r.Trials = []string{planted}
				}
			}
			chosen := l.Decide(r)
			if verdict == bandit.Undecided && attempt > 0 {
				later++
				if chosen.Choice == planted {
					tried++
				}
			}
			if chosen.Choice == planted {
				done = resolves[i]
			} else {
				done = t.resolves[techniqueNumbers[chosen.Choice]]
			}
			used = append(used, chosen.Choice)
			o := bandit.Outcome{Org: d.Org, Repo: d.Repo, Pattern: d.Pattern, Technique: chosen.Choice, Attempt: attempt,
				Resolved: done}
			if attempt == 0 {
				o.Confidence = d.Confidence
			}
			for _, option := range chosen.Options {
				if option.Technique == chosen.Choice {
					o.Z = option.Z
				}
			}
			l.Observe(o)
			if chosen.Choice == planted && verdict == bandit.Undecided {
				verdict = l.Trial(d.Org, d.Repo, planted).Verdict
				came.ended(verdict, i+1)
			}
		}
		solved = append(solved, done)
	}
	came.share = float64(tried) / math.Max(1, float64(later))
	return solved, came, nil
}

// ended records the number of tasks until a verdict.
func (t *trialled) ended(v bandit.Verdict, tasks int) {
	switch v {
	case bandit.Kept:
		t.kept = tasks
	case bandit.Retired:
		t.retired = tasks
	}
}

// shareOf returns the share of true values.
func shareOf(all []bool) float64 {
	n := 0
	for _, x := range all {
		if x {
			n++
		}
	}
	return float64(n) / float64(max(1, len(all)))
}
