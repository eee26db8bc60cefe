package lesson

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Parameters of a lesson's confidence (docs/lessons.md#how-far-a-lesson-is-trusted).
const (
	// MinExtracted is the minimum confidence of an extracted lesson that is kept.
	MinExtracted = 0.3
	// PersonWeight is the weight of a user's word; an attempt's outcome weighs 1.
	PersonWeight = 2

	// DecayDays is the default of learning.decay_days: the number of days without evidence after which counts fade, and
	// their half-life from then on.
	DecayDays = 30

	provenPatience = 2 // factor for the time before a proven lesson begins to fade

	promoteGood  = 5.0  // minimum evidence for a proven lesson …
	promoteLower = 0.6  // … with at least this lower quantile
	lowerShare   = 0.2  // probability of the lower quantile
	archiveMean  = 0.35 // confidence below which a lesson is archived
)

// Counts returns the evidence for and against the lesson at a time. After 30 days without evidence, or [Lesson.Decay]
// days, both halve every 30 days, so that an old lesson has to prove itself again. A lesson that was proven at its last
// evidence begins to fade after twice as long.
func (l Lesson) Counts(now time.Time) (good, bad float64) {
	f := l.decayFactor(now.Sub(l.CountedAt))
	return soundCount(l.Good) * f, soundCount(l.Bad) * f
}

// maxCount is more than the weight of all evidence that a lesson ever gets.
const maxCount = 1e6

// soundCount returns a count that may come from outside as one that confidence can be computed from.
func soundCount(n float64) float64 { return min(maxCount, max(0, n)) }

// decayFactor returns the fraction of the lesson's counts that is left after a time without evidence: 0–1.
func (l Lesson) decayFactor(idle time.Duration) float64 {
	days := l.Decay
	if days <= 0 {
		days = DecayDays
	}
	life := time.Duration(days) * 24 * time.Hour
	patience := life
	if isProven(soundCount(l.Good), soundCount(l.Bad)) {
		patience *= provenPatience
	}
	return fadeFactor(idle-patience, life)
}

// fadeFactor returns the fraction that is left of a count after it has been fading for a time: 0–1.
func fadeFactor(fading, halfLife time.Duration) float64 {
	if fading <= 0 {
		return 1
	}
	return math.Exp2(-float64(fading) / float64(halfLife))
}

// isProven reports whether the evidence for and against a lesson is enough to promote it.
func isProven(good, bad float64) bool {
	return good >= promoteGood && lowerQuantile(good, bad) >= promoteLower
}

// lowerQuantile returns the 20 % quantile of Beta(1+good, 1+bad).
func lowerQuantile(good, bad float64) float64 {
	return distuv.Beta{Alpha: 1 + good, Beta: 1 + bad}.Quantile(lowerShare)
}

// Confidence returns the mean of Beta(1+Good, 1+Bad) at a time: 0–1. It is exactly 0.5 while the counts for and against
// the lesson are equal.
func (l Lesson) Confidence(now time.Time) float64 {
	good, bad := l.Counts(now)
	return .5 + (good-bad)/(2+good+bad)/2
}

// Lower returns the 20 % quantile of that distribution: with a probability of 80 % the lesson is at least this good.
func (l Lesson) Lower(now time.Time) float64 {
	good, bad := l.Counts(now)
	return lowerQuantile(good, bad)
}

// Count adds evidence. Evidence older than the last counts as if it had arrived with the last.
func (l Lesson) Count(good, bad float64, at time.Time) Lesson {
	if at.Before(l.CountedAt) {
		at = l.CountedAt
	}
	l.Good, l.Bad = l.Counts(at)
	l.Good, l.Bad = l.Good+max(0, good), l.Bad+max(0, bad)
	l.CountedAt = at
	return l
}

// UpdateState promotes, demotes, archives or revives a lesson by its evidence at a time. why describes the change for
// display; "" for none. Forgotten and merged lessons and those that a user archived are unchanged.
func (l Lesson) UpdateState(now time.Time) (_ Lesson, why string) {
	if l.State == Forgotten || l.State == Merged || l.State == Archived && l.ArchivedByHand {
		return l, ""
	}
	was := l.State
	good, bad := l.Counts(now)
	mean, lower := l.Confidence(now), l.Lower(now)
	switch {
	case mean < archiveMean:
		l.State = Archived
	case isProven(good, bad):
		l.State = Promoted
	case was == Archived && good <= bad:
		// Only new evidence for a lesson revives it, not the fading of the evidence against it.
	default:
		l.State = Active
	}
	if l.State == was {
		return l, ""
	}
	return l, fmt.Sprintf("%s → %s: %.3g for and %.3g against, confidence %.2f, at least %.2f four times out of five",
		was, l.State, good, bad, mean, lower)
}
