package synthetic

// difficulties approximates the normal distribution of a task's difficulty, in
// standard deviations, with the probability of each.
var difficulties = [...]struct{ sd, p float64 }{{-2, .1}, {-1, .23}, {0, .34}, {1, .23}, {2, .1}}

// oracle knows the world's true probabilities and how often patterns are
// misdiagnosed, and infers the true pattern from the diagnosis and the failures in this
// task by Bayes' rule; it ignores the model. Its difference
// to a learner is the cost of not knowing the probabilities.
type oracle struct {
	w       *World
	success [][MaxPatterns][len(difficulties)][Techniques]float64 // by repository
	prior   [MaxPatterns][len(difficulties)]float64               // of the present task, before failures
}

func newOracle(w *World) *oracle {
	o := &oracle{w: w, success: make([][MaxPatterns][len(difficulties)][Techniques]float64, w.Repos)}
	for repo := range o.success {
		w.each(func(i, k int) {
			for j, d := range difficulties {
				o.success[repo][i][j][k] = sigmoid(w.truth[repo][i][k] - w.SdTask*d.sd)
			}
		})
	}
	return o
}

func (o *oracle) choose(t *Task, tried []int, used uint) int {
	if len(tried) == 0 {
		o.diagnose(t)
	}
	var expected [Techniques]float64
	for i := range o.w.Patterns {
		for j := range difficulties {
			success := &o.success[t.repo][i][j]
			p := o.prior[i][j]
			for _, k := range tried {
				p *= 1 - success[k]
			}
			for k := range expected {
				expected[k] += p * success[k]
			}
		}
	}
	return scored(func(_ *Task, k int) float64 { return expected[k] }).choose(t, tried, used)
}

// diagnose sets the probability of each true pattern and difficulty.
func (o *oracle) diagnose(t *Task) {
	for i := range o.w.Patterns {
		for j, d := range difficulties {
			o.prior[i][j] = o.w.patterns[t.repo][i] * o.w.mistaken[i][t.diagnosed] * d.p
		}
	}
}
