package priors

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Limits on the influence and number of installations.
const (
	mostOf = 0.1 // maximum share of one installation in the sum of a cell
	fewest = 10  // minimum number of installations with data in a cell
)

// Aggregate returns priors made from the reports of many installations. Reports of one installation for several periods
// are added first; two for one period are an error, so that none counts twice.
//
// In each cell, and in each sum over all languages, no installation has more than a tenth of the sum of the cell:
// larger contributions are scaled down, resolved and failed alike. A cell is left out where fewer than ten
// installations report that anything was tried. With noise, a zero count is positive four times in ten, so in a large
// collection empty cells are only suppressed by the weight that [Priors] give a cell.
func Aggregate(reports []Report, made time.Time) (*Priors, error) {
	installations := map[string]Counts{}
	type once struct {
		key    string
		period int
	}
	seen := map[once]bool{}
	for _, r := range reports {
		if seen[once{r.Key, r.Period}] {
			return nil, fmt.Errorf("aggregate: two reports are of %s for period %d; give one of them", r.Key, r.Period)
		}
		seen[once{r.Key, r.Period}] = true
		if installations[r.Key] == nil {
			installations[r.Key] = Counts{}
		}
		installations[r.Key].add(r.Counts)
	}
	if len(installations) < fewest {
		return nil, fmt.Errorf("aggregate: there are reports of %d installations, and %d are needed before anything is said "+
			"of them together", len(installations), fewest)
	}
	p := &Priors{Made: made.UTC().Format(time.DateOnly), Installations: len(installations), Reports: len(reports),
		cells: map[Cell]share{}}
	for _, c := range cells(append([]string{Any}, Languages()...)) {
		var said []Tally
		for _, counts := range installations {
			if t := counts[c]; t != (Tally{}) {
				said = append(said, t)
			}
		}
		if s, ok := clip(said); ok {
			p.cells[c] = s
		}
	}
	if len(p.cells) == 0 {
		return nil, errors.New("aggregate: nothing is left: no cell has enough in it of enough installations")
	}
	return p, nil
}

// add adds the counts of a report, also to the cells of all languages.
func (c Counts) add(more Counts) {
	for cell, t := range more {
		for _, at := range []Cell{cell, cell.in(Any)} {
			have := c[at]
			c[at] = Tally{have.Resolved + t.Resolved, have.Failed + t.Failed}
		}
	}
}

// size returns the influence of a tally on a cell.
func (t Tally) size() float64 { return math.Abs(float64(t.Resolved)) + math.Abs(float64(t.Failed)) }

func (t Tally) tried() float64 { return float64(t.Resolved + t.Failed) }

// clip returns the sum of a cell with no contribution above a tenth of it. ok is false where there is no such sum, or
// too few have data.
//
// The bound b solves b = sum/10, where the sum is of tallies scaled down to the size b. With the m largest scaled down,
// each contributing b times its ratio of tried to size, the sum is linear in b; the first m with a solution between its
// sizes yields the largest bound.
func clip(said []Tally) (share, bool) {
	slices.SortFunc(said, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(b.Resolved, a.Resolved), cmp.Compare(b.Failed, a.Failed))
	})
	positive, rest := 0, 0.0
	for _, t := range said {
		if rest += t.tried(); t.tried() > 0 {
			positive++
		}
	}
	if positive < fewest {
		return share{}, false
	}
	scaled := 0.0
	for m, t := range said {
		bound := mostOf * rest / (1 - mostOf*scaled)
		if bound > 0 && t.size() <= bound && (m == 0 || said[m-1].size() >= bound) {
			return sum(said, bound, positive), true
		}
		rest -= t.tried()
		scaled += t.tried() / t.size()
	}
	return share{}, false
}

// sum adds tallies, each scaled down to at most the size bound.
func sum(said []Tally, bound float64, installations int) share {
	s := share{installations: installations}
	for _, t := range said {
		f := min(1, bound/t.size())
		s.resolved += f * float64(t.Resolved)
		s.failed += f * float64(t.Failed)
	}
	s.resolved, s.failed = tenths(max(0, s.resolved)), tenths(max(0, s.failed))
	return s
}

// tenths rounds to one decimal, which is more precise than the noise.
func tenths(x float64) float64 { return math.Round(10*x) / 10 }
