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
	Lessons []Lesson // that say the same, of two repositories at least, the surest first
	Against []Lesson // that advise the opposite, of any of the repositories that were asked

	tags, words []string // that the lessons of two repositories have
}

// agreeing are the kinds that may hold elsewhere, too: a tool or a model is only
// known to do well or badly where it was tried.
var agreeing = []Kind{Workaround, Success, Mistake, Discovery}

// Agreements finds what repositories agree on, given the lessons of all of them,
// in any order; the surest comes first. A lesson counts when attempts may be told
// it, when its confidence is at least the given one, 0–1, and when its repository
// learned it itself: what it was given, and what was brought there from another
// under the same id, says nothing of its own.
//
// Lessons agree that are the same as merging would have it. Those that are only the
// same without what their contexts quote of each repository's checks agree as well;
// then the agreement has them without it.
//
// The work grows with the number of lessons, not its square: each is compared with
// a bounded number of those that share a band of its signature.
func Agreements(lessons []Lesson, least float64, now time.Time) []Agreement {
	own := independent(lessons, least, now)
	var all []Agreement
	agreed := map[ID]bool{}
	for _, form := range []func(Lesson) Lesson{func(l Lesson) Lesson { return l }, Lesson.general} {
		var left []Lesson
		for _, l := range own {
			if !agreed[l.ID] {
				left = append(left, form(l))
			}
		}
		for _, a := range agree(left, now) {
			for _, l := range a.Lessons {
				agreed[l.ID] = true
			}
			all = append(all, a)
		}
	}
	if len(all) > 0 {
		against := opposites(own)
		for i := range all {
			all[i].oppose(against)
		}
	}
	slices.SortFunc(all, func(a, b Agreement) int { return bySureness(now)(a.Lessons[0], b.Lessons[0]) })
	return all
}

// Shared is a lesson of the agreement as other repositories would be given it: what
// it says and when, and the labels and words that two repositories brought. Where
// it was learned, from whom, and how it fared is left out.
func (a Agreement) Shared(l Lesson) Lesson {
	return Lesson{
		ID: l.ID, Repo: l.Repo, Kind: l.Kind, State: Active, Context: l.Context, Text: l.Text, Correction: l.Correction,
		Tags: a.tags, Words: a.words, From: Provenance{Source: FromOrganisation},
	}
}

// Says reports whether a lesson that was shared says what the agreement does.
func (a Agreement) Says(shared Lesson) bool {
	return slices.ContainsFunc(a.Lessons, func(l Lesson) bool { return l.ID == shared.ID || same(l, shared) })
}

// CopyTo is a shared lesson as a repository is given it: under the same id, and
// untried, so that the repository judges it by its own evidence after [Lesson.Given].
func (l Lesson) CopyTo(repo int64, now time.Time) Lesson {
	l.Repo, l.State, l.From = repo, Active, Provenance{Source: FromOrganisation}
	l.Good, l.Bad, l.Occurrences = 0, 0, 0
	l.CountedAt, l.CreatedAt, l.LastSeen = now, now, now
	return l
}

// Given is the first evidence for a copy: that others learned it and a person
// approved it counts as one outcome does, so that one failure, which may have had any
// other reason, does not silence it.
func (l Lesson) Given() Evidence {
	return Evidence{Key: "shared/" + string(l.ID), Lesson: l.ID, Good: 1, At: l.CreatedAt, Why: "other repositories of the owner learned it, and a person approved it"}
}

// untried reports whether the repository has no evidence of its own about what it
// was given.
func (l Lesson) untried() bool {
	return l.From.Source == FromOrganisation && l.CountedAt.Equal(l.CreatedAt)
}

