package attempts

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Figure is one share, or a difference of shares, with its interval.
type Figure struct {
	What  string  `json:"what"`
	Value float64 `json:"value"` // 0–1; a difference may be below 0
	Low   float64 `json:"low"`   // 95 % bootstrap interval, over tasks
	High  float64 `json:"high"`
	Cases int     `json:"cases"` // number of cases
	Tasks int     `json:"tasks"` // number of their tasks
}

// resamples is the number of resamples of an interval.
const resamples = 1000

// leastCases is the minimum number of cases of a figure; others are left out.
const leastCases = 30

// sum is the result of the cases of one cluster.
type sum struct{ total, n float64 }

// counts sums values by cluster.
type counts map[string]sum

func (c counts) add(cluster string, x float64) {
	c[cluster] = sum{c[cluster].total + x, c[cluster].n + 1}
}

// figure returns the mean of all values. ok is false if there are too few.
func (c counts) figure(what string) (f Figure, ok bool) {
	keys := make([]string, 0, len(c))
	for key := range c {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	mean := func(pick func(i int) string) float64 {
		var all sum
		for i := range keys {
			s := c[pick(i)]
			all.total, all.n = all.total+s.total, all.n+s.n
		}
		f.Cases = int(all.n)
		return all.total / all.n
	}
	dice := rand.New(rand.NewPCG(9090909, 3)) //nolint:gosec // the same in every run
	f = Figure{What: what, Tasks: len(keys)}
	if f.Tasks == 0 {
		return f, false
	}
	means := make([]float64, resamples)
	for i := range means {
		means[i] = mean(func(int) string { return keys[dice.IntN(len(keys))] })
	}
	slices.Sort(means)
	f.Low, f.High = means[resamples/40], means[resamples-1-resamples/40]
	f.Value = mean(func(i int) string { return keys[i] })
	return f, f.Cases >= leastCases
}

// Figures returns a source's figures of further attempts: how often the k-th of a kind resolves what all before did
// not, how often each continuation does after one failure, and its gain over a repetition in the same cases, all
// together and by the class of the failure. Figures of less than 30 cases are left out.
func Figures(s Source) (out []Figure) {
	add := func(what string, c counts) {
		if f, ok := c.figure(what); ok {
			out = append(out, f)
		}
	}
	for k := range approaches {
		c := counts{}
		for _, one := range s.Cases {
			tries := append([]Try{one.First}, one.Ways[Again]...)
			if k < len(tries) && !slices.ContainsFunc(tries[:k], func(t Try) bool { return t.Resolved }) {
				c.add(one.Task, resolved(tries[k]))
			}
		}
		add(fmt.Sprintf("attempt %d of the same, all before failed", k+1), c)
	}
	for _, class := range classes(s) {
		c := counts{}
		for _, one := range s.Cases {
			if !one.First.Resolved {
				c.add(one.Task, map[bool]float64{true: 1}[one.First.Class == class])
			}
		}
		add("first failures that are "+class, c)
	}
	for _, class := range append([]string{""}, classes(s)...) {
		after := "after a failure"
		if class != "" {
			after = "after " + class
		}
		for _, way := range []string{Again, Changed, Tools, Other} {
			chance, gain := counts{}, counts{}
			for _, one := range s.Cases {
				if one.First.Resolved || class != "" && one.First.Class != class || len(one.Ways[way]) == 0 {
					continue
				}
				mean := average(one.Ways[way], way == Again && s.Told || way == Changed)
				chance.add(one.Task, mean)
				if again := one.Ways[Again]; way != Again && len(again) > 0 {
					gain.add(one.Task, mean-average(again, s.Told))
				}
			}
			add(after+": "+way, chance)
			add(after+": "+way+", over again", gain)
		}
	}
	return out
}

// average returns the chance that a try of a continuation resolves: the first one, if later ones knew its failure, or
// else any of them.
func average(tries []Try, inTurn bool) (share float64) {
	if inTurn {
		return resolved(tries[0])
	}
	for _, t := range tries {
		share += resolved(t) / float64(len(tries))
	}
	return share
}

func resolved(t Try) float64 {
	if t.Resolved {
		return 1
	}
	return 0
}

// classes returns the classes of the first failures.
func classes(s Source) (out []string) {
	for _, c := range s.Cases {
		if c.First.Class != "" && !slices.Contains(out, c.First.Class) {
			out = append(out, c.First.Class)
		}
	}
	slices.Sort(out)
	return out
}
