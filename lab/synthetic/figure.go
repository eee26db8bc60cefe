package synthetic

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Unit is the unit of a figure.
type Unit string

// The units.
const (
	Share  Unit = "share"  // 0–1
	Points Unit = "points" // hundredths of a share
	Tasks  Unit = "tasks"
)

// Figure is one value measured in simulated worlds.
type Figure struct {
	Key   string  `json:"key"`   // for programs, such as "gate.null.first"
	World string  `json:"world"` // the simulated world, in words
	What  string  `json:"what"`  // the measure, in words
	Unit  Unit    `json:"unit"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"` // 95 % interval, over random worlds
	High  float64 `json:"high"`
	Times int     `json:"times"`         // number of measurements, usually worlds
	Bar   string  `json:"bar,omitempty"` // the target
	Seed  uint64  `json:"seed"`
}

// z95 is a quantile of the normal distribution: two-sided 95 %.
const z95 = 1.959964

// share sets the share of true values, with Wilson's interval (1927).
func (f Figure) share(happened []bool) Figure {
	return f.grouped(column(happened, func(h bool) []bool { return []bool{h} }))
}

// grouped sets the share of true values in groups that share their chance. The
// interval treats a group as one: it is too wide rather than too narrow.
func (f Figure) grouped(happened [][]bool) Figure {
	n, yes, all := 0.0, 0.0, 0.0
	for _, group := range happened {
		if len(group) > 0 {
			n++
		}
		for _, h := range group {
			all++
			if h {
				yes++
			}
		}
	}
	p := yes / all
	middle := (p + z95*z95/(2*n)) / (1 + z95*z95/n)
	half := z95 / (1 + z95*z95/n) * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	f.Unit, f.Value, f.Times = Share, p, int(n)
	f.Low, f.High = max(0, min(p, middle-half)), min(1, max(p, middle+half))
	return f
}

// meanShare sets the mean of shares.
func (f Figure) meanShare(xs []float64) Figure {
	mean, half := meanOf(xs)
	f.Unit, f.Value, f.Low, f.High, f.Times = Share, mean, max(0, mean-half), min(1, mean+half), len(xs)
	return f
}

// rootMean sets the root of the mean squared error of shares, in points.
func (f Figure) rootMean(squares []float64) Figure {
	mean, half := meanOf(squares)
	root := func(x float64) float64 { return 100 * math.Sqrt(max(0, x)) }
	f.Unit, f.Value, f.Low, f.High, f.Times = Points, root(mean), root(mean-half), root(mean+half), len(squares)
	return f
}

// meanPoints sets the mean of differences of shares, in points; it may be negative.
func (f Figure) meanPoints(xs []float64) Figure {
	mean, half := meanOf(xs)
	f.Unit, f.Value, f.Low, f.High, f.Times = Points, 100*mean, 100*(mean-half), 100*(mean+half), len(xs)
	return f
}

// meanOf returns the mean and half of its interval, by the normal distribution.
func meanOf(xs []float64) (mean, half float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	for _, x := range xs {
		half += (x - mean) * (x - mean) / n
	}
	return mean, z95 * math.Sqrt(half/n)
}

// median sets the median of numbers of tasks; its interval is between order statistics.
func (f Figure) median(tasks []int) Figure {
	xs := slices.Sorted(slices.Values(tasks))
	at := func(rank float64) float64 { return float64(xs[min(len(xs)-1, max(0, int(rank)))]) }
	n := float64(len(xs))
	half := z95 * math.Sqrt(n) / 2
	f.Unit, f.Times = Tasks, len(xs)
	f.Value, f.Low, f.High = at(n/2), at(math.Floor(n/2-half)), at(math.Ceil(n/2+half))
	return f
}

// every sets the mean number of tasks between two events, if there was one.
// The interval is that of a count with a normal logarithm.
func (f Figure) every(tasks, happened int) Figure {
	spread := math.Exp(z95 / math.Sqrt(float64(happened)))
	f.Unit, f.Value, f.Times = Tasks, float64(tasks)/float64(happened), happened
	f.Low, f.High = f.Value/spread, f.Value*spread
	return f
}

// found returns two figures of an event, given the number of tasks until it, 0 for
// never: how often it happened within the maximum, and the median number.
// There is no median if it happened in less than half of the worlds.
func (m measure) found(key, world, what, counted, bar string, after []int, most int) []Figure {
	never := 0
	late := column(after, func(n int) int {
		if n == 0 {
			never++
			return most
		}
		return n
	})
	out := []Figure{m.figure(key+".share", world, fmt.Sprintf("%s within %d %s", what, most, counted), "").
		share(column(after, func(n int) bool { return n > 0 }))}
	if 2*never < len(after) {
		out = append(out, m.figure(key+".after", world, fmt.Sprintf("%s: %s in the median", what, counted), bar).median(late))
	}
	return out
}

// measure is the configuration of a measurement.
type measure struct {
	seed   uint64
	worlds int
}

// figure returns a new figure.
func (m measure) figure(key, world, what, bar string) Figure {
	return Figure{Key: key, World: world, What: what, Bar: bar, Seed: m.seed}
}

// seedOf returns the seed of the i-th world.
func seedOf(seed uint64, i int) uint64 { return seed + uint64(i)*1_000_003 }

// dice returns the random numbers of the i-th world of a kind. Each kind has its own, so that the figures of
// one don't depend on which others are measured.
func (m measure) dice(kind string, i int) random {
	h := fnv.New64a()
	fmt.Fprint(h, kind)
	return newRandom(seedOf(m.seed, i), h.Sum64())
}

// inWorlds calls a function for n worlds on all cores, until ctx is done. The results are in the
// order of the worlds.
func inWorlds[T any](ctx context.Context, n int, world func(i int) (T, error)) ([]T, error) {
	out := make([]T, n)
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		all.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				out[i], err = world(i)
			}
			if err != nil {
				err = fmt.Errorf("world %d: %w", i, err)
			}
			return err
		})
	}
	return out, all.Wait()
}

// column returns one value of each.
func column[T, U any](rows []T, of func(T) U) []U {
	out := make([]U, len(rows))
	for i, r := range rows {
		out[i] = of(r)
	}
	return out
}