// general is the lesson without what its context quotes of a repository's checks,
// where SIA's own words say when it applies.
func (l Lesson) general() Lesson {
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

// independent are the lessons that count, each id once, the surest first.
func independent(lessons []Lesson, least float64, now time.Time) []Lesson {
	var own []Lesson
	for _, l := range lessons {
		if l.Live() && l.From.Source != FromOrganisation && slices.Contains(agreeing, l.Kind) && l.Confidence(now) >= least {
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

// agree finds the agreements among lessons, the surest first: each is about its first
// lesson, with which all others agree.
func agree(lessons []Lesson, now time.Time) []Agreement {
	sheaves := bind(lessons, Lesson.advice, func(l Lesson) string { return string(l.Kind) })
	near := neighbours(sheaves, func(a, b sheaf) bool {
		return a.kind == b.kind && a.against == b.against && a.sign.Similarity(b.sign) >= sameAdvice
	})
	taken := make([]bool, len(sheaves))
	var all []Agreement
	for i := range sheaves {
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
			a.Lessons = append(a.Lessons, sheaves[j].lessons...)
		}
		if !slices.ContainsFunc(a.Lessons, func(l Lesson) bool { return l.Repo != a.Lessons[0].Repo }) {
			continue
		}
		for _, j := range members {
			taken[j] = true
		}
		slices.SortFunc(a.Lessons, bySureness(now))
		a.tags = common(a.Lessons, func(l Lesson) []string { return l.Tags }, maxTags)
		a.words = common(a.Lessons, func(l Lesson) []string { return l.Words }, maxWords)
		all = append(all, a)
	}
	return all
}

// common are the names that lessons of two repositories have, at most so many.
func common(lessons []Lesson, of func(Lesson) []string, most int) []string {
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

// sheaf are lessons of the same words.
type sheaf struct {
	lessons []Lesson
	kind    string
	against bool // whether they advise against something
	sign    Signature
}

// bind binds the lessons of the same words that give the same kind into sheaves, in
// the order of the first of each.
func bind(lessons []Lesson, words func(Lesson) []string, kind func(Lesson) string) []sheaf {
	var sheaves []sheaf
	at := map[string]int{}
	for _, l := range lessons {
		s := sheaf{kind: kind(l)}
		_, s.against = turns(l.Text)
		set := words(l)
		slices.Sort(set)
		key := fmt.Sprint(s.kind, " ", s.against, " ", strings.Join(set, " "))
		i, known := at[key]
		if !known {
			i = len(sheaves)
			at[key] = i
			s.sign = Sign(set)
			sheaves = append(sheaves, s)
		}
		sheaves[i].lessons = append(sheaves[i].lessons, l)
	}
	return sheaves
}

// mostLike bounds with how many that share a band of its signature a sheaf is
// compared, for each of its bands: the nearest before it. Two as alike as merging
// asks for share many bands (of .7, eight of 32 on the average), so that only where
// thousands of different ones crowd all of these does one go unseen.
const mostLike = 32

// neighbours are, for each sheaf, the others of which near says so.
func neighbours(sheaves []sheaf, near func(a, b sheaf) bool) [][]int {
	shelves := map[string][]int{}
	compared := make([]int, len(sheaves)) // 1 + the last that each was compared with
	all := make([][]int, len(sheaves))
	for i, s := range sheaves {
		for _, key := range s.sign.bands() {
			shelf := shelves[key]
			for _, j := range shelf[max(0, len(shelf)-mostLike):] {
				if compared[j] == i+1 {
					continue
				}
				compared[j] = i + 1
				if near(s, sheaves[j]) {
					all[i], all[j] = append(all[i], j), append(all[j], i)
				}
			}
			shelves[key] = append(shelf, i)
		}
	}
	return all
}

// opposites are, by the id of each lesson, those that advise the opposite.
func opposites(lessons []Lesson) map[ID][]Lesson {
	sheaves := bind(lessons, Lesson.about, func(Lesson) string { return "" })
	near := neighbours(sheaves, func(a, b sheaf) bool {
		return a.against != b.against && Opposed(a.lessons[0], b.lessons[0])
	})
	all := map[ID][]Lesson{}
	for i, s := range sheaves {
		for _, l := range s.lessons {
			for _, j := range near[i] {
				all[l.ID] = append(all[l.ID], sheaves[j].lessons...)
			}
		}
	}
	return all
}

// oppose notes what contradicts the agreement.
func (a *Agreement) oppose(opposites map[ID][]Lesson) {
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
