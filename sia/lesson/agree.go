package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Agreement is a lesson that several repositories learned independently.
type Agreement struct {
	Lessons []Lesson // equivalent lessons from at least two repositories, highest confidence first
	Against []Lesson // lessons of any of the repositories that advise the opposite

	tags, words []string // tags and words that lessons of two repositories share
}

// agreeingKinds are the kinds of lessons that may apply elsewhere, too. How well a tool does is known only where
// it was tried.
var agreeingKinds = []Kind{Workaround, Success, Mistake, Discovery}

// Agreements returns the agreements among repositories, highest confidence first. lessons are those of all
// repositories, in any order; least is the minimum confidence of a lesson that counts, 0–1. Only live lessons that
// their repository learned itself count, not copies from other repositories.
//
// Lessons agree when [Merge] would merge them. They also agree when they are equivalent without the words that their
// contexts quote from each repository's checks. Then the agreement has them without these words.
//
// The time is linear in the number of lessons: each is compared with a bounded number of the lessons that share a band
// of its signature.
func Agreements(lessons []Lesson, least float64, now time.Time) []Agreement {
	own := eligibleLessons(lessons, least, now)
	var all []Agreement
	agreed := map[ID]bool{}
	for _, form := range []func(Lesson) Lesson{func(l Lesson) Lesson { return l }, Lesson.withoutQuotes} {
		var left []Lesson
		for _, l := range own {
			if !agreed[l.ID] {
				left = append(left, form(l))
			}
		}
		for _, a := range findAgreements(left, now) {
			for _, l := range a.Lessons {
				agreed[l.ID] = true
			}
			all = append(all, a)
		}
	}
	if len(all) > 0 {
		against := opposedLessons(own)
		for i := range all {
			all[i].addOpposed(against)
		}
	}
	slices.SortFunc(all, func(a, b Agreement) int { return byConfidence(now)(a.Lessons[0], b.Lessons[0]) })
	return all
}

// Shared returns a lesson of the agreement in the form that other repositories get: its text, when it applies, and the
// labels and words that two repositories share, without its provenance and evidence.
func (a Agreement) Shared(l Lesson) Lesson {
	return Lesson{
		ID: l.ID, Repo: l.Repo, Kind: l.Kind, State: Active, Context: l.Context, Text: l.Text, Correction: l.Correction,
		Tags: a.tags, Words: a.words, From: Provenance{Source: FromOrganisation},
	}
}

// Covers reports whether a shared lesson is equivalent to one of the agreement.
func (a Agreement) Covers(shared Lesson) bool {
	return slices.ContainsFunc(a.Lessons, func(l Lesson) bool { return l.ID == shared.ID || sameLesson(l, shared) })
}

// CopyTo returns the copy of a shared lesson for a repository. It has the same id and no counts, so that after
// [Lesson.InitialEvidence] only the repository's own evidence counts.
func (l Lesson) CopyTo(repo int64, now time.Time) Lesson {
	l.Repo, l.State, l.From = repo, Active, Provenance{Source: FromOrganisation}
	l.Good, l.Bad, l.Occurrences, l.Decay = 0, 0, 0, 0
	l.CountedAt, l.CreatedAt, l.LastSeen = now, now, now
	return l
}

// InitialEvidence returns the initial evidence for a copy: other repositories learned it, and a maintainer approved it.
// It has the weight of one outcome, so that a single failure, which may have other reasons, does not silence the
// lesson.
func (l Lesson) InitialEvidence() Evidence {
	return Evidence{Key: "shared/" + string(l.ID), Lesson: l.ID, Good: 1, At: l.CreatedAt, Why: "other repositories of " +
		"the owner learned it, and a person approved it"}
}

// isUntried reports whether the lesson is a copy without evidence from its repository.
func (l Lesson) isUntried() bool {
	return l.From.Source == FromOrganisation && l.CountedAt.Equal(l.CreatedAt)
}

// withoutQuotes returns the lesson without the words that its context quotes from a repository's checks. A context that
// does not begin with SIA's own words is unchanged.
func (l Lesson) withoutQuotes() Lesson {
	for _, words := range patternVocabulary {
		if strings.HasPrefix(l.Context, words.when+"; ") {
			l.Context = words.when
		}
	}
	return l
}

// byConfidence returns a comparison that orders lessons by descending confidence.
func byConfidence(now time.Time) func(a, b Lesson) int {
	return func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(b.Confidence(now), a.Confidence(now)), cmp.Compare(a.ID, b.ID))
	}
}

// eligibleLessons returns the lessons that count, each id once, highest confidence first.
func eligibleLessons(lessons []Lesson, least float64, now time.Time) []Lesson {
	var own []Lesson
	for _, l := range lessons {
		learned := l.From.Source != FromOrganisation && slices.Contains(agreeingKinds, l.Kind)
		if l.Live() && learned && l.Confidence(now) >= least {
			own = append(own, l)
		}
	}
	surest := byConfidence(now)
	slices.SortFunc(own, func(a, b Lesson) int { return cmp.Or(surest(a, b), cmp.Compare(a.Repo, b.Repo)) })
	seen := map[ID]bool{}
	return slices.DeleteFunc(own, func(l Lesson) bool {
		again := seen[l.ID]
		seen[l.ID] = true
		return again
	})
}

