package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Agreement is one thing that several repositories learned, each by itself.
type Agreement struct {
	Lessons []Lesson // they say the same and come from two repositories at least; the surest first
	Against []Lesson // they advise the opposite, in any of the repositories that were asked

	tags, words []string // those that the lessons of two repositories share
}

// agreeingKinds are the kinds that may hold elsewhere, too. A tool or a model is only known to do
// well or badly where it was tried.
var agreeingKinds = []Kind{Workaround, Success, Mistake, Discovery}

// Agreements finds what repositories agree on, the surest first. lessons are those of all of the
// repositories, in any order; least is the confidence that a lesson needs to count, 0–1. Only
// lessons count that attempts may get, and that their repository learned itself: copies from
// other repositories say nothing of their own.
//
// Lessons agree when merging would take them for the same. They also agree when they are the same
// without the words that their contexts quote from each repository's checks. Then the agreement has
// them without these words.
//
// The work grows with the number of lessons, not its square: each is compared with a bounded number
// of the lessons that share a band of its signature.
func Agreements(lessons []Lesson, least float64, now time.Time) []Agreement {
	own := independentLessons(lessons, least, now)
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
	slices.SortFunc(all, func(a, b Agreement) int { return bySureness(now)(a.Lessons[0], b.Lessons[0]) })
	return all
}

// Shared is a lesson of the agreement in the form that other repositories get: what it says, when
// it applies, and the labels and words that two repositories share. It leaves out where the lesson
// was learned, from whom, and how it fared.
func (a Agreement) Shared(l Lesson) Lesson {
	return Lesson{
		ID: l.ID, Repo: l.Repo, Kind: l.Kind, State: Active, Context: l.Context, Text: l.Text, Correction: l.Correction,
		Tags: a.tags, Words: a.words, From: Provenance{Source: FromOrganisation},
	}
}

// Says reports whether a lesson that was shared says what the agreement does.
func (a Agreement) Says(shared Lesson) bool {
	return slices.ContainsFunc(a.Lessons, func(l Lesson) bool { return l.ID == shared.ID || sameLesson(l, shared) })
}

// CopyTo is the copy of a shared lesson that a repository gets. It has the same id and no counts,
// so that after [Lesson.Given] the repository judges it by its own evidence.
func (l Lesson) CopyTo(repo int64, now time.Time) Lesson {
	l.Repo, l.State, l.From = repo, Active, Provenance{Source: FromOrganisation}
	l.Good, l.Bad, l.Occurrences, l.Decay = 0, 0, 0, 0
	l.CountedAt, l.CreatedAt, l.LastSeen = now, now, now
	return l
}

// Given is the first evidence for a copy: others learned it, and a person approved it. It weighs as
// much as one outcome, so that a single failure does not silence the lesson; a failure may have
// other reasons.
func (l Lesson) Given() Evidence {
	return Evidence{Key: "shared/" + string(l.ID), Lesson: l.ID, Good: 1, At: l.CreatedAt, Why: "other repositories of " +
		"the owner learned it, and a person approved it"}
}

// isUntried reports whether the lesson is a copy about which the repository has no evidence of its
// own.
func (l Lesson) isUntried() bool {
	return l.From.Source == FromOrganisation && l.CountedAt.Equal(l.CreatedAt)
}

// withoutQuotes is the lesson without the words that its context quotes from a repository's checks.
// A context without SIA's own words stays as it is.
func (l Lesson) withoutQuotes() Lesson {
	for _, words := range patternVocabulary {
		if strings.HasPrefix(l.Context, words.when+"; ") {
			l.Context = words.when
		}
	}
	return l
}

// bySureness orders lessons, the surest first.
func bySureness(now time.Time) func(a, b Lesson) int {
	return func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(b.Confidence(now), a.Confidence(now)), cmp.Compare(a.ID, b.ID))
	}
}

// independentLessons are the lessons that count, each id once, the surest first.
func independentLessons(lessons []Lesson, least float64, now time.Time) []Lesson {
	var own []Lesson
	for _, l := range lessons {
		learned := l.From.Source != FromOrganisation && slices.Contains(agreeingKinds, l.Kind)
		if l.Live() && learned && l.Confidence(now) >= least {
			own = append(own, l)
		}
	}
	surest := bySureness(now)
	slices.SortFunc(own, func(a, b Lesson) int { return cmp.Or(surest(a, b), cmp.Compare(a.Repo, b.Repo)) })
	seen := map[ID]bool{}
	return slices.DeleteFunc(own, func(l Lesson) bool {
		again := seen[l.ID]
		seen[l.ID] = true
		return again
	})
}

// findAgreements finds the agreements among lessons, the surest first. All lessons of an agreement
// agree with its first one.
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
		slices.SortFunc(a.Lessons, bySureness(now))
		a.tags = sharedNames(a.Lessons, func(l Lesson) []string { return l.Tags }, maxTags)
		a.words = sharedNames(a.Lessons, func(l Lesson) []string { return l.Words }, maxWords)
		all = append(all, a)
	}
	return all
}

// sharedNames are the names that lessons of two repositories share, at most so many.
func sharedNames(lessons []Lesson, of func(Lesson) []string, most int) []string {
	from := map[string]int64{} // the repository that first brought it
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

// wordGroup is a group of lessons that have the same words.
type wordGroup struct {
	lessons []Lesson
	kind    string
	against bool // whether they advise against something
	sign    Signature
}

// groupByWords puts lessons of the same words and the same kind into groups, in the order of each
// group's first lesson. The functions give a lesson's words and its kind.
func groupByWords(lessons []Lesson, words func(Lesson) []string, kind func(Lesson) string) []wordGroup {
	var groups []wordGroup
	at := map[string]int{}
	for _, l := range lessons {
		s := wordGroup{kind: kind(l)}
		_, s.against = adviceTurns(l.Text)
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

// mostLike bounds the comparisons of a group: in each band of its signature it is compared with the
// last so many groups before it. Two groups that merging would join share many bands (at a
// similarity of .7, eight of 32 on average). A pair is only missed when thousands of different
// groups crowd all of these bands.
const mostLike = 32

// nearGroups lists, for each group, the others that near says are near it.
func nearGroups(groups []wordGroup, near func(a, b wordGroup) bool) [][]int {
	buckets := map[string][]int{}
	compared := make([]int, len(groups)) // 1 + the last that each was compared with
	all := make([][]int, len(groups))
	for i, s := range groups {
		for _, key := range s.sign.bands() {
			bucket := buckets[key]
			for _, j := range bucket[max(0, len(bucket)-mostLike):] {
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

// opposedLessons lists, by the id of each lesson, the lessons that advise the opposite.
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
