package lesson

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// The numbers of docs/lessons.md#how-far-a-lesson-is-trusted.
const (
	// MinExtracted is how sure an extraction must be for its lesson to be kept.
	MinExtracted = 0.3
	// PersonWeight is how much a person's word weighs against an attempt's outcome.
	PersonWeight = 2

	idleFor  = 30 * 24 * time.Hour // without evidence; after that counts fade
	halfLife = 30 * 24 * time.Hour

	promoteGood  = 5.0  // evidence for a lesson that proves it …
	promoteLower = 0.6  // … where the lower quantile is at least this
	lowerShare   = 0.2  // the quantile that counts as lower
	archiveMean  = 0.35 // confidence below which it is told no more
)

// Counts are the evidence for and against the lesson at a time. After 30 days without evidence both
// halve every 30 days, so that an old truth has to prove itself again.
func (l Lesson) Counts(now time.Time) (good, bad float64) {
	f := fadeFactor(now.Sub(l.CountedAt))
	return l.Good * f, l.Bad * f
}

// fadeFactor is what is left of a count after an idle time: 0–1.
func fadeFactor(idle time.Duration) float64 {
	if idle <= idleFor {
		return 1
	}
	return math.Exp2(-float64(idle-idleFor) / float64(halfLife))
}

// Confidence is the mean of Beta(1+Good, 1+Bad) at a time: 0–1. It is exactly a half while the
// counts for and against the lesson are equal.
func (l Lesson) Confidence(now time.Time) float64 {
	good, bad := l.Counts(now)
	return .5 + (good-bad)/(2+good+bad)/2
}

// Lower is the 20 % quantile of that distribution: four times out of five the
// lesson is at least so good.
func (l Lesson) Lower(now time.Time) float64 {
	good, bad := l.Counts(now)
	return distuv.Beta{Alpha: 1 + good, Beta: 1 + bad}.Quantile(lowerShare)
}

// Count adds evidence. Evidence from before the last weighs as if it came then.
func (l Lesson) Count(good, bad float64, at time.Time) Lesson {
	if at.Before(l.CountedAt) {
		at = l.CountedAt
	}
	l.Good, l.Bad = l.Counts(at)
	l.Good, l.Bad = l.Good+max(0, good), l.Bad+max(0, bad)
	l.CountedAt = at
	return l
}

// Settle promotes, demotes, archives or revives a lesson by its evidence at a time. why says for
// people what was done, "" for nothing. Forgotten and merged lessons stay as they are.
func (l Lesson) Settle(now time.Time) (_ Lesson, why string) {
	if l.State == Forgotten || l.State == Merged || l.Kind == Model {
		return l, ""
	}
	was := l.State
	good, bad := l.Counts(now)
	mean, lower := l.Confidence(now), l.Lower(now)
	switch {
	case mean < archiveMean:
		l.State = Archived
	case good >= promoteGood && lower >= promoteLower:
		l.State = Promoted
	case was == Archived && good <= bad:
		// Only evidence for it brings a lesson back, not that the evidence against it has faded.
	default:
		l.State = Active
	}
	if l.State == was {
		return l, ""
	}
	return l, fmt.Sprintf("%s → %s: %.3g for and %.3g against, confidence %.2f, at least %.2f four times out of five",
		was, l.State, good, bad, mean, lower)
}
