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

// The numbers of choosing (docs/lessons.md#how-the-few-are-chosen).
const (
	ageHalf         = 90 * 24 * time.Hour  // a lesson that was not seen for so long counts half
	provedAgeHalf   = 180 * 24 * time.Hour // the same of a promoted lesson
	provedRank      = 1.25                 // what the rank of a promoted lesson is multiplied by
	relevanceWeight = .7                   // of the score against likeness to the chosen ones: MMR's λ
	withheldShare   = .1                   // probability with which a chosen lesson is kept from the task
	scoreFloor      = .15                  // of the best score; what is below says little about the task
	minShared       = 2                    // words that a lesson shares with the task; a person's: 1
)

// ChooseOptions says what lessons are chosen for, and how many.
type ChooseOptions struct {
	Task          sia.TaskID
	Most          int     // lessons at most
	MinConfidence float64 // 0–1
	Now           time.Time
}

// Choose picks the lessons that an attempt gets, the most fitting first. A lesson's score is its
// rank × (½ + ½ confidence) × ½^(age/90 days); of a promoted one it is 1.25 × rank, and 180 days.
// The lessons are diversified by maximal marginal relevance (Carbonell and Goldstein, 1998). Of two
// that contradict each other at most one is given: the repository's own one, rather than a copy from
// other repositories.
//
// Each chosen lesson is withheld with probability .1 and is then in kept. A hash of task and lesson
// decides, so a task gets a lesson in all of its attempts or in none. Nothing takes the place of
// a withheld lesson, so that [Uplift] compares like with like.
func Choose(found []SearchHit, want ChooseOptions) (told, kept []Lesson) {
	type scored struct {
		Lesson
		score float64
		sign  Signature
	}
	var all []scored
	best := 0.0
	for _, f := range found {
		need := minShared
		if f.From.Source == FromPerson {
			need = 1
		}
		confidence := f.Confidence(want.Now)
		own := f.From.Source == FromOutcome && f.From.Task == want.Task // its attempts know
		if own || isContradicted(f.Lesson, found) || !f.Live() || f.Kind == Model || confidence < want.MinConfidence ||
			f.Shared < need || f.Rank <= 0 {
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
			kept = append(kept, c.Lesson)
		} else {
			told = append(told, c.Lesson)
		}
	}
	return told, kept
}

// score ranks a lesson that was found, at a time. What has proved itself stands before
// what has not, and stays relevant for longer.
func (f SearchHit) score(now time.Time) float64 {
	rank, half := f.Rank, ageHalf
	if f.State == Promoted {
		rank, half = provedRank*rank, provedAgeHalf
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

// hashChance is a number in [0, 1) that looks random and is always the same for the same names.
func hashChance(names ...string) float64 {
	sum := sha256.Sum256(fmt.Append(nil, names))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// IDs are the ids of lessons.
func IDs(lessons []Lesson) []string {
	var ids []string
	for _, l := range lessons {
		ids = append(ids, string(l.ID))
	}
	return ids
}

// Refs are lessons as an attempt gets them.
func Refs(lessons []Lesson) []sia.LessonRef {
	var refs []sia.LessonRef
	for _, l := range lessons {
		refs = append(refs, sia.LessonRef{ID: string(l.ID), Text: l.Told(), Test: l.Test()})
	}
	return refs
}
