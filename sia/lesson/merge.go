package lesson

import (
	"cmp"
	"slices"
	"time"
)

// Merge makes one lesson of lessons of a repository that say the same. It also finds lessons that
// advise the opposite of each other, and notes the conflict in both. It returns the lessons that
// changed, in the order of their ids. The counts of a lesson that it merges come back as evidence
// about the lesson that stands for it; both are saved together, for merging again gives neither.
//
// Two lessons are the same when they are of one kind and their words are as alike as [sameAdvice].
// The one stands that a person taught, or forgot. Else it is the one that the repository learned
// itself rather than a copy, then the one with more evidence, then the older one. A lesson that a
// person taught is only merged into another one that a person taught, and begins anew when it takes
// the place of one that was archived or forgotten.
func Merge(lessons []Lesson, now time.Time) (changed []Lesson, evidence []Evidence) {
	m := &lessonMerger{all: map[ID]*Lesson{}, changed: map[ID]bool{}}
	for _, l := range lessons {
		if l.State != Merged && l.Kind != Model {
			l.Tags, l.Tools, l.Words, l.Conflicts = slices.Clone(l.Tags), slices.Clone(l.Tools), slices.Clone(l.Words),
				slices.Clone(l.Conflicts)
			m.all[l.ID] = &l
			m.order = append(m.order, l.ID)
		}
	}
	slices.Sort(m.order)
	pairs := m.pairs(Lesson.adviceWords)
	if slices.ContainsFunc(lessons, func(l Lesson) bool { return l.From.Source == FromOrganisation }) {
		pairs = append(pairs, m.pairs(func(l Lesson) []string { return l.withoutQuotes().adviceWords() })...)
	}
	for _, p := range pairs {
		a, b := m.all[p[0]], m.all[p[1]]
		if a.State == Merged || b.State == Merged || !sameLesson(*a, *b) {
			continue
		}
		if standsFor(*b, *a, now) {
			a, b = b, a
		}
		if b.From.Source == FromPerson && a.From.Source != FromPerson {
			continue
		}
		a.absorb(*b)
		anew := a.From.Source == FromPerson && !b.Live()
		b.State, b.Into = Merged, a.ID
		if !anew {
			evidence = append(evidence, inheritedEvidence(*b, now)...)
		}
		m.changed[a.ID], m.changed[b.ID] = true, true
	}
	for _, p := range m.pairs(Lesson.aboutWords) {
		a, b := m.all[p[0]], m.all[p[1]]
		if a.Live() && b.Live() && Opposed(*a, *b) {
			m.conflict(a, b.ID)
			m.conflict(b, a.ID)
		}
	}
	for _, id := range m.order {
		if m.changed[id] {
			changed = append(changed, *m.all[id])
		}
	}
	return changed, evidence
}

// inheritedEvidence is the counts of a merged lesson as evidence about the lesson that stands for
// it. An untried copy gives none: that others learned the same says nothing about what the repository
// learned itself.
func inheritedEvidence(l Lesson, now time.Time) []Evidence {
	good, bad := l.Counts(now)
	if good+bad == 0 || l.isUntried() {
		return nil
	}
	return []Evidence{{Key: "merge/" + string(l.ID), Lesson: l.Into, Good: good, Bad: bad, At: now,
		Why: "what lesson " + string(l.ID) + ", which says the same, had for and against it"}}
}

type lessonMerger struct {
	all     map[ID]*Lesson
	order   []ID
	changed map[ID]bool
}

func (m *lessonMerger) conflict(l *Lesson, with ID) {
	if !slices.Contains(l.Conflicts, with) {
		l.Conflicts = append(l.Conflicts, with)
		m.changed[l.ID] = true
	}
}

// pairs are pairs of lessons that may be alike: a band of their signatures agrees. words gives the
// words of a lesson that count. In each band a lesson is paired with the first lesson and the one
// before it, so that a thousand like lessons make no million pairs. The pairs left out are found
// after the first ones were merged.
func (m *lessonMerger) pairs(words func(Lesson) []string) [][2]ID {
	type band struct{ first, last ID }
	buckets := map[string]*band{}
	seen := map[[2]ID]bool{}
	var pairs [][2]ID
	for _, id := range m.order {
		for _, key := range NewSignature(words(*m.all[id])).bands() {
			s := buckets[key]
			if s == nil {
				buckets[key] = &band{id, id}
				continue
			}
			for _, other := range []ID{s.first, s.last} {
				if p := [2]ID{other, id}; !seen[p] {
					seen[p] = true
					pairs = append(pairs, p)
				}
			}
			s.last = id
		}
	}
	return pairs
}

// aboutWords are the words that say what a lesson is about, whether it advises for or against it.
func (l Lesson) aboutWords() []string {
	words, _ := adviceTurns(l.Text)
	return words
}

// sameLesson reports whether two lessons say the same. A copy from other repositories quotes no
// check, so the quotes of this repository's lesson are left out of the comparison with it.
func sameLesson(a, b Lesson) bool {
	if a.Kind != b.Kind || a.unspaced() != b.unspaced() {
		return false
	}
	if a.From.Source == FromOrganisation || b.From.Source == FromOrganisation {
		a, b = a.withoutQuotes(), b.withoutQuotes()
	}
	_, x := adviceTurns(a.Text)
	_, y := adviceTurns(b.Text)
	return x == y && NewSignature(a.adviceWords()).Similarity(NewSignature(b.adviceWords())) >= sameAdvice
}

// standsFor reports whether a stands for b when both say the same, and not b for a.
func standsFor(a, b Lesson, now time.Time) bool {
	rank := func(l Lesson) int {
		switch {
		case l.From.Source == FromPerson && l.Live():
			return 0
		case l.State == Forgotten:
			return 1
		case l.From.Source != FromOrganisation:
			return 2
		default:
			return 3
		}
	}
	weight := func(l Lesson) float64 {
		good, bad := l.Counts(now)
		return good + bad
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(weight(b), weight(a)), a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.ID, b.ID)) < 0
}

// absorb takes over the occurrences, labels and words of another lesson that says the same. A copy
// from other repositories has seen nothing in this one.
func (l *Lesson) absorb(o Lesson) {
	if o.From.Source == FromOrganisation {
		return
	}
	l.Occurrences += o.Occurrences
	if o.LastSeen.After(l.LastSeen) {
		l.LastSeen = o.LastSeen
	}
	join := func(list *[]string, more []string, most int) {
		for _, w := range more {
			if len(*list) < most && !slices.Contains(*list, w) {
				*list = append(*list, w)
			}
		}
	}
	join(&l.Tags, o.Tags, maxTags)
	join(&l.Tools, o.Tools, maxTags)
	join(&l.Words, o.Words, maxWords)
}

const maxTags = 20
