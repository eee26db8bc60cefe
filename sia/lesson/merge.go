package lesson

import (
	"cmp"
	"slices"
	"time"
)

// Merge merges equivalent lessons of a repository. It also finds lessons with opposite advice and records the conflict
// in both. It returns the changed lessons in the order of their ids. The counts of a merged lesson are returned as
// evidence about the lesson that replaces it; both must be saved together, because merging again returns neither.
//
// Two lessons are equivalent when they have the same kind and their words have a similarity of at least [sameAdvice].
// Of the two, a lesson that a user taught or deleted replaces the other. Otherwise it is the repository's own rather
// than a copy, then the one with more evidence, then the older one. A lesson that a user taught is only merged into
// another such lesson. It does not inherit the evidence of an archived or forgotten lesson that it replaces.
func Merge(lessons []Lesson, now time.Time) (changed []Lesson, evidence []Evidence) {
	m := &lessonMerger{all: map[ID]*Lesson{}, changed: map[ID]bool{}}
	for _, l := range lessons {
		if l.State != Merged {
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
		if replaces(*b, *a, now) {
			a, b = b, a
		}
		if b.From.Source == FromPerson && a.From.Source != FromPerson {
			continue
		}
		a.absorb(*b)
		fresh := a.From.Source == FromPerson && !b.Live()
		b.State, b.Into = Merged, a.ID
		if !fresh {
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

// inheritedEvidence returns the counts of a merged lesson as evidence about the lesson that replaces it. An untried
// copy yields none: that others learned the same is no evidence about the repository's own lesson.
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

// pairs returns pairs of possibly similar lessons: a band of their signatures agrees. words returns the words of a
// lesson to compare. In each band a lesson is paired with the first lesson and the previous one, so that a thousand
// similar lessons do not make a million pairs. The omitted pairs are found after the first ones are merged.
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

// aboutWords returns the words of a lesson's subject, whether it advises for or against it.
func (l Lesson) aboutWords() []string {
	words, _ := splitNegation(l.Text)
	return words
}

// sameLesson reports whether two lessons are equivalent. A copy from other repositories quotes no check, so the
// comparison with one ignores the quotes of this repository's lesson.
func sameLesson(a, b Lesson) bool {
	if a.Kind != b.Kind || a.unspaced() != b.unspaced() {
		return false
	}
	if a.From.Source == FromOrganisation || b.From.Source == FromOrganisation {
		a, b = a.withoutQuotes(), b.withoutQuotes()
	}
	_, x := splitNegation(a.Text)
	_, y := splitNegation(b.Text)
	return x == y && NewSignature(a.adviceWords()).Similarity(NewSignature(b.adviceWords())) >= sameAdvice
}

// replaces reports whether, of two equivalent lessons, a replaces b rather than b replaces a.
func replaces(a, b Lesson, now time.Time) bool {
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

// absorb adds the occurrences, labels and words of an equivalent lesson. A copy from other repositories has no
// occurrences in this one.
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

const maxTags = 20 // maximum number of a lesson's tags, and of its tools
