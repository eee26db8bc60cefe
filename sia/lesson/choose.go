package lesson

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Parameters of Choose (docs/lessons.md#how-the-few-are-chosen).
const (
	scoreHalfLife    = 90 * 24 * time.Hour  // half-life of a lesson's score since it was last seen
	promotedHalfLife = 180 * 24 * time.Hour // the same for a promoted lesson
	promotedFactor   = 1.25                 // factor for the rank of a promoted lesson
	relevanceWeight  = .7                   // weight of the score against similarity to the chosen ones: MMR's λ
	withheldShare    = .1                   // probability that a chosen lesson is withheld from the task
	scoreFloor       = .15                  // minimum score, relative to the best
	minShared        = 2                    // minimum number of words shared with the task; 1 for a user's lesson
)

// ChooseOptions are the options of Choose.
type ChooseOptions struct {
	Task          sia.TaskID
	Most          int     // maximum number of lessons
	MinConfidence float64 // 0–1
	Now           time.Time
}

// Choose picks the lessons that an attempt gets, the best match first. A lesson's score is its rank × (½ + ½
// confidence) × ½^(age/90 days); for a promoted one it is 1.25 × rank and 180 days. The lessons are diversified by
// maximal marginal relevance (Carbonell and Goldstein, 1998). Of two that contradict each other at most one is chosen,
// the repository's own one rather than a copy from other repositories.
//
// Each chosen lesson is withheld with probability .1 and is then returned in withheld. A hash of task and lesson
// decides, so a task gets a lesson in all of its attempts or in none. A withheld lesson is not replaced by another one,
// so that [Uplift] compares like with like.
func Choose(found []SearchHit, want ChooseOptions) (told, withheld []Lesson) {
	type scored struct {
		Lesson
		score float64
		sign  Signature
	}
	var all []scored
	best := 0.0
	for _, f := range found {
		if !want.Usable(f) || isContradicted(f.Lesson, found) {
			continue
		}
		s := scored{f.Lesson, f.score(want.Now), NewSignature(f.adviceWords())}
		best = max(best, s.score)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ID, b.ID)) })
	var chosen []scored
	for len(chosen) < want.Most {
		pick, top := -1, 0.0
		for i, s := range all {
			if s.score < scoreFloor*best {
				break
			}
			like, clash := 0.0, false
			for _, c := range chosen {
				like = max(like, s.sign.Similarity(c.sign))
				clash = clash || c.ID == s.ID || Opposed(c.Lesson, s.Lesson)
			}
			if mmr := relevanceWeight*s.score/best - (1-relevanceWeight)*like; !clash && mmr > top {
				pick, top = i, mmr
			}
		}
		if pick < 0 {
			break
		}
		chosen = append(chosen, all[pick])
		all = slices.Delete(all, pick, pick+1)
	}
	for _, c := range chosen {
		if hashChance(string(want.Task), string(c.ID)) < withheldShare {
			withheld = append(withheld, c.Lesson)
		} else {
			told = append(told, c.Lesson)
		}
	}
	return told, withheld
}

// Usable reports whether Choose may choose a found lesson, if no other one contradicts it.
func (want ChooseOptions) Usable(f SearchHit) bool {
	need := minShared
	if f.From.Source == FromPerson {
		need = 1
	}
	own := f.From.Source == FromOutcome && f.From.Task == want.Task // its attempts have it already
	return !own && f.Live() && f.Confidence(want.Now) >= want.MinConfidence && f.Shared >= need &&
		f.Rank > 0
}

// score returns the score of a found lesson at a time. A promoted lesson scores higher and stays relevant for longer.
func (f SearchHit) score(now time.Time) float64 {
	rank, half := f.Rank, scoreHalfLife
	if f.State == Promoted {
		rank, half = promotedFactor*rank, promotedHalfLife
	}
	age := max(0, now.Sub(f.LastSeen))
	return rank * (.5 + .5*f.Confidence(now)) * math.Exp2(-float64(age)/float64(half))
}

// isContradicted reports whether a lesson is a copy from other repositories, and one of the
// repository's own lessons among found advises the opposite.
func isContradicted(l Lesson, found []SearchHit) bool {
	return l.From.Source == FromOrganisation && slices.ContainsFunc(found, func(f SearchHit) bool {
		return f.Live() && f.From.Source != FromOrganisation && Opposed(f.Lesson, l)
	})
}

// hashChance returns a pseudo-random number in [0, 1) that depends only on the names.
func hashChance(names ...string) float64 {
	sum := sha256.Sum256(fmt.Append(nil, names))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// IDs returns the ids of lessons.
func IDs(lessons []Lesson) []string {
	var ids []string
	for _, l := range lessons {
		ids = append(ids, string(l.ID))
	}
	return ids
}

// Refs returns lessons in the form that an attempt gets.
func Refs(lessons []Lesson) []sia.LessonRef {
	var refs []sia.LessonRef
	for _, l := range lessons {
		refs = append(refs, sia.LessonRef{ID: string(l.ID), Text: l.Told(), Test: l.Test()})
	}
	return refs
}
