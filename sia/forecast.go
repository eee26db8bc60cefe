package sia

import (
	"math"
	"slices"
	"time"
)

// Bounds of forecasts.
const (
	minEnded = 5  // minimum number of ended tasks for a forecast
	minWeeks = 5  // minimum number of weeks for a forecast of a month
	tail     = .1 // share of further values below the interval, and the same above
)

// Ended is a task that ended, as input of forecasts.
type Ended struct {
	Repo   int64 // GitHub's id; another number without GitHub
	Kind   string
	Cost   Credits
	Took   time.Duration // from its start to its end, including waits for people
	Passed bool
}

// Span is a median, or a mean, and an interval around it.
type Span struct {
	Low  int64 `json:"low"`
	Mid  int64 `json:"mid"`
	High int64 `json:"high"`
}

// Forecast is an estimate of a task's cost and duration from earlier tasks. If Tasks is below 5 there is no estimate,
// and all other fields are zero.
type Forecast struct {
	Tasks  int     `json:"tasks"` // number of earlier tasks used
	Passed int     `json:"passed,omitempty"`
	Here   bool    `json:"here,omitempty"`   // they are of this repository; false: of the whole installation
	Kind   string  `json:"kind,omitempty"`   // they are of this kind; empty: of any
	Within float64 `json:"within,omitempty"` // share of further tasks expected within the intervals
	Cost   Span    `json:"credits,omitzero"` // thousandths of a credit
	Time   Span    `json:"seconds,omitzero"` // whole seconds
}

// Known reports whether there are enough tasks to forecast from.
func (f Forecast) Known() bool { return f.Tasks >= minEnded }

// Predict forecasts a task of a kind in a repository. It uses the first of these sets with at least five tasks: those
// of the kind in the repository, all in the repository, those of the kind anywhere, all.
func Predict(all []Ended, repo int64, kind string) Forecast {
	for _, of := range []struct{ here, kind bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		chosen := slices.DeleteFunc(slices.Clone(all), func(e Ended) bool {
			return of.here && e.Repo != repo || of.kind && e.Kind != kind
		})
		f := Forecast{Tasks: len(chosen), Here: of.here}
		if !f.Known() {
			if !of.here && !of.kind {
				return Forecast{Tasks: len(chosen)}
			}
			continue
		}
		if of.kind {
			f.Kind = kind
		}
		costs, times := make([]int64, len(chosen)), make([]int64, len(chosen))
		for i, e := range chosen {
			costs[i], times[i] = int64(e.Cost), int64(e.Took/time.Second)
			if e.Passed {
				f.Passed++
			}
		}
		f.Cost, f.Within = spanOf(costs)
		f.Time, _ = spanOf(times)
		return f
	}
	return Forecast{}
}

// spanOf returns the median of values and the interval between two of them in which a further value lies with
// probability within, at least 0.8. Of n+1 exchangeable values the last is equally likely to have each rank, so it lies
// between the k-th and the (n+1−k)-th of the other n with probability (n+1−2k)/(n+1), for any distribution: Wilks 1941.
// With fewer than nine values even the full range is below 0.8; the interval is then the full range.
func spanOf(values []int64) (s Span, within float64) {
	slices.Sort(values)
	n := len(values)
	k := max(1, int(tail*float64(n+1)))
	s = Span{Low: values[k-1], Mid: values[n/2], High: values[n-k]}
	if n%2 == 0 {
		s.Mid = (values[n/2-1] + values[n/2]) / 2
	}
	return s, float64(n+1-2*k) / float64(n+1)
}

// studentTail contains the 90 % quantiles of the t distribution, for 4 to 11 degrees of freedom.
var studentTail = [...]float64{1.533, 1.476, 1.440, 1.415, 1.397, 1.383, 1.372, 1.363}

// monthWeeks is the number of weeks in a month of 30 days.
const monthWeeks = 30. / 7

// NextMonth forecasts a repository's cost in the next 30 days from its cost in whole weeks, the oldest first. It uses
// at most the last 12: their mean, and the 80 % prediction interval of the sum if the weeks are normally distributed.
// known is false with fewer than 5 weeks since the first with a cost.
func NextMonth(weeks []Credits) (month Span, known bool) {
	first := slices.IndexFunc(weeks, func(c Credits) bool { return c > 0 })
	if first < 0 || len(weeks)-first < minWeeks {
		return Span{}, false
	}
	weeks = weeks[max(first, len(weeks)-len(studentTail)-minWeeks+1):]
	n := float64(len(weeks))
	var sum, squares float64
	for _, c := range weeks {
		sum += float64(c)
	}
	mean := sum / n
	for _, c := range weeks {
		squares += (float64(c) - mean) * (float64(c) - mean)
	}
	spread := math.Sqrt(squares/(n-1)) * math.Sqrt(monthWeeks+monthWeeks*monthWeeks/n)
	t := studentTail[len(weeks)-minWeeks]
	mid := mean * monthWeeks
	return Span{Low: int64(max(0, mid-t*spread)), Mid: int64(mid), High: int64(mid + t*spread)}, true
}
