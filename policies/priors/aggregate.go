package priors

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// How much one installation may say, and how many there have to be.
const (
	mostOf = 0.1 // of the sum of a cell, by one installation
	fewest = 10  // installations that report something in a cell
)

// Aggregate makes priors of the reports of many installations. Reports of one installation for
// several periods are added up first; two for one period are an error, so that nobody counts twice.
//
// In each cell, and in each that sums up all languages, no installation has more than a tenth of
// the sum of the cell: what is beyond it is scaled down, resolved and failed alike. A cell is left
// out where fewer than ten installations report that anything was tried. Noise makes a count that is
// zero look like something four times in ten, so in a large collection it is the weight that
// [Priors] give a cell that silences those in which nothing is.
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

// add adds the counts of a report, also to the cells that sum up all languages.
func (c Counts) add(more Counts) {
	for cell, t := range more {
		for _, at := range []Cell{cell, cell.in(Any)} {
			have := c[at]
			c[at] = Tally{have.Resolved + t.Resolved, have.Failed + t.Failed}
		}
	}
}

// size is how much a tally can move a cell.
func (t Tally) size() float64 { return math.Abs(float64(t.Resolved)) + math.Abs(float64(t.Failed)) }

func (t Tally) tried() float64 { return float64(t.Resolved + t.Failed) }

// clip sums up a cell with nobody's part above a tenth of the sum. ok is false where there is no such
// sum, or too few report something.
//
// The bound b solves b = sum/10, where the sum is of tallies that are scaled down to the size b. With the
// m largest scaled down, each to b times the share of its size that it adds to what was tried, the sum is
// linear in b; the first m with a solution between its sizes gives the largest bound there is.
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

// sum adds tallies up, each scaled down to a size where it is larger.
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

// tenths rounds to one decimal, which is more than the noise leaves to be known.
func tenths(x float64) float64 { return math.Round(10*x) / 10 }
