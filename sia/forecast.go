package sia

import (
	"math"
	"slices"
	"time"
)

// Bounds of forecasts.
const (
	fewestEnded = 5  // below that nothing is forecast
	fewestWeeks = 5  // below that no month is
	tail        = .1 // of the next tasks lies below the interval, and as many above
)

// Ended is a task that ended, as forecasts know it.
type Ended struct {
	Repo   int64 // GitHub's id; another number where there is no GitHub
	Kind   string
	Cost   Credits
	Took   time.Duration // from its start to its end, waiting for people included
	Passed bool
}

// Span is a median, or a mean, and an interval around it.
type Span struct {
	Low  int64 `json:"low"`
	Mid  int64 `json:"mid"`
	High int64 `json:"high"`
}

// Forecast is what a task may cost and how long it may take, judged by earlier ones. Where Tasks is below 5 there is
// none: all else is zero.
type Forecast struct {
	Tasks  int     `json:"tasks"` // that it goes by
	Passed int     `json:"passed,omitempty"`
	Here   bool    `json:"here,omitempty"`   // they are of this repository; false: of all of the installation
	Kind   string  `json:"kind,omitempty"`   // they are of this kind; empty: of any
	Within float64 `json:"within,omitempty"` // share of further tasks that the intervals hold
	Cost   Span    `json:"credits,omitzero"` // thousandths of a credit
	Time   Span    `json:"seconds,omitzero"` // whole seconds
}

// Known reports whether there are enough tasks to forecast from.
func (f Forecast) Known() bool { return f.Tasks >= fewestEnded }

// Predict forecasts a task of a kind in a repository. It goes by the first of these that has five tasks: those of the
// kind there, all there, those of the kind anywhere, all.
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

// spanOf is the median of values and the interval between two of them that a further value like them lies in with
// probability within, at least 0.8. Of n+1 values in any order the last is as likely to be the first, second … (n+1)th
// by size, so between the k-th and the (n+1−k)-th of n it lies with (n+1−2k)/(n+1), whatever they are distributed
// like: Wilks 1941. Below nine values not even all of them hold 0.8; the interval is then all that was seen.
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

// studentTail are the values that a t-distributed number exceeds once in ten times, by degrees of freedom from 4 to 11.
var studentTail = [...]float64{1.533, 1.476, 1.440, 1.415, 1.397, 1.383, 1.372, 1.363}

// monthWeeks is a month of 30 days in weeks.
const monthWeeks = 30. / 7

// NextMonth forecasts what a repository costs in the next 30 days from what it cost in whole weeks, the oldest first,
// at most the last 12: their mean, and the interval in which a sum of further weeks like them lies 8 times of 10 if
// they vary normally. known is false with fewer than 5 weeks since the first that cost something.
func NextMonth(weeks []Credits) (month Span, known bool) {
	first := slices.IndexFunc(weeks, func(c Credits) bool { return c > 0 })
	if first < 0 || len(weeks)-first < fewestWeeks {
		return Span{}, false
	}
	weeks = weeks[max(first, len(weeks)-len(studentTail)-fewestWeeks+1):]
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
	t := studentTail[len(weeks)-fewestWeeks]
	mid := mean * monthWeeks
	return Span{Low: int64(max(0, mid-t*spread)), Mid: int64(mid), High: int64(mid + t*spread)}, true
}
