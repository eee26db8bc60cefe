package lesson

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Effect is the effect of giving lessons. It compares tasks that got a lesson with tasks from which it was withheld at
// random.
type Effect struct {
	Told, ToldPassed         int
	Withheld, WithheldPassed int
	Points                   float64 // difference of the shares that passed, in percentage points
	Low, High                float64 // its 90 % interval
}

// Uplift returns the effect of giving lessons, from the evidence about one lesson or all. Each share is estimated as
// (passed+1)/(n+2). The interval is the normal one of these shares, which also holds for small numbers (Agresti and
// Caffo, 2000).
func Uplift(evidence []Evidence) Effect {
	var u Effect
	for _, e := range evidence {
		passed := 0
		if e.Good > e.Bad {
			passed = 1
		}
		switch e.Arm {
		case Told:
			u.Told, u.ToldPassed = u.Told+1, u.ToldPassed+passed
		case Withheld:
			u.Withheld, u.WithheldPassed = u.Withheld+1, u.WithheldPassed+passed
		}
	}
	share := func(passed, n int) (p, variance float64) {
		p = float64(passed+1) / float64(n+2)
		return p, p * (1 - p) / float64(n+2)
	}
	p, v := share(u.ToldPassed, u.Told)
	q, w := share(u.WithheldPassed, u.Withheld)
	half := distuv.UnitNormal.Quantile(.95) * math.Sqrt(v+w)
	u.Points, u.Low, u.High = 100*(p-q), 100*max(-1, p-q-half), 100*min(1, p-q+half)
	return u
}

// String returns the effect in a sentence.
func (u Effect) String() string {
	switch {
	case u.Told == 0:
		return "no attempt with a lesson has been judged yet"
	case u.Withheld == 0:
		return fmt.Sprintf("%d of %d tasks with the lesson passed. No control group yet, so the benefit is unknown",
			u.ToldPassed, u.Told)
	}
	return fmt.Sprintf("with the lesson: %d of %d passed; without: %d of %d; benefit %+.0f points (90 %% interval "+
		"%+.0f to %+.0f)",
		u.ToldPassed, u.Told, u.WithheldPassed, u.Withheld, u.Points, u.Low, u.High)
}
