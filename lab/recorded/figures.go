package recorded

import (
	"math/rand/v2"
	"slices"
)

// Row is one player's figures: means over tasks.
type Row struct {
	Player   string  `json:"player"`
	Net      float64 `json:"net"` // USD: the value of a resolved task minus the cost of all attempts
	Low      float64 `json:"low"` // 95 % bootstrap interval of Net, over tasks
	High     float64 `json:"high"`
	Resolved float64 `json:"resolved"` // 0–1
	Cost     float64 `json:"cost"`     // USD
	Attempts float64 `json:"attempts"`
}

// sums are the summed results of plays of one task.
type sums struct{ n, net, cost, resolved, attempts float64 }

func (s *sums) add(o sums) {
	s.n += o.n
	s.net += o.net
	s.cost += o.cost
	s.resolved += o.resolved
	s.attempts += o.attempts
}

func (s score) sums() sums {
	out := sums{n: 1, net: s.net, cost: s.cost, attempts: float64(s.attempts)}
	if s.resolved {
		out.resolved = 1
	}
	return out
}

// resamples is the number of resamples of a bootstrap interval.
const resamples = 1000

// row returns the figures of plays, by task; tasks that were not played have none.
func row(name string, tasks []sums, seed uint64) Row {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(s sums) bool { return s.n == 0 })
	var all sums
	for _, t := range tasks {
		all.add(t)
	}
	n := max(1, all.n)
	r := Row{Player: name, Net: all.net / n, Resolved: all.resolved / n, Cost: all.cost / n, Attempts: all.attempts / n}
	if len(tasks) == 0 {
		return r
	}
	dice := rand.New(rand.NewPCG(seed, 3))
	means := make([]float64, resamples)
	for i := range means {
		var s sums
		for range tasks {
			s.add(tasks[dice.IntN(len(tasks))])
		}
		means[i] = s.net / s.n
	}
	slices.Sort(means)
	r.Low, r.High = means[resamples/40], means[resamples-1-resamples/40]
	return r
}