// findAgreements returns the agreements among lessons, highest confidence first. All lessons of an agreement agree with
// its first one.
func findAgreements(lessons []Lesson, now time.Time) []Agreement {
	groups := groupByWords(lessons, Lesson.adviceWords,
		func(l Lesson) string { return string(l.Kind) + l.unspaced() })
	near := nearGroups(groups, func(a, b wordGroup) bool {
		return a.kind == b.kind && a.against == b.against && a.sign.Similarity(b.sign) >= sameAdvice
	})
	taken := make([]bool, len(groups))
	var all []Agreement
	for i := range groups {
		if taken[i] {
			continue
		}
		var a Agreement
		members := []int{i}
		for _, j := range near[i] {
			if !taken[j] {
				members = append(members, j)
			}
		}
		for _, j := range members {
			a.Lessons = append(a.Lessons, groups[j].lessons...)
		}
		if !slices.ContainsFunc(a.Lessons, func(l Lesson) bool { return l.Repo != a.Lessons[0].Repo }) {
			continue
		}
		for _, j := range members {
			taken[j] = true
		}
		slices.SortFunc(a.Lessons, byConfidence(now))
		a.tags = sharedNames(a.Lessons, func(l Lesson) []string { return l.Tags }, maxTags)
		a.words = sharedNames(a.Lessons, func(l Lesson) []string { return l.Words }, maxWords)
		all = append(all, a)
	}
	return all
}

// sharedNames returns at most most names that lessons of two repositories share.
func sharedNames(lessons []Lesson, of func(Lesson) []string, most int) []string {
	from := map[string]int64{} // name → first repository with it
	var both []string
	for _, l := range lessons {
		for _, n := range of(l) {
			repo, known := from[n]
			switch {
			case !known:
				from[n] = l.Repo
			case repo != l.Repo && len(both) < most && !slices.Contains(both, n):
				both = append(both, n)
			}
		}
	}
	return both
}

// wordGroup is a group of lessons with the same words.
type wordGroup struct {
	lessons []Lesson
	kind    string
	against bool // whether they advise against something
	sign    Signature
}

// groupByWords groups lessons with the same words and kind, in the order of each group's first lesson. The functions
// return a lesson's words and kind.
func groupByWords(lessons []Lesson, words func(Lesson) []string, kind func(Lesson) string) []wordGroup {
	var groups []wordGroup
	at := map[string]int{}
	for _, l := range lessons {
		s := wordGroup{kind: kind(l)}
		_, s.against = splitNegation(l.Text)
		set := words(l)
		slices.Sort(set)
		key := fmt.Sprint(s.kind, " ", s.against, " ", strings.Join(set, " "))
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			s.sign = NewSignature(set)
			groups = append(groups, s)
		}
		groups[i].lessons = append(groups[i].lessons, l)
	}
	return groups
}

// maxComparisons is the maximum number of comparisons of a group per band of its signature: with the last groups before
// it. Two groups that merging would join share many bands (at a similarity of .7, eight of 32 on average). A pair is
// only missed when thousands of different groups share all of these bands.
const maxComparisons = 32

// nearGroups returns, for each group, the other groups for which near returns true.
func nearGroups(groups []wordGroup, near func(a, b wordGroup) bool) [][]int {
	buckets := map[string][]int{}
	compared := make([]int, len(groups)) // 1 + index of the last group that each was compared with
	all := make([][]int, len(groups))
	for i, s := range groups {
		for _, key := range s.sign.bands() {
			bucket := buckets[key]
			for _, j := range bucket[max(0, len(bucket)-maxComparisons):] {
				if compared[j] == i+1 {
					continue
				}
				compared[j] = i + 1
				if near(s, groups[j]) {
					all[i], all[j] = append(all[i], j), append(all[j], i)
				}
			}
			buckets[key] = append(bucket, i)
		}
	}
	return all
}

// opposedLessons maps the id of each lesson to the lessons that advise the opposite.
func opposedLessons(lessons []Lesson) map[ID][]Lesson {
	groups := groupByWords(lessons, Lesson.aboutWords, func(Lesson) string { return "" })
	near := nearGroups(groups, func(a, b wordGroup) bool {
		return a.against != b.against && Opposed(a.lessons[0], b.lessons[0])
	})
	all := map[ID][]Lesson{}
	for i, s := range groups {
		for _, l := range s.lessons {
			for _, j := range near[i] {
				all[l.ID] = append(all[l.ID], groups[j].lessons...)
			}
		}
	}
	return all
}

// addOpposed adds the lessons that contradict the agreement to Against.
func (a *Agreement) addOpposed(opposites map[ID][]Lesson) {
	seen := map[ID]bool{}
	for _, l := range a.Lessons {
		for _, o := range opposites[l.ID] {
			if !seen[o.ID] {
				seen[o.ID] = true
				a.Against = append(a.Against, o)
			}
		}
	}
}
