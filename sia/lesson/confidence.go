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

	// DecayDays are the days without evidence after which counts fade, and in which they then halve,
	// where a repository's settings (learning.decay_days) say nothing else.
	DecayDays = 30

	provedPatience = 2 // how many times as long a lesson that has proved itself goes without fading

	promoteGood  = 5.0  // evidence for a lesson that proves it …
	promoteLower = 0.6  // … where the lower quantile is at least this
	lowerShare   = 0.2  // the quantile that counts as lower
	archiveMean  = 0.35 // confidence below which it is no longer used
)

// Counts are the evidence for and against the lesson at a time. After 30 days without evidence both
// halve every 30 days, so that an old truth has to prove itself again; [Lesson.Decay] may say another
// number of days. What had proved itself by its last evidence begins to fade after twice as long.
func (l Lesson) Counts(now time.Time) (good, bad float64) {
	f := l.faded(now.Sub(l.CountedAt))
	return l.Good * f, l.Bad * f
}

// faded is what is left of the lesson's counts after so long without evidence: 0–1.
func (l Lesson) faded(idle time.Duration) float64 {
	days := l.Decay
	if days <= 0 {
		days = DecayDays
	}
	life := time.Duration(days) * 24 * time.Hour
	patience := life
	if proves(l.Good, l.Bad) {
		patience *= provedPatience
	}
	return fadeFactor(idle-patience, life)
}

// fadeFactor is what is left of a count that has been fading for a time, with a half-life: 0–1.
func fadeFactor(fading, halfLife time.Duration) float64 {
	if fading <= 0 {
		return 1
	}
	return math.Exp2(-float64(fading) / float64(halfLife))
}

// proves reports whether so much evidence for and against a lesson is enough to promote it.
func proves(good, bad float64) bool { return good >= promoteGood && lower(good, bad) >= promoteLower }

// lower is the 20 % quantile of Beta(1+good, 1+bad).
func lower(good, bad float64) float64 {
	return distuv.Beta{Alpha: 1 + good, Beta: 1 + bad}.Quantile(lowerShare)
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
	return lower(good, bad)
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
// people what was done, "" for nothing. Forgotten and merged lessons stay as they are, and so do those that a person
// archived.
func (l Lesson) Settle(now time.Time) (_ Lesson, why string) {
	if l.State == Forgotten || l.State == Merged || l.Kind == Model || l.State == Archived && l.ArchivedByHand {
		return l, ""
	}
	was := l.State
	good, bad := l.Counts(now)
	mean, lower := l.Confidence(now), l.Lower(now)
	switch {
	case mean < archiveMean:
		l.State = Archived
	case proves(good, bad):
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
